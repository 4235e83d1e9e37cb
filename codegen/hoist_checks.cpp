// Moves checks to the front. A check needs the kernels that compute its operands and those that
// define its symbols; these move with it, unless they are many or contain a matrix product: then
// nearly everything comes before the check anyway.
#include <algorithm>

#include "codegen/kernel_edit.h"
#include "codegen/passes.h"
#include "ir/template_kernel.h"

namespace aotc {

using namespace loops;

namespace {

constexpr size_t kMaxMoved = 16;

bool writes_outward(const LoopProgram& p, const Kernel& k) {
  const std::set<BufferId> written = buffers_written(k);
  return std::any_of(written.begin(), written.end(), [&](BufferId b) {
    const Home h = p.buffers[static_cast<size_t>(b)].home;
    return h == Home::Input || h == Home::Storage;
  });
}

bool can_fail(const Kernel& k) { return k.kind == KernelKind::Check || k.kind == KernelKind::Host; }

class Hoister {
 public:
  explicit Hoister(LoopProgram& p) : p_(p) {}

  void run() {
    size_t front = 0;  // checks and what they need come before
    for (size_t i = 0; i < p_.kernels.size(); ++i)
      if (p_.kernels[i].kind == KernelKind::Check) front = hoist(i, front);
  }

 private:
  // Moves check i and what it needs to `front`; returns the new front.
  size_t hoist(size_t i, size_t front) {
    if (i < front) return front;
    const std::vector<size_t> moved = needed(i, front);
    if (moved.empty()) return front;
    std::vector<Kernel> order, rest;
    for (size_t k = 0; k < p_.kernels.size(); ++k) {
      const bool moves = std::find(moved.begin(), moved.end(), k) != moved.end();
      (k < front || moves ? order : rest).push_back(std::move(p_.kernels[k]));
    }
    front = order.size();
    order.insert(order.end(), std::make_move_iterator(rest.begin()),
                 std::make_move_iterator(rest.end()));
    p_.kernels = std::move(order);
    return front;
  }

  // Check i and the kernels from `front` on that must come before it, in order; empty if they may
  // not move.
  std::vector<size_t> needed(size_t i, size_t front) const {
    std::vector<size_t> moved = {i};  // from the last to the first
    for (size_t k = i; k-- > front;) {
      const Kernel& passed = p_.kernels[k];
      const bool needs = std::any_of(moved.begin(), moved.end(),
                                     [&](size_t m) { return conflict(p_, passed, p_.kernels[m]); });
      if (!needs) continue;
      if (passed.kind == KernelKind::Control) return {};
      if (is_template(passed) || moved.size() == kMaxMoved ||
          (writes_outward(p_, passed) && !can_fail(passed)))
        return {};
      moved.push_back(k);
    }
    return moved;
  }

  LoopProgram& p_;
};

}  // namespace

void hoist_checks(LoopProgram& p) { Hoister(p).run(); }

}  // namespace aotc
