// def forward(x): return x * x + self.steps; self.steps += 1       x: [s0], computed by the
// session's threads
#include "tools.h"

namespace {
using namespace aotc::test;

constexpr AotcSymbol kSymbols[] = {{"s0", 0, INT64_MAX}};
constexpr AotcDimension kX[] = {symbol(0)};
constexpr AotcExtent kUnit[] = {fixed(1)}, kSizes[] = {extent(0)};
constexpr AotcInput kInputs[] = {{"x", AOTC_INPUT_TENSOR, kFloat32, 1, kX, kUnit, 0, 1, 0, 0}};
constexpr AotcStorage kStorages[] = {{4, -1, 1}};
constexpr AotcName kNames[] = {{"steps", 0, kFloat32, 0, nullptr, nullptr, 0, 1}};
constexpr AotcOutput kOutputs[] = {{.name = "y",
                                    .kind = AOTC_OUTPUT_FRESH,
                                    .index = 0,
                                    .dtype = kFloat32,
                                    .ndim = 1,
                                    .sizes = kSizes,
                                    .strides = kUnit,
                                    .offset = fixed(0)}};

struct Arguments {
  const float* x;
  float* y;
  float steps;
};

void square(void* argument, int64_t begin, int64_t end) {
  const Arguments* a = static_cast<const Arguments*>(argument);
  for (int64_t i = begin; i < end; ++i) a->y[i] = a->x[i] * a->x[i] + a->steps;
}

int32_t compute_extents(AotcFrame* frame) {
  frame->extents[0] = frame->symbols[0];
  return 0;
}

int32_t run(AotcFrame* frame) {
  float* steps = floats(frame->storages[0]);
  Arguments arguments = {floats(frame->inputs[0]), floats(frame->outputs[0]), *steps};
  frame->parallel_for(frame->parallel_context, frame->symbols[0], 64, square, &arguments);
  *steps += 1;
  return 0;
}

}  // namespace

extern "C" const AotcProgram AOTC_PROGRAM_NAME = {.version = AOTC_PROGRAM_VERSION,
                                                  .struct_size = sizeof(AotcProgram),
                                                  .name = "parallel",
                                                  .cpu_level = kBaseline,
                                                  .manifest_json = "{}",
                                                  .symbols = kSymbols,
                                                  .inputs = kInputs,
                                                  .outputs = kOutputs,
                                                  .storages = kStorages,
                                                  .names = kNames,
                                                  .n_symbols = length(kSymbols),
                                                  .n_extents = 1,
                                                  .n_inputs = length(kInputs),
                                                  .n_outputs = length(kOutputs),
                                                  .n_storages = length(kStorages),
                                                  .n_names = length(kNames),
                                                  .arena_bytes = fixed(0),
                                                  .compute_extents = compute_extents,
                                                  .run = run};
