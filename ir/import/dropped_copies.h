// run_decompositions() drops the copy into a mutated buffer, and with it the cast and the broadcast
// that the copy did: here they are put back.
#pragma once
#include "ir/graph.h"

namespace aotc {

// Afterwards each value that is written back has the element type and sizes of its input wherever a
// copy can give it them, and a node that was made for the copied value reads that. Where both the
// value and its copy fit, a node reads the value, as the archive says.
void restore_dropped_copies(Graph& g);

// Throws UserError where what is written back cannot have the sizes of its input: an op such as
// transpose_ gave the input itself another shape.
void refuse_reshaped_inputs(const Graph& g, const std::string& path);

}  // namespace aotc
