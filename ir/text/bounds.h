// Whether an index certainly leaves its dimension in some iteration.
#pragma once
#include "ir/loops.h"

namespace aotc::text {

class Bounds {
 public:
  // Only if all axes provably run at least once is anything certain.
  Bounds(const loops::LoopProgram& program, const loops::Kernel& k, const loops::Phase& p);
  // Some iteration provably has index < 0 or index >= size.
  bool reaches_outside(const Sym& index, const Sym& size) const;

 private:
  // The index at the corner of the iteration space that makes it extreme, as far as it is affine in
  // an axis.
  Sym extreme(Sym index, bool largest) const;
  std::vector<loops::Axis> axes_;
  Assumptions known_;
  bool runs_ = false;
};

}  // namespace aotc::text
