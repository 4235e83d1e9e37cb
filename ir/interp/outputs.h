// Outputs that no node or kernel computes: scalars, None, and views of inputs' storages.
#pragma once
#include "ir/interp/call.h"

namespace aotc::interp {

// Output i of the graph by its signature: an alias is the view of its input's tensor as it is now
// (a copy of what it sees, where no strides express it). Throws InternalError for a tensor output
// without alias.
RunValue signature_output(const Call& call, int i);
// The alias entry of output i, or nullptr.
const OutputAlias* alias_of_output(const Graph& g, int i);
// The view as level 2 says it; both of its forms must name the same elements.
Tensor view_output(const Call& call, const loops::OutputView& v);
RunValue scalar_output(const Output& o, const Symbols& symbols);

}  // namespace aotc::interp
