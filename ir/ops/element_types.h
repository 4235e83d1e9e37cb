// Which element types an op compiles for, found by trying.
#pragma once
#include <vector>

#include "ir/ops/op.h"

namespace aotc {

// The types of the first tensor argument with which a plain call of the op becomes kernels, in
// torch's order. Empty where no plain call was found or the op has no tensor argument.
std::vector<DType> element_types(const OpDef& op);

}  // namespace aotc
