// Inputs that the program cannot use where they are: another layout or alignment, or host tensors
// for a program on the device (host_io). They are copied to device memory and, if the program
// writes them, back through their real strides after it has succeeded.
#include "../error.h"
#include "gpu_runtime.h"
#include "gpu_session.h"

namespace aotc::model::cuda {
namespace {

View staged_on_device(const Session* s, int32_t i) {
  return compiled_view(s, i, pointer(s->gpu->staging.data) + s->input_uses[i].staged);
}

bool is_staged(const Session* s, int32_t i) {
  return s->program->inputs[i].kind == AOTC_INPUT_TENSOR && s->input_uses[i].staged >= 0;
}

bool must_write_back_on_gpu(const Session* s, int32_t i) {
  const AotcInput& input = s->program->inputs[i];
  return input.mutated && input.device == AOTC_GPU && is_staged(s, i);
}

}  // namespace

AotcStatus check_device_layouts(Session* s) {
  // Host and device memory have room for all: with host_io both sides use the same places.
  int64_t bytes = 0;
  for (int32_t i = 0; i < s->program->n_inputs; ++i) {
    const AotcInput& input = s->program->inputs[i];
    if (input.kind != AOTC_INPUT_TENSOR) continue;
    const bool elsewhere = input.device == AOTC_GPU && s->host_io;
    if (AotcStatus status = check_layout(s, i, elsewhere, &bytes)) return status;
  }
  bool on_host = false, on_gpu = false;
  for (int32_t i = 0; i < s->program->n_inputs; ++i) {
    const AotcInput& input = s->program->inputs[i];
    if (!is_staged(s, i)) continue;
    on_gpu |= input.device == AOTC_GPU;
    on_host |= input.device == AOTC_HOST || (s->host_io && input.mutated);
  }
  if (on_host && !reserve(&s->staging, bytes))
    return fail(AOTC_OUT_OF_MEMORY, "no memory for %lld bytes to stage inputs of another layout",
                static_cast<long long>(bytes));
  return on_gpu ? reserve(s->gpu, &s->gpu->staging, bytes, "staging memory for inputs") : AOTC_OK;
}

AotcStatus stage_on_device(Session* s) {
  int64_t strides[kMaxRank];
  stage_inputs(s);
  for (int32_t i = 0; i < s->program->n_inputs; ++i) {
    const AotcInput& input = s->program->inputs[i];
    if (!is_staged(s, i) || input.device != AOTC_GPU) continue;
    const View staged = staged_on_device(s, i);
    s->frame.inputs[i] = staged.data;
    if (!input.read) continue;
    if (AotcStatus status =
            copy_views(s->gpu, staged, true, view_of(s->inputs[i], strides), !s->host_io))
      return status;
  }
  return AOTC_OK;
}

bool must_write_back(const Session* s) {
  for (int32_t i = 0; i < s->program->n_inputs; ++i)
    if (s->program->inputs[i].mutated && is_staged(s, i)) return true;
  return false;
}

AotcStatus write_back_on_device(Session* s) {
  int64_t strides[kMaxRank];
  for (int32_t i = 0; i < s->program->n_inputs; ++i) {
    if (!must_write_back_on_gpu(s, i)) continue;
    s->gpu->wrote_back = true;
    if (AotcStatus status =
            copy_views(s->gpu, view_of(s->inputs[i], strides), true, staged_on_device(s, i), true))
      return status;
  }
  return AOTC_OK;
}

AotcStatus fetch_written_inputs(Session* s) {
  for (int32_t i = 0; i < s->program->n_inputs; ++i) {
    if (!must_write_back_on_gpu(s, i)) continue;
    s->gpu->wrote_back = true;
    if (AotcStatus status = to_host(s->gpu, s->staging.data + s->input_uses[i].staged,
                                    address(staged_on_device(s, i).data), s->input_spans[i]))
      return status;
  }
  return AOTC_OK;
}

void write_fetched_inputs(Session* s) {
  int64_t strides[kMaxRank];
  for (int32_t i = 0; i < s->program->n_inputs; ++i)
    if (must_write_back_on_gpu(s, i))
      copy_elements(view_of(s->inputs[i], strides),
                    compiled_view(s, i, s->staging.data + s->input_uses[i].staged));
}

}  // namespace aotc::model::cuda
