// Kernels that one launch of a GPU does together: what computes a matrix product hands each element
// to the kernel that alone reads the product, while it is in a register.
#pragma once
#include <vector>

#include "ir/loops.h"

namespace aotc {

// Kernels `first` (a matrix product) and the one after it (one element per iteration; its axes walk
// the product's buffer in memory order).
struct LaunchGroup {
  size_t first = 0;
  size_t end() const { return first + 2; }
};

// Moves kernels next to each other where that makes a group. Comes last: no kernel may be moved or
// added afterwards.
std::vector<LaunchGroup> group_launches(loops::LoopProgram& p);

}  // namespace aotc
