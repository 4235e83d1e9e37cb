// The specs that model_*_spec hand out, filled once per model.
#include "gpu.h"

namespace aotc::model {
namespace {

// The next `ndim` entries of each of the three lists of `spec`.
int64_t* place_sizes(AotcTensorSpec* spec, int64_t* next) {
  spec->sizes = next;
  spec->min_sizes = next + spec->ndim;
  spec->max_sizes = next + 2 * spec->ndim;
  return next + 3 * spec->ndim;
}

void set_size(const AotcTensorSpec& spec, int32_t d, int64_t size, int64_t min, int64_t max) {
  const_cast<int64_t*>(spec.sizes)[d] = size;
  const_cast<int64_t*>(spec.min_sizes)[d] = min;
  const_cast<int64_t*>(spec.max_sizes)[d] = max;
}

// A size is what it says, given by a symbol within its range, or only known at a call.
void set_extent(const AotcTensorSpec& spec, int32_t d, AotcExtent extent) {
  if (extent.extent < 0)
    set_size(spec, d, extent.value, extent.value, extent.value);
  else
    set_size(spec, d, -1, 0, INT64_MAX);
}

int64_t* fill_input(const AotcProgram* program, const AotcInput& input, AotcTensorSpec* spec,
                    int64_t* next) {
  *spec = {input.name, input.dtype, dl_device(program, input.device), input.ndim, nullptr,
           nullptr,    nullptr};
  next = place_sizes(spec, next);
  for (int32_t d = 0; d < input.ndim; ++d) {
    const AotcDimension& dimension = input.dimensions[d];
    if (dimension.symbol < 0) {
      set_extent(*spec, d, dimension.size);
      continue;
    }
    const SizeRange range = range_of(program, dimension);
    set_size(*spec, d, -1, range.min < 0 ? 0 : range.min, range.max);
  }
  return next;
}

int64_t* fill_output(const AotcProgram* program, const AotcOutput& output, AotcTensorSpec* spec,
                     int64_t* next) {
  *spec = {output.name, output.dtype, dl_device(program, output.device), output.ndim, nullptr,
           nullptr,     nullptr};
  next = place_sizes(spec, next);
  for (int32_t d = 0; d < output.ndim; ++d) set_extent(*spec, d, output.sizes[d]);
  return next;
}

int64_t* fill_state(const AotcProgram* program, const AotcName& name, AotcTensorSpec* spec,
                    int64_t* next) {
  *spec = {name.name, name.dtype, dl_device(program, program->storages[name.storage].device),
           name.ndim, nullptr,    nullptr,
           nullptr};
  next = place_sizes(spec, next);
  for (int32_t d = 0; d < name.ndim; ++d)
    set_size(*spec, d, name.sizes[d], name.sizes[d], name.sizes[d]);
  return next;
}

}  // namespace

int64_t count_spec_sizes(const AotcProgram* program) {
  int64_t dimensions = 0;
  for (int32_t i = 0; i < program->n_inputs; ++i) dimensions += program->inputs[i].ndim;
  for (int32_t i = 0; i < program->n_outputs; ++i) dimensions += program->outputs[i].ndim;
  for (int32_t i = 0; i < program->n_names; ++i)
    if (program->names[i].state) dimensions += program->names[i].ndim;
  return 3 * dimensions;
}

void fill_specs(Model* model, int64_t* sizes) {
  const AotcProgram* program = model->program;
  for (int32_t i = 0; i < program->n_inputs; ++i)
    sizes = fill_input(program, program->inputs[i], &model->input_specs[i], sizes);
  for (int32_t i = 0; i < program->n_outputs; ++i)
    sizes = fill_output(program, program->outputs[i], &model->output_specs[i], sizes);
  for (int32_t i = 0; i < model->n_states; ++i)
    sizes =
        fill_state(program, program->names[model->state_names[i]], &model->state_specs[i], sizes);
}

}  // namespace aotc::model
