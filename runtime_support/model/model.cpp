// Opening and closing a model, and the questions that it answers.
#include "model.h"

#include <string.h>

#include "cpu.h"
#include "digest.h"
#include "error.h"
#include "gpu.h"
#include "options.h"
#include "pool.h"

namespace aotc::model {
namespace {

AotcStatus check_cpu(const AotcProgram* program) {
  if (cpu_level_rank(program->cpu_level) < 0)
    return fail(AOTC_UNSUPPORTED,
                "the model was compiled for CPU level '%s', which this run time does not know",
                program->cpu_level);
  if (const char* missing = missing_cpu_feature(program->cpu_level))
    return fail(AOTC_UNSUPPORTED,
                "the model was compiled for %s, this CPU lacks %s: compile it with another --cpu",
                program->cpu_level, missing);
  return AOTC_OK;
}

// A package's manifest names the digest of the table that its library must have.
AotcStatus check_digest(const AotcProgram* program, const char* wanted) {
  char own[17];
  digest_text(aliased_io_digest(program->aliased_io, program->n_aliased_io), own);
  if (!wanted[0] || strcmp(own, wanted) == 0) return AOTC_OK;
  return fail(AOTC_BAD_PACKAGE,
              "the manifest's aliased_io digest is %s, program '%s' has %s: they were not made "
              "together, compile again",
              wanted, program->name, own);
}

int64_t lay_out(Model* model, char* base, int64_t** spec_sizes) {
  const AotcProgram* program = model->program;
  Carver carver = {base, round_up(sizeof(Model), 16)};
  carver.take(&model->state_names, program->n_names);
  carver.take(&model->weight_names, program->n_names);
  carver.take(&model->input_specs, program->n_inputs);
  carver.take(&model->output_specs, program->n_outputs);
  carver.take(&model->state_specs, program->n_names);
  carver.take(&model->symbol_sources, program->n_symbols);
  carver.take(&model->first_input_dim, program->n_inputs);
  carver.take(&model->first_output_dim, program->n_outputs);
  carver.take(&model->is_shared, program->n_outputs);
  carver.take(&model->state_offsets, program->n_storages);
  carver.take(spec_sizes, count_spec_sizes(program));
  return carver.used;
}

void index_names(Model* model) {
  for (int32_t i = 0; i < model->program->n_names; ++i)
    if (model->program->names[i].state)
      model->state_names[model->n_states++] = i;
    else
      model->weight_names[model->n_weights++] = i;
}

void index_symbols(Model* model) {
  const AotcProgram* program = model->program;
  for (int32_t s = 0; s < program->n_symbols; ++s) model->symbol_sources[s] = {-1, 0};
  for (int32_t i = program->n_inputs - 1; i >= 0; --i) {
    const AotcInput& input = program->inputs[i];
    const int32_t dimensions = input.kind == AOTC_INPUT_SYMBOL ? 1 : input.ndim;
    for (int32_t d = dimensions - 1; d >= 0; --d)
      if (input.dimensions[d].symbol >= 0)
        model->symbol_sources[input.dimensions[d].symbol] = {i, d};
  }
}

void index_dimensions(Model* model) {
  const AotcProgram* program = model->program;
  for (int32_t i = 0; i < program->n_inputs; ++i) {
    model->first_input_dim[i] = model->n_input_dims;
    model->n_input_dims += program->inputs[i].ndim;
    if (program->inputs[i].mutated) model->writes_memory = 1;
  }
  for (int32_t i = 0; i < program->n_outputs; ++i) {
    model->first_output_dim[i] = model->n_output_dims;
    model->n_output_dims += program->outputs[i].ndim;
    if (program->outputs[i].kind == AOTC_OUTPUT_OUTPUT)
      model->is_shared[program->outputs[i].index] = 1;
  }
}

// The states' places in a session's block, and zero bytes for constants that have none in the blob.
AotcStatus index_storages(Model* model) {
  const AotcProgram* program = model->program;
  int64_t zeros = 0;
  for (int32_t i = 0; i < program->n_storages; ++i) {
    const AotcStorage& storage = program->storages[i];
    model->state_offsets[i] = storage.state ? model->state_bytes : -1;
    if (storage.state) model->writes_memory = 1;
    if (storage.device != AOTC_HOST) continue;
    if (!storage.state && storage.offset < 0 && storage.bytes > zeros) zeros = storage.bytes;
    if (!storage.state) continue;
    if (!add(model->state_bytes, storage.bytes, &model->state_bytes) ||
        !add(model->state_bytes, kAlignment, &model->state_bytes))
      return fail(AOTC_OUT_OF_MEMORY, "the states of program '%s' do not fit in memory",
                  program->name);
    model->state_bytes = model->state_bytes / kAlignment * kAlignment;
  }
  if (zeros &&
      !(model->zeros = static_cast<char*>(calloc(1, static_cast<size_t>(zeros) + kAlignment))))
    return fail(AOTC_OUT_OF_MEMORY, "no memory for %lld bytes of zero constants",
                static_cast<long long>(zeros));
  return AOTC_OK;
}

void destroy_model(Model* model) {
  if (model->gpu) gpu_runtime(model->program)->release_model(model);
  release_weights(&model->weights);
  free(model->zeros);
  free(model);
}

// Takes over `weights`, also on failure.
AotcStatus make_model(const AotcProgram* program, Weights weights, Model** out) {
  Model measure = {};
  measure.program = program;
  int64_t* spec_sizes = nullptr;
  const int64_t bytes = lay_out(&measure, nullptr, &spec_sizes);
  Model* model = static_cast<Model*>(calloc(1, static_cast<size_t>(bytes)));
  if (!model) {
    release_weights(&weights);
    return fail(AOTC_OUT_OF_MEMORY, "no memory for a model");
  }
  model->program = program;
  model->references = 1;
  model->weights = weights;
  lay_out(model, reinterpret_cast<char*>(model), &spec_sizes);
  index_names(model);
  index_symbols(model);
  index_dimensions(model);
  fill_specs(model, spec_sizes);
  if (AotcStatus status = index_storages(model)) {
    destroy_model(model);
    return status;
  }
  pool_retain();
  *out = model;
  return AOTC_OK;
}

struct OpenOptions {
  WeightsOptions weights;
  char digest[64];
};

AotcStatus read_open_options(const char* json, OpenOptions* out) {
  out->weights.path[0] = out->digest[0] = 0;
  out->weights.offset = 0;
  out->weights.size = -1;
  Option options[] = {
      string_option("weights", out->weights.path, sizeof out->weights.path),
      integer_option("weights_offset", 0, INT64_MAX, &out->weights.offset),
      integer_option("weights_size", 0, INT64_MAX, &out->weights.size),
      string_option("aliased_io_digest", out->digest, sizeof out->digest),
  };
  return parse_options("model_open", json, options, 4);
}

// What must hold before anything of the program is used.
AotcStatus check_program(const AotcProgram* program, const char* json, OpenOptions* options) {
  if (AotcStatus status = read_open_options(json, options)) return status;
  if (AotcStatus status = validate_program(program)) return status;
  if (AotcStatus status = check_digest(program, options->digest)) return status;
  return check_cpu(program);
}

AotcStatus finish_open(const AotcProgram* program, AotcStatus status, Weights* weights,
                       AotcModel** out) {
  if (status) {
    release_weights(weights);
    return status;
  }
  Model* model = nullptr;
  status = make_model(program, *weights, &model);
  *out = reinterpret_cast<AotcModel*>(model);
  return status;
}

const AotcOutput* find_output(const Model* model, int32_t output, AotcOutputKind kind) {
  if (!model || output < 0 || output >= model->program->n_outputs) return nullptr;
  const AotcOutput* found = &model->program->outputs[output];
  return found->kind == kind ? found : nullptr;
}

AotcStatus get_spec(const AotcModel* handle, const AotcTensorSpec* specs, int32_t count, int32_t i,
                    const char* what, AotcTensorSpec* out) {
  if (!handle || !out)
    return fail(AOTC_INVALID_ARGUMENT, "model_%s_spec: an argument is NULL", what);
  if (i < 0 || i >= count)
    return fail(AOTC_INVALID_ARGUMENT, "model_%s_spec: there is no %s %d, the model has %d", what,
                what, i, count);
  *out = specs[i];
  return AOTC_OK;
}

}  // namespace

AotcStatus open_model(const AotcProgram* program, const char* path, const char* json,
                      AotcModel** out) {
  if (!out) return fail(AOTC_INVALID_ARGUMENT, "model_open: the address for the model is NULL");
  *out = nullptr;
  if (path)
    return fail(AOTC_UNSUPPORTED,
                "model_open: this library serves only its built-in program '%s': pass NULL as the "
                "path, or open '%s' with libaotc.so",
                program->name, path);
  OpenOptions options;
  Weights weights = {};
  AotcStatus status = check_program(program, json, &options);
  if (!status) status = load_weights(program, options.weights, &weights);
  return finish_open(program, status, &weights, out);
}

AotcStatus open_model_memory(const AotcProgram* program, const void* data, uint64_t size,
                             const char* json, AotcModel** out) {
  if (!out)
    return fail(AOTC_INVALID_ARGUMENT, "model_open_memory: the address for the model is NULL");
  *out = nullptr;
  OpenOptions options;
  Weights weights = {};
  AotcStatus status = check_program(program, json, &options);
  if (!status && options.weights.path[0])
    status = fail(AOTC_INVALID_ARGUMENT,
                  "model_open_memory: option 'weights' contradicts the weights in memory");
  if (!status) status = use_weights(program, data, size, &weights);
  return finish_open(program, status, &weights, out);
}

void retain_model(Model* model) { __atomic_fetch_add(&model->references, 1, __ATOMIC_RELAXED); }

void release_model(Model* model) {
  if (__atomic_sub_fetch(&model->references, 1, __ATOMIC_ACQ_REL) != 0) return;
  destroy_model(model);
  pool_release();
}

void close_model(AotcModel* model) {
  if (model) release_model(from_handle(model));
}

const char* model_manifest(const AotcModel* model) {
  return model ? from_handle(model)->program->manifest_json : nullptr;
}
int32_t model_num_inputs(const AotcModel* model) {
  return model ? from_handle(model)->program->n_inputs : 0;
}
int32_t model_num_outputs(const AotcModel* model) {
  return model ? from_handle(model)->program->n_outputs : 0;
}
int32_t model_num_states(const AotcModel* model) {
  return model ? from_handle(model)->n_states : 0;
}
int32_t model_num_weights(const AotcModel* model) {
  return model ? from_handle(model)->n_weights : 0;
}

const char* model_input_name(const AotcModel* model, int32_t i) {
  return i >= 0 && i < model_num_inputs(model) ? from_handle(model)->program->inputs[i].name
                                               : nullptr;
}
const char* model_output_name(const AotcModel* model, int32_t i) {
  return i >= 0 && i < model_num_outputs(model) ? from_handle(model)->program->outputs[i].name
                                                : nullptr;
}
const char* model_state_name(const AotcModel* model, int32_t i) {
  if (i < 0 || i >= model_num_states(model)) return nullptr;
  return from_handle(model)->program->names[from_handle(model)->state_names[i]].name;
}
const char* model_weight_name(const AotcModel* model, int32_t i) {
  if (i < 0 || i >= model_num_weights(model)) return nullptr;
  return from_handle(model)->program->names[from_handle(model)->weight_names[i]].name;
}

const char* model_aliased_input(const AotcModel* handle, int32_t output) {
  const Model* model = from_handle(handle);
  const AotcOutput* found = find_output(model, output, AOTC_OUTPUT_INPUT);
  return found ? model->program->inputs[found->index].name : nullptr;
}
const char* model_aliased_state(const AotcModel* handle, int32_t output) {
  const Model* model = from_handle(handle);
  const AotcOutput* found = find_output(model, output, AOTC_OUTPUT_STATE);
  return found ? model->program->names[found->index].name : nullptr;
}

AotcStatus model_update_weights(AotcModel*, const char* const*, const DLTensor*, int32_t) {
  return fail(AOTC_UNSUPPORTED,
              "model_update_weights is not available in this version: compile the program with the "
              "new weights");
}

namespace {

// What serves the model's device memory.
AotcStatus find_gpu(const AotcModel* handle, const AotcGpuRuntime** out) {
  *out = handle ? gpu_runtime(from_handle(handle)->program) : nullptr;
  if (*out) return AOTC_OK;
  return fail(handle ? AOTC_UNSUPPORTED : AOTC_INVALID_ARGUMENT, "device memory: %s",
              handle ? "the program is for the CPU" : "the model is NULL");
}

}  // namespace

AotcStatus device_alloc(AotcModel* model, uint64_t bytes, void** out) {
  const AotcGpuRuntime* gpu = nullptr;
  const AotcStatus status = find_gpu(model, &gpu);
  return status ? status : gpu->device_alloc(from_handle(model), bytes, out);
}

AotcStatus device_free(AotcModel* model, void* data) {
  const AotcGpuRuntime* gpu = nullptr;
  const AotcStatus status = find_gpu(model, &gpu);
  return status ? status : gpu->device_free(from_handle(model), data);
}

AotcStatus device_copy(AotcModel* model, void* to, DLDevice to_device, const void* from,
                       DLDevice from_device, uint64_t bytes) {
  const AotcGpuRuntime* gpu = nullptr;
  const AotcStatus status = find_gpu(model, &gpu);
  return status ? status
                : gpu->device_copy(from_handle(model), to, to_device, from, from_device, bytes);
}

AotcStatus model_input_spec(const AotcModel* model, int32_t i, AotcTensorSpec* out) {
  return get_spec(model, model ? from_handle(model)->input_specs : nullptr, model_num_inputs(model),
                  i, "input", out);
}
AotcStatus model_output_spec(const AotcModel* model, int32_t i, AotcTensorSpec* out) {
  return get_spec(model, model ? from_handle(model)->output_specs : nullptr,
                  model_num_outputs(model), i, "output", out);
}
AotcStatus model_state_spec(const AotcModel* model, int32_t i, AotcTensorSpec* out) {
  return get_spec(model, model ? from_handle(model)->state_specs : nullptr, model_num_states(model),
                  i, "state", out);
}

}  // namespace aotc::model
