// `.out` forms: the functional op, its results written to tensors that the caller gives.
#pragma once
#include "ir/ops/op.h"

namespace aotc {

// The form of `op` that writes to tensors, if it can have one.
Rows out_forms(const OpDef& op);
// Its name is "aten.op.out" or "aten.op.overload_out".
bool follows_out_rule(const OpDef& op);

}  // namespace aotc
