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
  // An op that draws random numbers; `remedy` says what to do instead.
  void add_random(const pt2::Node& node, const Source& source, const std::string& remedy);
  bool empty() const { return places_.empty() && random_.empty(); }
  // One line per op: its places, rows with a near name, and what to do.
  void report(const pt2::ExportedProgram& program, ErrorList& errors) const;

 private:
  struct Random {
    std::vector<std::string> places;
    std::string remedy;
  };
  std::map<std::string, std::vector<std::string>> places_;  // by target
  std::map<std::string, Random> random_;
};

}  // namespace aotc
