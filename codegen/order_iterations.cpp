// An update of a whole storage that reads it only ahead of where it writes (a ring buffer's shift)
// needs no copy of the old content if its iterations run in that order, as memmove's do.
#include <algorithm>

#include "codegen/kernel_edit.h"
#include "codegen/passes.h"

namespace aotc {

using namespace loops;

namespace {

// Of the loads of `target`: +1 if each reads what a later iteration stores, or what its own does;
// -1 if an earlier one; 0 if neither is known. `same` is the number of leading dimensions in which
// all read where they store.
struct Order {
  int direction = 0;
  size_t same = 0;
};

std::optional<Order> order_of(const Kernel& k, const Store& s, BufferId target) {
  Order order{0, s.at.size()};
  for (const Expr& e : k.exprs) {
    if (e.kind != ExprKind::Load || e.buffer != target) continue;
    for (size_t d = 0; d < s.at.size(); ++d) {
      const auto distance = (e.at[d] - s.at[d]).constant();
      if (!distance) return std::nullopt;
      if (*distance == 0) continue;
      const int sign = *distance > 0 ? 1 : -1;
      if (order.direction != 0 && order.direction != sign) return std::nullopt;
      order.direction = sign;
      order.same = std::min(order.same, d);
      break;
    }
  }
  return order.direction == 0 ? std::nullopt : std::optional(order);
}

// Each index is an axis of its own, in their order, from some start.
bool follows_axes(const Kernel& k, const Store& s) {
  if (s.at.size() != k.axes.size()) return false;
  for (size_t d = 0; d < s.at.size(); ++d) {
    const bool starts = (s.at[d] - Sym::symbol(k.axes[d].name)).constant().has_value();
    if (!starts && !(k.axes[d].extent.is(1) && s.at[d].constant())) return false;
  }
  return true;
}

bool only_loads(const LoopProgram& p, const Kernel& k, BufferId target) {
  return std::ranges::all_of(k.exprs, [&](const Expr& e) {
    return e.kind != ExprKind::Load || e.buffer == target || !same_memory(p, e.buffer, target);
  });
}

// The iterations from the last to the first.
void reverse(const LoopProgram& p, Kernel& k) {
  const Kernel old = k;
  k.exprs.clear();
  BodyBuilder body(k);
  BodyBuilder::Context c;
  c.from = &old;
  for (const Axis& a : old.axes) c.axes[a.name] = a.extent - 1 - Sym::symbol(a.name);
  Store& s = k.phases[0].stores[0];
  s.value = body.copy(c, s.value);
  for (Sym& at : s.at) at = body.rewrite(c, at);
  simplify_indices(p, k);
}

}  // namespace

void order_iterations(LoopProgram& p, BufferId value, BufferId target) {
  for (Kernel& k : p.kernels) {
    const Store* s = elementwise_store(k);
    if (!s || s->buffer != value || !follows_axes(k, *s) || !only_loads(p, k, target)) continue;
    const auto order = order_of(k, *s, target);
    if (!order) continue;
    if (order->direction < 0) reverse(p, k);
    Phase& ph = k.phases[0];
    const auto first = k.axes.begin() + static_cast<std::ptrdiff_t>(order->same);
    ph.axes.assign(first, k.axes.end());
    k.axes.erase(first, k.axes.end());
    ph.ordered = true;
  }
}

}  // namespace aotc
