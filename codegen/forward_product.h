// A matrix product that stores its result where a copy would put it.
#pragma once
#include <optional>

#include "ir/loops.h"

namespace aotc::loops {

// The product that stores element by element where `copy` (target[f(i)] = result[g(i)]) puts it;
// nullopt if strides cannot say so without making the product slower. Its offset may use values
// ("%n") of `copy`.
std::optional<Matmul> forward_product(const LoopProgram& p, const Matmul& product,
                                      const Kernel& copy);

}  // namespace aotc::loops
