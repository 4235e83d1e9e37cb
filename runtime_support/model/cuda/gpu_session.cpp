// Making, forking and ending the GPU part of a session.
#include "gpu_session.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "../error.h"
#include "gpu_runtime.h"
#include "graph.h"
#include "times.h"

namespace aotc::model::cuda {
namespace {

// Of the failure record behind the states.
constexpr int64_t kRecordBytes = 256;
static_assert(sizeof(AotcDeviceFailure) <= kRecordBytes, "the record has a place of its own");

GpuSession* allocate_part(const AotcProgram* program) {
  GpuSession* g = nullptr;
  Carver carver = {nullptr, 0};
  for (int pass = 0; pass < 2; ++pass) {
    GpuSession measure = {};
    GpuSession* target = g ? g : &measure;
    carver = {reinterpret_cast<char*>(g), round_up(sizeof(GpuSession), 16)};
    carver.take(&target->slots, program->gpu->n_scratch_slots);
    carver.take(&target->temporaries, program->n_outputs);
    if (!g) g = static_cast<GpuSession*>(calloc(1, static_cast<size_t>(carver.used)));
    if (!g) return nullptr;
  }
  return g;
}

AotcStatus obtain_memory(Session* s) {
  GpuSession* g = s->gpu;
  const int64_t states = g->model->state_bytes;
  CUresult code = allocate(g->model->device, &g->states, states + kRecordBytes, g->now);
  if (code)
    return device_error(g, code, "cuMemAlloc",
                        "no device memory for a session of program '%s' "
                        "(%lld bytes of states)",
                        s->program->name, static_cast<long long>(states));
  g->failure = g->states + static_cast<CUdeviceptr>(states);
  code = g->driver->cuMemsetD8Async(g->failure, 0, sizeof(AotcDeviceFailure), g->now);
  if (code) return device_error(g, code, "cuMemsetD8Async", "making a session");
  void* pinned = nullptr;
  code = g->driver->cuMemHostAlloc(&pinned, sizeof(AotcDeviceFailure), 0);
  if (code) return device_error(g, code, "cuMemHostAlloc", "no pinned memory for a session");
  g->arrived = static_cast<AotcDeviceFailure*>(pinned);
  *g->arrived = {};
  // Calls may use another stream.
  return wait_for_device(g);
}

void place_storages_on_device(Session* s) {
  GpuSession* g = s->gpu;
  for (int32_t i = 0; i < s->program->n_storages; ++i) {
    const AotcStorage& storage = s->program->storages[i];
    if (storage.device != AOTC_GPU) continue;
    const CUdeviceptr base = storage.state ? g->states : g->model->weights;
    char* data = pointer(base + static_cast<CUdeviceptr>(g->model->storage_offsets[i]));
    if (storage.state) s->own_storages[i] = data;
    s->frame.storages[i] = data;
  }
  const uintptr_t lo = static_cast<uintptr_t>(g->states);
  s->gpu_states = {lo, lo + static_cast<uintptr_t>(g->model->state_bytes), RegionKind::kStates, 0,
                   true};
}

void set_callbacks(AotcFrame* frame) {
  frame->launch = launch;
  frame->transfer = transfer;
  frame->wait = wait;
  frame->obtain_device_scratch = obtain_device_scratch;
}

AotcStatus open_part(Session* s, const GpuOptions& options) {
  GpuSession* g = s->gpu;
  Device* device = g->model->device;
  const Current current(device);
  if (current.status) return current.status;
  if (AotcStatus status = open_stream(device, options.has_stream,
                                      reinterpret_cast<CUstream>(options.stream), &g->stream))
    return status;
  g->now = g->stream->own;
  g->asynchronous = options.has_stream;
  if (AotcStatus status = obtain_memory(s)) return status;
  if (options.cuda_graph)
    if (AotcStatus status = make_graphs(s)) return status;
  place_storages_on_device(s);
  set_callbacks(&s->frame);
  s->frame.device_failure = reinterpret_cast<AotcDeviceFailure*>(pointer(g->failure));
  return AOTC_OK;
}

void free_part(Session* s) {
  GpuSession* g = s->gpu;
  const Driver* driver = g->driver;
  const Current current(g->model->device);
  if (!g->stream) return;
  if (g->has_run) driver->cuEventSynchronize(g->stream->last_run);
  driver->cuStreamSynchronize(g->stream->own);
  destroy_graphs(g);
  destroy_times(g);
  const CUdeviceptr blocks[] = {g->states, g->arena.data, g->staging.data};
  for (const CUdeviceptr block : blocks) free_after_runs(g->stream, block);
  for (int32_t i = 0; i < s->program->gpu->n_scratch_slots; ++i)
    free_after_runs(g->stream, g->slots[i].data);
  if (g->arrived) driver->cuMemFreeHost(g->arrived);
  if (g->pinned.data) driver->cuMemFreeHost(g->pinned.data);
  release_stream(g->stream);
}

AotcStatus copy_states(Session* s, const Session* from) {
  GpuSession* g = s->gpu;
  for (int32_t i = 0; i < s->program->n_storages; ++i) {
    const AotcStorage& storage = s->program->storages[i];
    if (!storage.state || storage.device != AOTC_GPU) continue;
    if (AotcStatus status = on_device(g, address(s->own_storages[i]),
                                      address(from->frame.storages[i]), storage.bytes))
      return status;
  }
  return wait_for_device(g);
}

}  // namespace

AotcStatus make_session_part(Session* s, const GpuOptions& options) {
  GpuModel* model = nullptr;
  if (AotcStatus status = get_model(s->model, &model)) return status;
  s->gpu = allocate_part(s->program);
  if (!s->gpu) return fail(AOTC_OUT_OF_MEMORY, "no memory for the GPU part of a session");
  s->gpu->model = model;
  s->gpu->driver = model->device->driver;
  s->gpu->last_kernel = -1;
  s->host_io = options.host_io;
  return open_part(s, options);
}

AotcStatus fork_session_part(Session* s, const Session* from) {
  const GpuSession* g = from->gpu;
  const GpuOptions options = {g->stream->is_callers, reinterpret_cast<int64_t>(g->stream->run),
                              g->graphs != nullptr, from->host_io};
  if (AotcStatus status = make_session_part(s, options)) return status;
  const Work finished(const_cast<Session*>(from), Work::kOwn);
  if (finished.status) return finished.status;
  return copy_states(s, from);
}

void destroy_session_part(Session* s) {
  Device* device = s->gpu->model->device;
  retain_device(device);
  free_part(s);
  release_device(device);
  free(s->gpu->arrivals);
  free(s->gpu);
  s->gpu = nullptr;
}

Work::Work(Session* s, Kind kind) : current_(s->gpu->model->device), status(current_.status) {
  GpuSession* g = s->gpu;
  g->now = kind == kRun ? g->stream->run : g->stream->own;
  if (status || kind == kRun || !g->has_run) return;
  if (const CUresult code = g->driver->cuEventSynchronize(g->stream->last_run))
    status = device_error(g, code, "cuEventSynchronize", "waiting for the last call");
}

AotcStatus device_error(GpuSession* g, CUresult code, const char* function, const char* format,
                        ...) {
  char what[300];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(what, sizeof what, format, arguments);
  va_end(arguments);
  const AotcStatus status = driver_error(g->driver, code, function, "%s", what);
  if (g->lost || !g->stream) return status;
  // An error that every call answers from now on.
  const CUresult now = g->driver->cuStreamQuery(g->stream->own);
  if (now == kSuccess || now == kNotReady) return status;
  g->lost = true;
  snprintf(g->trouble, sizeof g->trouble, "%s", last_error());
  return status;
}

AotcStatus reserve(GpuSession* g, DeviceScratch* scratch, int64_t bytes, const char* what) {
  if (bytes >= 0 && bytes <= scratch->bytes) return AOTC_OK;
  free_memory(g->model->device, scratch->data, g->now);
  *scratch = {};
  const CUresult code =
      bytes < 0 ? kOutOfMemory : allocate(g->model->device, &scratch->data, bytes, g->now);
  if (code)
    return device_error(g, code, "cuMemAlloc", "no device memory for %lld bytes of %s",
                        static_cast<long long>(bytes), what);
  scratch->bytes = bytes;
  return AOTC_OK;
}

int64_t scratch_bytes(const Session* s) {
  const GpuSession* g = s->gpu;
  int64_t bytes = g->arena.bytes + g->staging.bytes;
  for (int32_t i = 0; i < s->program->gpu->n_scratch_slots; ++i) bytes += g->slots[i].bytes;
  return bytes;
}

}  // namespace aotc::model::cuda
