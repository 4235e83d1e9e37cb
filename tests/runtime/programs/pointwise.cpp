// def forward(x, w): assert w[0] >= 0; y = x * w[:, None]; x.add_(1); return y       x: [s0, 4], w:
// [s0]
#include "tools.h"

namespace {
using namespace aotc::test;

constexpr AotcSymbol kSymbols[] = {{"s0", 0, 64}};
constexpr AotcDimension kX[] = {symbol(0), size(4)}, kW[] = {symbol(0)};
constexpr AotcExtent kXStrides[] = {fixed(4), fixed(1)}, kWStrides[] = {fixed(1)};
constexpr AotcExtent kYSizes[] = {extent(0), fixed(4)};
constexpr AotcInput kInputs[] = {{"x", AOTC_INPUT_TENSOR, kFloat32, 2, kX, kXStrides, 1, 1, 0, 0},
                                 {"w", AOTC_INPUT_TENSOR, kFloat32, 1, kW, kWStrides, 0, 1, 0, 0}};
constexpr AotcOutput kOutputs[] = {{.name = "y",
                                    .kind = AOTC_OUTPUT_FRESH,
                                    .index = 0,
                                    .dtype = kFloat32,
                                    .ndim = 2,
                                    .sizes = kYSizes,
                                    .strides = kXStrides,
                                    .offset = fixed(0)}};
constexpr AotcAliasedIo kAliased[] = {{-1, 0, -1, "mutation", 1, "nothing reads x later"}};

int32_t compute_extents(AotcFrame* frame) {
  frame->extents[0] = frame->symbols[0];
  frame->extents[1] = frame->symbols[0] * 16;
  return 0;
}

int32_t run(AotcFrame* frame) {
  float *x = floats(frame->inputs[0]), *w = floats(frame->inputs[1]),
        *y = floats(frame->outputs[0]);
  float* scratch = floats(frame->arena);
  const int64_t rows = frame->extents[0];
  if (rows > 0 && w[0] < 0)
    return failed(frame, "w[0] must not be negative", static_cast<int64_t>(w[0]));
  for (int64_t i = 0; i < rows * 4; ++i) scratch[i] = x[i] * w[i / 4];
  for (int64_t i = 0; i < rows * 4; ++i) y[i] = scratch[i];
  for (int64_t i = 0; i < rows * 4; ++i) x[i] += 1;
  return 0;
}

}  // namespace

extern "C" const AotcProgram AOTC_PROGRAM_NAME = {.version = AOTC_PROGRAM_VERSION,
                                                  .struct_size = sizeof(AotcProgram),
                                                  .name = "pointwise",
                                                  .cpu_level = kBaseline,
                                                  .manifest_json = "{\"name\": \"pointwise\"}",
                                                  .symbols = kSymbols,
                                                  .inputs = kInputs,
                                                  .outputs = kOutputs,
                                                  .aliased_io = kAliased,
                                                  .n_symbols = length(kSymbols),
                                                  .n_extents = 2,
                                                  .n_inputs = length(kInputs),
                                                  .n_outputs = length(kOutputs),
                                                  .n_aliased_io = length(kAliased),
                                                  .arena_bytes = extent(1),
                                                  .compute_extents = compute_extents,
                                                  .run = run};
