// Whether a computed array is the expected one, within what its element type can promise.
#pragma once
#include <string>

#include "codegen/cli/array_file.h"

namespace aotc::cli {

// Empty when they agree; otherwise what differs: "max abs diff 0.01 at [0, 2]: 0.5, expected 0.49;
// 3 of 12 elements differ". Integers and bool agree exactly. A float agrees when it is as near as
// one rule per element type says, relative to the element and to the typical magnitude of the
// expected tensor (sums lose the accuracy of their largest terms). NaN agrees with NaN, an infinity
// with itself only. `inputs_scale`: typical magnitude of what the program computes from (results of
// cancelling sums have the error of their operands); 0 when not known.
std::string difference(const Array& found, const Array& expected, double inputs_scale = 0);

// The magnitude that an absolute tolerance refers to: the largest finite one, but not more than 16
// times the median of those that are not zero, so that a few huge elements do not excuse errors in
// the others.
double typical_magnitude(const Array& array);

}  // namespace aotc::cli
