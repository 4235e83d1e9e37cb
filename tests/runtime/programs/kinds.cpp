// Every other kind of input and output:
//   def forward(x, n, three, half, yes):                 x: [s0], n: int in 0..9, three == 3, half
//   == 0.5, yes
//       y = x * n; positive = x[x > 0]
//       return y, None, s0 * 2 + n, 7, 0.25, True, y.view(s0, 1)[::1], positive, arange(n)
#include "tools.h"

namespace {
using namespace aotc::test;

constexpr AotcSymbol kSymbols[] = {{"s0", 0, INT64_MAX}, {"n", 0, 9}, {"u0", 0, INT64_MAX}};
constexpr AotcDimension kX[] = {symbol(0)}, kN[] = {symbol(1)};
constexpr AotcExtent kUnit[] = {fixed(1)};
constexpr AotcInput kInputs[] = {
    {"x", AOTC_INPUT_TENSOR, kFloat32, 1, kX, kUnit, 0, 1, 0, 0},
    {"n", AOTC_INPUT_SYMBOL, kInt64, 0, kN, nullptr, 0, 1, 0, 0},
    {"three", AOTC_INPUT_CONSTANT, kInt64, 0, nullptr, nullptr, 0, 0, 0, 3},
    {"half", AOTC_INPUT_CONSTANT, kFloat64, 0, nullptr, nullptr, 0, 0, 0.5, 0},
    {"yes", AOTC_INPUT_CONSTANT, kBool, 0, nullptr, nullptr, 0, 0, 0, 1}};

// Extents: s0, s0 * 2 + n, number of positives (written by run), n.
constexpr AotcExtent kYSizes[] = {extent(0)}, kColumn[] = {extent(0), fixed(1)},
                     kColumnStrides[] = {fixed(1), fixed(1)}, kPositive[] = {extent(2)},
                     kRange[] = {extent(3)};
constexpr AotcOutput plain(const char* name, AotcOutputKind kind, DLDataType dtype) {
  return {.name = name,
          .kind = kind,
          .index = 0,
          .dtype = dtype,
          .ndim = 0,
          .sizes = nullptr,
          .strides = nullptr,
          .offset = fixed(0),
          .dynamic = 0,
          .constant_float = 0,
          .constant_int = 0,
          .view_step = nullptr,
          .view_start = nullptr};
}
constexpr AotcOutput tensor(const char* name, AotcOutputKind kind, DLDataType dtype, int32_t ndim,
                            const AotcExtent* sizes, const AotcExtent* strides, int32_t dynamic) {
  AotcOutput out = plain(name, kind, dtype);
  out.ndim = ndim;
  out.sizes = sizes;
  out.strides = strides;
  out.dynamic = dynamic;
  return out;
}
constexpr AotcOutput with(AotcOutput out, AotcExtent offset, int64_t integer, double number) {
  out.offset = offset;
  out.constant_int = integer;
  out.constant_float = number;
  return out;
}
constexpr AotcOutput kOutputs[] = {
    tensor("y", AOTC_OUTPUT_FRESH, kFloat32, 1, kYSizes, kUnit, 0),
    plain("none", AOTC_OUTPUT_NONE, kFloat32),
    with(plain("sum", AOTC_OUTPUT_SYMBOL, kInt64), extent(1), 0, 0),
    with(plain("seven", AOTC_OUTPUT_CONSTANT, kInt64), fixed(0), 7, 0),
    with(plain("quarter", AOTC_OUTPUT_CONSTANT, kFloat64), fixed(0), 0, 0.25),
    with(plain("true", AOTC_OUTPUT_CONSTANT, kBool), fixed(0), 1, 0),
    tensor("column", AOTC_OUTPUT_OUTPUT, kFloat32, 2, kColumn, kColumnStrides, 0),
    tensor("positive", AOTC_OUTPUT_FRESH, kFloat32, 1, kPositive, kUnit, 1),
    tensor("range", AOTC_OUTPUT_FRESH, kInt64, 1, kRange, kUnit, 0)};

int32_t compute_extents(AotcFrame* frame) {
  const int64_t s0 = frame->symbols[0], n = frame->symbols[1];
  if (s0 > 1000) return failed(frame, "s0 must be at most 1000", s0);
  frame->extents[0] = s0;
  frame->extents[1] = s0 * 2 + n;
  frame->extents[3] = n;
  return 0;
}

int32_t run(AotcFrame* frame) {
  const int64_t s0 = frame->extents[0], n = frame->symbols[1];
  const float* x = floats(frame->inputs[0]);
  int64_t* found = static_cast<int64_t*>(
      frame->obtain_scratch(frame, 0, s0 * static_cast<int64_t>(sizeof(int64_t))));
  if (!found) return 1;
  int64_t count = 0;
  for (int64_t i = 0; i < s0; ++i)
    if (x[i] > 0) found[count++] = i;
  frame->symbols[2] = frame->extents[2] = count;
  float* positive = floats(frame->obtain_output(frame, 7));
  if (!positive) return 1;
  for (int64_t i = 0; i < count; ++i) positive[i] = x[found[i]];
  for (int64_t i = 0; i < s0; ++i) floats(frame->outputs[0])[i] = x[i] * static_cast<float>(n);
  for (int64_t i = 0; i < n; ++i) integers(frame->outputs[8])[i] = i;
  return 0;
}

}  // namespace

extern "C" const AotcProgram AOTC_PROGRAM_NAME = {.version = AOTC_PROGRAM_VERSION,
                                                  .struct_size = sizeof(AotcProgram),
                                                  .name = "kinds",
                                                  .cpu_level = kBaseline,
                                                  .manifest_json = "{\"name\": \"kinds\"}",
                                                  .symbols = kSymbols,
                                                  .inputs = kInputs,
                                                  .outputs = kOutputs,
                                                  .n_symbols = length(kSymbols),
                                                  .n_extents = 4,
                                                  .n_inputs = length(kInputs),
                                                  .n_outputs = length(kOutputs),
                                                  .n_scratch_slots = 1,
                                                  .arena_bytes = fixed(0),
                                                  .compute_extents = compute_extents,
                                                  .run = run};
