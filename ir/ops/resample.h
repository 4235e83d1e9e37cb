// What torch's spellings of resizing ask for.
#pragma once
#include "ir/ops/tensor_expr.h"

namespace aotc {

struct ResizeTarget {
  std::vector<Sym> sizes;      // of the spatial dimensions
  std::vector<double> scales;  // 0: not given
};

// The arguments output_size and scale_factors, or scales_d, scales_h, scales_w, of an op on `x`
// with that many spatial dimensions: sizes as given, or those of x times the factors, rounded down.
ResizeTarget resize_target(Rewriter& r, TensorExpr x, size_t spatial);

}  // namespace aotc
