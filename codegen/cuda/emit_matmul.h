// Kernels of kernels.cu that compute matrix products (templates/cuda/matmul.cuh).
#pragma once
#include <string>
#include <vector>

#include "ir/loops.h"

namespace aotc {

// Names of the kernels that a product of these sizes may need; "": never.
struct MatmulKernels {
  std::string tiles, few_rows;
  std::vector<std::string> names() const;
};
MatmulKernels matmul_kernels_for(const loops::Matmul& m, const std::string& name);

// The text of those kernels. `parameters` follow the operands; `result` are statements that do
// something with element `product`, whose place in C is `position`. `checked`: there is a parameter
// `failure`.
std::string matmul_text(const MatmulKernels& kernels, DType dtype, const std::string& parameters,
                        const std::string& result, bool checked);

}  // namespace aotc
