// Three steps, as generated code has them:
//   def forward(x): y = x + 1; assert x[0] != -1; return y                            x: [3]
// The table has texts that JSON must escape, and bytes that are no UTF-8.
#include "tools.h"

namespace {
using namespace aotc::test;

constexpr AotcDimension kX[] = {size(3)};
constexpr AotcExtent kSizes[] = {fixed(3)}, kUnit[] = {fixed(1)};
constexpr AotcInput kInputs[] = {{"x", AOTC_INPUT_TENSOR, kFloat32, 1, kX, kUnit, 0, 1, 0, 0}};
constexpr AotcOutput kOutputs[] = {{.name = "y",
                                    .kind = AOTC_OUTPUT_FRESH,
                                    .index = 0,
                                    .dtype = kFloat32,
                                    .ndim = 1,
                                    .sizes = kSizes,
                                    .strides = kUnit,
                                    .offset = fixed(0)}};
constexpr AotcStep kSteps[] = {
    {"add \"one\"\\\n\x01", "aten.add.Scalar, aten.clone", "C:\\models\\m.py:3"},
    {"check", "aten._assert_scalar", "/h\xc3\xb6me/\xf0\x9f\x98\x80.py:4, \xff\xed\xa0\x80\xc3"},
    {"finish", "", ""}};

inline void step_done(AotcFrame* frame, int32_t step) {
  if (frame->step_done) frame->step_done(frame, step);
}

int32_t run(AotcFrame* frame) {
  const float* x = floats(frame->inputs[0]);
  float* y = floats(frame->outputs[0]);
  for (int i = 0; i < 3; ++i) y[i] = x[i];
  step_done(frame, 0);
  if (x[0] == -1) return failed(frame, "x[0] must not be -1", -1);
  step_done(frame, 1);
  for (int i = 0; i < 3; ++i) y[i] += 1;
  step_done(frame, 2);
  step_done(frame, 3);  // there is no such step
  return 0;
}

}  // namespace

extern "C" const AotcProgram AOTC_PROGRAM_NAME = {.version = AOTC_PROGRAM_VERSION,
                                                  .struct_size = sizeof(AotcProgram),
                                                  .name = "steps",
                                                  .cpu_level = kBaseline,
                                                  .manifest_json = "{\"name\": \"steps\"}",
                                                  .inputs = kInputs,
                                                  .outputs = kOutputs,
                                                  .steps = kSteps,
                                                  .n_inputs = length(kInputs),
                                                  .n_outputs = length(kOutputs),
                                                  .n_steps = length(kSteps),
                                                  .arena_bytes = fixed(0),
                                                  .run = run};
