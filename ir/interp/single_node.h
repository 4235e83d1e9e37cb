// One node of level 1 by itself: lowered to loops and run on concrete operands.
#pragma once
#include "ir/interp/concrete.h"
#include "ir/interp/tensor.h"

namespace aotc::interp {

// The outputs (a default Tensor for symbols); symbols that the node defines are added. `declared`
// tells which symbols without a value it may define. `jitter`: RunOptions. Throws CheckFailed.
std::vector<Tensor> run_single_node(const Node& n, const std::map<const Value*, Tensor>& operands,
                                    const std::map<std::string, SymbolInfo>& declared,
                                    Symbols& symbols, uint64_t jitter = 0);

}  // namespace aotc::interp
