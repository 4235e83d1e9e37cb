// A convolution's numbers, for the rows that compute it and those that compute its gradients.
#pragma once
#include "ir/ops/tensor_expr.h"

namespace aotc {

struct Convolution {
  Value *input, *weight, *bias;
  Index stride, padding, dilation, output_padding;  // one number per spatial dimension
  bool transposed;
  Sym groups;
  size_t spatial() const { return weight->type.rank() - 2; }
};

// One number stands for all spatial dimensions.
Index per_spatial_dimension(Index v, size_t spatial);

// The windows of the padded input as views: [N, G, C/G, windows..., taps...].
TensorExpr convolution_windows(TensorExpr x, const Convolution& c);

Rows convolution_backward_ops();

}  // namespace aotc
