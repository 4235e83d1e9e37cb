// An archive declares the type of every value. Composite ops are expanded, so what they yield is compared with
// the declaration when that is known: an archive that contradicts itself is the user's to repair.
#pragma once
#include <vector>

#include "ir/graph.h"

namespace aotc {

// Throws UserError where a result (nullptr: not made) of expanding `n` has another element type, rank or size
// than `n`'s output declares.
void check_declared(const Node& n, const std::vector<Value*>& results);

}  // namespace aotc
