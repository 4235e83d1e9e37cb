// Copies between the host and the device, through pinned memory so that they are asynchronous, and
// between any two layouts.
#include <string.h>

#include "../error.h"
#include "gpu_runtime.h"
#include "gpu_session.h"

namespace aotc::model::cuda {
namespace {

constexpr int64_t kLeastPinned = 64 << 10, kMostPinned = 8 << 20;
constexpr unsigned kCopyThreads = 256, kMostCopyBlocks = 8192;

// Nothing that uses the pinned memory is under way.
AotcStatus grow_pinned(GpuSession* g) {
  Pinned* p = &g->pinned;
  int64_t bytes = p->bytes ? p->bytes : kLeastPinned;
  while (bytes < p->wanted && bytes < kMostPinned) bytes *= 2;
  p->used = 0;
  if (bytes == p->bytes) return AOTC_OK;
  if (p->data) g->driver->cuMemFreeHost(p->data);
  *p = {};
  void* data = nullptr;
  if (const CUresult code = g->driver->cuMemHostAlloc(&data, static_cast<size_t>(bytes), 0))
    return device_error(g, code, "cuMemHostAlloc", "no pinned memory of %lld bytes for copies",
                        static_cast<long long>(bytes));
  p->data = static_cast<char*>(data);
  p->bytes = bytes;
  return AOTC_OK;
}

// Up to `bytes` of pinned memory; *got may be less, never 0. Waits when it is used up.
AotcStatus take_pinned(GpuSession* g, int64_t bytes, char** data, int64_t* got) {
  Pinned* p = &g->pinned;
  if (bytes > p->wanted) p->wanted = bytes;
  if (p->used == p->bytes || (p->used == 0 && p->wanted > p->bytes && p->bytes < kMostPinned)) {
    if (p->used)
      if (AotcStatus status = wait_for_device(g)) return status;
    if (AotcStatus status = grow_pinned(g)) return status;
  }
  const int64_t left = p->bytes - p->used;
  *got = bytes < left ? bytes : left;
  *data = p->data + p->used;
  p->used = round_up(p->used + *got, 16);
  return AOTC_OK;
}

bool is_dense(const View& view) {
  int64_t strides[kMaxRank];
  contiguous_strides(view.sizes, view.ndim, strides);
  return strides_match(view.sizes, view.ndim, view.strides, strides);
}

// Freed with its scope, in the order of the session's work.
struct DeviceMemory {
  explicit DeviceMemory(GpuSession* session) : g(session) {}
  ~DeviceMemory() { free_memory(g->model->device, data, g->now); }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  AotcStatus obtain(int64_t bytes) {
    const CUresult code = allocate(g->model->device, &data, bytes, g->now);
    return code ? device_error(g, code, "cuMemAlloc", "no device memory for a copy of %lld bytes",
                               static_cast<long long>(bytes))
                : AOTC_OK;
  }
  GpuSession* g;
  CUdeviceptr data = 0;
};

// A contiguous copy of a view in host memory.
struct HostMemory {
  ~HostMemory() { free(data); }
  AotcStatus obtain(int64_t bytes) {
    data = static_cast<char*>(malloc(static_cast<size_t>(bytes)));
    return data ? AOTC_OK
                : fail(AOTC_OUT_OF_MEMORY, "no memory for a copy of %lld bytes",
                       static_cast<long long>(bytes));
  }
  char* data = nullptr;
};

AotcStatus upload_view(GpuSession* g, const View& to, const View& from, int64_t bytes) {
  int64_t strides[kMaxRank];
  contiguous_strides(to.sizes, to.ndim, strides);
  HostMemory dense;
  const char* source = from.data;
  if (!is_dense(from)) {
    if (AotcStatus status = dense.obtain(bytes)) return status;
    copy_elements({dense.data, from.item, from.ndim, from.sizes, strides}, from);
    source = dense.data;
  }
  if (is_dense(to)) return to_device(g, address(to.data), source, bytes);
  DeviceMemory middle(g);
  if (AotcStatus status = middle.obtain(bytes)) return status;
  if (AotcStatus status = to_device(g, middle.data, source, bytes)) return status;
  return strided_copy(g, to, {pointer(middle.data), to.item, to.ndim, to.sizes, strides});
}

AotcStatus download_view(GpuSession* g, const View& to, const View& from, int64_t bytes) {
  int64_t strides[kMaxRank];
  contiguous_strides(to.sizes, to.ndim, strides);
  DeviceMemory middle(g);
  CUdeviceptr source = address(from.data);
  if (!is_dense(from)) {
    if (AotcStatus status = middle.obtain(bytes)) return status;
    source = middle.data;
    const View dense = {pointer(source), from.item, from.ndim, from.sizes, strides};
    if (AotcStatus status = strided_copy(g, dense, from)) return status;
  }
  if (is_dense(to)) {
    if (AotcStatus status = to_host(g, to.data, source, bytes)) return status;
    return wait_for_device(g);
  }
  HostMemory dense;
  if (AotcStatus status = dense.obtain(bytes)) return status;
  AotcStatus status = to_host(g, dense.data, source, bytes);
  if (!status) status = wait_for_device(g);
  if (status)
    drop_arrivals(g);
  else
    copy_elements(to, {dense.data, to.item, to.ndim, to.sizes, strides});
  return status;
}

AotcStatus copy_on_device(GpuSession* g, const View& to, const View& from, int64_t bytes) {
  if (is_dense(to) && is_dense(from))
    return on_device(g, address(to.data), address(from.data), bytes);
  return strided_copy(g, to, from);
}

// Either through a temporary, since the views share memory.
AotcStatus copy_overlapping(GpuSession* g, const View& to, const View& from, int64_t bytes) {
  int64_t strides[kMaxRank];
  contiguous_strides(to.sizes, to.ndim, strides);
  DeviceMemory memory(g);
  if (AotcStatus status = memory.obtain(bytes)) return status;
  const View middle = {pointer(memory.data), to.item, to.ndim, to.sizes, strides};
  if (AotcStatus status = copy_on_device(g, middle, from, bytes)) return status;
  return copy_on_device(g, to, middle, bytes);
}

AotcStatus copy_on_host(const View& to, const View& from, int64_t bytes) {
  int64_t strides[kMaxRank];
  contiguous_strides(to.sizes, to.ndim, strides);
  if (!views_overlap(to, from)) {
    copy_elements(to, from);
    return AOTC_OK;
  }
  HostMemory memory;
  if (AotcStatus status = memory.obtain(bytes)) return status;
  const View middle = {memory.data, to.item, to.ndim, to.sizes, strides};
  copy_elements(middle, from);
  copy_elements(to, middle);
  return AOTC_OK;
}

}  // namespace

AotcStatus to_device(GpuSession* g, CUdeviceptr to, const char* from, int64_t bytes) {
  while (bytes > 0) {
    char* data = nullptr;
    int64_t part = 0;
    if (AotcStatus status = take_pinned(g, bytes, &data, &part)) return status;
    memcpy(data, from, static_cast<size_t>(part));
    if (const CUresult code =
            g->driver->cuMemcpyHtoDAsync_v2(to, data, static_cast<size_t>(part), g->now))
      return device_error(g, code, "cuMemcpyHtoDAsync", "copying %lld bytes to the device",
                          static_cast<long long>(part));
    to += static_cast<CUdeviceptr>(part);
    from += part;
    bytes -= part;
    ++g->submitted;
  }
  return AOTC_OK;
}

AotcStatus to_host(GpuSession* g, char* to, CUdeviceptr from, int64_t bytes) {
  while (bytes > 0) {
    char* data = nullptr;
    int64_t part = 0;
    if (AotcStatus status = take_pinned(g, bytes, &data, &part)) return status;
    if (AotcStatus status = add_arrival(g, {to, data, part})) return status;
    if (const CUresult code =
            g->driver->cuMemcpyDtoHAsync_v2(data, from, static_cast<size_t>(part), g->now)) {
      --g->n_arrivals;
      return device_error(g, code, "cuMemcpyDtoHAsync", "copying %lld bytes from the device",
                          static_cast<long long>(part));
    }
    to += part;
    from += static_cast<CUdeviceptr>(part);
    bytes -= part;
    ++g->submitted;
  }
  return AOTC_OK;
}

AotcStatus on_device(GpuSession* g, CUdeviceptr to, CUdeviceptr from, int64_t bytes) {
  if (bytes == 0) return AOTC_OK;
  if (const CUresult code =
          g->driver->cuMemcpyDtoDAsync_v2(to, from, static_cast<size_t>(bytes), g->now))
    return device_error(g, code, "cuMemcpyDtoDAsync", "copying %lld bytes on the device",
                        static_cast<long long>(bytes));
  ++g->submitted;
  return AOTC_OK;
}

AotcStatus strided_copy(GpuSession* g, const View& to, const View& from) {
  const int32_t kernel = g->model->strided_copy;
  AotcStridedCopy what = {};
  what.count = count_elements(to.sizes, to.ndim);
  what.element_bytes = static_cast<int32_t>(to.item);
  if (what.count == 0) return AOTC_OK;
  for (int32_t d = 0; d < to.ndim; ++d) {
    if (to.sizes[d] == 1) continue;
    what.sizes[what.ndim] = to.sizes[d];
    what.to_strides[what.ndim] = to.strides[d] * to.item;
    what.from_strides[what.ndim++] = from.strides[d] * from.item;
  }
  void *target = to.data, *source = from.data;
  void* arguments[] = {&target, &source, &what};
  const int64_t blocks = (what.count + kCopyThreads - 1) / kCopyThreads;
  const unsigned grid = blocks < kMostCopyBlocks ? static_cast<unsigned>(blocks) : kMostCopyBlocks;
  if (const CUresult code =
          g->driver->cuLaunchKernel(g->model->functions[kernel], grid, 1, 1, kCopyThreads, 1, 1, 0,
                                    g->now, arguments, nullptr))
    return device_error(g, code, "cuLaunchKernel", "launching kernel 'aotc_strided_copy'");
  ++g->submitted;
  return AOTC_OK;
}

AotcStatus wait_for_device(GpuSession* g) {
  if (const CUresult code = g->driver->cuStreamSynchronize(g->now)) {
    const int32_t kernel = g->last_kernel;
    return device_error(g, code, "cuStreamSynchronize",
                        kernel < 0 ? "waiting for the device%s%s"
                                   : "waiting for the kernels of this call, of which the last is "
                                     "%s%s'",
                        kernel < 0 ? "" : "'", kernel < 0 ? "" : g->model->kernel_names[kernel]);
  }
  for (int32_t i = 0; i < g->n_arrivals; ++i)
    memcpy(g->arrivals[i].to, g->arrivals[i].from, static_cast<size_t>(g->arrivals[i].bytes));
  g->n_arrivals = 0;
  g->pinned.used = 0;
  return AOTC_OK;
}

AotcStatus add_arrival(GpuSession* g, const Arrival& arrival) {
  if (g->n_arrivals == g->arrivals_capacity) {
    const int32_t capacity = g->arrivals_capacity ? 2 * g->arrivals_capacity : 16;
    void* grown = realloc(g->arrivals, static_cast<size_t>(capacity) * sizeof(Arrival));
    if (!grown) return fail(AOTC_OUT_OF_MEMORY, "no memory for a list of copies");
    g->arrivals = static_cast<Arrival*>(grown);
    g->arrivals_capacity = capacity;
  }
  g->arrivals[g->n_arrivals++] = arrival;
  return AOTC_OK;
}

void drop_arrivals(GpuSession* g) { g->n_arrivals = 0; }

AotcStatus copy_views(GpuSession* g, const View& to, bool to_gpu, const View& from, bool from_gpu) {
  const int64_t bytes = count_elements(to.sizes, to.ndim) * to.item;
  if (bytes == 0) return AOTC_OK;
  if (to_gpu && !from_gpu) return upload_view(g, to, from, bytes);
  if (!to_gpu && from_gpu) return download_view(g, to, from, bytes);
  if (!to_gpu) return copy_on_host(to, from, bytes);
  return views_overlap(to, from) ? copy_overlapping(g, to, from, bytes)
                                 : copy_on_device(g, to, from, bytes);
}

AotcStatus copy_any(Session* s, const View& to, bool to_gpu, const View& from, bool from_gpu) {
  const Work work(s, Work::kOwn);
  if (work.status) return work.status;
  s->gpu->last_kernel = -1;
  AotcStatus status = copy_views(s->gpu, to, to_gpu, from, from_gpu);
  if (!status) status = wait_for_device(s->gpu);
  if (status) drop_arrivals(s->gpu);
  return status;
}

}  // namespace aotc::model::cuda
