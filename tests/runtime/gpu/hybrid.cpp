// Host and device in turns:
//   def forward(a, b, total):                    a: [s0] on the host, b: [s0] on the device
//       d = a.cuda() + 1                          total: [1] on the host, mutated
//       kept = (b[b > 0])                          (on the device, as many as there are)
//       total += d.cpu().sum()
//       return d, kept, d.cpu() * 2, total
// With AOTC_TEST_STRAIGHT nothing depends on data, and nothing waits:
//       d = a.cuda() + 1; return d, d.cpu()
#include "device_tools.h"

namespace {
using namespace aotc::test;

constexpr AotcSymbol kSymbols[] = {{"s0", 0, 1 << 22}, {"u0", 0, INT64_MAX}};
constexpr AotcDimension kA[] = {symbol(0)}, kTotal[] = {size(1)};
constexpr AotcExtent kUnit[] = {fixed(1)}, kSizes[] = {extent(0)}, kKept[] = {extent(1)},
                     kOneSize[] = {fixed(1)}, kNone[] = {fixed(0)};
constexpr AotcInput kInputs[] = {
    {"a", AOTC_INPUT_TENSOR, kFloat32, 1, kA, kUnit, 0, 1, 0, 0, AOTC_HOST},
#ifndef AOTC_TEST_STRAIGHT
    {"b", AOTC_INPUT_TENSOR, kFloat32, 1, kA, kUnit, 0, 1, 0, 0, AOTC_GPU},
    {"total", AOTC_INPUT_TENSOR, kFloat32, 1, kTotal, kUnit, 1, 1, 0, 0, AOTC_HOST},
#endif
};
constexpr AotcOutput output(const char* name, AotcDevice device, const AotcExtent* sizes,
                            int32_t dynamic) {
  return {.name = name,
          .kind = AOTC_OUTPUT_FRESH,
          .index = 0,
          .dtype = kFloat32,
          .ndim = 1,
          .sizes = sizes,
          .strides = kUnit,
          .offset = fixed(0),
          .dynamic = dynamic,
          .device = device};
}
#ifndef AOTC_TEST_STRAIGHT
constexpr AotcOutput total_out() {
  AotcOutput out = output("total_out", AOTC_HOST, kOneSize, 0);
  out.kind = AOTC_OUTPUT_INPUT;
  out.index = 2;
  out.view_step = kOneSize;
  out.view_start = kNone;
  return out;
}
#endif
constexpr AotcOutput kOutputs[] = {
    output("d", AOTC_GPU, kSizes, 0),
#ifndef AOTC_TEST_STRAIGHT
    output("kept", AOTC_GPU, kKept, 1),
    output("doubled", AOTC_HOST, kSizes, 0),
    total_out(),
#else
    output("d_cpu", AOTC_HOST, kSizes, 0),
#endif
};

constexpr AotcStep kSteps[] = {{"upload", "aten._to_copy", "hybrid.py:2"},
                               {"add_one", "aten.add.Tensor", "hybrid.py:2"},
                               {"download", "aten._to_copy", "hybrid.py:4"},
                               {"total", "aten.sum", "hybrid.py:4"}};
constexpr AotcGpu kGpu = {.runtime = &aotc_gpu_runtime,
                          .images = aotc_test_images,
                          .kernels = kKernels,
                          .checks = nullptr,
                          .n_images = AOTC_TEST_IMAGES,
                          .n_kernels = length(kKernels),
                          .n_checks = 0,
                          .n_scratch_slots = 1,
                          .strided_copy = kStridedCopy,
                          .device_index = AOTC_TEST_DEVICE,
#ifdef AOTC_TEST_STRAIGHT
                          .capturable = 1,
#else
                          .capturable = 0,
#endif
                          .arena_bytes = extent(2)};

// Extents: s0, u0, bytes of each arena.
int32_t compute_extents(AotcFrame* frame) {
  frame->extents[0] = frame->symbols[0];
  frame->extents[2] = 4 * frame->symbols[0] + 256;
  return 0;
}

#ifndef AOTC_TEST_STRAIGHT
int32_t obtain_kept(AotcFrame* frame, int64_t count) {
  int64_t* const number = integers(frame->arena);
  char* const found = static_cast<char*>(frame->obtain_device_scratch(frame, 0, 4 * count + 8));
  void* const n = frame->device_arena;
  if (!found) return 1;
  if (launch(frame, kKeepPositive, 1, frame->inputs[1], static_cast<void*>(found), n, count))
    return 1;
  if (frame->transfer(frame, number, AOTC_HOST, n, AOTC_GPU, 8)) return 1;
  if (frame->wait(frame)) return 1;
  frame->symbols[1] = frame->extents[1] = *number;
  void* const kept = frame->obtain_output(frame, 1);
  if (!kept) return 1;
  return frame->transfer(frame, kept, AOTC_GPU, found, AOTC_GPU, 4 * *number);
}
#endif

int32_t run(AotcFrame* frame) {
  const int64_t count = frame->extents[0], bytes = 4 * count;
  void *const d = frame->outputs[0], *const on_device = frame->device_arena;
  if (frame->transfer(frame, on_device, AOTC_GPU, frame->inputs[0], AOTC_HOST, bytes)) return 1;
  step_done(frame, 0);
  if (launch(frame, kAddOne, count, on_device, d, count)) return 1;
  step_done(frame, 1);
#ifdef AOTC_TEST_STRAIGHT
  if (frame->transfer(frame, frame->outputs[1], AOTC_HOST, d, AOTC_GPU, bytes)) return 1;
  step_done(frame, 2);
#else
  if (obtain_kept(frame, count)) return 1;
  float* const back = floats(frame->arena);
  if (frame->transfer(frame, back, AOTC_HOST, d, AOTC_GPU, bytes)) return 1;
  if (frame->wait(frame)) return 1;
  step_done(frame, 2);
  if (count > 0 && back[0] == 0) return failed(frame, "a[0] must not be -1", -1);
  for (int64_t i = 0; i < count; ++i) floats(frame->inputs[2])[0] += back[i];
  for (int64_t i = 0; i < count; ++i) floats(frame->outputs[2])[i] = back[i] * 2;
#endif
  step_done(frame, 3);
  return 0;
}

}  // namespace

extern "C" const AotcProgram AOTC_PROGRAM_NAME = {.version = AOTC_PROGRAM_VERSION,
                                                  .struct_size = sizeof(AotcProgram),
                                                  .name = "hybrid",
                                                  .cpu_level = kBaseline,
                                                  .manifest_json = "{}",
                                                  .symbols = kSymbols,
                                                  .inputs = kInputs,
                                                  .outputs = kOutputs,
                                                  .steps = kSteps,
                                                  .n_symbols = length(kSymbols),
                                                  .n_extents = 3,
                                                  .n_inputs = length(kInputs),
                                                  .n_outputs = length(kOutputs),
                                                  .n_steps = length(kSteps),
                                                  .arena_bytes = extent(2),
                                                  .compute_extents = compute_extents,
                                                  .run = run,
                                                  .gpu = &kGpu};
