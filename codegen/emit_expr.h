// The scalar expression printer shared by the C++ and CUDA emitters.
#pragma once
#include <string>
#include <vector>

#include "ir/loops.h"

namespace aotc {

// `p` applied to operands of these texts and types.
std::string apply_text(Prim p, DType result, const std::vector<std::string>& args,
                       const std::vector<DType>& types);

}  // namespace aotc
