// Checks a program's tables once, when a model is opened: a program made by another version or by
// hand must fail with a message, not with a crash in a call.
#include <string.h>

#include "error.h"
#include "gpu.h"
#include "tensor.h"

namespace aotc::model {
namespace {

AotcStatus broken(const AotcProgram* program, const char* what, const char* name) {
  return fail(AOTC_BAD_PACKAGE, "program '%s' is damaged: %s '%s'; compile it again",
              program->name ? program->name : "(no name)", what, name ? name : "(no name)");
}

bool is_extent(const AotcProgram* program, AotcExtent extent) {
  return extent.extent < program->n_extents;
}

bool is_rank(int32_t ndim) { return ndim >= 0 && ndim <= kMaxRank; }

// Scalars are 0-d tensors of at most eight bytes.
bool is_scalar_valid(const AotcInput& input) {
  if (input.kind == AOTC_INPUT_TENSOR) return true;
  if (input.ndim != 0 || element_bytes(input.dtype) > 8) return false;
  if (input.kind == AOTC_INPUT_SYMBOL) return input.dimensions != nullptr;
  return input.dtype.code != kDLFloat || input.dtype.bits == 32 || input.dtype.bits == 64;
}

bool is_dimension(const AotcProgram* program, const AotcDimension& dimension) {
  return dimension.symbol < program->n_symbols && is_extent(program, dimension.size) &&
         (dimension.symbol < 0 || dimension.factor != 0);
}

AotcStatus validate_inputs(const AotcProgram* program) {
  for (int32_t i = 0; i < program->n_inputs; ++i) {
    const AotcInput& input = program->inputs[i];
    bool ok = input.name && is_rank(input.ndim) && element_bytes(input.dtype) > 0 &&
              is_scalar_valid(input);
    const int32_t dimensions = input.kind == AOTC_INPUT_SYMBOL ? 1 : input.ndim;
    for (int32_t d = 0; ok && d < dimensions; ++d) ok = is_dimension(program, input.dimensions[d]);
    for (int32_t d = 0; ok && d < input.ndim; ++d) ok = is_extent(program, input.strides[d]);
    if (!ok) return broken(program, "input", input.name);
  }
  return AOTC_OK;
}

bool is_alias_valid(const AotcProgram* program, const AotcOutput& output) {
  switch (output.kind) {
    case AOTC_OUTPUT_INPUT:
      return output.index >= 0 && output.index < program->n_inputs &&
             program->inputs[output.index].kind == AOTC_INPUT_TENSOR;
    case AOTC_OUTPUT_STATE:
      return output.index >= 0 && output.index < program->n_names;
    case AOTC_OUTPUT_OUTPUT:
      return output.index >= 0 && output.index < program->n_outputs &&
             program->outputs[output.index].kind == AOTC_OUTPUT_FRESH;
    case AOTC_OUTPUT_SYMBOL:
    case AOTC_OUTPUT_CONSTANT:
      return output.ndim == 0 && element_bytes(output.dtype) <= 8;
    default:
      return output.kind == AOTC_OUTPUT_FRESH;
  }
}

bool is_view_valid(const AotcProgram* program, const AotcOutput& output) {
  if (output.kind != AOTC_OUTPUT_INPUT || !is_simple_view(output)) return true;
  const int32_t rank = program->inputs[output.index].ndim;
  for (int32_t d = 0; d < output.ndim * rank; ++d)
    if (!is_extent(program, output.view_step[d])) return false;
  for (int32_t d = 0; d < rank; ++d)
    if (!is_extent(program, output.view_start[d])) return false;
  return true;
}

AotcStatus validate_outputs(const AotcProgram* program) {
  for (int32_t i = 0; i < program->n_outputs; ++i) {
    const AotcOutput& output = program->outputs[i];
    if (output.kind == AOTC_OUTPUT_NONE && output.name)
      continue;  // it has a place and nothing else
    bool ok = output.name && is_rank(output.ndim) && is_alias_valid(program, output) &&
              is_view_valid(program, output) && is_extent(program, output.offset);
    if (ok) ok = element_bytes(output.dtype) > 0;
    for (int32_t d = 0; ok && d < output.ndim; ++d)
      ok = is_extent(program, output.sizes[d]) && is_extent(program, output.strides[d]);
    if (!ok) return broken(program, "output", output.name);
  }
  return AOTC_OK;
}

AotcStatus validate_storages(const AotcProgram* program) {
  for (int32_t i = 0; i < program->n_storages; ++i) {
    const AotcStorage& storage = program->storages[i];
    int64_t end = 0;
    if (storage.bytes < 0 || (storage.offset >= 0 && (!add(storage.offset, storage.bytes, &end) ||
                                                      end > program->weights_bytes)))
      return broken(program, "a storage lies outside the weights of", program->name);
  }
  return AOTC_OK;
}

// The name's elements lie within its storage.
bool is_within_storage(const AotcName& name, int64_t bytes) {
  const int64_t item = element_bytes(name.dtype);
  int64_t start = 0, reach = item;
  if (name.offset < 0 || !multiply(name.offset, item, &start)) return false;
  if (count_elements(name.sizes, name.ndim) == 0) return start <= bytes;
  for (int32_t d = 0; d < name.ndim; ++d) {
    int64_t step = 0;
    if (name.sizes[d] < 1 || name.strides[d] < 0) return false;
    if (!multiply(name.sizes[d] - 1, name.strides[d], &step) || !multiply(step, item, &step) ||
        !add(reach, step, &reach))
      return false;
  }
  return add(start, reach, &reach) && reach <= bytes;
}

AotcStatus validate_names(const AotcProgram* program) {
  for (int32_t i = 0; i < program->n_names; ++i) {
    const AotcName& name = program->names[i];
    const bool ok = name.name && is_rank(name.ndim) && name.storage >= 0 &&
                    name.storage < program->n_storages && element_bytes(name.dtype) > 0 &&
                    is_within_storage(name, program->storages[name.storage].bytes) &&
                    (!name.state || program->storages[name.storage].state);
    if (!ok) return broken(program, "the storage of", name.name);
  }
  for (int32_t i = 0; i < program->n_aliased_io; ++i) {
    const AotcAliasedIo& row = program->aliased_io[i];
    if (row.output >= program->n_outputs || row.input >= program->n_inputs ||
        row.storage_name >= program->n_names)
      return broken(program, "a row of aliased_io in", program->name);
  }
  return AOTC_OK;
}

AotcStatus validate_steps(const AotcProgram* program) {
  if (program->n_steps < 0 || (program->n_steps > 0 && !program->steps))
    return broken(program, "the table of steps in", program->name);
  for (int32_t i = 0; i < program->n_steps; ++i) {
    const AotcStep& step = program->steps[i];
    if (!step.name || !step.op || !step.line) return broken(program, "step", step.name);
  }
  return AOTC_OK;
}

}  // namespace

AotcStatus validate_program(const AotcProgram* program) {
  if (program->version != AOTC_PROGRAM_VERSION || program->struct_size < sizeof(AotcProgram))
    return fail(AOTC_BAD_PACKAGE,
                "the program was generated for run time version %u, this is version %u: compile it "
                "again",
                program->version, AOTC_PROGRAM_VERSION);
  if (!program->name || !program->cpu_level || !program->run)
    return broken(program, "no name, CPU level or code in", program->name);
  if (AotcStatus status = validate_inputs(program)) return status;
  if (AotcStatus status = validate_outputs(program)) return status;
  if (AotcStatus status = validate_storages(program)) return status;
  if (AotcStatus status = validate_names(program)) return status;
  if (program->gpu && program->gpu->runtime)
    if (AotcStatus status = program->gpu->runtime->validate(program)) return status;
  return validate_steps(program);
}

}  // namespace aotc::model
