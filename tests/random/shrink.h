// Makes a failing program small.
#pragma once
#include <functional>
#include <string>

namespace aotc::random_graphs {

// The smallest program found, by dropping outputs, write-backs, nodes and inputs and by making
// sizes smaller, for which `still_fails` is true. It is asked about valid programs only.
std::string shrink(std::string text, const std::function<bool(const std::string&)>& still_fails);

}  // namespace aotc::random_graphs
