// What the hand-written programs with a GPU part share: kernels, images, launches.
#pragma once
#include "../programs/tools.h"

extern "C" const AotcDeviceImage aotc_test_images[];
extern "C" const AotcGpuRuntime aotc_gpu_runtime;

namespace aotc::test {

enum Kernel : int32_t {
  kStridedCopy,
  kCheckX,
  kMultiply,
  kFinish,
  kStoreRow,
  kAddOne,
  kKeepPositive,
  kCrash
};
constexpr const char* kKernels[] = {"aotc_strided_copy", "check_x", "multiply",      "finish",
                                    "store_row",         "add_one", "keep_positive", "crash"};

// Arguments by address, as launches want them.
template <class... T>
int32_t launch(AotcFrame* frame, Kernel kernel, int64_t threads, T... arguments) {
  void* list[] = {&arguments...};
  const uint32_t blocks = static_cast<uint32_t>((threads + 63) / 64);
  const AotcLaunch what = {kernel, {blocks, 1, 1}, {64, 1, 1}, 0, list};
  return frame->launch(frame, &what);
}

inline void step_done(AotcFrame* frame, int32_t step) {
  if (frame->step_done) frame->step_done(frame, step);
}

}  // namespace aotc::test
