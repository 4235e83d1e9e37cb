#include "codegen/cuda/cuda_body.h"

#include <algorithm>

#include "codegen/kernel_edit.h"

// Text of a GPU kernel's statements.
namespace aotc {

using namespace loops;

std::string CudaBody::barrier() const {
  return s_.launch->threads == 32 ? "__syncwarp();\n" : "__syncthreads();\n";
}

// Whether b touches memory that a writes, or writes what a reads.
bool CudaBody::depends(const Phase& a, const Phase& b) const {
  const auto loads = [&](const Phase& ph, BufferId stored) {
    return std::ranges::any_of(expressions_of(k_, ph), [&](ExprId id) {
      const Expr& e = k_.exprs[static_cast<size_t>(id)];
      return e.kind == ExprKind::Load && same_memory(p_, e.buffer, stored);
    });
  };
  const auto stores = [&](const Phase& ph, BufferId stored) {
    return std::ranges::any_of(ph.stores,
                               [&](const Store& s) { return same_memory(p_, s.buffer, stored); });
  };
  return std::ranges::any_of(
             a.stores, [&](const Store& s) { return loads(b, s.buffer) || stores(b, s.buffer); }) ||
         std::ranges::any_of(b.stores, [&](const Store& s) { return loads(a, s.buffer); });
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
  if (!is_row()) return KernelBody::phase(ph);
  std::set<ExprId> outer, inner;
  split(ph, outer, inner);
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

std::string CudaBody::shared_loop(const Phase& ph, const std::set<ExprId>& inner) {
  const std::string threads = std::to_string(s_.launch->threads);
  if (ph.axes.size() == 1) {
    const Axis& a = ph.axes[0];
    return fmt::format("for (int64_t {0} = lane; {0} < {1}; {0} += {2}) {{\n", a.name,
                       index(a.extent), threads) +
           body(ph, inner, "") + "}\n";
  }
  Sym count(1);
  for (const Axis& a : ph.axes) count = count * a.extent;
  const std::string flat = ph.axes[0].name + "_flat";
  std::string text = fmt::format("for (int64_t {0} = lane; {0} < {1}; {0} += {2}) {{\n", flat,
                                 index(count), threads);
  return text + axes_from(ph.axes, flat) + body(ph, inner, "") + "}\n";
}

std::string CudaBody::combine_row(const Phase& ph) const {
  std::string text;
  for (int id : ph.accumulators) {
    const Accumulator& a = k_.accumulators[static_cast<size_t>(id)];
    const bool is_companion = std::ranges::any_of(
        k_.accumulators, [&](const Accumulator& o) { return o.companion == id; });
    if (is_companion) continue;
    if (a.companion >= 0) {
      text += combine_best(id);
      continue;
    }
    const char* type = cpp_type(a.dtype);
    text += fmt::format(
        "{0} = combine_row<{1}>({0}, [](const {2}& a, const {2}& b) -> {2} {{ return {3}; }}, "
        "shared);\n",
        accumulator_name(id), s_.launch->threads, type, combine(a, "a", "b"));
  }
  return text;
}

std::string CudaBody::combine_best(int id) const {
  const Accumulator& a = k_.accumulators[static_cast<size_t>(id)];
  const std::string value = accumulator_name(id), at = accumulator_name(a.companion);
  const std::string type = fmt::format("Best<{}>", cpp_type(a.dtype));
  return fmt::format(
      "{{\nconst {0} best = combine_row<{1}>({0}{{{2}, {3}}}, [](const {0}& a, const {0}& b) -> "
      "{0} {{ return b.at != -1 "
      "&& takes_over_{4}_at(b.value, a.value, b.at, a.at) ? b : a; }}, shared);\n{2} = "
      "best.value;\n{3} = best.at;\n}}\n",
      type, s_.launch->threads, value, at, prim_name(a.combine));
}

}  // namespace aotc
