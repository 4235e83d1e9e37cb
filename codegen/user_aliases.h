// --alias IN=OUT: outputs that the user wants in the storage of an input.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "ir/graph.h"

namespace aotc {

// Ends the graph of stage 1 with a copy_ of each of these outputs into its input, which then is the
// output: the program that also says so itself. Inputs and outputs by name or position. UserError
// with the reason where an output cannot be an input's storage: another shape, type, layout or
// device, a size that depends on data, a second output or mutation of that storage, a view of it
// that is returned.
void alias_outputs(Graph& g, const std::vector<std::pair<std::string, std::string>>& aliases);

// What writes to the input: the op, or "--alias IN=OUT" where the user asked for it.
std::string mutation_text(const Graph& g, const WriteBack& w);

}  // namespace aotc
