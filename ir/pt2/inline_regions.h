// Subgraphs are put in line: those that only say how their nodes are to be run, such as
// `with torch.no_grad()`, and control flow, as markers (ir/control.h) around the nodes.
#pragma once
#include <map>
#include <set>
#include <string>

#include "ir/pt2/exported_program.h"

namespace aotc::pt2 {

// The graph without regions of torch.no_grad, disabled autocast, wrap and activation checkpointing,
// torch.cond, while_loop and map, nested ones too. Names inside that the graph uses already are
// changed; what a region yields keeps its name outside. Ops with side effects lose their token:
// with_effects(token, op, ...) is the op. Other nodes with subgraphs stay, for the
// importer to refuse. Throws UserError where operands or results do not fit their subgraph.
struct FlatGraph {
  Graph graph;
  std::map<std::string, std::string>
      same_as;  // tensors that a region hands through: name -> the name of the value
  std::set<std::string> counters;  // names of integers that count from 0
};
FlatGraph inline_regions(const Graph& graph, const std::string& path);

}  // namespace aotc::pt2
