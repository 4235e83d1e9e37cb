// A node's arguments, from the archive's form to the schema's order.
#pragma once
#include <functional>

#include "ir/graph.h"
#include "ir/ops/op.h"

namespace aotc {

// What the names in a node's arguments mean. Both throw UserError for a name that is not defined.
struct NamesInScope {
  std::function<Value*(const std::string&)> tensor;
  std::function<Sym(const std::string&)> symbol;  // Python integers and bools
};

// One entry per argument of the schema, defaults filled in. Throws UserError (without the place)
// for an argument that the op lacks, one that is missing, or one of a kind that does not fit.
std::vector<Arg> import_arguments(const pt2::Node& node, const OpDef& op,
                                  const NamesInScope& names);

}  // namespace aotc
