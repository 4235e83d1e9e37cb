// Random programs: drawn from the op table, with mutations, views and odd shapes. The same seed and
// options give the same program everywhere.
#pragma once
#include "pool.h"

namespace aotc::random_graphs {

struct MakerOptions {
  int max_nodes = 40;
  std::string ops;  // only ops whose names contain this (views and mutations are added still)
};

// A program of stage `graph`: types verified, eager's rules for in-place ops kept.
std::unique_ptr<Graph> make_graph(uint64_t seed, const MakerOptions& options, DrawLog& log);

}  // namespace aotc::random_graphs
