// The end of stage 5: how each kernel's loops run. Accesses become element offsets in their buffer;
// axes that walk memory as one are collapsed; a pointwise kernel keeps one inner axis to vectorize.
#pragma once
#include "ir/loops.h"

namespace aotc {

struct ScheduledKernel {
  loops::Kernel kernel;         // every access has one index: the element offset
  bool range_is_inner = false;  // the parallel range walks the only (inner) axis itself
  Sym outer_count;              // independent iterations
  std::string function;  // the generated function that it calls; kernels that do the same share one
  Sym work;              // rough number of scalar operations, all iterations
};

ScheduledKernel schedule(const loops::LoopProgram& p, const loops::Kernel& k);

}  // namespace aotc
