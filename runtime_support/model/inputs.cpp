// The first half of a call: checks the caller's inputs, binds the symbols, and, when a symbol has
// changed since the last call, evaluates everything that depends on them.
#include <stdio.h>
#include <string.h>

#include "error.h"
#include "gpu.h"

namespace aotc::model {
namespace {

long long wide(int64_t n) { return n; }

AotcStatus wrong_count(const Session* s, int32_t given) {
  const AotcProgram* program = s->program;
  char names[512] = "";
  int used = 0;
  for (int32_t i = 0; i < program->n_inputs && used < 400; ++i)
    used += snprintf(names + used, sizeof names - static_cast<size_t>(used), "%s%.100s",
                     i ? ", " : ": ", program->inputs[i].name);
  return fail(AOTC_INVALID_ARGUMENT, "session_run: %d inputs given, program '%s' has %d%s", given,
              program->name, program->n_inputs, names);
}

AotcStatus check_device(const Session* s, const AotcInput& input, DLDevice device) {
  if (!s->gpu)
    return fail(AOTC_INVALID_ARGUMENT, "input '%s' is on %s, expected cpu: copy it there first",
                input.name, device_name(device).text);
  char what[256];
  snprintf(what, sizeof what, "input '%.200s'", input.name);
  return gpu_of(s).check_device(s, what, input.device, device);
}

AotcStatus check_header(const Session* s, const AotcInput& input, const DLTensor& tensor) {
  if (s->gpu || !is_host(tensor.device))
    if (AotcStatus status = check_device(s, input, tensor.device)) return status;
  if (!same_dtype(tensor.dtype, input.dtype))
    return fail(AOTC_INVALID_ARGUMENT, "input '%s' is %s, expected %s", input.name,
                dtype_name(tensor.dtype).text, dtype_name(input.dtype).text);
  if (tensor.ndim != input.ndim) {
    const bool readable = tensor.ndim > 0 && tensor.ndim <= kMaxRank && tensor.shape;
    return fail(AOTC_INVALID_ARGUMENT, "input '%s' has rank %d %s, expected rank %d", input.name,
                tensor.ndim, list_text(tensor.shape, readable ? tensor.ndim : 0).text, input.ndim);
  }
  if (tensor.ndim > 0 && !tensor.shape)
    return fail(AOTC_INVALID_ARGUMENT, "input '%s' has rank %d but its shape is NULL", input.name,
                tensor.ndim);
  return AOTC_OK;
}

AotcStatus check_sizes(Session* s, const AotcInput& input, const DLTensor& tensor, int32_t i) {
  for (int32_t d = 0; d < input.ndim; ++d) {
    const AotcDimension& dimension = input.dimensions[d];
    const int64_t size = tensor.shape[d];
    if (size < 0)
      return fail(AOTC_INVALID_ARGUMENT,
                  "input '%s' dimension %d is %lld: a size is never negative", input.name, d,
                  wide(size));
    if (dimension.symbol >= 0) {
      if (AotcStatus status = bind_size(s, i, d, size)) return status;
    } else if (dimension.size.extent < 0 && size != dimension.size.value) {
      return fail(AOTC_INVALID_ARGUMENT, "input '%s' dimension %d is %lld, expected %lld",
                  input.name, d, wide(size), wide(dimension.size.value));
    }
  }
  return AOTC_OK;
}

AotcStatus check_data(const AotcInput& input, const DLTensor& tensor, InputUse* use) {
  use->count = count_elements(tensor.shape, tensor.ndim);
  use->data = tensor.data ? static_cast<char*>(tensor.data) + tensor.byte_offset : nullptr;
  if (use->count < 0)
    return fail(AOTC_INVALID_ARGUMENT, "input '%s' has sizes %s: more elements than memory holds",
                input.name, list_text(tensor.shape, tensor.ndim).text);
  if (use->count > 0 && !tensor.data)
    return fail(AOTC_INVALID_ARGUMENT, "input '%s' has %lld elements but its data is NULL",
                input.name, wide(use->count));
  return AOTC_OK;
}

int64_t read_integer(const char* data, DLDataType dtype) {
  int64_t value = 0;
  memcpy(&value, data, static_cast<size_t>(element_bytes(dtype)));
  if (dtype.code == kDLBool) return value != 0;
  const int32_t unused = 64 - dtype.bits;
  const uint64_t shifted = static_cast<uint64_t>(value) << unused;
  return dtype.code == kDLInt ? static_cast<int64_t>(shifted) >> unused
                              : static_cast<int64_t>(shifted >> unused);
}

// Equal, or both NaN.
AotcStatus check_float_constant(const AotcInput& input, const char* data) {
  double value = 0;
  if (input.dtype.bits == 32) {
    float narrow = 0;
    memcpy(&narrow, data, sizeof narrow);
    value = static_cast<double>(narrow);
  } else {
    memcpy(&value, data, sizeof value);
  }
  const double expected = input.constant_float;
  if (value == expected || (value != value && expected != expected)) return AOTC_OK;
  return fail(AOTC_INVALID_ARGUMENT,
              "input '%s' is %.17g, expected %.17g: the program was exported for this value",
              input.name, value, expected);
}

AotcStatus check_constant(const AotcInput& input, const char* data) {
  if (input.dtype.code == kDLFloat) return check_float_constant(input, data);
  const int64_t value = read_integer(data, input.dtype);
  if (value == input.constant_int) return AOTC_OK;
  return fail(AOTC_INVALID_ARGUMENT,
              "input '%s' is %lld, expected %lld: the program was exported for this value",
              input.name, wide(value), wide(input.constant_int));
}

AotcStatus check_input(Session* s, int32_t i) {
  const AotcInput& input = s->program->inputs[i];
  const DLTensor& tensor = s->inputs[i];
  InputUse* use = &s->input_uses[i];
  if (AotcStatus status = check_header(s, input, tensor)) return status;
  if (AotcStatus status = check_sizes(s, input, tensor, i)) return status;
  if (AotcStatus status = check_data(input, tensor, use)) return status;
  if (input.kind == AOTC_INPUT_CONSTANT) return check_constant(input, use->data);
  if (input.kind == AOTC_INPUT_SYMBOL && input.dimensions[0].symbol >= 0)
    return bind_size(s, i, 0, read_integer(use->data, input.dtype));
  return AOTC_OK;
}

AotcStatus prepare_input(Session* s, int32_t i) {
  const AotcInput& input = s->program->inputs[i];
  const int32_t first = s->model->first_input_dim[i];
  int64_t* sizes = s->input_sizes + first;
  int64_t* strides = s->input_strides + first;
  for (int32_t d = 0; d < input.ndim; ++d) {
    const AotcDimension& dimension = input.dimensions[d];
    sizes[d] = evaluate(s, dimension.size);
    if (dimension.symbol >= 0) size_of(dimension, s->frame.symbols[dimension.symbol], &sizes[d]);
    strides[d] = evaluate(s, input.strides[d]);
  }
  const int64_t item = element_bytes(input.dtype);
  s->input_spans[i] = span_bytes(sizes, strides, input.ndim, item);
  if (s->input_spans[i] < 0)
    return fail(AOTC_INVALID_ARGUMENT, "input '%s' would need the sizes %s", input.name,
                list_text(sizes, input.ndim).text);
  char somewhere[1];
  s->input_overlaps[i] = overlaps_itself({somewhere, item, input.ndim, sizes, strides});
  return AOTC_OK;
}

AotcStatus check_expression(const Session* s, int32_t i, int32_t d) {
  const AotcInput& input = s->program->inputs[i];
  const AotcDimension& dimension = input.dimensions[d];
  if (dimension.symbol >= 0 || dimension.size.extent < 0) return AOTC_OK;
  const int64_t expected = evaluate(s, dimension.size);
  const bool is_integer = input.kind == AOTC_INPUT_SYMBOL;
  const int64_t value =
      is_integer ? read_integer(s->input_uses[i].data, input.dtype) : s->inputs[i].shape[d];
  if (value == expected) return AOTC_OK;
  if (is_integer)
    return fail(AOTC_INVALID_ARGUMENT, "input '%s' is %lld, expected %lld", input.name, wide(value),
                wide(expected));
  return fail(AOTC_INVALID_ARGUMENT, "input '%s' dimension %d is %lld, expected %lld", input.name,
              d, wide(value), wide(expected));
}

AotcStatus prepare_output(Session* s, int32_t i) {
  const AotcOutput& output = s->program->outputs[i];
  if (output.kind != AOTC_OUTPUT_FRESH || output.dynamic) return AOTC_OK;
  evaluate_output(s, i);
  const int32_t first = s->model->first_output_dim[i];
  s->output_spans[i] = span_bytes(s->output_sizes + first, s->output_strides + first, output.ndim,
                                  element_bytes(output.dtype));
  if (s->output_spans[i] >= 0) return AOTC_OK;
  return fail(AOTC_INVALID_ARGUMENT, "output '%s' would have the sizes %s", output.name,
              list_text(s->output_sizes + first, output.ndim).text);
}

AotcStatus compute_extents(Session* s) {
  AotcFrame* frame = &s->frame;
  frame->failure = {};
  if (!s->program->compute_extents || s->program->compute_extents(frame) == 0) return AOTC_OK;
  return failure_status(AOTC_INVALID_ARGUMENT, frame->failure);
}

}  // namespace

AotcStatus failure_status(AotcStatus status, const AotcFailure& failure) {
  const char* message = failure.message ? failure.message : "a check of the program failed";
  if (!failure.has_value) return fail(status, "%s", message);
  return fail(status, "%s, found %lld", message, wide(failure.value));
}

void evaluate_output(Session* s, int32_t i) {
  const AotcOutput& output = s->program->outputs[i];
  const int32_t first = s->model->first_output_dim[i];
  for (int32_t d = 0; d < output.ndim; ++d) {
    s->output_sizes[first + d] = evaluate(s, output.sizes[d]);
    s->output_strides[first + d] = evaluate(s, output.strides[d]);
  }
}

int64_t span_bytes(const int64_t* sizes, const int64_t* strides, int32_t ndim, int64_t item) {
  int64_t last = 0;
  const int64_t count = count_elements(sizes, ndim);
  if (count <= 0) return count;
  for (int32_t d = 0; d < ndim; ++d) {
    int64_t reach = 0;
    if (!multiply(sizes[d] - 1, strides[d], &reach) || !add(last, reach, &last)) return -1;
  }
  return add(last, 1, &last) && multiply(last, item, &last) ? last : -1;
}

AotcStatus check_inputs(Session* s, const DLTensor* inputs, int32_t n_inputs) {
  if (n_inputs != s->program->n_inputs) return wrong_count(s, n_inputs);
  if (n_inputs && !inputs)
    return fail(AOTC_INVALID_ARGUMENT, "session_run: the array of inputs is NULL");
  s->inputs = inputs;
  for (int32_t i = 0; i < n_inputs; ++i)
    if (AotcStatus status = check_input(s, i)) return status;
  return AOTC_OK;
}

AotcStatus check_expressions(const Session* s) {
  for (int32_t i = 0; i < s->program->n_inputs; ++i) {
    const AotcInput& input = s->program->inputs[i];
    const int32_t dimensions = input.kind == AOTC_INPUT_SYMBOL ? 1 : input.ndim;
    for (int32_t d = 0; d < dimensions; ++d)
      if (AotcStatus status = check_expression(s, i, d)) return status;
  }
  return AOTC_OK;
}

AotcStatus prepare(Session* s) {
  const AotcProgram* program = s->program;
  for (int32_t k = 0; k < program->n_symbols; ++k)
    if (AotcStatus status = check_range(s, k)) return status;
  if (AotcStatus status = compute_extents(s)) return status;
  for (int32_t i = 0; i < program->n_inputs; ++i)
    if (AotcStatus status = prepare_input(s, i)) return status;
  for (int32_t i = 0; i < program->n_outputs; ++i)
    if (AotcStatus status = prepare_output(s, i)) return status;
  const int64_t bytes = evaluate(s, program->arena_bytes);
  if (!reserve(&s->arena, bytes))
    return fail(AOTC_OUT_OF_MEMORY, "no memory for %lld bytes of scratch memory", wide(bytes));
  s->frame.arena = s->arena.data;
  if (s->gpu)
    if (AotcStatus status = gpu_of(s).prepare(s)) return status;
  s->prepared = true;
  return AOTC_OK;
}

}  // namespace aotc::model
