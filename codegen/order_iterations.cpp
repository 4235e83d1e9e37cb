// An update of a whole storage that reads it only ahead of where it writes (a ring buffer's shift)
// needs no copy of the old content if its iterations run in that order, as memmove's do, and those
// kernels come first that read what other parts of the update overwrite.
#include <algorithm>

#include "codegen/kernel_edit.h"
#include "codegen/passes.h"

namespace aotc {

using namespace loops;

namespace {

// Of the loads of `target`: +1 if each reads what a later iteration stores, or what its own does;
// -1 if an earlier one; 0 if neither is known. `moves`: the dimensions in which some read elsewhere
// than they store.
struct Order {
  int direction = 0;
  std::vector<bool> moves;
};

std::optional<Order> order_of(const Kernel& k, const Store& s, BufferId target) {
  Order order{0, std::vector<bool>(s.at.size())};
  for (const Expr& e : k.exprs) {
    if (e.kind != ExprKind::Load || e.buffer != target) continue;
    bool decided = false;
    for (size_t d = 0; d < s.at.size(); ++d) {
      const auto distance = (e.at[d] - s.at[d]).constant();
      if (!distance) return std::nullopt;
      if (*distance == 0) continue;
      order.moves[d] = true;
      const int sign = *distance > 0 ? 1 : -1;
      if (!decided && order.direction != 0 && order.direction != sign) return std::nullopt;
      if (!decided) order.direction = sign;
      decided = true;
    }
  }
  return order.direction == 0 ? std::nullopt : std::optional(order);
}

// Which axes run in order. On the host all from the first one that must, as memory lies; a GPU
// keeps the others for its threads, and what would leave it one thread for much work stays a copy.
std::optional<std::vector<bool>> ordered_axes(const Kernel& k, const Order& order) {
  std::vector<bool> ordered = order.moves;
  if (k.device == Device{}) {
    for (size_t d = 1; d < ordered.size(); ++d) ordered[d] = ordered[d] || ordered[d - 1];
    return ordered;
  }
  constexpr int64_t kFew = 256;
  Sym all(1), parallel(1);
  for (size_t d = 0; d < ordered.size(); ++d) {
    all = all * k.axes[d].extent;
    if (!ordered[d]) parallel = parallel * k.axes[d].extent;
  }
  const bool few = all.constant() && *all.constant() <= kFew;
  return few || !parallel.is(1) ? std::optional(ordered) : std::nullopt;
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

// The kernels that compute parts of `value`, in an order in which none reads of `target` what one
// before it has stored, where there is one.
class PartOrder {
 public:
  PartOrder(LoopProgram& p, BufferId value, BufferId target)
      : p_(p), value_(value), target_(target) {}

  void run() {
    for (size_t i = 1; i < p_.kernels.size(); ++i) {
      if (!is_part(p_.kernels[i])) continue;
      const auto place = place_of(i);
      if (!place) continue;
      const auto at = [&](size_t k) { return p_.kernels.begin() + static_cast<std::ptrdiff_t>(k); };
      std::rotate(at(*place), at(i), at(i) + 1);
    }
  }

 private:
  bool is_part(const Kernel& k) const { return buffers_written(k).contains(value_); }

  // In front of the first part that overwrites what kernel i reads, if it may move there.
  std::optional<size_t> place_of(size_t i) const {
    std::optional<size_t> place;
    for (size_t j = i; j-- > 0;) {
      if (!independent(p_.kernels[j], p_.kernels[i])) break;
      if (is_part(p_.kernels[j]) && overwrites(p_.kernels[j], p_.kernels[i])) place = j;
    }
    return place;
  }

  // `a` may store into the value what `b` reads of the target.
  bool overwrites(const Kernel& a, const Kernel& b) const {
    return std::ranges::any_of(b.exprs, [&](const Expr& e) {
      return e.kind == ExprKind::Load && e.buffer == target_ && may_store(a, b, e.at);
    });
  }

  bool may_store(const Kernel& a, const Kernel& b, const std::vector<Sym>& at) const {
    for (const Phase& ph : a.phases)
      for (const Store& s : ph.stores)
        if (s.buffer == value_ && !never_meet(p_, a, s.at, b, at)) return true;
    return false;
  }

  // Their order is of no consequence: parts may be different ones of the value.
  bool independent(const Kernel& a, const Kernel& b) const {
    if (!conflict(p_, a, b)) return true;
    if (!is_part(a) || !is_part(b) || is_template_part(a) || is_template_part(b)) return false;
    if (buffers_read(a).contains(value_) || buffers_read(b).contains(value_)) return false;
    for (const Phase& ph : b.phases)
      for (const Store& s : ph.stores)
        if (s.buffer == value_ && may_store(a, b, s.at)) return false;
    return !conflict(p_, without_value(a), without_value(b));
  }

  static bool is_template_part(const Kernel& k) { return k.kind == KernelKind::Template; }

  Kernel without_value(Kernel k) const {
    for (Phase& ph : k.phases)
      std::erase_if(ph.stores, [&](const Store& s) { return s.buffer == value_; });
    return k;
  }

  LoopProgram& p_;
  const BufferId value_, target_;
};

}  // namespace

void order_iterations(LoopProgram& p, BufferId value, BufferId target) {
  PartOrder(p, value, target).run();
  for (Kernel& k : p.kernels) {
    const Store* s = elementwise_store(k);
    if (!s || s->buffer != value || !follows_axes(k, *s) || !only_loads(p, k, target)) continue;
    const auto order = order_of(k, *s, target);
    if (!order) continue;
    const auto ordered = ordered_axes(k, *order);
    if (!ordered) continue;
    if (order->direction < 0) reverse(p, k);
    Phase& ph = k.phases[0];
    std::vector<Axis> outer;
    for (size_t d = 0; d < ordered->size(); ++d)
      ((*ordered)[d] ? ph.axes : outer).push_back(k.axes[d]);
    k.axes = std::move(outer);
    ph.ordered = true;
  }
}

}  // namespace aotc
