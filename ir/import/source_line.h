// Where in the user's Python a node comes from.
#pragma once
#include "ir/graph.h"

namespace aotc {

// The innermost frame of the node's stack trace that is not torch's own; empty without a trace.
Source source_of(const pt2::Node& node);

}  // namespace aotc
