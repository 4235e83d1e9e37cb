// Outputs that point into inputs:
//   def forward(x, m):                                                                x: [4, s0],
//   m: [2, 3]
//       m.mul_(2)
//       return x.t(), x[1:3, ::2], x.view(-1), m, x[2].expand(3, s0), x, m[1, 2],
//              m.diagonal()
#include "tools.h"

namespace {
using namespace aotc::test;

constexpr AotcSymbol kSymbols[] = {{"s0", 0, INT64_MAX}};
constexpr AotcDimension kX[] = {size(4), symbol(0)}, kM[] = {size(2), size(3)};
constexpr AotcExtent kXStrides[] = {extent(0), fixed(1)}, kMStrides[] = {fixed(3), fixed(1)};
constexpr AotcInput kInputs[] = {{"x", AOTC_INPUT_TENSOR, kFloat32, 2, kX, kXStrides, 0, 1, 0, 0},
                                 {"m", AOTC_INPUT_TENSOR, kFloat32, 2, kM, kMStrides, 1, 1, 0, 0}};

// Extents: s0, ceil(s0 / 2), 4 * s0, 2 * s0.
constexpr AotcExtent kTransposed[] = {extent(0), fixed(4)},
                     kTransposedStrides[] = {fixed(1), extent(0)};
constexpr AotcExtent kSlice[] = {fixed(2), extent(1)}, kSliceStrides[] = {extent(0), fixed(2)};
constexpr AotcExtent kFlat[] = {extent(2)}, kFlatStrides[] = {fixed(1)};
constexpr AotcExtent kMSizes[] = {fixed(2), fixed(3)};
constexpr AotcExtent kExpanded[] = {fixed(3), extent(0)}, kExpandedStrides[] = {fixed(0), fixed(1)};
constexpr AotcExtent kXSizes[] = {fixed(4), extent(0)};
constexpr AotcExtent kTwo[] = {fixed(2)}, kFour[] = {fixed(4)};
constexpr AotcExtent kZeros[] = {fixed(0), fixed(0)}, kStart10[] = {fixed(1), fixed(0)},
                     kStart20[] = {fixed(2), fixed(0)}, kStart12[] = {fixed(1), fixed(2)};
// Steps of each dimension of the output along the two of the input.
constexpr AotcExtent kSame[] = {fixed(1), fixed(0), fixed(0), fixed(1)},
                     kSwapped[] = {fixed(0), fixed(1), fixed(1), fixed(0)},
                     kEveryOther[] = {fixed(1), fixed(0), fixed(0), fixed(2)},
                     kRepeated[] = {fixed(0), fixed(0), fixed(0), fixed(1)},
                     kDiagonal[] = {fixed(1), fixed(1)};

constexpr AotcOutput view(const char* name, int32_t input, int32_t ndim, const AotcExtent* sizes,
                          const AotcExtent* strides, AotcExtent offset, const AotcExtent* step,
                          const AotcExtent* start) {
  return {.name = name,
          .kind = AOTC_OUTPUT_INPUT,
          .index = input,
          .dtype = kFloat32,
          .ndim = ndim,
          .sizes = sizes,
          .strides = strides,
          .offset = offset,
          .dynamic = 0,
          .constant_float = 0,
          .constant_int = 0,
          .view_step = step,
          .view_start = start};
}
constexpr AotcOutput kOutputs[] = {
    view("t", 0, 2, kTransposed, kTransposedStrides, fixed(0), kSwapped, kZeros),
    view("slice", 0, 2, kSlice, kSliceStrides, extent(0), kEveryOther, kStart10),
#ifndef AOTC_TEST_NO_FLAT
    view("flat", 0, 1, kFlat, kFlatStrides, fixed(0), nullptr, nullptr),
#endif
    view("m_out", 1, 2, kMSizes, kMStrides, fixed(0), kSame, kZeros),
    view("expanded", 0, 2, kExpanded, kExpandedStrides, extent(3), kRepeated, kStart20),
    view("x_out", 0, 2, kXSizes, kXStrides, fixed(0), kSame, kZeros),
    view("last", 1, 0, nullptr, nullptr, fixed(5), nullptr, kStart12),
    view("diagonal", 1, 1, kTwo, kFour, fixed(0), kDiagonal, kZeros)};

int32_t compute_extents(AotcFrame* frame) {
  const int64_t s0 = frame->symbols[0];
  if (s0 > (int64_t{1} << 60)) return failed(frame, "4 * s0 must fit in 63 bits", s0);
  frame->extents[0] = s0;
  frame->extents[1] = (s0 + 1) / 2;
  frame->extents[2] = 4 * s0;
  frame->extents[3] = 2 * s0;
  return 0;
}

int32_t run(AotcFrame* frame) {
  for (int i = 0; i < 6; ++i) floats(frame->inputs[1])[i] *= 2;
  return 0;
}

}  // namespace

extern "C" const AotcProgram AOTC_PROGRAM_NAME = {.version = AOTC_PROGRAM_VERSION,
                                                  .struct_size = sizeof(AotcProgram),
                                                  .name = "views",
                                                  .cpu_level = kBaseline,
                                                  .manifest_json = "{}",
                                                  .symbols = kSymbols,
                                                  .inputs = kInputs,
                                                  .outputs = kOutputs,
                                                  .n_symbols = length(kSymbols),
                                                  .n_extents = 4,
                                                  .n_inputs = length(kInputs),
                                                  .n_outputs = length(kOutputs),
                                                  .arena_bytes = fixed(0),
                                                  .compute_extents = compute_extents,
                                                  .run = run};
