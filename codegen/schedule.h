// The end of stage 5: how each kernel's loops run. Accesses become element offsets in their buffer;
// axes that walk memory as one are collapsed; a pointwise kernel keeps one inner axis to vectorize.
#pragma once
#include <optional>

#include "ir/loops.h"

namespace aotc {

// How a GPU kernel is launched.
struct GpuLaunch {
  // Thread: each thread does whole independent iterations. Row: the threads of a row share the
  // loops of one independent iteration, and barriers lie between its phases.
  enum class Unit : uint8_t { Thread, Row };
  Unit unit = Unit::Thread;
  int threads = 256;  // per block, or per row
  int rows = 1;       // per block; more than one only where a row is a warp
};

struct ScheduledKernel {
  loops::Kernel kernel;         // every access has one index: the element offset
  bool range_is_inner = false;  // the parallel range walks the only (inner) axis itself
  Sym outer_count;              // independent iterations
  std::string function;  // the generated function that it calls; kernels that do the same share one
  Sym work;              // rough number of scalar operations, all iterations
  std::optional<GpuLaunch> launch = {};  // of a GPU kernel
  // Of a launch group (launch_groups.h): the kernel takes the elements of this product; the kernel
  // is the product of one.
  std::shared_ptr<loops::Matmul> product = nullptr;
  bool in_group = false;
};

ScheduledKernel schedule(const loops::LoopProgram& p, const loops::Kernel& k);

}  // namespace aotc
