// Python numbers that meet integer tensors: what fits a type, and bounds that do not.
#pragma once
#include <optional>
#include <utility>

#include "ir/ops/row_helpers.h"

namespace aotc {

// The lowest and the highest number of an integer type; nullopt where int64 holds all that a
// program can write (64 bits), and for other types.
std::optional<std::pair<int64_t, int64_t>> integer_range(DType t);

// Refuses a number argument that eager's conversion to `t` refuses: one that an integer type does
// not hold. Negative numbers that an unsigned type's negation holds wrap.
void require_fits(const Node& n, std::string_view arg, DType t);
// The bounds of a clamp of integers: a lower one above the whole type's range is refused, and an
// upper one below it.
void require_bounds_meet(const Node& n, std::string_view low, std::string_view high, DType t);

// A clamp's bound as an element: one outside of an integer type's range does not bound.
E bound_element(Elements& x, std::string_view arg);

}  // namespace aotc
