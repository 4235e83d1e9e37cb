// The strides that kernels are compiled for.
#pragma once
#include <vector>

#include "ir/graph.h"

namespace aotc {

// Strides under which every element has its own address and no gap is left.
bool is_dense_permutation(const std::vector<Sym>& sizes, const std::vector<Sym>& strides);

// Of an input of this type: the exported ones where every element then provably has a place of its
// own, else row-major ones, so that a call can bring any layout. Calls that bring another one are
// copied into this one.
std::vector<Sym> compiled_strides(const TensorType& type, const Assumptions& known);

}  // namespace aotc
