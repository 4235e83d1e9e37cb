// An archive declares the type of every value. Composite ops are expanded, so what they yield is
// compared with the declaration when that is known: an archive that contradicts itself is the
// user's to repair.
#pragma once
#include <set>
#include <vector>

#include "ir/graph.h"

namespace aotc {

// The values that some node, output or write-back of `g` reads.
std::set<const Value*> used_values(const Graph& g);
// Throws UserError where a result (nullptr: not made) of expanding `n` has another element type,
// rank or size than `n`'s output declares. Outputs that are not in `used` may differ: torch
// declares some of those loosely.
void check_declared(const Node& n, const std::vector<Value*>& results,
                    const std::set<const Value*>& used);

// Throws UserError where the element type of a result shows that the op knows no complex numbers.
void check_complex(const Node& n, const TensorType& declared, const TensorType& found);

}  // namespace aotc
