// Arguments for an op: from the schema's types and argument names, or, where several arguments must
// fit together, from the shapes that the op's family needs.
#pragma once
#include <optional>

#include "pool.h"

namespace aotc::random_graphs {

// Arguments in schema order; nullopt where the pool has nothing that fits. `self`: the first
// argument, if it is chosen already (in-place ops).
std::optional<std::vector<Arg>> draw_arguments(Pool& pool, const OpDef& op, Value* self = nullptr);

// Numbers and words by the argument's type and name; `rank` and `sizes` are those of the first
// tensor.
Arg draw_plain(Pool& pool, const SchemaArg& a, const std::vector<Sym>& sizes);

// The shapes of an op's tensors as letters ("nk km": two matrices with a common k); empty: no such
// op.
std::string_view shape_letters(std::string_view op_name);

}  // namespace aotc::random_graphs
