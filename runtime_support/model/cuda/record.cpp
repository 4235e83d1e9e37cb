// What a call submits, noted down: adding to a record, and submitting it.
#include <string.h>

#include "../error.h"
#include "graph.h"

namespace aotc::model::cuda {
namespace {

bool add_submission(Record* r, const Submission& what) {
  if (r->count == r->capacity) {
    const int32_t capacity = r->capacity ? 2 * r->capacity : 32;
    void* grown = realloc(r->list, static_cast<size_t>(capacity) * sizeof(Submission));
    if (!grown) return false;
    r->list = static_cast<Submission*>(grown);
    r->capacity = capacity;
  }
  r->list[r->count++] = what;
  return true;
}

char* add_bytes(Record* r, int64_t bytes) {
  if (r->used + bytes > r->bytes_capacity) {
    int64_t capacity = r->bytes_capacity ? r->bytes_capacity : 4096;
    while (capacity < r->used + bytes) capacity *= 2;
    void* grown = realloc(r->bytes, static_cast<size_t>(capacity));
    if (!grown) return nullptr;
    r->bytes = static_cast<char*>(grown);
    r->bytes_capacity = capacity;
  }
  char* const data = r->bytes + r->used;
  memset(data, 0, static_cast<size_t>(bytes));
  r->used += bytes;
  return data;
}

AotcStatus pinned_for(GpuSession* g, Submission* what) {
  Graphs* all = g->graphs;
  const int32_t i = all->record.count;
  if (all->current && i < all->current->record.count) {
    const Submission& kept = all->current->record.list[i];
    if (kept.pinned && kept.bytes == what->bytes && kept.to_device == what->to_device) {
      what->pinned = kept.pinned;
      return AOTC_OK;
    }
  }
  void* data = nullptr;
  if (const CUresult code = g->driver->cuMemHostAlloc(&data, static_cast<size_t>(what->bytes), 0))
    return device_error(g, code, "cuMemHostAlloc", "no pinned memory of %lld bytes for a graph",
                        static_cast<long long>(what->bytes));
  what->pinned = static_cast<char*>(data);
  return AOTC_OK;
}

AotcStatus submit_copy(GpuSession* g, const Submission& c) {
  const size_t bytes = static_cast<size_t>(c.bytes);
  CUresult code = kSuccess;
  if (c.to_device == AOTC_GPU && c.from_device == AOTC_GPU)
    code = g->driver->cuMemcpyDtoDAsync_v2(address(c.to), address(c.from), bytes, g->now);
  else if (c.to_device == AOTC_GPU)
    code = g->driver->cuMemcpyHtoDAsync_v2(address(c.to), c.pinned, bytes, g->now);
  else
    code = g->driver->cuMemcpyDtoHAsync_v2(c.pinned, address(c.from), bytes, g->now);
  if (code)
    return device_error(g, code, "cuMemcpyAsync", "copying %lld bytes",
                        static_cast<long long>(c.bytes));
  ++g->submitted;
  return AOTC_OK;
}

}  // namespace

bool is_borrowed(const Graphs* all, int32_t i) {
  const Submission* kept =
      all->current && i < all->current->record.count ? &all->current->record.list[i] : nullptr;
  return kept && kept->pinned && kept->pinned == all->record.list[i].pinned;
}

void free_record(const Driver* driver, Record* r) {
  for (int32_t i = 0; i < r->count; ++i)
    if (r->list[i].pinned) driver->cuMemFreeHost(r->list[i].pinned);
  free(r->list);
  free(r->bytes);
  *r = {};
}

void forget_record(GpuSession* g) {
  Graphs* all = g->graphs;
  for (int32_t i = 0; i < all->record.count; ++i)
    if (all->record.list[i].pinned && !is_borrowed(all, i))
      g->driver->cuMemFreeHost(all->record.list[i].pinned);
  all->record.count = 0;
  all->record.used = 0;
}

int64_t argument_bytes(const Graphs* all, int32_t kernel) {
  int64_t bytes = 0;
  for (int32_t k = all->parameters[kernel]; k < all->parameters[kernel + 1]; ++k)
    bytes += round_up(static_cast<int64_t>(all->sizes[k]), 16);
  return bytes;
}

void point_at_arguments(const Graphs* all, const Record& r, const Submission& what, void** out) {
  int64_t at = what.arguments;
  const int32_t first = all->parameters[what.kernel], end = all->parameters[what.kernel + 1];
  for (int32_t k = first; k < end; ++k) {
    out[k - first] = r.bytes + at;
    at += round_up(static_cast<int64_t>(all->sizes[k]), 16);
  }
}

AotcStatus submit_record(Session* s, const Record& r) {
  void* arguments[kMostArguments];
  for (int32_t i = 0; i < r.count; ++i) {
    const Submission& what = r.list[i];
    AotcStatus status = AOTC_OK;
    if (what.kernel < 0) {
      status = submit_copy(s->gpu, what);
    } else {
      point_at_arguments(s->gpu->graphs, r, what, arguments);
      AotcLaunch launch = {what.kernel, {}, {}, what.shared_bytes, arguments};
      memcpy(launch.grid, what.grid, sizeof launch.grid);
      memcpy(launch.block, what.block, sizeof launch.block);
      status = submit_launch(s, launch);
    }
    if (status) return status;
  }
  return AOTC_OK;
}

AotcStatus expect_arrivals(GpuSession* g, const Record& r) {
  for (int32_t i = 0; i < r.count; ++i) {
    const Submission& c = r.list[i];
    if (c.kernel >= 0 || c.to_device != AOTC_HOST) continue;
    if (AotcStatus status = add_arrival(g, {static_cast<char*>(c.to), c.pinned, c.bytes}))
      return status;
  }
  return AOTC_OK;
}

AotcStatus record_launch(Session* s, const AotcLaunch& what) {
  Graphs* all = s->gpu->graphs;
  const int32_t first = all->parameters[what.kernel], end = all->parameters[what.kernel + 1];
  if (end - first > kMostArguments) {
    if (AotcStatus status = stop_recording(s, "a kernel has too many arguments")) return status;
    return submit_launch(s, what);
  }
  Submission made = {};
  made.kernel = what.kernel;
  memcpy(made.grid, what.grid, sizeof made.grid);
  memcpy(made.block, what.block, sizeof made.block);
  made.shared_bytes = what.shared_bytes;
  made.arguments = all->record.used;
  char* at = add_bytes(&all->record, argument_bytes(all, what.kernel));
  if (!at || !add_submission(&all->record, made))
    return fail(AOTC_OUT_OF_MEMORY, "no memory for the record of a graph");
  for (int32_t k = first; k < end; ++k) {
    memcpy(at, what.arguments[k - first], all->sizes[k]);
    at += round_up(static_cast<int64_t>(all->sizes[k]), 16);
  }
  return AOTC_OK;
}

AotcStatus record_transfer(Session* s, void* to, AotcDevice to_gpu, const void* from,
                           AotcDevice from_gpu, int64_t bytes) {
  Graphs* all = s->gpu->graphs;
  Submission made = {};
  made.kernel = -1;
  made.to = to;
  made.from = from;
  made.to_device = to_gpu;
  made.from_device = from_gpu;
  made.bytes = bytes;
  if (to_gpu == AOTC_HOST || from_gpu == AOTC_HOST)
    if (AotcStatus status = pinned_for(s->gpu, &made)) return status;
  if (from_gpu == AOTC_HOST) memcpy(made.pinned, from, static_cast<size_t>(bytes));
  const Graph* kept = all->current;
  const int32_t i = all->record.count;
  if (add_submission(&all->record, made)) return AOTC_OK;
  const bool borrowed =
      kept && i < kept->record.count && kept->record.list[i].pinned == made.pinned;
  if (made.pinned && !borrowed) s->gpu->driver->cuMemFreeHost(made.pinned);
  return fail(AOTC_OUT_OF_MEMORY, "no memory for the record of a graph");
}

}  // namespace aotc::model::cuda
