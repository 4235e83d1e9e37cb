// Regions that only say how their nodes are to be run, such as `with torch.no_grad()`, are put in
// line.
#pragma once
#include <map>
#include <string>

#include "ir/pt2/exported_program.h"

namespace aotc::pt2 {

// The graph without regions of torch.no_grad, disabled autocast, wrap and activation checkpointing,
// nested ones too. Names inside that the graph uses already are changed; what a region yields keeps
// its name outside. Other nodes with subgraphs stay, for the importer to refuse. Throws UserError
// where a region's operands or results do not fit its subgraph.
struct FlatGraph {
  Graph graph;
  std::map<std::string, std::string>
      same_as;  // tensors that a region hands through: name -> the name of the value
};
FlatGraph inline_regions(const Graph& graph, const std::string& path);

}  // namespace aotc::pt2
