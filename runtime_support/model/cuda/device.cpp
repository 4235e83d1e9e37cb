// Devices, contexts, streams and memory of the driver.
#include "device.h"

#include <stdio.h>

#include "../error.h"

namespace aotc::model::cuda {
namespace {

AotcStatus find_device(const Driver* driver, int32_t index, CUdevice* out) {
  int count = 0;
  if (const CUresult code = driver->cuDeviceGetCount(&count))
    return driver_error(driver, code, "cuDeviceGetCount", "cannot count the GPUs");
  if (count == 0)
    return fail(AOTC_DEVICE,
                "the program has a GPU part, but there is no GPU: see CUDA_VISIBLE_DEVICES, or "
                "compile the program for the CPU (--device cpu)");
  if (index >= count)
    return fail(AOTC_UNSUPPORTED,
                "the program was exported for cuda:%d, but there %s %d GPU%s: compile it with "
                "--device-map cuda:%d=cuda:0",
                index, count == 1 ? "is" : "are", count, count == 1 ? "" : "s", index);
  if (const CUresult code = driver->cuDeviceGet(out, index))
    return driver_error(driver, code, "cuDeviceGet", "cannot use cuda:%d", index);
  return AOTC_OK;
}

AotcStatus read_attributes(const Driver* driver, Device* device) {
  int pools = 0;
  CUresult code = driver->cuDeviceGetAttribute(&device->major, kComputeMajor, device->ordinal);
  if (!code) code = driver->cuDeviceGetAttribute(&device->minor, kComputeMinor, device->ordinal);
  if (!code) code = driver->cuDeviceGetAttribute(&pools, kMemoryPools, device->ordinal);
  if (code)
    return driver_error(driver, code, "cuDeviceGetAttribute", "cannot ask cuda:%d",
                        device->ordinal);
  device->has_pools = pools && driver->cuMemAllocAsync && driver->cuMemFreeAsync;
  if (driver->cuDeviceGetName(device->name, sizeof device->name, device->ordinal))
    snprintf(device->name, sizeof device->name, "GPU");
  return AOTC_OK;
}

// The default pool gives memory back at every wait, so results would be allocated anew each call.
CUmemoryPool make_pool(const Device* device) {
  const Driver* d = device->driver;
  CUmemoryPool pool = nullptr;
  if (!device->has_pools || !d->cuMemPoolCreate || !d->cuMemPoolDestroy ||
      !d->cuMemPoolSetAttribute || !d->cuMemAllocFromPoolAsync)
    return nullptr;
  MemPoolProperties properties = {};
  properties.allocation_type = kPinnedAllocation;
  properties.location_type = kDeviceLocation;
  properties.location = device->ordinal;
  if (d->cuMemPoolCreate(&pool, &properties)) return nullptr;
  uint64_t threshold = UINT64_MAX;
  d->cuMemPoolSetAttribute(pool, kReleaseThreshold, &threshold);
  return pool;
}

AotcStatus check_callers_stream(const Device* device, CUstream stream) {
  CUcontext context = device->context;
  // The default streams (0, 1, 2) belong to whatever context is current.
  if (!device->driver->cuStreamGetCtx || reinterpret_cast<uintptr_t>(stream) <= 2) return AOTC_OK;
  if (const CUresult code = device->driver->cuStreamGetCtx(stream, &context))
    return driver_error(device->driver, code, "cuStreamGetCtx",
                        "session_create: option 'stream' is no stream");
  if (context == device->context) return AOTC_OK;
  return fail(AOTC_INVALID_ARGUMENT,
              "session_create: option 'stream' is a stream of another device or context than the "
              "primary context of cuda:%d, where the program runs",
              device->ordinal);
}

}  // namespace

AotcStatus open_device(int32_t index, Device** out) {
  const Driver* driver = nullptr;
  Device found = {};
  if (AotcStatus status = load_driver(&driver)) return status;
  if (AotcStatus status = find_device(driver, index, &found.ordinal)) return status;
  if (AotcStatus status = read_attributes(driver, &found)) return status;
  found.references = 1;
  found.driver = driver;
  Device* device = static_cast<Device*>(malloc(sizeof(Device)));
  if (!device) return fail(AOTC_OUT_OF_MEMORY, "no memory for a device");
  if (const CUresult code = driver->cuDevicePrimaryCtxRetain(&found.context, found.ordinal)) {
    free(device);
    return driver_error(driver, code, "cuDevicePrimaryCtxRetain", "cannot use cuda:%d (%s)", index,
                        found.name);
  }
  found.pool = make_pool(&found);
  *device = found;
  *out = device;
  return AOTC_OK;
}

void retain_device(Device* device) { __atomic_fetch_add(&device->references, 1, __ATOMIC_RELAXED); }

void release_device(Device* device) {
  if (__atomic_sub_fetch(&device->references, 1, __ATOMIC_ACQ_REL) != 0) return;
  if (device->pool) device->driver->cuMemPoolDestroy(device->pool);
  device->driver->cuDevicePrimaryCtxRelease_v2(device->ordinal);
  free(device);
}

Current::Current(const Device* device) : status(AOTC_OK), device_(device) {
  if (const CUresult code = device->driver->cuCtxPushCurrent_v2(device->context))
    status = driver_error(device->driver, code, "cuCtxPushCurrent", "cannot use cuda:%d",
                          device->ordinal);
}

Current::~Current() {
  CUcontext ignored = nullptr;
  if (!status) device_->driver->cuCtxPopCurrent_v2(&ignored);
}

AotcStatus open_stream(Device* device, bool callers, CUstream handle, Stream** out) {
  const Driver* driver = device->driver;
  if (callers)
    if (AotcStatus status = check_callers_stream(device, handle)) return status;
  Stream made = {1, device, nullptr, handle, callers, nullptr};
  Stream* stream = static_cast<Stream*>(malloc(sizeof(Stream)));
  if (!stream) return fail(AOTC_OUT_OF_MEMORY, "no memory for a stream");
  const char* function = "cuStreamCreate";
  CUresult code = driver->cuStreamCreate(&made.own, kNonBlocking);
  if (!code && callers) {
    function = "cuEventCreate";
    code = driver->cuEventCreate(&made.last_run, kNoTiming);
    if (code) driver->cuStreamDestroy_v2(made.own);
  }
  if (code) {
    free(stream);
    return driver_error(driver, code, function, "cannot make a stream on cuda:%d", device->ordinal);
  }
  if (!callers) made.run = made.own;
  retain_device(device);
  *stream = made;
  *out = stream;
  return AOTC_OK;
}

void retain_stream(Stream* stream) { __atomic_fetch_add(&stream->references, 1, __ATOMIC_RELAXED); }

void release_stream(Stream* stream) {
  if (__atomic_sub_fetch(&stream->references, 1, __ATOMIC_ACQ_REL) != 0) return;
  if (stream->last_run) stream->device->driver->cuEventDestroy_v2(stream->last_run);
  stream->device->driver->cuStreamDestroy_v2(stream->own);
  release_device(stream->device);
  free(stream);
}

CUresult allocate(const Device* device, CUdeviceptr* out, int64_t bytes, CUstream on) {
  const size_t size = static_cast<size_t>(bytes);
  *out = 0;
  if (device->pool) return device->driver->cuMemAllocFromPoolAsync(out, size, device->pool, on);
  return device->has_pools ? device->driver->cuMemAllocAsync(out, size, on)
                           : device->driver->cuMemAlloc_v2(out, size);
}

void free_memory(const Device* device, CUdeviceptr memory, CUstream on) {
  if (!memory) return;
  if (device->has_pools)
    device->driver->cuMemFreeAsync(memory, on);
  else
    device->driver->cuMemFree_v2(memory);  // waits for the device
}

void free_after_runs(const Stream* stream, CUdeviceptr memory) {
  if (!memory) return;
  if (stream->is_callers && stream->device->has_pools)
    stream->device->driver->cuStreamWaitEvent(stream->own, stream->last_run, 0);
  free_memory(stream->device, memory, stream->own);
}

}  // namespace aotc::model::cuda
