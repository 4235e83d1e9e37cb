// How much a result may depend on the order of additions: numbers that are off by a little.
#pragma once
#include "ir/interp/tensor.h"
#include "ir/loops.h"

namespace aotc::interp {

// Some kernel adds or multiplies floating-point numbers up, in an order that it does not fix.
bool depends_on_order(const loops::LoopProgram& program);
// A copy whose floating-point elements differ from t's by up to a few units in the last place of
// their compute type; `rounded`: t was rounded to its own type, of which they may be one unit off.
Tensor jittered(const Tensor& t, uint64_t seed, bool rounded);

}  // namespace aotc::interp
