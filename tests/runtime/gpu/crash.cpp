// A program whose kernel fails: def forward(x)   x: [4]
#include "device_tools.h"

namespace {
using namespace aotc::test;

constexpr AotcDimension kX[] = {size(4)};
constexpr AotcExtent kUnit[] = {fixed(1)}, kSizes[] = {fixed(4)};
constexpr AotcInput kInputs[] = {
    {"x", AOTC_INPUT_TENSOR, kFloat32, 1, kX, kUnit, 0, 1, 0, 0, AOTC_GPU}};
constexpr AotcOutput kOutputs[] = {{.name = "y",
                                    .kind = AOTC_OUTPUT_FRESH,
                                    .index = 0,
                                    .dtype = kFloat32,
                                    .ndim = 1,
                                    .sizes = kSizes,
                                    .strides = kUnit,
                                    .offset = fixed(0),
                                    .device = AOTC_GPU}};
constexpr AotcGpu kGpu = {.runtime = &aotc_gpu_runtime,
                          .images = aotc_test_images,
                          .kernels = kKernels,
                          .checks = nullptr,
                          .n_images = AOTC_TEST_IMAGES,
                          .n_kernels = length(kKernels),
                          .n_checks = 0,
                          .n_scratch_slots = 0,
                          .strided_copy = kStridedCopy,
                          .device_index = 0,
                          .capturable = 1,
                          .arena_bytes = fixed(0)};

int32_t run(AotcFrame* frame) { return launch(frame, kCrash, 1, frame->outputs[0]); }

}  // namespace

extern "C" const AotcProgram AOTC_PROGRAM_NAME = {.version = AOTC_PROGRAM_VERSION,
                                                  .struct_size = sizeof(AotcProgram),
                                                  .name = "crash",
                                                  .cpu_level = kBaseline,
                                                  .manifest_json = "{}",
                                                  .inputs = kInputs,
                                                  .outputs = kOutputs,
                                                  .n_inputs = length(kInputs),
                                                  .n_outputs = length(kOutputs),
                                                  .arena_bytes = fixed(0),
                                                  .run = run,
                                                  .gpu = &kGpu};
