// What an archive demands of its inputs beyond ranges and symbols that agree: sizes that divide,
// differ, compare.
#pragma once
#include <string>
#include <vector>

#include "ir/graph.h"

namespace aotc {

struct ArchiveGuards {
  // In the order in which they can be evaluated: where a condition divides, an earlier one excludes
  // zero.
  std::vector<Guard> checked;
  std::vector<std::string>
      unreadable;  // conditions outside of what Sym can say, e.g. true division
};

// The guards of `program` on the user inputs of `graph`, which is that program after import.
// Conditions that the ranges of the graph's symbols imply are left out.
ArchiveGuards read_guards(const pt2::ExportedProgram& program, const Graph& graph);

}  // namespace aotc
