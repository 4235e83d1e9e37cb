// The table that a model's library serves. model_open has no argument that names the program, so
// each model has an api_entry.cpp of its own with the two functions that do; all else is shared by
// all models linked into one executable.
#pragma once
#include "error.h"
#include "session.h"

// An AotcApi initializer, member by member.
#define AOTC_MODEL_API(open, open_memory) \
  {AOTC_ABI_VERSION,                      \
   sizeof(AotcApi),                       \
   aotc::model::last_error,               \
   open,                                  \
   open_memory,                           \
   aotc::model::close_model,              \
   aotc::model::model_manifest,           \
   aotc::model::model_num_inputs,         \
   aotc::model::model_num_outputs,        \
   aotc::model::model_num_states,         \
   aotc::model::model_input_name,         \
   aotc::model::model_output_name,        \
   aotc::model::model_state_name,         \
   aotc::model::model_aliased_input,      \
   aotc::model::model_aliased_state,      \
   aotc::model::session_create,           \
   aotc::model::session_destroy,          \
   aotc::model::session_run,              \
   aotc::model::session_synchronize,      \
   aotc::model::session_state_get,        \
   aotc::model::session_state_set,        \
   aotc::model::session_state_bind,       \
   aotc::model::session_state_reset,      \
   aotc::model::session_fork,             \
   aotc::model::session_save,             \
   aotc::model::session_load,             \
   aotc::model::session_profile_start,    \
   aotc::model::session_profile_stop,     \
   aotc::model::model_num_weights,        \
   aotc::model::model_weight_name,        \
   aotc::model::model_update_weights,     \
   aotc::model::model_input_spec,         \
   aotc::model::model_output_spec,        \
   aotc::model::model_state_spec,         \
   aotc::model::session_set_parallel_for, \
   aotc::model::session_scratch_size,     \
   aotc::model::device_alloc,             \
   aotc::model::device_free,              \
   aotc::model::device_copy,              \
   aotc::model::session_graph_trouble}
