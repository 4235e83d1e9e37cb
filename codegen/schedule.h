// The end of stage 5: how each kernel's loops run. Accesses become element offsets in their buffer;
// axes that walk memory as one are collapsed; a pointwise kernel keeps one inner axis to vectorize.
#pragma once
#include <optional>

#include "codegen/cuda/gpu_launch.h"
#include "ir/loops.h"

namespace aotc {

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

// `takes_product`: its iterations happen where the elements of a product do (launch_groups.h).
ScheduledKernel schedule(const loops::LoopProgram& p, const loops::Kernel& k,
                         bool takes_product = false);

}  // namespace aotc
