// The level 1 parser as the loop parser uses it.
#pragma once
#include <memory>

#include "ir/graph.h"
#include "ir/text/reader.h"

namespace aotc::text {

// Reads "graph ... {" to its closing brace.
std::unique_ptr<Graph> parse_graph(Reader& in);

}  // namespace aotc::text
