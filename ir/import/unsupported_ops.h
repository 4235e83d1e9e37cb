// Collects every op without a row, so that one message names all of them.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace aotc {

class UnsupportedOps {
 public:
  void add(const pt2::Node& node, const Source& source);
  bool empty() const { return places_.empty(); }
  // One line per op: its places, rows with a near name, and what to do.
  void report(const pt2::ExportedProgram& program, ErrorList& errors) const;

 private:
  std::map<std::string, std::vector<std::string>> places_;  // by target
};

}  // namespace aotc
