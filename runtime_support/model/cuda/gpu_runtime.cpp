// The table that programs with a GPU part point at, checks of devices, memory for callers.
#include "gpu_runtime.h"

#include <string.h>

#include "../error.h"
#include "gpu_session.h"
#include "times.h"

namespace aotc::model::cuda {
namespace {

bool is_same_gpu(const Session* s, DLDevice device) {
  return (device.device_type == kDLCUDA || device.device_type == kDLCUDAManaged) &&
         device.device_id == s->program->gpu->device_index;
}

// Work for a caller that is no session's: the model's device, and a stream for it alone.
class Errand {
 public:
  Errand(Model* model, bool needs_stream) : status(get_model(model, &model_)) {
    if (!status) status = begin(needs_stream);
  }
  ~Errand() {
    if (!current_made_) return;
    if (stream) driver()->cuStreamDestroy_v2(stream);
    CUcontext ignored = nullptr;
    driver()->cuCtxPopCurrent_v2(&ignored);
  }
  Errand(const Errand&) = delete;
  Errand& operator=(const Errand&) = delete;
  const Driver* driver() const { return model_->device->driver; }

 private:
  AotcStatus begin(bool needs_stream) {
    if (const CUresult code = driver()->cuCtxPushCurrent_v2(model_->device->context))
      return driver_error(driver(), code, "cuCtxPushCurrent", "cannot use the GPU");
    current_made_ = true;
    if (!needs_stream) return AOTC_OK;
    if (const CUresult code = driver()->cuStreamCreate(&stream, kNonBlocking))
      return driver_error(driver(), code, "cuStreamCreate", "cannot use the GPU");
    return AOTC_OK;
  }
  GpuModel* model_ = nullptr;
  bool current_made_ = false;

 public:
  CUstream stream = nullptr;
  AotcStatus status;
};

AotcStatus wrong_device(const char* what, DLDevice device, const char* expected,
                        const char* remedy) {
  return fail(AOTC_INVALID_ARGUMENT, "%s is on %s, expected %s: %s", what, device_name(device).text,
              expected, remedy);
}

// The host's, or this model's GPU.
AotcStatus check_end(const Model* model, const char* which, DLDevice device) {
  const DLDevice gpu = dl_device(model->program, AOTC_GPU);
  if (is_host(device) || ((device.device_type == kDLCUDA || device.device_type == kDLCUDAManaged) &&
                          device.device_id == gpu.device_id))
    return AOTC_OK;
  return fail(AOTC_INVALID_ARGUMENT, "device_copy: the %s is on %s, expected cpu or %s", which,
              device_name(device).text, device_name(gpu).text);
}

}  // namespace

AotcStatus check_tensor_device(const Session* s, const char* what, AotcDevice wanted,
                               DLDevice device) {
  if (wanted == AOTC_GPU && s->host_io)
    return is_host(device) ? AOTC_OK
                           : wrong_device(what, device, "cpu",
                                          "the session was made with host_io, all its tensors are "
                                          "host tensors");
  if (wanted == AOTC_HOST)
    return is_host(device) || device.device_type == kDLCUDAManaged
               ? AOTC_OK
               : wrong_device(what, device, "cpu", "copy it there first");
  if (is_same_gpu(s, device)) return AOTC_OK;
  return wrong_device(what, device, device_name(dl_device(s->program, AOTC_GPU)).text,
                      "copy it there first (device_copy), or make the session with host_io");
}

AotcStatus check_reach(const Session* s, const char* function, const char* name, DLDevice device) {
  if (is_host(device) || is_same_gpu(s, device)) return AOTC_OK;
  return fail(AOTC_INVALID_ARGUMENT, "%s: the tensor for '%s' is on %s, expected cpu or %s",
              function, name, device_name(device).text,
              device_name(dl_device(s->program, AOTC_GPU)).text);
}

AotcStatus check_bound(const Session* s, const char* name, AotcDevice wanted, DLDevice device) {
  if (is_host(device) == (wanted == AOTC_HOST)) return AOTC_OK;
  return fail(AOTC_INVALID_ARGUMENT,
              "session_state_bind: the storage for '%s' is on %s, expected %s", name,
              device_name(device).text, device_name(dl_device(s->program, wanted)).text);
}

AotcStatus reset_storage(Session* s, int32_t i) {
  const Work work(s, Work::kOwn);
  if (work.status) return work.status;
  GpuSession* g = s->gpu;
  const AotcStorage& storage = s->program->storages[i];
  const CUdeviceptr to = address(s->frame.storages[i]);
  g->last_kernel = -1;
  if (storage.offset >= 0) {
    AotcStatus status = to_device(g, to, s->model->weights.data + storage.offset, storage.bytes);
    return status ? status : wait_for_device(g);
  }
  if (const CUresult code =
          g->driver->cuMemsetD8Async(to, 0, static_cast<size_t>(storage.bytes), g->now))
    return device_error(g, code, "cuMemsetD8Async", "resetting the states");
  return wait_for_device(g);
}

AotcStatus allocate_for_caller(Model* model, uint64_t bytes, void** out) {
  if (!out) return fail(AOTC_INVALID_ARGUMENT, "device_alloc: the address for the memory is NULL");
  *out = nullptr;
  const Errand errand(model, false);
  CUdeviceptr data = 0;
  if (errand.status) return errand.status;
  if (const CUresult code = errand.driver()->cuMemAlloc_v2(&data, bytes ? bytes : 1))
    return driver_error(errand.driver(), code, "cuMemAlloc",
                        "device_alloc: no device memory for %llu bytes",
                        static_cast<unsigned long long>(bytes));
  *out = pointer(data);
  return AOTC_OK;
}

AotcStatus free_for_caller(Model* model, void* data) {
  if (!data) return AOTC_OK;
  const Errand errand(model, false);
  if (errand.status) return errand.status;
  if (const CUresult code = errand.driver()->cuMemFree_v2(address(data)))
    return driver_error(errand.driver(), code, "cuMemFree", "device_free");
  return AOTC_OK;
}

AotcStatus copy_for_caller(Model* model, void* to, DLDevice to_device, const void* from,
                           DLDevice from_device, uint64_t bytes) {
  if (bytes == 0) return AOTC_OK;
  if (!to || !from)
    return fail(AOTC_INVALID_ARGUMENT, "device_copy: the %s is NULL", to ? "source" : "target");
  if (AotcStatus status = check_end(model, "target", to_device)) return status;
  if (AotcStatus status = check_end(model, "source", from_device)) return status;
  const size_t size = bytes;
  if (is_host(to_device) && is_host(from_device)) {
    memmove(to, from, size);
    return AOTC_OK;
  }
  const Errand errand(model, true);
  if (errand.status) return errand.status;
  const Driver* d = errand.driver();
  const char* function = "cuMemcpyAsync";
  CUresult code = is_host(from_device)
                      ? d->cuMemcpyHtoDAsync_v2(address(to), from, size, errand.stream)
                  : is_host(to_device)
                      ? d->cuMemcpyDtoHAsync_v2(to, address(from), size, errand.stream)
                      : d->cuMemcpyDtoDAsync_v2(address(to), address(from), size, errand.stream);
  if (!code) {
    function = "cuStreamSynchronize";
    code = d->cuStreamSynchronize(errand.stream);
  }
  if (code)
    return driver_error(d, code, function, "device_copy: copying %llu bytes",
                        static_cast<unsigned long long>(bytes));
  return AOTC_OK;
}

}  // namespace aotc::model::cuda

extern "C" const AotcGpuRuntime aotc_gpu_runtime;
const AotcGpuRuntime aotc_gpu_runtime = {
    aotc::model::cuda::validate_tables,
    aotc::model::cuda::make_session_part,
    aotc::model::cuda::fork_session_part,
    aotc::model::cuda::destroy_session_part,
    aotc::model::cuda::release_model_part,
    aotc::model::cuda::check_usable,
    aotc::model::cuda::states_repaired,
    aotc::model::cuda::run_call,
    aotc::model::cuda::synchronize,
    aotc::model::cuda::prepare_memory,
    aotc::model::cuda::check_device_layouts,
    aotc::model::cuda::obtain_temporary,
    aotc::model::cuda::make_device_tensor,
    aotc::model::cuda::check_tensor_device,
    aotc::model::cuda::check_reach,
    aotc::model::cuda::check_bound,
    aotc::model::cuda::copy_any,
    aotc::model::cuda::reset_storage,
    aotc::model::cuda::allocate_for_caller,
    aotc::model::cuda::free_for_caller,
    aotc::model::cuda::copy_for_caller,
    aotc::model::cuda::scratch_bytes,
    aotc::model::cuda::graph_trouble,
    aotc::model::cuda::begin_record,
    aotc::model::cuda::record_step_done,
    aotc::model::cuda::end_record,
};
