// Parts of the level 1 printer that the parser, the verifier and the loop printer use too.
#pragma once
#include <string>

#include "ir/graph.h"
#include "ir/ops/op.h"

namespace aotc::text {

// The graph without a line end after its closing brace; `indent` stands before every line but the
// first.
std::string print_graph(const Graph& g, const std::string& indent);
// One node without its source, as it is printed.
std::string node_text(const Node& n, const std::string& indent = "");
std::string arg_text(const Arg& a, const std::string& indent = "");
// Equal, doubles by their bits.
bool same_arg(const Arg& a, const Arg& b);
// The argument may be left out: it is the schema's default, or None for an optional one without
// default.
bool is_implied(const SchemaArg& schema, const Arg& a);
// Element after the view's last one; its offset if it is empty.
int64_t end_of_view(const StorageRef& s);
int64_t byte_of(int64_t element, DType dtype);

}  // namespace aotc::text
