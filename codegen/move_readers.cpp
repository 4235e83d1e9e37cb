// A kernel that reads a storage's old content can often run before the kernels that overwrite it:
// then a write-back needs no copy for its sake.
#include <algorithm>

#include "codegen/kernel_edit.h"
#include "codegen/passes.h"

namespace aotc {

using namespace loops;

namespace {

class MoveReaders {
 public:
  MoveReaders(LoopProgram& p, BufferId value, BufferId target)
      : p_(p), value_(value), target_(target) {}

  void run() {
    auto first = std::ranges::find_if(
        p_.kernels, [&](const Kernel& k) { return buffers_written(k).contains(value_); });
    size_t place = static_cast<size_t>(first - p_.kernels.begin());
    for (size_t i = place; i < p_.kernels.size(); ++i)
      if (reads_memory_of(p_, p_.kernels[i], target_)) place = move(i, place);
  }

 private:
  // Moves kernel i, and what it depends on, before `place`; where that then is.
  size_t move(size_t i, size_t place) {
    std::vector<size_t> moved{i};
    for (size_t j = i; j-- > place;)
      if (std::ranges::any_of(moved,
                              [&](size_t m) { return conflict(p_, p_.kernels[j], p_.kernels[m]); }))
        moved.push_back(j);
    if (!std::ranges::all_of(moved, [&](size_t m) { return may_move(p_.kernels[m]); }))
      return place;
    const auto at = [&](size_t k) { return p_.kernels.begin() + static_cast<std::ptrdiff_t>(k); };
    std::ranges::sort(moved);
    for (size_t m : moved) {
      std::rotate(at(place), at(m), at(m) + 1);
      ++place;
    }
    return place;
  }

  // What only computes: a check or a write to a storage keeps its place among the others.
  bool may_move(const Kernel& k) const {
    if (k.kind == KernelKind::Check || k.kind == KernelKind::Host || k.kind == KernelKind::Control)
      return false;
    return std::ranges::all_of(buffers_written(k), [&](BufferId b) {
      const Home home = p_.buffers[static_cast<size_t>(b)].home;
      return b != value_ && (home == Home::Temp || home == Home::Output);
    });
  }

  LoopProgram& p_;
  const BufferId value_, target_;
};

}  // namespace

void move_readers_ahead(LoopProgram& p, BufferId value, BufferId target) {
  MoveReaders(p, value, target).run();
}

}  // namespace aotc
