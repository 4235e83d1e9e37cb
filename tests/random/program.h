// An archive in memory, for graphs that come from text: the bytes of their storages.
#pragma once
#include "ir/graph.h"

namespace aotc::random_graphs {

// Gives the graph a program whose storages hold random numbers.
void attach_program(Graph& g, uint64_t seed);

}  // namespace aotc::random_graphs
