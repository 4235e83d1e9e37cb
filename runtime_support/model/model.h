// A model: one program, its weights, and tables derived from it once. Immutable after opening.
#pragma once
#include "base.h"
#include "program.h"

namespace aotc::model {

// The weights blob and what it takes to give it back. `data` is aligned to kAlignment.
struct Weights {
  const char* data;
  void* mapping;  // of a file, else NULL
  int64_t mapping_bytes;
  void* copy;  // of a blob that is not aligned, else NULL
};

// Where a symbol gets its value: the first input dimension that says factor * symbol + offset (0
// for a symbolic int); input -1 for a symbol that the program computes.
struct SymbolSource {
  int32_t input, dimension;
};

struct GpuModel;  // cuda/gpu_model.h

struct Model {
  const AotcProgram* program;
  int32_t references;
  Weights weights;
  char* zeros;  // content of constant storages without bytes in the blob

  int32_t n_states, n_weights;
  int32_t *state_names, *weight_names;  // indices into program->names
  AotcTensorSpec *input_specs, *output_specs, *state_specs;
  SymbolSource* symbol_sources;
  int32_t *first_input_dim,
      *first_output_dim;  // of each input / output in arrays over all dimensions
  int32_t n_input_dims, n_output_dims;
  uint8_t* is_shared;      // outputs that another output is a view of
  int64_t* state_offsets;  // of each storage in a session's block of states; -1: a weight
  int64_t state_bytes;
  GpuModel* gpu;          // NULL until the first session of a program with a GPU part
  int32_t writes_memory;  // an input is mutated or there is a state: a call must check for overlaps
};

// The AotcApi members of the same names, for `program`. `path` must be NULL.
AotcStatus open_model(const AotcProgram* program, const char* path, const char* options,
                      AotcModel** out);
// `data` is the weights blob; it must stay valid until the model is closed.
AotcStatus open_model_memory(const AotcProgram* program, const void* data, uint64_t size,
                             const char* options, AotcModel** out);
void close_model(AotcModel* model);
const char* model_manifest(const AotcModel* model);
int32_t model_num_inputs(const AotcModel* model);
int32_t model_num_outputs(const AotcModel* model);
int32_t model_num_states(const AotcModel* model);
int32_t model_num_weights(const AotcModel* model);
const char* model_input_name(const AotcModel* model, int32_t i);
const char* model_output_name(const AotcModel* model, int32_t i);
const char* model_state_name(const AotcModel* model, int32_t i);
const char* model_weight_name(const AotcModel* model, int32_t i);
const char* model_aliased_input(const AotcModel* model, int32_t output);
const char* model_aliased_state(const AotcModel* model, int32_t output);
AotcStatus model_update_weights(AotcModel* model, const char* const* names, const DLTensor* values,
                                int32_t n);
AotcStatus model_input_spec(const AotcModel* model, int32_t i, AotcTensorSpec* out);
AotcStatus model_output_spec(const AotcModel* model, int32_t i, AotcTensorSpec* out);
AotcStatus model_state_spec(const AotcModel* model, int32_t i, AotcTensorSpec* out);
AotcStatus device_alloc(AotcModel* model, uint64_t bytes, void** out);
AotcStatus device_free(AotcModel* model, void* data);
AotcStatus device_copy(AotcModel* model, void* to, DLDevice to_device, const void* from,
                       DLDevice from_device, uint64_t bytes);

inline Model* from_handle(AotcModel* model) { return reinterpret_cast<Model*>(model); }
inline const Model* from_handle(const AotcModel* model) {
  return reinterpret_cast<const Model*>(model);
}
void retain_model(Model* model);
void release_model(Model* model);

// The program's tables agree with each other and with the size of its weights, so that nothing
// later has to check them again.
AotcStatus validate_program(const AotcProgram* program);

// Whether a view of an input can be expressed in any strides of it.
inline bool is_simple_view(const AotcOutput& output) { return output.view_start != nullptr; }

// Where the caller wants the weights from.
struct WeightsOptions {
  char path[4096];
  int64_t offset, size;  // of the blob in that file; size -1: to the end
};
// Maps the file that the options name, by default the embedded blob or weights.bin beside the
// library.
AotcStatus load_weights(const AotcProgram* program, const WeightsOptions& options, Weights* out);
AotcStatus use_weights(const AotcProgram* program, const void* data, uint64_t size, Weights* out);
void release_weights(Weights* weights);

// Fills the three spec arrays. `sizes` has room for the three lists (sizes, min, max) of each
// spec's dimensions, one after the other: input dimensions, output dimensions, state dimensions.
void fill_specs(Model* model, int64_t* sizes);
int64_t count_spec_sizes(const AotcProgram* program);

}  // namespace aotc::model
