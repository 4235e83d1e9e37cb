// The text form of both IR levels: what `--emit=STAGE` writes and `--from=STAGE FILE` reads. A
// person can read and edit it; parse(print(x)) prints identically. README of the grammar:
// grammar.md beside this file.
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "ir/graph.h"
#include "ir/loops.h"

namespace aotc {

// Everything but the weights' bytes: symbols, guards, inputs, nodes, write-backs, outputs, aliases.
// Never throws on a graph that breaks its invariants: it is how such a graph is looked at.
std::string print(const Graph& graph);
// The core graph, then buffers, kernels, write-backs and output buffers.
std::string print(const loops::LoopProgram& program);

// Reads what print() writes. `program` of the result is null: the caller attaches the archive that
// its storage numbers refer to. Throws UserError "FILE:LINE:COLUMN: ..." with the offending line.
std::unique_ptr<Graph> parse_graph(std::string_view text, const std::string& file_for_messages);
loops::LoopProgram parse_loops(std::string_view text, const std::string& file_for_messages);

}  // namespace aotc
