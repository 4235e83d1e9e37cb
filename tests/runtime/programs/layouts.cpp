// Layouts that are not contiguous, two mutated inputs, and sizes that are expressions:
//   def forward(window, spread, a, b, c):
//       a.add_(c); b.copy_(c * 2); window.mul_(10)
//       return window.sum(1) + spread.sum(1)
// window: [2, 3] with strides [10, 1]; spread: [2, 3] expanded, strides [0, 1]; a, c: [s0]; b:
// [s0], written without being read; d: [2 * s0], never looked at. z: complex128 [2] returned
// negated.
#include "tools.h"

namespace {
using namespace aotc::test;

constexpr DLDataType kComplex128 = {kDLComplex, 128, 1};
constexpr AotcSymbol kSymbols[] = {{"s0", 2, 100}};
constexpr AotcDimension kMatrix[] = {size(2), size(3)}, kVector[] = {symbol(0)},
                        kDouble[] = {expression(0)}, kPair[] = {size(2)};
constexpr AotcExtent kWindow[] = {fixed(10), fixed(1)}, kSpread[] = {fixed(0), fixed(1)},
                     kUnit[] = {fixed(1)}, kTwo[] = {fixed(2)};
constexpr AotcInput kInputs[] = {
    {"window", AOTC_INPUT_TENSOR, kFloat32, 2, kMatrix, kWindow, 1, 1, 0, 0},
    {"spread", AOTC_INPUT_TENSOR, kFloat32, 2, kMatrix, kSpread, 0, 1, 0, 0},
    {"a", AOTC_INPUT_TENSOR, kFloat32, 1, kVector, kUnit, 1, 1, 0, 0},
    {"b", AOTC_INPUT_TENSOR, kFloat32, 1, kVector, kUnit, 1, 0, 0, 0},
    {"c", AOTC_INPUT_TENSOR, kFloat32, 1, kVector, kUnit, 0, 1, 0, 0},
    {"d", AOTC_INPUT_TENSOR, kFloat32, 1, kDouble, kUnit, 0, 0, 0, 0},
    {"z", AOTC_INPUT_TENSOR, kComplex128, 1, kPair, kUnit, 0, 1, 0, 0}};
constexpr AotcOutput kOutputs[] = {{.name = "sum",
                                    .kind = AOTC_OUTPUT_FRESH,
                                    .index = 0,
                                    .dtype = kFloat32,
                                    .ndim = 1,
                                    .sizes = kTwo,
                                    .strides = kUnit,
                                    .offset = fixed(0)},
                                   {.name = "negated",
                                    .kind = AOTC_OUTPUT_FRESH,
                                    .index = 0,
                                    .dtype = kComplex128,
                                    .ndim = 1,
                                    .sizes = kTwo,
                                    .strides = kUnit,
                                    .offset = fixed(0)}};

int32_t compute_extents(AotcFrame* frame) {
  frame->extents[0] = 2 * frame->symbols[0];
  return 0;
}

int32_t run(AotcFrame* frame) {
  float *window = floats(frame->inputs[0]), *a = floats(frame->inputs[2]),
        *b = floats(frame->inputs[3]);
  const float *spread = floats(frame->inputs[1]), *c = floats(frame->inputs[4]);
  for (int64_t i = 0; i < frame->symbols[0]; ++i) a[i] += c[i];
  for (int64_t i = 0; i < frame->symbols[0]; ++i) b[i] = c[i] * 2;
  for (int i = 0; i < 4; ++i)
    static_cast<double*>(frame->outputs[1])[i] = -static_cast<const double*>(frame->inputs[6])[i];
  for (int row = 0; row < 2; ++row) {
    float sum = 0;
    for (int i = 0; i < 3; ++i) sum += (window[10 * row + i] *= 10) + spread[i];
    floats(frame->outputs[0])[row] = sum;
  }
  return 0;
}

}  // namespace

extern "C" const AotcProgram AOTC_PROGRAM_NAME = {.version = AOTC_PROGRAM_VERSION,
                                                  .struct_size = sizeof(AotcProgram),
                                                  .name = "layouts",
                                                  .cpu_level = kBaseline,
                                                  .manifest_json = "{}",
                                                  .symbols = kSymbols,
                                                  .inputs = kInputs,
                                                  .outputs = kOutputs,
                                                  .n_symbols = length(kSymbols),
                                                  .n_extents = 1,
                                                  .n_inputs = length(kInputs),
                                                  .n_outputs = length(kOutputs),
                                                  .arena_bytes = fixed(0),
                                                  .compute_extents = compute_extents,
                                                  .run = run};
