// Results in device memory, and the copies that hand out what the program has on the device in
// another layout or place than the caller wants it.
#include "../error.h"
#include "gpu_runtime.h"
#include "gpu_session.h"

namespace aotc::model::cuda {
namespace {

// What a result in device memory holds.
struct DeviceResult {
  Stream* stream;
  CUdeviceptr memory;
};

// In any thread, also after the session and the model have ended.
void destroy_result(Block* block) {
  const DeviceResult result = *static_cast<DeviceResult*>(block->resource);
  Device* device = result.stream->device;
  retain_device(device);
  {
    const Current current(device);
    free_after_runs(result.stream, result.memory);
    release_stream(result.stream);
  }
  release_device(device);
}

View output_view(const Session* s, int32_t i, char* data) {
  const AotcOutput& output = s->program->outputs[i];
  const int32_t first = s->model->first_output_dim[i];
  return {data, element_bytes(output.dtype), output.ndim, s->output_sizes + first,
          s->output_strides + first};
}

// The result holds the compiled layout, gaps included.
AotcStatus fetch_span(Session* s, int32_t i, const void* from) {
  const View view = output_view(s, i, nullptr);
  const int64_t bytes = span_bytes(view.sizes, view.strides, view.ndim, view.item);
  s->gpu->wrote_back = true;
  return to_host(s->gpu, static_cast<char*>(s->output_uses[i].made->dl_tensor.data), address(from),
                 bytes);
}

AotcStatus deliver_fresh(Session* s, int32_t i) {
  const OutputUse& use = s->output_uses[i];
  if (!use.made || !use.made->dl_tensor.data) return AOTC_OK;
  if (s->host_io) return fetch_span(s, i, s->frame.outputs[i]);
  if (!use.provided) return AOTC_OK;
  int64_t to_strides[kMaxRank], from_strides[kMaxRank];
  s->gpu->wrote_back = true;
  return copy_views(s->gpu, view_of(use.provided->dl_tensor, to_strides), true,
                    view_of(use.made->dl_tensor, from_strides), true);
}

// A view that the input's own layout has no strides for: from where the input was staged.
AotcStatus deliver_copied(Session* s, int32_t i) {
  const AotcOutput& output = s->program->outputs[i];
  const DLManagedTensor* made = s->output_uses[i].made;
  evaluate_output(s, i);
  const int64_t offset = evaluate(s, output.offset) * element_bytes(output.dtype);
  const View from = output_view(s, i, static_cast<char*>(s->frame.inputs[output.index]) + offset);
  int64_t strides[kMaxRank];
  contiguous_strides(from.sizes, from.ndim, strides);
  s->gpu->wrote_back = true;
  return copy_views(
      s->gpu, {static_cast<char*>(made->dl_tensor.data), from.item, from.ndim, from.sizes, strides},
      !s->host_io, from, true);
}

AotcStatus deliver_state(Session* s, int32_t i) {
  const AotcOutput& output = s->program->outputs[i];
  if (!s->host_io || !s->output_uses[i].made) return AOTC_OK;
  evaluate_output(s, i);
  const View state = view_of_name(s, s->program->names[output.index]);
  return fetch_span(s, i, state.data + evaluate(s, output.offset) * element_bytes(output.dtype));
}

AotcStatus deliver_output(Session* s, int32_t i) {
  const AotcOutput& output = s->program->outputs[i];
  if (output.device != AOTC_GPU) return AOTC_OK;
  if (output.kind == AOTC_OUTPUT_FRESH) return deliver_fresh(s, i);
  if (output.kind == AOTC_OUTPUT_STATE) return deliver_state(s, i);
  return output.kind == AOTC_OUTPUT_INPUT && s->output_uses[i].copied ? deliver_copied(s, i)
                                                                      : AOTC_OK;
}

}  // namespace

AotcStatus make_device_tensor(Session* s, int32_t output, int64_t bytes, DLManagedTensor** out) {
  GpuSession* g = s->gpu;
  const AotcOutput& row = s->program->outputs[output];
  char* data = nullptr;
  DLManagedTensor* made = make_tensor(row.ndim, sizeof(DeviceResult), &data);
  if (!made) return fail(AOTC_OUT_OF_MEMORY, "no memory for output '%s'", row.name);
  DeviceResult* result = reinterpret_cast<DeviceResult*>(data);
  if (const CUresult code = allocate(g->model->device, &result->memory, bytes, g->now)) {
    discard(made);
    return device_error(g, code, "cuMemAlloc", "no device memory for output '%s' (%lld bytes)",
                        row.name, static_cast<long long>(bytes));
  }
  retain_stream(g->stream);
  result->stream = g->stream;
  Block* block = reinterpret_cast<Block*>(made);
  block->destroy = destroy_result;
  block->resource = result;
  make_shared(made);
  made->dl_tensor.data = pointer(result->memory);
  *out = made;
  return AOTC_OK;
}

AotcStatus obtain_temporary(Session* s, int32_t output, int64_t span) {
  GpuSession* g = s->gpu;
  if (const CUresult code = allocate(g->model->device, &g->temporaries[output], span, g->now))
    return device_error(g, code, "cuMemAlloc", "no device memory for output '%s' (%lld bytes)",
                        s->program->outputs[output].name, static_cast<long long>(span));
  s->frame.outputs[output] = pointer(g->temporaries[output]);
  return AOTC_OK;
}

void free_temporaries(Session* s) {
  GpuSession* g = s->gpu;
  for (int32_t i = 0; s->host_io && i < s->program->n_outputs; ++i) {
    free_memory(g->model->device, g->temporaries[i], g->now);
    g->temporaries[i] = 0;
  }
}

AotcStatus deliver_outputs(Session* s) {
  for (int32_t i = 0; i < s->program->n_outputs; ++i)
    if (AotcStatus status = deliver_output(s, i)) return status;
  return AOTC_OK;
}

}  // namespace aotc::model::cuda
