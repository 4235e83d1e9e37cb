// Inputs whose layout at the call differs from the compiled one: they are copied to scratch memory
// before the program runs and, when it writes them, back through their real strides after it has
// succeeded.
#include <string.h>

#include "error.h"
#include "gpu.h"

namespace aotc::model {
namespace {

const int64_t* compiled_sizes(const Session* s, int32_t i) {
  return s->input_sizes + s->model->first_input_dim[i];
}
const int64_t* compiled_strides(const Session* s, int32_t i) {
  return s->input_strides + s->model->first_input_dim[i];
}

AotcStatus layout_error(const Session* s, int32_t i, const char* trouble) {
  const DLTensor& tensor = s->inputs[i];
  int64_t strides[kMaxRank];
  const View view = view_of(tensor, strides);
  return fail(AOTC_INVALID_ARGUMENT, "input '%s' with sizes %s and strides %s: %s",
              s->program->inputs[i].name, list_text(view.sizes, view.ndim).text,
              list_text(view.strides, view.ndim).text, trouble);
}

AotcStatus check_other_layout(const Session* s, int32_t i) {
  int64_t strides[kMaxRank];
  const View view = view_of(s->inputs[i], strides);
  uintptr_t lo = 0, hi = 0;
  if (!byte_range(view, &lo, &hi)) return layout_error(s, i, "its elements lie outside of memory");
  if (s->input_overlaps[i])
    return layout_error(
        s, i, "the program was exported for elements that share memory; pass the exported strides");
  return AOTC_OK;
}

AotcStatus check_written(const Session* s, int32_t i) {
  int64_t strides[kMaxRank];
  const InputUse& use = s->input_uses[i];
  if (use.same_layout ? !s->input_overlaps[i] : !overlaps_itself(view_of(s->inputs[i], strides)))
    return AOTC_OK;
  return layout_error(
      s, i, "the program writes it, but some elements share memory; pass a contiguous copy");
}

View staged_view(const Session* s, int32_t i) {
  return compiled_view(s, i, s->staging.data + s->input_uses[i].staged);
}

}  // namespace

AotcStatus check_layout(Session* s, int32_t i, bool elsewhere, int64_t* staging_bytes) {
  const AotcInput& input = s->program->inputs[i];
  const DLTensor& tensor = s->inputs[i];
  InputUse* use = &s->input_uses[i];
  use->staged = -1;
  use->same_layout = true;
  s->frame.inputs[i] = use->count ? use->data : no_elements();
  if (use->count == 0) return AOTC_OK;
  const uintptr_t alignment = static_cast<uintptr_t>(element_alignment(element_bytes(input.dtype)));
  use->same_layout =
      strides_match(tensor.shape, tensor.ndim, tensor.strides, compiled_strides(s, i));
  if (!use->same_layout)
    if (AotcStatus status = check_other_layout(s, i)) return status;
  if (input.mutated)
    if (AotcStatus status = check_written(s, i)) return status;
  if (!elsewhere && use->same_layout && reinterpret_cast<uintptr_t>(use->data) % alignment == 0)
    return AOTC_OK;
  if (!input.mutated && !input.read) return AOTC_OK;
  use->staged = *staging_bytes;
  if (add(*staging_bytes, s->input_spans[i], staging_bytes) &&
      add(*staging_bytes, kAlignment, staging_bytes)) {
    *staging_bytes = *staging_bytes / kAlignment * kAlignment;
    return AOTC_OK;
  }
  return fail(AOTC_OUT_OF_MEMORY, "no memory to stage input '%s'", input.name);
}

View compiled_view(const Session* s, int32_t i, char* data) {
  const AotcInput& input = s->program->inputs[i];
  return {data, element_bytes(input.dtype), input.ndim, compiled_sizes(s, i),
          compiled_strides(s, i)};
}

AotcStatus check_layouts(Session* s) {
  int64_t bytes = 0;
  if (s->gpu) return gpu_of(s).check_layouts(s);
  for (int32_t i = 0; i < s->program->n_inputs; ++i)
    if (s->program->inputs[i].kind == AOTC_INPUT_TENSOR)
      if (AotcStatus status = check_layout(s, i, false, &bytes)) return status;
  if (bytes == 0) return AOTC_OK;
  if (!reserve(&s->staging, bytes))
    return fail(AOTC_OUT_OF_MEMORY, "no memory for %lld bytes to stage inputs of another layout",
                static_cast<long long>(bytes));
  return AOTC_OK;
}

void stage_inputs(Session* s) {
  int64_t strides[kMaxRank];
  for (int32_t i = 0; i < s->program->n_inputs; ++i) {
    const AotcInput& input = s->program->inputs[i];
    if (input.kind != AOTC_INPUT_TENSOR || s->input_uses[i].staged < 0) continue;
    if (is_on_gpu(s, input.device)) continue;
    const View staged = staged_view(s, i);
    s->frame.inputs[i] = staged.data;
    if (input.read) copy_elements(staged, view_of(s->inputs[i], strides));
  }
}

void write_back_inputs(Session* s) {
  int64_t strides[kMaxRank];
  for (int32_t i = 0; i < s->program->n_inputs; ++i)
    if (s->program->inputs[i].mutated && s->input_uses[i].staged >= 0 &&
        !is_on_gpu(s, s->program->inputs[i].device))
      copy_elements(view_of(s->inputs[i], strides), staged_view(s, i));
}

}  // namespace aotc::model
