// The outputs of a call: checks the storage that the caller provides, obtains everything else
// before the program runs, and fills in the results after it has succeeded.
#include <string.h>

#include <stdio.h>

#include "error.h"
#include "gpu.h"

namespace aotc::model {
namespace {

using Deleter = void (*)(DLManagedTensor*);

// The descriptor is the start of its block, so the C library's free() is its deleter: a result may
// outlive the library that made it.
Deleter free_deleter() {
  return reinterpret_cast<Deleter>(reinterpret_cast<void (*)(void)>(&free));
}

// Of results that share storage: manager_ctx is the block that has it.
void release_shared(DLManagedTensor* self) {
  Block* owner = static_cast<Block*>(self->manager_ctx);
  if (self != &owner->tensor) free(self);
  if (__atomic_sub_fetch(&owner->references, 1, __ATOMIC_ACQ_REL) != 0) return;
  if (owner->destroy) owner->destroy(owner);
  free(owner);
}

bool is_device_memory(const DLManagedTensor* made) {
  return made->dl_tensor.device.device_type == kDLCUDA;
}

bool is_alias(AotcOutputKind kind) {
  return kind == AOTC_OUTPUT_INPUT || kind == AOTC_OUTPUT_STATE || kind == AOTC_OUTPUT_OUTPUT;
}

int64_t* sizes_of(const Session* s, int32_t i) {
  return s->output_sizes + s->model->first_output_dim[i];
}
int64_t* strides_of(const Session* s, int32_t i) {
  return s->output_strides + s->model->first_output_dim[i];
}
char* data_of(const DLTensor& tensor) {
  return static_cast<char*>(tensor.data) + tensor.byte_offset;
}

// Evaluates an output that points into other storage; returns its first element.
char* evaluate_alias(Session* s, int32_t i) {
  const AotcOutput& output = s->program->outputs[i];
  evaluate_output(s, i);
  const int64_t offset = evaluate(s, output.offset) * element_bytes(output.dtype);
  if (output.kind == AOTC_OUTPUT_STATE)
    return view_of_name(s, s->program->names[output.index]).data + offset;
  if (output.kind == AOTC_OUTPUT_OUTPUT) {
    const OutputUse& base = s->output_uses[output.index];
    const DLTensor& tensor = (base.provided ? base.provided : base.made)->dl_tensor;
    return tensor.data ? data_of(tensor) + offset : nullptr;
  }
  const InputUse& input = s->input_uses[output.index];
  if (!input.data) return nullptr;
  if (input.same_layout) return input.data + offset;
  int64_t start = 0;
  s->output_uses[i].copied = !view_in_given_layout(s, i, &start);
  return input.data + start * element_bytes(output.dtype);
}

AotcStatus check_provided_device(const Session* s, const AotcOutput& output, DLDevice device) {
  if (!s->gpu && is_host(device)) return AOTC_OK;
  char what[256];
  snprintf(what, sizeof what, "the storage given for output '%.160s'", output.name);
  if (s->gpu) return gpu_of(s).check_device(s, what, output.device, device);
  return fail(AOTC_INVALID_ARGUMENT, "%s is on %s, expected cpu", what, device_name(device).text);
}

AotcStatus check_provided_header(const Session* s, const AotcOutput& output,
                                 const DLTensor& given) {
  if (output.kind == AOTC_OUTPUT_NONE)
    return fail(AOTC_INVALID_ARGUMENT, "output '%s' is None: its entry must be NULL", output.name);
  if (AotcStatus status = check_provided_device(s, output, given.device)) return status;
  if (!same_dtype(given.dtype, output.dtype))
    return fail(AOTC_INVALID_ARGUMENT, "the storage given for output '%s' is %s, expected %s",
                output.name, dtype_name(given.dtype).text, dtype_name(output.dtype).text);
  if (given.ndim != output.ndim || (given.ndim && !given.shape))
    return fail(AOTC_INVALID_ARGUMENT, "the storage given for output '%s' has rank %d, expected %d",
                output.name, given.ndim, output.ndim);
  return AOTC_OK;
}

AotcStatus check_provided_sizes(const Session* s, int32_t i, const DLTensor& given) {
  const char* name = s->program->outputs[i].name;
  const int64_t* sizes = sizes_of(s, i);
  for (int32_t d = 0; d < given.ndim; ++d)
    if (given.shape[d] != sizes[d])
      return fail(AOTC_INVALID_ARGUMENT,
                  "the storage given for output '%s' has sizes %s, expected %s", name,
                  list_text(given.shape, given.ndim).text, list_text(sizes, given.ndim).text);
  return AOTC_OK;
}

// The elements lie in memory and none is there twice.
AotcStatus check_provided_memory(const Session* s, int32_t i, const DLTensor& given) {
  const char* name = s->program->outputs[i].name;
  int64_t strides[kMaxRank];
  const int64_t count = count_elements(given.shape, given.ndim);
  if (count == 0) return AOTC_OK;
  if (count < 0 || !given.data)
    return fail(AOTC_INVALID_ARGUMENT, "the storage given for output '%s' %s", name,
                count < 0 ? "has impossible sizes" : "is NULL");
  if (overlaps_itself(view_of(given, strides)))
    return fail(
        AOTC_INVALID_ARGUMENT,
        "the storage given for output '%s' has sizes %s and strides %s: elements share memory",
        name, list_text(given.shape, given.ndim).text,
        list_text(view_of(given, strides).strides, given.ndim).text);
  return AOTC_OK;
}

// Asked when the output's sizes are known.
bool has_compiled_layout(const Session* s, int32_t i) {
  const AotcOutput& output = s->program->outputs[i];
  const DLTensor& given = s->output_uses[i].provided->dl_tensor;
  const int64_t alignment = element_alignment(element_bytes(output.dtype));
  if (count_elements(given.shape, given.ndim) == 0) return true;
  return strides_match(given.shape, given.ndim, given.strides, strides_of(s, i)) &&
         reinterpret_cast<uintptr_t>(data_of(given)) % static_cast<uintptr_t>(alignment) == 0;
}

// Whether the program can write it directly.
bool is_direct(const Session* s, int32_t i) {
  const bool elsewhere = s->host_io && is_on_gpu(s, s->program->outputs[i].device);
  return !elsewhere && has_compiled_layout(s, i);
}

// Only the very storage that the output points into may be given for it.
AotcStatus check_provided_alias(Session* s, int32_t i, const DLTensor& given) {
  const AotcOutput& output = s->program->outputs[i];
  const OutputUse* base =
      output.kind == AOTC_OUTPUT_OUTPUT ? &s->output_uses[output.index] : nullptr;
  if (base && !base->provided)
    return fail(AOTC_INVALID_ARGUMENT,
                "output '%s' is a view of output '%s': give storage for both or for neither",
                output.name, s->program->outputs[output.index].name);
  const char* data = evaluate_alias(s, i);
  if (s->output_uses[i].copied && output.kind == AOTC_OUTPUT_STATE)
    return fail(AOTC_INVALID_ARGUMENT,
                "output '%s' is a copy of a state on the GPU: its entry must be NULL", output.name);
  if (s->output_uses[i].copied)
    return fail(AOTC_INVALID_ARGUMENT,
                "output '%s' is a view that input '%s' has no strides for: its entry must be NULL",
                output.name, s->program->inputs[output.index].name);
  if (AotcStatus status = check_provided_sizes(s, i, given)) return status;
  if (count_elements(given.shape, given.ndim) == 0) return AOTC_OK;
  if (given.data && data_of(given) == data &&
      strides_match(given.shape, given.ndim, given.strides, strides_of(s, i)))
    return AOTC_OK;
  return fail(AOTC_INVALID_ARGUMENT,
              "output '%s' points into %s: its entry must be NULL or that very storage",
              output.name,
              output.kind == AOTC_OUTPUT_INPUT   ? "an input"
              : output.kind == AOTC_OUTPUT_STATE ? "a state"
                                                 : "another output");
}

// In the compiled layout no element is there twice, so the common case needs no further test.
AotcStatus check_provided_fresh(Session* s, int32_t i, const DLTensor& given) {
  if (s->program->outputs[i].dynamic) return check_provided_memory(s, i, given);
  if (AotcStatus status = check_provided_sizes(s, i, given)) return status;
  s->output_uses[i].direct = (given.data || s->output_spans[i] == 0) && is_direct(s, i);
  return s->output_uses[i].direct ? AOTC_OK : check_provided_memory(s, i, given);
}

AotcStatus check_provided(Session* s, int32_t i) {
  const AotcOutput& output = s->program->outputs[i];
  const DLTensor& given = s->output_uses[i].provided->dl_tensor;
  if (AotcStatus status = check_provided_header(s, output, given)) return status;
  if (is_alias(output.kind)) return check_provided_alias(s, i, given);
  if (output.kind == AOTC_OUTPUT_FRESH) return check_provided_fresh(s, i, given);
  return check_provided_memory(s, i, given);
}

// A view of an output is expressed in the compiled strides of its base.
AotcStatus check_base(const Session* s, int32_t i) {
  const AotcOutput& output = s->program->outputs[i];
  if (output.kind != AOTC_OUTPUT_OUTPUT || !s->output_uses[output.index].provided) return AOTC_OK;
  if (s->program->outputs[output.index].dynamic)
    return fail(
        AOTC_INVALID_ARGUMENT,
        "output '%s', whose sizes depend on data, has a view in output '%s': its entry must "
        "be NULL",
        s->program->outputs[output.index].name, output.name);
  if (s->output_uses[output.index].direct || has_compiled_layout(s, output.index)) return AOTC_OK;
  return fail(AOTC_INVALID_ARGUMENT,
              "the storage given for output '%s' must have strides %s: output '%s' is a view of it",
              s->program->outputs[output.index].name,
              list_text(strides_of(s, output.index), s->program->outputs[output.index].ndim).text,
              output.name);
}

AotcStatus no_memory(const Session* s, int32_t i, int64_t bytes) {
  return fail(AOTC_OUT_OF_MEMORY, "no memory for output '%s' (%lld bytes)",
              s->program->outputs[i].name, static_cast<long long>(bytes));
}

// In device memory where the program has it there and the caller may see that.
AotcStatus make_result(Session* s, int32_t i, AotcDevice device, int64_t bytes, char** data) {
  DLManagedTensor** made = &s->output_uses[i].made;
  const bool on_gpu = !s->host_io && is_on_gpu(s, device);
  if (on_gpu && bytes) {
    if (AotcStatus status = gpu_of(s).make_tensor(s, i, bytes, made)) return status;
    *data = static_cast<char*>((*made)->dl_tensor.data);
  } else {
    *made = make_tensor(s->program->outputs[i].ndim, bytes, data);
    if (!*made) return no_memory(s, i, bytes);
  }
  if (on_gpu) (*made)->dl_tensor.device = dl_device(s->program, device);
  return AOTC_OK;
}

// Gives a fresh output whose sizes are known its memory: the caller's where the program can write
// it.
AotcStatus obtain_fresh(Session* s, int32_t i, int64_t span) {
  OutputUse* use = &s->output_uses[i];
  const AotcOutput& output = s->program->outputs[i];
  char* data = nullptr;
  if (use->direct) {
    data = data_of(use->provided->dl_tensor);
  } else {
    if (AotcStatus status = make_result(s, i, output.device, span, &data)) return status;
    DLTensor& tensor = use->made->dl_tensor;
    tensor.dtype = output.dtype;
    tensor.data = span ? data : nullptr;
    memcpy(tensor.shape, sizes_of(s, i), static_cast<size_t>(output.ndim) * sizeof(int64_t));
    memcpy(tensor.strides, strides_of(s, i), static_cast<size_t>(output.ndim) * sizeof(int64_t));
  }
  s->frame.outputs[i] = span ? data : no_elements();
  return span && s->host_io && is_on_gpu(s, output.device) ? gpu_of(s).obtain_temporary(s, i, span)
                                                           : AOTC_OK;
}

// Views are where their base is. A host_io session hands out states as copies.
bool is_state_copy(const Session* s, const AotcOutput& output) {
  return s->host_io && output.kind == AOTC_OUTPUT_STATE && is_on_gpu(s, output.device);
}
DLDevice device_of_alias(const Session* s, const AotcOutput& output) {
  if (output.kind == AOTC_OUTPUT_STATE) return dl_device(s->program, output.device);
  if (output.kind == AOTC_OUTPUT_INPUT) return s->inputs[output.index].device;
  const OutputUse& base = s->output_uses[output.index];
  return (base.provided ? base.provided : base.made)->dl_tensor.device;
}

// Descriptors of views and memory of scalars; their content comes after the run.
AotcStatus obtain_other(Session* s, int32_t i) {
  OutputUse* use = &s->output_uses[i];
  const AotcOutput& output = s->program->outputs[i];
  if (output.kind == AOTC_OUTPUT_NONE || use->provided) return AOTC_OK;
  int64_t bytes = is_alias(output.kind) ? 0 : element_bytes(output.dtype);
  if (output.kind == AOTC_OUTPUT_INPUT) {
    evaluate_alias(s, i);
    if (use->copied &&
        !multiply(count_elements(sizes_of(s, i), output.ndim), element_bytes(output.dtype), &bytes))
      return no_memory(s, i, INT64_MAX);
  }
  if (is_state_copy(s, output)) {
    evaluate_output(s, i);
    bytes = span_bytes(sizes_of(s, i), strides_of(s, i), output.ndim, element_bytes(output.dtype));
    if (bytes < 0) return no_memory(s, i, INT64_MAX);
  }
  char* data = nullptr;
  if (AotcStatus status = make_result(s, i, use->copied ? output.device : AOTC_HOST, bytes, &data))
    return status;
  use->made->dl_tensor.dtype = output.dtype;
  use->made->dl_tensor.data = data;
  return AOTC_OK;
}

AotcStatus obtain(Session* s, int32_t i) {
  const AotcOutput& output = s->program->outputs[i];
  if (output.kind != AOTC_OUTPUT_FRESH) return obtain_other(s, i);
  s->frame.outputs[i] = nullptr;
  return output.dynamic ? AOTC_OK : obtain_fresh(s, i, s->output_spans[i]);
}

void write_scalar(const Session* s, const AotcOutput& output, char* to) {
  if (output.kind == AOTC_OUTPUT_CONSTANT && output.dtype.code == kDLFloat) {
    const float narrow = static_cast<float>(output.constant_float);
    if (output.dtype.bits == 32)
      memcpy(to, &narrow, sizeof narrow);
    else
      memcpy(to, &output.constant_float, sizeof output.constant_float);
    return;
  }
  const int64_t value =
      output.kind == AOTC_OUTPUT_SYMBOL ? evaluate(s, output.offset) : output.constant_int;
  memcpy(to, &value, static_cast<size_t>(element_bytes(output.dtype)));
}

// From where the input was staged. Device memory has been filled by the GPU part.
void finish_copied(Session* s, int32_t i) {
  const AotcOutput& output = s->program->outputs[i];
  DLTensor& tensor = s->output_uses[i].made->dl_tensor;
  evaluate_output(s, i);
  const int64_t item = element_bytes(output.dtype);
  memcpy(tensor.shape, sizes_of(s, i), static_cast<size_t>(output.ndim) * sizeof(int64_t));
  contiguous_strides(tensor.shape, tensor.ndim, tensor.strides);
  if (is_on_gpu(s, output.device)) return;
  const char* staged = static_cast<const char*>(s->frame.inputs[output.index]);
  copy_elements({static_cast<char*>(tensor.data), item, output.ndim, tensor.shape, tensor.strides},
                {const_cast<char*>(staged) + evaluate(s, output.offset) * item, item, output.ndim,
                 tensor.shape, strides_of(s, i)});
}

void finish_alias(Session* s, int32_t i) {
  if (s->output_uses[i].copied) return finish_copied(s, i);
  const AotcOutput& output = s->program->outputs[i];
  DLManagedTensor* made = s->output_uses[i].made;
  DLTensor& tensor = made->dl_tensor;
  char* const data = evaluate_alias(s, i);
  if (s->gpu && !is_state_copy(s, output)) tensor.device = device_of_alias(s, output);
  if (!is_state_copy(s, output)) tensor.data = data;
  memcpy(tensor.shape, sizes_of(s, i), static_cast<size_t>(output.ndim) * sizeof(int64_t));
  memcpy(tensor.strides, strides_of(s, i), static_cast<size_t>(output.ndim) * sizeof(int64_t));
  if (output.kind != AOTC_OUTPUT_OUTPUT || s->output_uses[output.index].provided) return;
  Block* owner = reinterpret_cast<Block*>(s->output_uses[output.index].made);
  owner->references++;
  made->manager_ctx = owner;
  made->deleter = release_shared;
}

void finish_fresh(Session* s, int32_t i) {
  const OutputUse& use = s->output_uses[i];
  if (!use.made) return;
  if (s->model->is_shared[i]) make_shared(use.made);
  if (!use.provided) return;
  int64_t strides[kMaxRank], from_strides[kMaxRank];
  if (!is_device_memory(use.made))
    copy_elements(view_of(use.provided->dl_tensor, strides),
                  view_of(use.made->dl_tensor, from_strides));
  discard(use.made);
}

void finish_output(Session* s, int32_t i) {
  const AotcOutput& output = s->program->outputs[i];
  const OutputUse& use = s->output_uses[i];
  if (output.kind == AOTC_OUTPUT_FRESH)
    finish_fresh(s, i);
  else if (output.kind == AOTC_OUTPUT_SYMBOL || output.kind == AOTC_OUTPUT_CONSTANT)
    write_scalar(s, output, data_of((use.provided ? use.provided : use.made)->dl_tensor));
  else if (use.made)
    finish_alias(s, i);
}

}  // namespace

DLManagedTensor* make_tensor(int32_t ndim, int64_t bytes, char** data) {
  const int64_t head = static_cast<int64_t>(sizeof(Block)) + 16 * int64_t{ndim};
  int64_t total = 0;
  if (!add(bytes, head + kAlignment, &total)) return nullptr;
  Block* block = static_cast<Block*>(malloc(static_cast<size_t>(total)));
  if (!block) return nullptr;
  int64_t* numbers = reinterpret_cast<int64_t*>(block + 1);
  *data = align_up(numbers + 2 * ndim);
  block->tensor = {};
  block->tensor.dl_tensor.device = {kDLCPU, 0};
  block->tensor.dl_tensor.ndim = ndim;
  block->tensor.dl_tensor.shape = numbers;
  block->tensor.dl_tensor.strides = numbers + ndim;
  block->tensor.deleter = free_deleter();
  block->references = 1;
  block->destroy = nullptr;
  block->resource = nullptr;
  return &block->tensor;
}

void make_shared(DLManagedTensor* made) {
  made->manager_ctx = made;
  made->deleter = release_shared;
}

void discard(DLManagedTensor* made) {
  if (!made) return;
  Block* block = reinterpret_cast<Block*>(made);
  if (block->destroy) block->destroy(block);
  free(block);
}

AotcStatus check_outputs(Session* s, DLManagedTensor** outputs, int32_t n_outputs) {
  const AotcProgram* program = s->program;
  if (n_outputs != program->n_outputs)
    return fail(AOTC_INVALID_ARGUMENT, "session_run: %d outputs wanted, program '%s' has %d",
                n_outputs, program->name, program->n_outputs);
  if (n_outputs && !outputs)
    return fail(AOTC_INVALID_ARGUMENT, "session_run: the array of outputs is NULL");
  bool any = false;
  for (int32_t i = 0; i < n_outputs; ++i) {
    s->output_uses[i] = {outputs[i], nullptr, false, false};
    any |= outputs[i] != nullptr;
  }
  for (int32_t i = 0; any && i < n_outputs; ++i) {
    if (s->output_uses[i].provided)
      if (AotcStatus status = check_provided(s, i)) return status;
    if (AotcStatus status = check_base(s, i)) return status;
  }
  return AOTC_OK;
}

AotcStatus obtain_outputs(Session* s) {
  for (int32_t i = 0; i < s->program->n_outputs; ++i)
    if (AotcStatus status = obtain(s, i)) return status;
  return AOTC_OK;
}

void release_outputs(Session* s) {
  for (int32_t i = 0; i < s->program->n_outputs; ++i) {
    discard(s->output_uses[i].made);
    s->output_uses[i].made = nullptr;
  }
}

AotcStatus finish_outputs(Session* s, DLManagedTensor** outputs) {
  for (int32_t i = 0; i < s->program->n_outputs; ++i)
    if (s->program->outputs[i].kind == AOTC_OUTPUT_FRESH && !s->frame.outputs[i])
      return fail(AOTC_INTERNAL, "program '%s' has not produced output '%s'", s->program->name,
                  s->program->outputs[i].name);
  for (int32_t i = 0; i < s->program->n_outputs; ++i) {
    finish_output(s, i);
    if (!outputs[i]) outputs[i] = s->output_uses[i].made;
  }
  return AOTC_OK;
}

void* obtain_output(AotcFrame* frame, int32_t i) {
  Session* s = static_cast<Session*>(frame->runtime);
  const AotcOutput& output = s->program->outputs[i];
  if (frame->outputs[i]) return frame->outputs[i];
  evaluate_output(s, i);
  const int64_t span =
      span_bytes(sizes_of(s, i), strides_of(s, i), output.ndim, element_bytes(output.dtype));
  const DLManagedTensor* provided = s->output_uses[i].provided;
  if (span < 0)
    s->obtain_status = fail(AOTC_OUT_OF_MEMORY, "output '%s' would have the sizes %s", output.name,
                            list_text(sizes_of(s, i), output.ndim).text);
  else if (provided)
    s->obtain_status = check_provided_sizes(s, i, provided->dl_tensor);
  if (provided && !s->obtain_status) s->output_uses[i].direct = is_direct(s, i);
  if (!s->obtain_status) s->obtain_status = obtain_fresh(s, i, span);
  return frame->outputs[i];
}

void* obtain_scratch(AotcFrame* frame, int32_t slot, int64_t bytes) {
  Session* s = static_cast<Session*>(frame->runtime);
  if (bytes == 0) return no_elements();
  if (reserve(&s->slots[slot], bytes)) return s->slots[slot].data;
  s->obtain_status = fail(AOTC_OUT_OF_MEMORY, "no memory for %lld bytes of scratch memory",
                          static_cast<long long>(bytes));
  return nullptr;
}

}  // namespace aotc::model
