// The tables of a program's GPU part agree with each other.
#include "../error.h"
#include "gpu_runtime.h"

namespace aotc::model::cuda {
namespace {

bool is_extent(const AotcProgram* program, AotcExtent extent) {
  return extent.extent < program->n_extents;
}

bool are_images_valid(const AotcGpu& gpu) {
  if (gpu.n_images < 0 || (gpu.n_images && !gpu.images)) return false;
  for (int32_t i = 0; i < gpu.n_images; ++i) {
    const AotcDeviceImage& image = gpu.images[i];
    if (!image.arch || !image.kind || !image.data || image.bytes <= 0) return false;
  }
  return true;
}

bool is_kernel_table_valid(const AotcGpu& gpu) {
  if (gpu.n_kernels < 1 || !gpu.kernels || gpu.strided_copy < 0 ||
      gpu.strided_copy >= gpu.n_kernels)
    return false;
  for (int32_t k = 0; k < gpu.n_kernels; ++k)
    if (!gpu.kernels[k]) return false;
  return true;
}

// Scalars are read and written by the host.
bool are_scalars_on_host(const AotcProgram* program) {
  for (int32_t i = 0; i < program->n_inputs; ++i)
    if (program->inputs[i].kind != AOTC_INPUT_TENSOR && program->inputs[i].device != AOTC_HOST)
      return false;
  for (int32_t i = 0; i < program->n_outputs; ++i) {
    const AotcOutput& output = program->outputs[i];
    const bool is_scalar = output.kind == AOTC_OUTPUT_SYMBOL || output.kind == AOTC_OUTPUT_CONSTANT;
    if (is_scalar && output.device != AOTC_HOST) return false;
  }
  return true;
}

}  // namespace

AotcStatus validate_tables(const AotcProgram* program) {
  const AotcGpu& gpu = *program->gpu;
  const bool ok = gpu.n_scratch_slots >= 0 && gpu.n_checks >= 0 &&
                  (gpu.checks || gpu.n_checks == 0) && gpu.device_index >= 0 &&
                  are_images_valid(gpu) && is_kernel_table_valid(gpu) &&
                  is_extent(program, gpu.arena_bytes) && are_scalars_on_host(program);
  return ok ? AOTC_OK
            : fail(AOTC_BAD_PACKAGE,
                   "the tables of the GPU part of program '%s' do not agree: "
                   "compile it again",
                   program->name);
}

}  // namespace aotc::model::cuda
