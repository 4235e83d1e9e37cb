#include "codegen/cuda/cuda_body.h"

#include <algorithm>

#include "codegen/kernel_edit.h"

// The phases of a GPU kernel and the barriers between them.
namespace aotc {

using namespace loops;

CudaBody::CudaBody(const LoopProgram& p, const ScheduledKernel& s, bool canonical)
    : KernelBody(p, s, canonical) {
  for (const Phase& ph : k_.phases)
    if (width() > 1 && !ph.axes.empty())
      assumptions_.set_axis(ph.axes.back().name + "_pack", PackedAxes(ph.axes, width()).in_last);
}

std::vector<Axis> CudaBody::outer_axes() const {
  std::vector<Axis> axes = k_.axes;
  if (is_row() || width() == 1) return axes;
  const std::vector<Axis>& inner = k_.phases[0].axes;
  axes.push_back({inner[0].name + "_pack", PackedAxes(inner, width()).in_last});
  return axes;
}

std::string CudaBody::barrier() const {
  return s_.launch->threads == 32 ? "__syncwarp();\n" : "__syncthreads();\n";
}

// Whether each thread touches the same elements there.
bool CudaBody::own_element(const Phase& a, BufferId x, const Sym& at, const Phase& b, BufferId y,
                           const Sym& other) const {
  if (x != y) return false;
  const auto place = own_place(k_, a, x, at, width());
  return place && place == own_place(k_, b, y, other, width());
}

// Whether b touches memory that a writes, or writes what a reads, by another thread.
bool CudaBody::depends(const Phase& a, const Phase& b) const {
  const auto meets = [&](const Store& s, const Phase& of, BufferId buffer, const Sym& at,
                         const Phase& other) {
    return same_memory(p_, s.buffer, buffer) &&
           !own_element(of, s.buffer, s.at[0], other, buffer, at);
  };
  const auto loads = [&](const Phase& ph, const Store& s, const Phase& of) {
    return std::ranges::any_of(expressions_of(k_, ph), [&](ExprId id) {
      const Expr& e = k_.exprs[static_cast<size_t>(id)];
      return e.kind == ExprKind::Load && !e.at.empty() && meets(s, of, e.buffer, e.at[0], ph);
    });
  };
  const auto stores = [&](const Phase& ph, const Store& s, const Phase& of) {
    return std::ranges::any_of(ph.stores,
                               [&](const Store& o) { return meets(s, of, o.buffer, o.at[0], ph); });
  };
  return std::ranges::any_of(a.stores,
                             [&](const Store& s) { return loads(b, s, a) || stores(b, s, a); }) ||
         std::ranges::any_of(b.stores, [&](const Store& s) { return loads(a, s, b); });
}

std::string CudaBody::phases() {
  if (!is_row()) return KernelBody::phases();
  std::string text;
  std::vector<const Phase*> open;  // since the last barrier
  for (const Phase& ph : k_.phases) {
    if (std::ranges::any_of(open, [&](const Phase* before) { return depends(*before, ph); })) {
      text += barrier();
      open.clear();
    }
    text += phase(ph);
    open.push_back(&ph);
  }
  return text;
}

// A value that every thread loads is loaded by all before one of them changes it.
std::string CudaBody::barrier_before_stores(const Phase& ph, const std::set<ExprId>& loaded) const {
  const bool changes = std::ranges::any_of(loaded, [&](ExprId id) {
    const Expr& e = k_.exprs[static_cast<size_t>(id)];
    return e.kind == ExprKind::Load && std::ranges::any_of(ph.stores, [&](const Store& s) {
             return same_memory(p_, s.buffer, e.buffer);
           });
  });
  return changes ? barrier() : "";
}

std::string CudaBody::phase(const Phase& ph) {
  if (!is_row() && width() == 1) return KernelBody::phase(ph);
  std::set<ExprId> outer, inner;
  split(ph, outer, inner);
  if (!is_row()) return left_in_pack(ph) + declarations(outer, true) + pack_iteration(ph, inner);
  std::string text = declarations(outer, !ph.axes.empty(), runs_at_all(ph.axes));
  text += initial_accumulators(ph, false);
  if (!ph.axes.empty())
    return text + barrier_before_stores(ph, outer) + shared_loop(ph, inner) + combine_row(ph);
  text += updates(ph, "") + declarations(inner, false);
  std::string stores;
  for (const Store& s : ph.stores) stores += store(s);
  if (stores.empty()) return text;
  outer.insert(inner.begin(), inner.end());
  return text + barrier_before_stores(ph, outer) + "if (lane == 0) {\n" + stores + "}\n";
}

}  // namespace aotc
