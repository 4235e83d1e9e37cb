// Device and pinned memory, copies, fills.
#include <cstdlib>
#include <cstring>

#include "context.h"
#include "memory.h"
#include "settings.h"

using namespace aotc::simt;

namespace {

CUresult allocate(CUdeviceptr* address, size_t bytes) {
  if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  *address = DeviceMemory::get().allocate(bytes);
  return *address ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

Copy to_device(CUdeviceptr to, const void* from, size_t bytes) {
  Copy copy;
  copy.to = to, copy.from = reinterpret_cast<uint64_t>(from), copy.bytes = bytes;
  copy.to_device = true;
  return copy;
}
Copy from_device(void* to, CUdeviceptr from, size_t bytes) {
  Copy copy;
  copy.to = reinterpret_cast<uint64_t>(to), copy.from = from, copy.bytes = bytes;
  copy.from_device = true;
  return copy;
}
Copy on_device(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  Copy copy;
  copy.to = to, copy.from = from, copy.bytes = bytes;
  copy.to_device = copy.from_device = true;
  return copy;
}

CUresult submit(Context& c, Stream* s, Copy copy) {
  if (!s) return CUDA_ERROR_INVALID_HANDLE;
  return c.submit(*s, {Node::Kind::Copy, {}, std::move(copy), {}});
}

// Of the default stream; waits.
CUresult run_now(Context& c, Copy copy) {
  for (const auto& s : c.streams)
    if (s->capture) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  submit(c, &c.default_stream, std::move(copy));
  c.join_default();
  return c.error;
}

CUresult fill(Context& c, void* stream, CUdeviceptr to, uint32_t value, int width, size_t count) {
  Stream* s = c.stream(stream);
  if (!s) return CUDA_ERROR_INVALID_HANDLE;
  Node n{Node::Kind::Fill, {}, {}, {}};
  n.fill.to = to, n.fill.count = count, n.fill.value = value, n.fill.width = width;
  return c.submit(*s, std::move(n));
}

}  // namespace

AOTC_SIM_API cuMemAlloc_v2(CUdeviceptr* address, size_t bytes) {
  AOTC_SIM_ENTER(cuMemAlloc_v2);
  return allocate(address, bytes);
}

AOTC_SIM_API cuMemFree_v2(CUdeviceptr address) {
  AOTC_SIM_ENTER_ANY(cuMemFree_v2);
  if (address == 0) return CUDA_SUCCESS;
  c.run_everything();
  if (!DeviceMemory::get().release(address)) {
    complain("cuMemFree of " + std::to_string(address) + ", which is no allocation");
    return CUDA_ERROR_INVALID_VALUE;
  }
  return c.error;
}

AOTC_SIM_API cuMemAllocAsync(CUdeviceptr* address, size_t bytes, void* stream) {
  AOTC_SIM_ENTER(cuMemAllocAsync);
  Stream* s = c.stream(stream);
  if (!s) return CUDA_ERROR_INVALID_HANDLE;
  if (!settings().pools) return CUDA_ERROR_NOT_SUPPORTED;
  if (s->capture) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  return allocate(address, bytes);
}

AOTC_SIM_API cuMemPoolCreate(void** pool, const void*) {
  AOTC_SIM_ENTER_ANY(cuMemPoolCreate);
  if (!c.initialized) return CUDA_ERROR_NOT_INITIALIZED;
  if (!settings().pools) return CUDA_ERROR_NOT_SUPPORTED;
  auto p = std::make_unique<Pool>();
  *pool = p.get();
  c.pools.insert(std::move(p));
  return CUDA_SUCCESS;
}

AOTC_SIM_API cuMemPoolDestroy(void* pool) {
  AOTC_SIM_ENTER_ANY(cuMemPoolDestroy);
  return erase_from(c.pools, pool) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

AOTC_SIM_API cuMemPoolSetAttribute(void* pool, int, void*) {
  AOTC_SIM_ENTER_ANY(cuMemPoolSetAttribute);
  return find_in(c.pools, pool) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

AOTC_SIM_API cuMemAllocFromPoolAsync(CUdeviceptr* address, size_t bytes, void* pool, void* stream) {
  AOTC_SIM_ENTER(cuMemAllocFromPoolAsync);
  Stream* s = c.stream(stream);
  if (!s || !find_in(c.pools, pool)) return CUDA_ERROR_INVALID_HANDLE;
  if (s->capture) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  return allocate(address, bytes);
}

AOTC_SIM_API cuMemFreeAsync(CUdeviceptr address, void* stream) {
  AOTC_SIM_ENTER_ANY(cuMemFreeAsync);
  Stream* s = c.stream(stream);
  if (!s) return CUDA_ERROR_INVALID_HANDLE;
  if (!DeviceMemory::get().is_allocated(address)) return CUDA_ERROR_INVALID_VALUE;
  s->submit([address] {
    if (!DeviceMemory::get().release(address))
      complain("cuMemFreeAsync of " + std::to_string(address) + ", which is no allocation");
  });
  return c.error;
}

AOTC_SIM_API cuMemGetInfo_v2(size_t* unused, size_t* total) {
  AOTC_SIM_ENTER(cuMemGetInfo_v2);
  *total = DeviceMemory::get().size();
  *unused = *total - DeviceMemory::get().live_bytes();
  return CUDA_SUCCESS;
}

AOTC_SIM_API cuMemHostAlloc(void** address, size_t bytes, unsigned) {
  AOTC_SIM_ENTER(cuMemHostAlloc);
  *address = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  if (!*address) return CUDA_ERROR_OUT_OF_MEMORY;
  std::memset(*address, 0xff, bytes);
  c.pinned[reinterpret_cast<uint64_t>(*address)] = bytes;
  return CUDA_SUCCESS;
}

AOTC_SIM_API cuMemFreeHost(void* address) {
  AOTC_SIM_ENTER_ANY(cuMemFreeHost);
  c.run_everything();
  if (c.pinned.erase(reinterpret_cast<uint64_t>(address)) == 0) return CUDA_ERROR_INVALID_VALUE;
  std::free(address);
  return CUDA_SUCCESS;
}

AOTC_SIM_API cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, size_t bytes, void* stream) {
  AOTC_SIM_ENTER(cuMemcpyHtoDAsync_v2);
  Copy copy = to_device(to, from, bytes);
  if (!c.is_pinned(from)) {
    const char* begin = static_cast<const char*>(from);
    copy.kept = std::make_shared<std::vector<char>>(begin, begin + bytes);
  }
  return submit(c, c.stream(stream), std::move(copy));
}

AOTC_SIM_API cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, size_t bytes, void* stream) {
  AOTC_SIM_ENTER(cuMemcpyDtoHAsync_v2);
  Stream* s = c.stream(stream);
  const CUresult result = submit(c, s, from_device(to, from, bytes));
  if (result || s->capture || c.is_pinned(to)) return result;
  s->run_all();  // pageable memory: returns when it is there
  return c.error;
}

AOTC_SIM_API cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, void* stream) {
  AOTC_SIM_ENTER(cuMemcpyDtoDAsync_v2);
  return submit(c, c.stream(stream), on_device(to, from, bytes));
}

AOTC_SIM_API cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, size_t bytes) {
  AOTC_SIM_ENTER(cuMemcpyHtoD_v2);
  return run_now(c, to_device(to, from, bytes));
}
AOTC_SIM_API cuMemcpyDtoH_v2(void* to, CUdeviceptr from, size_t bytes) {
  AOTC_SIM_ENTER(cuMemcpyDtoH_v2);
  return run_now(c, from_device(to, from, bytes));
}
AOTC_SIM_API cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  AOTC_SIM_ENTER(cuMemcpyDtoD_v2);
  return run_now(c, on_device(to, from, bytes));
}

AOTC_SIM_API cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, void* stream) {
  AOTC_SIM_ENTER(cuMemsetD8Async);
  return fill(c, stream, to, value, 1, count);
}
AOTC_SIM_API cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, void* stream) {
  AOTC_SIM_ENTER(cuMemsetD32Async);
  return fill(c, stream, to, value, 4, count);
}

AOTC_SIM_API cuPointerGetAttribute(void* data, int attribute, CUdeviceptr address) {
  AOTC_SIM_ENTER_ANY(cuPointerGetAttribute);
  const bool device = DeviceMemory::get().is_allocated(address);
  const bool pinned = c.is_pinned(reinterpret_cast<void*>(address));
  if (!device && !pinned) return CUDA_ERROR_INVALID_VALUE;
  if (attribute == 2) *static_cast<unsigned*>(data) = device ? 2 : 1;  // MEMORY_TYPE
  if (attribute == 9) *static_cast<int*>(data) = 0;                    // DEVICE_ORDINAL
  return attribute == 2 || attribute == 9 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
