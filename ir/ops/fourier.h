// Discrete Fourier transforms as tensor formulas. `dims` are counted from the front; the last of
// them is the one that is halved for real signals. `mode` is torch's: 0 no scaling, 1 by the root
// of the signal's length, 2 by its length. `forward`: the exponent is negative.
#pragma once
#include "ir/ops/tensor_expr.h"

namespace aotc {

using Dims = std::vector<int64_t>;

DType complex_type_of(DType t);
TensorExpr fourier_full(TensorExpr x, const Dims& dims, int64_t mode, bool forward);
TensorExpr fourier_of_real(TensorExpr x, const Dims& dims, int64_t mode, bool forward,
                           bool one_sided);
// `size`: elements of the result along the last dimension.
TensorExpr fourier_to_real(TensorExpr x, const Dims& dims, int64_t mode, bool forward,
                           const Sym& size);

Rows fourier_core_ops();
Rows fourier_ops();

}  // namespace aotc
