#include "codegen/schedule.h"

#include <algorithm>

#include "codegen/cuda/kept_rows.h"
#include "codegen/kernel_edit.h"
#include "ir/template_kernel.h"

// Collapsing axes and choosing the inner one.
namespace aotc {

using namespace loops;

namespace {

void flatten_accesses(const LoopProgram& p, Kernel& k) {
  Assumptions a = p.assumptions(k);
  auto flatten = [&](BufferId b, std::vector<Sym>& at) {
    at = {a.simplify(flat_offset(p.buffers[static_cast<size_t>(b)], at))};
  };
  for (Expr& e : k.exprs)
    if (e.kind == ExprKind::Load) flatten(e.buffer, e.at);
  for (Phase& ph : k.phases)
    for (Store& s : ph.stores) flatten(s.buffer, s.at);
}

std::vector<Sym*> index_expressions(Kernel& k) {
  std::vector<Sym*> all;
  for (Expr& e : k.exprs) {
    if (e.kind == ExprKind::Index) all.push_back(&e.index);
    for (Sym& s : e.at) all.push_back(&s);
  }
  for (Phase& ph : k.phases)
    for (Store& s : ph.stores)
      for (Sym& at : s.at) all.push_back(&at);
  return all;
}

// outer*extent(inner) + inner everywhere: the two axes are one.
bool walk_as_one(const std::vector<Sym*>& all, const Axis& outer, const Axis& inner) {
  for (const Sym* s : all) {
    auto a = s->linear_in(outer.name), b = s->linear_in(inner.name);
    if (!a || !b || !(a->coefficient == b->coefficient * inner.extent)) return false;
  }
  return true;
}

void collapse(Kernel& k, std::vector<Axis>& axes) {
  std::vector<Sym*> all = index_expressions(k);
  for (size_t i = axes.size(); i-- > 0;)
    if (axes[i].extent.is(1)) {
      for (Sym* s : all) *s = s->substitute({{axes[i].name, Sym(0)}});
      axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(i));
    }
  for (size_t i = axes.size(); i-- > 1;) {
    if (!walk_as_one(all, axes[i - 1], axes[i])) continue;
    for (Sym* s : all) *s = s->substitute({{axes[i - 1].name, Sym(0)}});
    axes[i].extent = axes[i - 1].extent * axes[i].extent;
    axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(i) - 1);
  }
}

Sym extent_product(const std::vector<Axis>& axes) {
  Sym n(1);
  for (const Axis& a : axes) n = n * a.extent;
  return n;
}

Sym estimate_work(const Kernel& k) {
  Sym inner(0);
  for (const Phase& ph : k.phases) inner = inner + extent_product(ph.axes);
  int64_t cost = 1;
  for (const Expr& e : k.exprs)
    if (e.kind == ExprKind::Apply) cost += prim_is_transcendental(e.prim) ? 16 : 1;
  return extent_product(k.axes) * inner * Sym(cost);
}

}  // namespace

ScheduledKernel schedule(const LoopProgram& p, const Kernel& kernel, bool takes_product) {
  ScheduledKernel s{kernel, false, Sym(1), kernel.name, Sym(0)};
  Kernel& k = s.kernel;
  if (is_template(k) || k.kind == KernelKind::Control || k.kind == KernelKind::Wait) return s;
  flatten_accesses(p, k);
  if (k.kind == KernelKind::Host) return s;
  collapse(k, k.axes);
  for (Phase& ph : k.phases)
    if (!ph.ordered) collapse(k, ph.axes);
  s.work = estimate_work(k);
  if (!(k.device == Device{})) {
    forward_row_numbers(p, k);
    s.launch = takes_product ? GpuLaunch{} : gpu_launch(p, k);
    s.outer_count = extent_product(k.axes);
    if (s.launch->unit == GpuLaunch::Unit::Thread && s.launch->width > 1)
      s.outer_count = s.outer_count * PackedAxes(k.phases[0].axes, s.launch->width).count;
    return s;
  }
  bool pointwise =
      k.phases.size() == 1 && k.phases[0].axes.empty() && !k.phases[0].ordered && !k.axes.empty();
  if (pointwise && k.kind != KernelKind::Check) {
    k.phases[0].axes = {k.axes.back()};
    k.axes.pop_back();
    s.range_is_inner = k.axes.empty();
  }
  s.outer_count = s.range_is_inner ? k.phases[0].axes[0].extent : extent_product(k.axes);
  return s;
}

}  // namespace aotc
