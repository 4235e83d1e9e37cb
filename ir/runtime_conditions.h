// Conditions of ops that only a call decides: sizes that must agree, indices that must be inside.
#pragma once
#include "ir/graph.h"

namespace aotc {

// What must hold for `s` to have a value, as far as `known` does not imply it: divisors are not 0,
// integers hold the floats that become some. Conditions of inner operations come first.
std::vector<Sym> operation_conditions(const Sym& s, const Assumptions& known);

// Adds what the nodes demand and the ranges of the symbols do not imply, in stage 1 for the ops of
// the program and in stage 3 for those that they consist of: as
// guards where the inputs decide and the node always runs, as aten._assert_scalar before the node
// otherwise.
void add_runtime_conditions(Graph& g);

// The call must satisfy `condition` for node n: a guard where the inputs decide and the node always
// runs, an assertion in front of `before` otherwise. `why` (may be empty) is told with it.
void require_in_call(Graph& g, std::list<std::unique_ptr<Node>>::iterator before, const Node& n,
                     const Sym& condition, const std::string& why, bool in_block);

}  // namespace aotc
