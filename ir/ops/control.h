// Which rows are control flow markers.
#pragma once
#include "ir/control.h"
#include "ir/ops/op.h"

namespace aotc {

Control control_of(const OpDef& op);
// One entry per node.
std::vector<Control> controls_of(const Graph& g);

}  // namespace aotc
