// Creating, forking and ending sessions, and their settings.
#include "session.h"

#include <string.h>

#include "error.h"
#include "gpu.h"
#include "options.h"
#include "pool.h"

namespace aotc::model {
namespace {

alignas(kAlignment) char no_elements_data[kAlignment];

void run_serially(void*, int64_t n, int64_t, AotcRangeFn fn, void* arg) {
  if (n > 0) fn(arg, 0, n);
}

int64_t lay_out(Session* s, char* base) {
  const Model* model = s->model;
  const AotcProgram* program = s->program;
  Carver carver = {base, round_up(sizeof(Session), 16)};
  carver.take(&s->frame.inputs, program->n_inputs);
  carver.take(&s->frame.outputs, program->n_outputs);
  carver.take(&s->frame.storages, program->n_storages);
  carver.take(&s->frame.symbols, program->n_symbols);
  carver.take(&s->frame.extents, program->n_extents);
  carver.take(&s->own_storages, program->n_storages);
  carver.take(&s->slots, program->n_scratch_slots);
  carver.take(&s->input_sizes, model->n_input_dims);
  carver.take(&s->input_strides, model->n_input_dims);
  carver.take(&s->output_sizes, model->n_output_dims);
  carver.take(&s->output_strides, model->n_output_dims);
  carver.take(&s->input_spans, program->n_inputs);
  carver.take(&s->output_spans, program->n_outputs);
  carver.take(&s->input_overlaps, program->n_inputs);
  carver.take(&s->input_uses, program->n_inputs);
  carver.take(&s->output_uses, program->n_outputs);
  const int64_t regions = int64_t{program->n_inputs} + program->n_outputs + program->n_storages + 2;
  carver.take(&s->regions, regions);
  carver.take(&s->region_order, regions);
  return carver.used;
}

void place_storages(Session* s) {
  char* states = s->state_block ? align_up(s->state_block) : nullptr;
  for (int32_t i = 0; i < s->program->n_storages; ++i) {
    const AotcStorage& storage = s->program->storages[i];
    if (storage.device != AOTC_HOST) continue;
    if (storage.state) s->own_storages[i] = states + s->model->state_offsets[i];
    const char* constant = storage.offset >= 0 ? s->model->weights.data + storage.offset
                           : s->model->zeros   ? align_up(s->model->zeros)
                                               : no_elements();
    s->frame.storages[i] = storage.state ? s->own_storages[i] : const_cast<char*>(constant);
  }
}

void use_own_pool(Session* s) {
  s->frame.parallel_for = s->threads > 1 ? pool_parallel_for : run_serially;
  s->frame.parallel_context = &s->threads;
  s->frame.threads = s->threads;
}

// States are not yet initialised; a block that calloc gives is zero and, when large, not even
// touched.
AotcStatus make_session(Model* model, int32_t threads, Session** out) {
  Session measure = {};
  measure.model = model;
  measure.program = model->program;
  const int64_t bytes = lay_out(&measure, nullptr);
  Session* s = static_cast<Session*>(calloc(1, static_cast<size_t>(bytes)));
  char* states = nullptr;
  if (s && model->state_bytes)
    states = static_cast<char*>(calloc(1, static_cast<size_t>(model->state_bytes + kAlignment)));
  if (!s || (model->state_bytes && !states)) {
    free(s);
    return fail(AOTC_OUT_OF_MEMORY,
                "no memory for a session of program '%s' (%lld bytes of states)",
                model->program->name, static_cast<long long>(model->state_bytes));
  }
  s->model = model;
  s->program = model->program;
  lay_out(s, reinterpret_cast<char*>(s));
  s->state_block = states;
  s->threads = threads;
  s->frame.obtain_output = obtain_output;
  s->frame.obtain_scratch = obtain_scratch;
  s->frame.runtime = s;
  place_storages(s);
  use_own_pool(s);
  retain_model(model);
  *out = s;
  return AOTC_OK;
}

// The session's own storages; the host's are zero already.
AotcStatus load_initial_states(Session* s) {
  if (s->gpu) return reset_states(s);
  for (int32_t i = 0; i < s->program->n_storages; ++i) {
    const AotcStorage& storage = s->program->storages[i];
    if (storage.state && storage.offset >= 0 && storage.bytes > 0 && storage.device == AOTC_HOST)
      memcpy(s->own_storages[i], s->model->weights.data + storage.offset,
             static_cast<size_t>(storage.bytes));
  }
  return AOTC_OK;
}

// A program for the CPU has no stream that its work could be ordered on, and no graph to capture;
// its tensors are on the host, whatever `host_io` says.
AotcStatus refuse_device_options(const AotcProgram* program, int64_t stream, int64_t cuda_graph) {
  if (program->gpu || (!stream && !cuda_graph)) return AOTC_OK;
  return fail(
      AOTC_INVALID_ARGUMENT,
      "session_create: option '%s' needs a program for CUDA, this one is for the CPU: leave "
      "it out",
      stream ? "stream" : "cuda_graph");
}

// Ends a session that failed to be made.
AotcStatus hand_out(Session* s, AotcStatus status, AotcSession** out) {
  if (status)
    session_destroy(reinterpret_cast<AotcSession*>(s));
  else
    *out = reinterpret_cast<AotcSession*>(s);
  return status;
}

}  // namespace

char* no_elements() { return no_elements_data; }

bool reserve(Scratch* scratch, int64_t bytes) {
  if (bytes >= 0 && bytes <= scratch->bytes) return true;
  free(scratch->data);
  *scratch = {};
  if (bytes < 0 || bytes > INT64_MAX - kAlignment) return false;
  const int64_t rounded = round_up(bytes, kAlignment);
  scratch->data = static_cast<char*>(aligned_alloc(kAlignment, static_cast<size_t>(rounded)));
  scratch->bytes = scratch->data ? rounded : 0;
  return scratch->data != nullptr;
}

Use::Use(const char* function, AotcSession* handle)
    : session(from_handle(handle)), status(AOTC_OK) {
  if (!handle)
    status = fail(AOTC_INVALID_ARGUMENT, "%s: the session is NULL", function);
  else if (__atomic_exchange_n(&session->busy, 1u, __ATOMIC_ACQUIRE))
    status =
        fail(AOTC_BUSY, "%s: the session is in use by another call; use one per thread", function);
}

AotcStatus session_create(AotcModel* handle, const char* json, AotcSession** out) {
  if (!handle || !out)
    return fail(AOTC_INVALID_ARGUMENT, "session_create: the %s is NULL",
                out ? "model" : "address for the session");
  *out = nullptr;
  int64_t threads = 0, stream = 0, cuda_graph = 0, host_io = 0;
  Option options[] = {integer_option("threads", 0, kMaxThreads, &threads),
                      integer_option("stream", INT64_MIN, INT64_MAX, &stream),
                      bool_option("cuda_graph", &cuda_graph), bool_option("host_io", &host_io)};
  if (AotcStatus status = parse_options("session_create", json, options, 4)) return status;
  Model* model = from_handle(handle);
  if (AotcStatus status = refuse_device_options(model->program, stream, cuda_graph)) return status;
  Session* s = nullptr;
  const int32_t count = threads ? static_cast<int32_t>(threads) : usable_cpus();
  if (AotcStatus status = make_session(model, count, &s)) return status;
  AotcStatus status = AOTC_OK;
  if (const AotcGpuRuntime* gpu = gpu_runtime(model->program))
    status = gpu->make_session(s, {options[1].given, stream, cuda_graph != 0, host_io != 0});
  return hand_out(s, status ? status : load_initial_states(s), out);
}

void session_destroy(AotcSession* handle) {
  if (!handle) return;
  Session* s = from_handle(handle);
  Model* model = s->model;
  if (s->gpu) gpu_of(s).destroy_session(s);
  for (int32_t i = 0; i < s->program->n_scratch_slots; ++i) free(s->slots[i].data);
  free(s->arena.data);
  free(s->staging.data);
  free(s->state_block);
  discard_profile(s);
  free(s);
  release_model(model);
}

AotcStatus session_fork(AotcSession* handle, AotcSession** out) {
  if (!out) return fail(AOTC_INVALID_ARGUMENT, "session_fork: the address for the session is NULL");
  *out = nullptr;
  Use use("session_fork", handle);
  if (use.status) return use.status;
  Session* from = use.session;
  Session* s = nullptr;
  if (from->gpu)
    if (AotcStatus status = gpu_of(from).check_usable(from, GpuUse::kAny)) return status;
  if (AotcStatus status = make_session(from->model, from->threads, &s)) return status;
  s->frame.parallel_for = from->frame.parallel_for;
  s->frame.threads = from->frame.threads;
  if (from->frame.parallel_context != &from->threads)
    s->frame.parallel_context = from->frame.parallel_context;
  for (int32_t i = 0; i < s->program->n_storages; ++i)
    if (s->program->storages[i].state && s->program->storages[i].device == AOTC_HOST)
      memcpy(s->own_storages[i], from->frame.storages[i],
             static_cast<size_t>(s->program->storages[i].bytes));
  return hand_out(s, from->gpu ? gpu_of(from).fork_session(s, from) : AOTC_OK, out);
}

AotcStatus session_set_parallel_for(AotcSession* handle, AotcParallelFor fn, void* context,
                                    int32_t threads) {
  Use use("session_set_parallel_for", handle);
  if (use.status) return use.status;
  if (!fn) {
    use_own_pool(use.session);
    return AOTC_OK;
  }
  if (threads < 1)
    return fail(AOTC_INVALID_ARGUMENT, "session_set_parallel_for: %d threads, expected at least 1",
                threads);
  use.session->frame.parallel_for = fn;
  use.session->frame.parallel_context = context;
  use.session->frame.threads = threads;
  return AOTC_OK;
}

AotcStatus session_synchronize(AotcSession* handle) {
  if (!handle) return fail(AOTC_INVALID_ARGUMENT, "session_synchronize: the session is NULL");
  if (!from_handle(handle)->gpu) return AOTC_OK;
  Use use("session_synchronize", handle);
  return use.status ? use.status : gpu_of(use.session).synchronize(use.session);
}

int64_t session_scratch_size(const AotcSession* handle) {
  if (!handle) return 0;
  const Session* s = from_handle(handle);
  int64_t bytes = s->arena.bytes + s->staging.bytes;
  for (int32_t i = 0; i < s->program->n_scratch_slots; ++i) bytes += s->slots[i].bytes;
  return s->gpu ? bytes + gpu_of(s).scratch_bytes(s) : bytes;
}

const char* session_graph_trouble(const AotcSession* handle) {
  if (!handle || !from_handle(handle)->gpu) return nullptr;
  return gpu_of(from_handle(handle)).graph_trouble(from_handle(handle));
}

}  // namespace aotc::model
