// Sizes that symbols give only as part of an expression:
//   def forward(x, y, z, n, m):      x: [3 * a - 2], y: [2 * a], z: [10 - b], n: int 1 - b, m: int
//   a * b
//       return x.shape[0] + 100 * y.shape[0] + 10000 * z.shape[0]
#include "tools.h"

namespace {
using namespace aotc::test;

constexpr AotcSymbol kSymbols[] = {{"a", 1, 4}, {"b", INT64_MIN, 7}};
constexpr AotcDimension kX[] = {linear(3, 0, -2)}, kY[] = {linear(2, 0, 0)},
                        kZ[] = {linear(-1, 1, 10)}, kN[] = {linear(-1, 1, 1)},
                        kM[] = {expression(1)};
constexpr AotcExtent kUnit[] = {fixed(1)};
constexpr AotcInput kInputs[] = {{"x", AOTC_INPUT_TENSOR, kFloat32, 1, kX, kUnit, 0, 1, 0, 0},
                                 {"y", AOTC_INPUT_TENSOR, kFloat32, 1, kY, kUnit, 0, 1, 0, 0},
                                 {"z", AOTC_INPUT_TENSOR, kFloat32, 1, kZ, kUnit, 0, 1, 0, 0},
                                 {"n", AOTC_INPUT_SYMBOL, kInt64, 0, kN, nullptr, 0, 1, 0, 0},
                                 {"m", AOTC_INPUT_SYMBOL, kInt64, 0, kM, nullptr, 0, 1, 0, 0}};
constexpr AotcOutput kOutputs[] = {{.name = "sum",
                                    .kind = AOTC_OUTPUT_SYMBOL,
                                    .index = 0,
                                    .dtype = kInt64,
                                    .ndim = 0,
                                    .sizes = nullptr,
                                    .strides = nullptr,
                                    .offset = extent(0)}};

int32_t compute_extents(AotcFrame* frame) {
  const int64_t a = frame->symbols[0], b = frame->symbols[1];
  frame->extents[0] = 3 * a - 2 + 200 * a + 10000 * (10 - b);
  frame->extents[1] = a * b;
  return 0;
}

int32_t run(AotcFrame*) { return 0; }

}  // namespace

extern "C" const AotcProgram AOTC_PROGRAM_NAME = {.version = AOTC_PROGRAM_VERSION,
                                                  .struct_size = sizeof(AotcProgram),
                                                  .name = "linear",
                                                  .cpu_level = kBaseline,
                                                  .manifest_json = "{\"name\": \"linear\"}",
                                                  .symbols = kSymbols,
                                                  .inputs = kInputs,
                                                  .outputs = kOutputs,
                                                  .n_symbols = length(kSymbols),
                                                  .n_extents = 2,
                                                  .n_inputs = length(kInputs),
                                                  .n_outputs = length(kOutputs),
                                                  .arena_bytes = fixed(0),
                                                  .compute_extents = compute_extents,
                                                  .run = run};
