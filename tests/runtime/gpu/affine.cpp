// Everything on the device:
//   def forward(x, m):                                                     x: [s0, 3], m: [s0]
//       assert all(x != -1)
//       y = x * w + b + self.steps; m += 1
//       self.cache[self.steps % 2] += w; self.steps += 1
//       return y, y.t(), m, x.view(-1), self.steps, self.cache, s0, 7
// w is [1, 2, 3], b zero, steps starts at 5.
#include "device_tools.h"

namespace {
using namespace aotc::test;

// The blob: steps, w.
struct alignas(64) Blob {
  int64_t steps = 5;
  int64_t padding[7] = {};
  float w[3] = {1, 2, 3};
  float more[13] = {};
};
constexpr Blob kBlob;

constexpr AotcSymbol kSymbols[] = {{"s0", 0, 1 << 20}};
constexpr AotcDimension kX[] = {symbol(0), size(3)}, kM[] = {symbol(0)};
constexpr AotcExtent kXStrides[] = {fixed(3), fixed(1)}, kUnit[] = {fixed(1)};
constexpr AotcInput kInputs[] = {
    {"x", AOTC_INPUT_TENSOR, kFloat32, 2, kX, kXStrides, 0, 1, 0, 0, AOTC_GPU},
    {"m", AOTC_INPUT_TENSOR, kFloat32, 1, kM, kUnit, 1, 1, 0, 0, AOTC_GPU}};

constexpr AotcStorage kStorages[] = {
    {8, 0, 1, AOTC_GPU}, {24, -1, 1, AOTC_GPU}, {12, 64, 0, AOTC_GPU}, {12, -1, 0, AOTC_GPU}};
constexpr int64_t kTwoThree[] = {2, 3}, kThreeOne[] = {3, 1}, kThree[] = {3}, kOne[] = {1};
constexpr AotcName kNames[] = {{"steps", 0, kInt64, 0, nullptr, nullptr, 0, 1},
                               {"w", 2, kFloat32, 1, kThree, kOne, 0, 0},
                               {"cache", 1, kFloat32, 2, kTwoThree, kThreeOne, 0, 1},
                               {"row", 1, kFloat32, 1, kThree, kOne, 3, 1},
                               {"b", 3, kFloat32, 1, kThree, kOne, 0, 0}};

// Extents: s0, 3 * s0, bytes of the arena.
constexpr AotcExtent kRows[] = {extent(0), fixed(3)}, kColumns[] = {fixed(3), extent(0)},
                     kColumnStrides[] = {fixed(1), fixed(3)}, kLength[] = {extent(0)},
                     kFlat[] = {extent(1)}, kCacheSizes[] = {fixed(2), fixed(3)},
                     kNone[] = {fixed(0)}, kSame[] = {fixed(1)};
constexpr AotcOutput output(const char* name, AotcOutputKind kind, int32_t index, DLDataType dtype,
                            int32_t ndim, const AotcExtent* sizes, const AotcExtent* strides) {
  return {.name = name,
          .kind = kind,
          .index = index,
          .dtype = dtype,
          .ndim = ndim,
          .sizes = sizes,
          .strides = strides,
          .offset = fixed(0),
          .device = AOTC_GPU};
}
constexpr AotcOutput scalar(const char* name, AotcOutputKind kind, AotcExtent offset,
                            int64_t value) {
  AotcOutput out = output(name, kind, 0, kInt64, 0, nullptr, nullptr);
  out.offset = offset;
  out.constant_int = value;
  out.device = AOTC_HOST;
  return out;
}
constexpr AotcOutput simple(AotcOutput out, const AotcExtent* step, const AotcExtent* start) {
  out.view_step = step;
  out.view_start = start;
  return out;
}
constexpr AotcOutput kOutputs[] = {
    output("y", AOTC_OUTPUT_FRESH, 0, kFloat32, 2, kRows, kXStrides),
    output("y_t", AOTC_OUTPUT_OUTPUT, 0, kFloat32, 2, kColumns, kColumnStrides),
    simple(output("m_out", AOTC_OUTPUT_INPUT, 1, kFloat32, 1, kLength, kUnit), kSame, kNone),
    output("x_flat", AOTC_OUTPUT_INPUT, 0, kFloat32, 1, kFlat, kUnit),
    output("steps_out", AOTC_OUTPUT_STATE, 0, kInt64, 0, nullptr, nullptr),
    output("cache_out", AOTC_OUTPUT_STATE, 2, kFloat32, 2, kCacheSizes, kXStrides),
    scalar("s0", AOTC_OUTPUT_SYMBOL, extent(0), 0),
    scalar("seven", AOTC_OUTPUT_CONSTANT, fixed(0), 7)};

constexpr AotcStep kSteps[] = {{"check_x", "aten._assert_async", "affine.py:3"},
                               {"multiply", "aten.mul.Tensor", "affine.py:4"},
                               {"finish", "aten.add.Tensor", "affine.py:4"},
                               {"store_row", "aten.add_.Tensor", "affine.py:5"}};
constexpr AotcDeviceCheck kChecks[] = {{"x must not be -1 (affine.py:3)", 1}};
constexpr AotcGpu kGpu = {.runtime = &aotc_gpu_runtime,
                          .images = aotc_test_images,
                          .kernels = kKernels,
                          .checks = kChecks,
                          .n_images = AOTC_TEST_IMAGES,
                          .n_kernels = length(kKernels),
                          .n_checks = length(kChecks),
                          .n_scratch_slots = 0,
                          .strided_copy = kStridedCopy,
                          .device_index = 0,
                          .capturable = 1,
                          .arena_bytes = extent(2)};

int32_t compute_extents(AotcFrame* frame) {
  frame->extents[0] = frame->symbols[0];
  frame->extents[1] = 3 * frame->symbols[0];
  frame->extents[2] = 12 * frame->symbols[0];
  return 0;
}

int32_t run(AotcFrame* frame) {
  const int64_t count = frame->extents[1];
  void *const x = frame->inputs[0], *const m = frame->inputs[1];
  void *const steps = frame->storages[0], *const cache = frame->storages[1],
              *const w = frame->storages[2], *const b = frame->storages[3];
  void *const y = frame->outputs[0], *const scratch = frame->device_arena;
  AotcDeviceFailure* const failure = frame->device_failure;
  if (launch(frame, kCheckX, count, x, count, failure)) return 1;
  step_done(frame, 0);
  if (launch(frame, kMultiply, count, x, w, scratch, count, failure)) return 1;
  step_done(frame, 1);
  if (launch(frame, kFinish, count, scratch, b, steps, y, m, count, failure)) return 1;
  step_done(frame, 2);
  if (launch(frame, kStoreRow, 64, w, cache, steps, failure)) return 1;
  step_done(frame, 3);
  return 0;
}

}  // namespace

extern "C" const AotcProgram AOTC_PROGRAM_NAME = {.version = AOTC_PROGRAM_VERSION,
                                                  .struct_size = sizeof(AotcProgram),
                                                  .name = "affine",
                                                  .cpu_level = kBaseline,
                                                  .manifest_json = "{\"name\": \"affine\"}",
                                                  .symbols = kSymbols,
                                                  .inputs = kInputs,
                                                  .outputs = kOutputs,
                                                  .storages = kStorages,
                                                  .names = kNames,
                                                  .steps = kSteps,
                                                  .n_symbols = length(kSymbols),
                                                  .n_extents = 3,
                                                  .n_inputs = length(kInputs),
                                                  .n_outputs = length(kOutputs),
                                                  .n_storages = length(kStorages),
                                                  .n_names = length(kNames),
                                                  .n_steps = length(kSteps),
                                                  .weights = &kBlob,
                                                  .weights_bytes = sizeof(Blob),
                                                  .weights_digest = 0x71cc7fd5db6b4ec5u,
                                                  .arena_bytes = fixed(0),
                                                  .compute_extents = compute_extents,
                                                  .run = run,
                                                  .gpu = &kGpu};
