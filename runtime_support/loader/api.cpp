// The exported functions of libaotc.so and the table of them. Each passes the call on to the
// package's own table; handles, last errors and lifetimes are the loader's.
#include <cstring>
#include <memory>
#include <new>

#include "../model/pool.h"
#include "failure.h"
#include "handles.h"
#include "json.h"

namespace {

using aotc::loader::fail;
using aotc::loader::guarded;
using aotc::loader::Json;
using aotc::loader::Model;
using aotc::loader::Session;

Model* from_handle(AotcModel* model) { return reinterpret_cast<Model*>(model); }
const Model* from_handle(const AotcModel* model) { return reinterpret_cast<const Model*>(model); }
Session* from_handle(AotcSession* session) { return reinterpret_cast<Session*>(session); }
const Session* from_handle(const AotcSession* session) {
  return reinterpret_cast<const Session*>(session);
}

AotcStatus null_argument(const char* function, const char* what) {
  return guarded([&] {
    return fail(AOTC_INVALID_ARGUMENT, std::string(function) + ": the " + what + " is NULL");
  });
}

// A status of the package's table, with its message made the caller's.
AotcStatus pass_on(const Model* model, AotcStatus status) {
  return status ? guarded([&] { return fail(status, model->api()->last_error()); }) : AOTC_OK;
}

// Calls a member of the session's table.
template <class Member, class... Arguments>
AotcStatus call(const char* function, AotcSession* handle, Member member, Arguments... arguments) {
  if (!handle) return null_argument(function, "session");
  const Session* session = from_handle(handle);
  return pass_on(session->model, (session->model->api()->*member)(session->program, arguments...));
}

AotcStatus get_spec(const char* function, const AotcModel* handle,
                    AotcStatus (*AotcApi::*member)(const AotcModel*, int32_t, AotcTensorSpec*),
                    int32_t i, AotcTensorSpec* out) {
  if (!handle) return null_argument(function, "model");
  const Model* model = from_handle(handle);
  return pass_on(model, (model->api()->*member)(model->program(), i, out));
}

// Makes a handle of a new session of the package's table and lends it the pool.
AotcStatus wrap_session(Model* model, AotcSession* program, int32_t threads, AotcSession** out) {
  Session* session = new (std::nothrow) Session{model, program, threads};
  if (!session) {
    model->api()->session_destroy(program);
    return fail(AOTC_OUT_OF_MEMORY, "no memory for a session");
  }
  model->retain();
  aotc::loader::lend_pool(session);
  *out = reinterpret_cast<AotcSession*>(session);
  return AOTC_OK;
}

// The options have been accepted by the package.
int32_t read_threads(const char* options) {
  int64_t threads = 0;
  if (options && std::strpbrk(options, "{")) {
    const Json json = aotc::loader::parse_json(options, "options");
    if (const Json* given = json.find("threads")) threads = given->integer().value_or(0);
  }
  return threads > 0 ? static_cast<int32_t>(threads) : aotc::model::usable_cpus();
}

}  // namespace

extern "C" {

const char* aotc_last_error(void) { return aotc::loader::last_error(); }

AotcStatus aotc_model_open(const char* path, const char* options, AotcModel** out) {
  if (!out) return null_argument("model_open", "address for the model");
  *out = nullptr;
  if (!path) return null_argument("model_open", "path (it is optional only in a model.so itself)");
  return guarded([&] {
    *out = reinterpret_cast<AotcModel*>(new Model(aotc::loader::open_package(path, options)));
    return AOTC_OK;
  });
}

AotcStatus aotc_model_open_memory(const void* data, uint64_t size, const char* options,
                                  AotcModel** out) {
  if (!out) return null_argument("model_open_memory", "address for the model");
  *out = nullptr;
  if (!data) return null_argument("model_open_memory", "data");
  return guarded([&] {
    *out = reinterpret_cast<AotcModel*>(
        new Model(aotc::loader::open_package_memory(data, size, options)));
    return AOTC_OK;
  });
}

void aotc_model_close(AotcModel* model) {
  if (model) from_handle(model)->release();
}

const char* aotc_model_manifest(const AotcModel* model) {
  return model ? from_handle(model)->manifest() : nullptr;
}
int32_t aotc_model_num_inputs(const AotcModel* model) {
  return model ? from_handle(model)->api()->model_num_inputs(from_handle(model)->program()) : 0;
}
int32_t aotc_model_num_outputs(const AotcModel* model) {
  return model ? from_handle(model)->api()->model_num_outputs(from_handle(model)->program()) : 0;
}
int32_t aotc_model_num_states(const AotcModel* model) {
  return model ? from_handle(model)->api()->model_num_states(from_handle(model)->program()) : 0;
}
int32_t aotc_model_num_weights(const AotcModel* model) {
  return model ? from_handle(model)->api()->model_num_weights(from_handle(model)->program()) : 0;
}
const char* aotc_model_input_name(const AotcModel* model, int32_t i) {
  return model ? from_handle(model)->api()->model_input_name(from_handle(model)->program(), i)
               : nullptr;
}
const char* aotc_model_output_name(const AotcModel* model, int32_t i) {
  return model ? from_handle(model)->api()->model_output_name(from_handle(model)->program(), i)
               : nullptr;
}
const char* aotc_model_state_name(const AotcModel* model, int32_t i) {
  return model ? from_handle(model)->api()->model_state_name(from_handle(model)->program(), i)
               : nullptr;
}
const char* aotc_model_weight_name(const AotcModel* model, int32_t i) {
  return model ? from_handle(model)->api()->model_weight_name(from_handle(model)->program(), i)
               : nullptr;
}
const char* aotc_model_aliased_input(const AotcModel* model, int32_t output) {
  return model
             ? from_handle(model)->api()->model_aliased_input(from_handle(model)->program(), output)
             : nullptr;
}
const char* aotc_model_aliased_state(const AotcModel* model, int32_t output) {
  return model
             ? from_handle(model)->api()->model_aliased_state(from_handle(model)->program(), output)
             : nullptr;
}

AotcStatus aotc_model_update_weights(AotcModel* handle, const char* const* names,
                                     const DLTensor* values, int32_t n) {
  if (!handle) return null_argument("model_update_weights", "model");
  const Model* model = from_handle(handle);
  return pass_on(model, model->api()->model_update_weights(model->program(), names, values, n));
}

AotcStatus aotc_model_input_spec(const AotcModel* model, int32_t i, AotcTensorSpec* out) {
  return get_spec("model_input_spec", model, &AotcApi::model_input_spec, i, out);
}
AotcStatus aotc_model_output_spec(const AotcModel* model, int32_t i, AotcTensorSpec* out) {
  return get_spec("model_output_spec", model, &AotcApi::model_output_spec, i, out);
}
AotcStatus aotc_model_state_spec(const AotcModel* model, int32_t i, AotcTensorSpec* out) {
  return get_spec("model_state_spec", model, &AotcApi::model_state_spec, i, out);
}

AotcStatus aotc_session_create(AotcModel* handle, const char* options, AotcSession** out) {
  if (!handle || !out)
    return null_argument("session_create", out ? "model" : "address for the session");
  *out = nullptr;
  Model* model = from_handle(handle);
  AotcSession* program = nullptr;
  if (const AotcStatus status = model->api()->session_create(model->program(), options, &program))
    return pass_on(model, status);
  int32_t threads = 0;
  const AotcStatus status = guarded([&] {
    threads = read_threads(options);
    return AOTC_OK;
  });
  if (!status) return wrap_session(model, program, threads, out);
  model->api()->session_destroy(program);
  return status;
}

void aotc_session_destroy(AotcSession* handle) {
  if (!handle) return;
  Session* session = from_handle(handle);
  session->model->api()->session_destroy(session->program);
  session->model->release();
  delete session;
}

AotcStatus aotc_session_run(AotcSession* handle, const DLTensor* inputs, int32_t n_inputs,
                            DLManagedTensor** outputs, int32_t n_outputs) {
  if (!handle) return null_argument("session_run", "session");
  const Session* session = from_handle(handle);
  // Which entries were the caller's must be known afterwards; more than a few are kept on the heap.
  bool few[64];
  const bool readable = outputs && n_outputs > 0;
  bool* given = few;
  std::unique_ptr<bool[]> many;
  if (readable && n_outputs > 64) {
    many.reset(new (std::nothrow) bool[static_cast<size_t>(n_outputs)]);
    if (!many) return fail(AOTC_OUT_OF_MEMORY, "session_run: no memory");
    given = many.get();
  }
  for (int32_t i = 0; readable && i < n_outputs; ++i) given[i] = outputs[i] != nullptr;
  const AotcStatus status =
      session->model->api()->session_run(session->program, inputs, n_inputs, outputs, n_outputs);
  if (status) return pass_on(session->model, status);
  if (readable) keep_model_for_results(session->model, outputs, n_outputs, given);
  return AOTC_OK;
}

AotcStatus aotc_session_synchronize(AotcSession* session) {
  return call("session_synchronize", session, &AotcApi::session_synchronize);
}
AotcStatus aotc_session_state_get(AotcSession* session, const char* name, DLTensor* into) {
  return call("session_state_get", session, &AotcApi::session_state_get, name, into);
}
AotcStatus aotc_session_state_set(AotcSession* session, const char* name, const DLTensor* from) {
  return call("session_state_set", session, &AotcApi::session_state_set, name, from);
}
AotcStatus aotc_session_state_bind(AotcSession* session, const char* name,
                                   const DLTensor* storage) {
  return call("session_state_bind", session, &AotcApi::session_state_bind, name, storage);
}
AotcStatus aotc_session_state_reset(AotcSession* session) {
  return call("session_state_reset", session, &AotcApi::session_state_reset);
}
AotcStatus aotc_session_save(AotcSession* session, const char* path) {
  return call("session_save", session, &AotcApi::session_save, path);
}
AotcStatus aotc_session_load(AotcSession* session, const char* path) {
  return call("session_load", session, &AotcApi::session_load, path);
}
AotcStatus aotc_session_profile_start(AotcSession* session, const char* options) {
  return call("session_profile_start", session, &AotcApi::session_profile_start, options);
}
AotcStatus aotc_session_profile_stop(AotcSession* session, const char* path) {
  return call("session_profile_stop", session, &AotcApi::session_profile_stop, path);
}

AotcStatus aotc_session_fork(AotcSession* handle, AotcSession** out) {
  if (!out) return null_argument("session_fork", "address for the session");
  *out = nullptr;
  AotcSession* program = nullptr;
  if (const AotcStatus status = call("session_fork", handle, &AotcApi::session_fork, &program))
    return status;
  const Session* from = from_handle(handle);
  return wrap_session(from->model, program, from->threads, out);
}

AotcStatus aotc_session_set_parallel_for(AotcSession* handle, AotcParallelFor fn, void* context,
                                         int32_t threads) {
  if (!handle) return null_argument("session_set_parallel_for", "session");
  Session* session = from_handle(handle);
  if (!fn) {
    fn = aotc::model::pool_parallel_for;
    context = &session->threads;
    threads = session->threads;
  }
  return call("session_set_parallel_for", handle, &AotcApi::session_set_parallel_for, fn, context,
              threads);
}

int64_t aotc_session_scratch_size(const AotcSession* handle) {
  if (!handle) return 0;
  const Session* session = from_handle(handle);
  return session->model->api()->session_scratch_size(session->program);
}

AotcStatus aotc_device_alloc(AotcModel* handle, uint64_t bytes, void** out) {
  if (!handle) return null_argument("device_alloc", "model");
  const Model* model = from_handle(handle);
  return pass_on(model, model->api()->device_alloc(model->program(), bytes, out));
}
AotcStatus aotc_device_free(AotcModel* handle, void* data) {
  if (!handle) return null_argument("device_free", "model");
  const Model* model = from_handle(handle);
  return pass_on(model, model->api()->device_free(model->program(), data));
}
AotcStatus aotc_device_copy(AotcModel* handle, void* to, DLDevice to_device, const void* from,
                            DLDevice from_device, uint64_t bytes) {
  if (!handle) return null_argument("device_copy", "model");
  const Model* model = from_handle(handle);
  return pass_on(model, model->api()->device_copy(model->program(), to, to_device, from,
                                                  from_device, bytes));
}

const char* aotc_session_graph_trouble(const AotcSession* handle) {
  if (!handle) return nullptr;
  const Session* session = from_handle(handle);
  return session->model->api()->session_graph_trouble(session->program);
}

const AotcApi* aotc_get_api(uint32_t abi_version) {
  static const AotcApi kApi = {AOTC_ABI_VERSION,
                               sizeof(AotcApi),
                               aotc_last_error,
                               aotc_model_open,
                               aotc_model_open_memory,
                               aotc_model_close,
                               aotc_model_manifest,
                               aotc_model_num_inputs,
                               aotc_model_num_outputs,
                               aotc_model_num_states,
                               aotc_model_input_name,
                               aotc_model_output_name,
                               aotc_model_state_name,
                               aotc_model_aliased_input,
                               aotc_model_aliased_state,
                               aotc_session_create,
                               aotc_session_destroy,
                               aotc_session_run,
                               aotc_session_synchronize,
                               aotc_session_state_get,
                               aotc_session_state_set,
                               aotc_session_state_bind,
                               aotc_session_state_reset,
                               aotc_session_fork,
                               aotc_session_save,
                               aotc_session_load,
                               aotc_session_profile_start,
                               aotc_session_profile_stop,
                               aotc_model_num_weights,
                               aotc_model_weight_name,
                               aotc_model_update_weights,
                               aotc_model_input_spec,
                               aotc_model_output_spec,
                               aotc_model_state_spec,
                               aotc_session_set_parallel_for,
                               aotc_session_scratch_size,
                               aotc_device_alloc,
                               aotc_device_free,
                               aotc_device_copy,
                               aotc_session_graph_trouble};
  return abi_version == AOTC_ABI_VERSION ? &kApi : nullptr;
}

}  // extern "C"
