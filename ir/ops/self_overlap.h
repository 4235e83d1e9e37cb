// Whether several elements of a tensor share memory. Writing one of those depends on the order of
// the elements, which nothing defines.
#pragma once
#include "ir/ops/shape_math.h"

namespace aotc {

// Not known to be without shared elements. Sizes and strides that only a call knows become a
// condition of the call (open_conditions.h). Strides count elements.
bool may_overlap_itself(const Index& sizes, const Index& strides);

}  // namespace aotc
