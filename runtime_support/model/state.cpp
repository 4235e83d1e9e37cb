// Reading, writing, binding and resetting the states of a session.
#include <stdio.h>
#include <string.h>

#include "error.h"
#include "gpu.h"

namespace aotc::model {
namespace {

AotcStatus unknown_name(const Session* s, const char* function, const char* name) {
  char known[512] = "";
  int used = 0;
  for (int32_t i = 0; i < s->model->n_states && used < 400; ++i)
    used += snprintf(known + used, sizeof known - static_cast<size_t>(used), "%s%.100s",
                     i ? ", " : "", s->program->names[s->model->state_names[i]].name);
  return fail(AOTC_NOT_FOUND, "%s: program '%s' has no '%s'; its states are: %s", function,
              s->program->name, name, used ? known : "(none)");
}

AotcStatus find_name(const Session* s, const char* function, const char* name,
                     const AotcName** out) {
  if (!name) return fail(AOTC_INVALID_ARGUMENT, "%s: the name is NULL", function);
  for (int32_t i = 0; i < s->program->n_names; ++i)
    if (strcmp(s->program->names[i].name, name) == 0) {
      *out = &s->program->names[i];
      return AOTC_OK;
    }
  return unknown_name(s, function, name);
}

AotcStatus find_state(const Session* s, const char* function, const char* name,
                      const AotcName** out) {
  if (AotcStatus status = find_name(s, function, name, out)) return status;
  if (s->program->storages[(*out)->storage].state) return AOTC_OK;
  return fail(AOTC_INVALID_ARGUMENT,
              "%s: '%s' is not a state but a constant of the program, shared by all sessions",
              function, name);
}

// The caller's tensor has exactly the name's dtype and sizes and lies where the session can reach
// it: in host memory or on the program's GPU.
AotcStatus check_tensor(const Session* s, const char* function, const AotcName& name,
                        const DLTensor* tensor) {
  if (!tensor) return fail(AOTC_INVALID_ARGUMENT, "%s: the tensor is NULL", function);
  if (s->gpu) {
    if (AotcStatus status = gpu_of(s).check_reach(s, function, name.name, tensor->device))
      return status;
  } else if (!is_host(tensor->device)) {
    return fail(AOTC_INVALID_ARGUMENT, "%s: the tensor for '%s' is on %s, expected cpu", function,
                name.name, device_name(tensor->device).text);
  }
  if (!same_dtype(tensor->dtype, name.dtype))
    return fail(AOTC_INVALID_ARGUMENT, "%s: the tensor for '%s' is %s, expected %s", function,
                name.name, dtype_name(tensor->dtype).text, dtype_name(name.dtype).text);
  const bool readable =
      tensor->ndim >= 0 && tensor->ndim <= kMaxRank && (tensor->shape || tensor->ndim == 0);
  const int32_t rank = readable ? tensor->ndim : 0;
  if (!readable || rank != name.ndim ||
      (rank && memcmp(tensor->shape, name.sizes, static_cast<size_t>(rank) * sizeof(int64_t))))
    return fail(AOTC_INVALID_ARGUMENT, "%s: the tensor for '%s' has sizes %s, expected %s",
                function, name.name, list_text(tensor->shape, rank).text,
                list_text(name.sizes, name.ndim).text);
  if (!tensor->data && count_elements(name.sizes, name.ndim))
    return fail(AOTC_INVALID_ARGUMENT, "%s: the tensor for '%s' has NULL data", function,
                name.name);
  return AOTC_OK;
}

// A copy that also holds when the views share memory: through a temporary then.
AotcStatus copy_safely(const char* function, const View& to, const View& from) {
  if (!views_overlap(to, from)) {
    copy_elements(to, from);
    return AOTC_OK;
  }
  int64_t strides[kMaxRank];
  contiguous_strides(to.sizes, to.ndim, strides);
  const int64_t bytes = count_elements(to.sizes, to.ndim) * to.item;
  char* memory = static_cast<char*>(malloc(static_cast<size_t>(bytes)));
  if (!memory)
    return fail(AOTC_OUT_OF_MEMORY, "%s: no memory for a copy of %lld bytes", function,
                static_cast<long long>(bytes));
  const View middle = {memory, to.item, to.ndim, to.sizes, strides};
  copy_elements(middle, from);
  copy_elements(to, middle);
  free(memory);
  return AOTC_OK;
}

bool is_storage_on_gpu(const Session* s, const AotcName& name) {
  return is_on_gpu(s, s->program->storages[name.storage].device);
}
bool is_tensor_on_gpu(DLDevice device) { return !is_host(device); }

// Whether a call may look at the states, or (`use`) puts them in order.
AotcStatus check_usable(Session* s, GpuUse use) {
  return s->gpu ? gpu_of(s).check_usable(s, use) : AOTC_OK;
}
AotcStatus states_repaired(Session* s, AotcStatus status) {
  return s->gpu && !status ? gpu_of(s).states_repaired(s) : status;
}

AotcStatus check_target(const char* function, const AotcName& name, const View& to) {
  uintptr_t lo = 0, hi = 0;
  if (byte_range(to, &lo, &hi) && !overlaps_itself(to)) return AOTC_OK;
  return fail(AOTC_INVALID_ARGUMENT,
              "%s: '%s' would be written with sizes %s and strides %s: elements share memory",
              function, name.name, list_text(to.sizes, to.ndim).text,
              list_text(to.strides, to.ndim).text);
}

// The name covers its whole storage, so that the storage can be replaced through it.
AotcStatus check_whole(const Session* s, const AotcName& name) {
  const int64_t bytes = s->program->storages[name.storage].bytes;
  const int64_t span = span_bytes(name.sizes, name.strides, name.ndim, element_bytes(name.dtype));
  if (name.offset == 0 && span == bytes) return AOTC_OK;
  return fail(
      AOTC_UNSUPPORTED,
      "session_state_bind: '%s' is a view of a larger storage and cannot be bound by itself",
      name.name);
}

AotcStatus check_binding(const AotcName& name, const DLTensor& tensor) {
  int64_t strides[kMaxRank];
  const View view = view_of(tensor, strides);
  const uintptr_t alignment = static_cast<uintptr_t>(element_alignment(view.item));
  if (!strides_match(view.sizes, view.ndim, tensor.strides, name.strides))
    return fail(AOTC_INVALID_ARGUMENT,
                "session_state_bind: the storage for '%s' has strides %s, expected %s", name.name,
                list_text(view.strides, view.ndim).text, list_text(name.strides, name.ndim).text);
  if (reinterpret_cast<uintptr_t>(view.data) % alignment)
    return fail(AOTC_INVALID_ARGUMENT,
                "session_state_bind: the storage for '%s' is not aligned to %d bytes", name.name,
                static_cast<int>(alignment));
  return AOTC_OK;
}

// Two states never live in one place.
AotcStatus check_separate(const Session* s, const AotcName& name, const char* data, int64_t bytes) {
  const uintptr_t lo = reinterpret_cast<uintptr_t>(data), hi = lo + static_cast<uintptr_t>(bytes);
  for (int32_t n = 0; n < s->program->n_names; ++n) {
    const AotcName& other = s->program->names[n];
    const AotcStorage& storage = s->program->storages[other.storage];
    if (other.storage == name.storage || !storage.state) continue;
    const char* places[] = {storage_data(s, other.storage), s->own_storages[other.storage]};
    for (const char* place : places) {
      const uintptr_t start = reinterpret_cast<uintptr_t>(place);
      if (lo < start + static_cast<uintptr_t>(storage.bytes) && start < hi)
        return fail(AOTC_INVALID_ARGUMENT,
                    "session_state_bind: the storage for '%s' overlaps that of state '%s'",
                    name.name, other.name);
    }
  }
  return AOTC_OK;
}

// Back to the session's own storage, with the content of the bound one.
AotcStatus unbind(Session* s, const AotcName& name) {
  char* own = s->own_storages[name.storage];
  char* bound = storage_data(s, name.storage);
  const int64_t bytes[] = {s->program->storages[name.storage].bytes}, stride[] = {1};
  if (own == bound) return AOTC_OK;
  if (!is_storage_on_gpu(s, name))
    memmove(own, bound, static_cast<size_t>(bytes[0]));
  else if (AotcStatus status = gpu_of(s).copy(s, {own, 1, 1, bytes, stride}, true,
                                              {bound, 1, 1, bytes, stride}, true))
    return status;
  s->frame.storages[name.storage] = own;
  return AOTC_OK;
}

// The memory is of the kind that the state is compiled for.
AotcStatus check_bound_device(const Session* s, const AotcName& name, DLDevice device) {
  if (!s->gpu) return AOTC_OK;
  return gpu_of(s).check_bound(s, name.name, s->program->storages[name.storage].device, device);
}

}  // namespace

View view_of_name(const Session* s, const AotcName& name) {
  const int64_t item = element_bytes(name.dtype);
  return {storage_data(s, name.storage) + name.offset * item, item, name.ndim, name.sizes,
          name.strides};
}

AotcStatus reset_states(Session* s) {
  for (int32_t i = 0; i < s->program->n_storages; ++i) {
    const AotcStorage& storage = s->program->storages[i];
    const size_t bytes = static_cast<size_t>(storage.bytes);
    AotcStatus status = AOTC_OK;
    if (!storage.state || bytes == 0) continue;
    if (is_on_gpu(s, storage.device))
      status = gpu_of(s).reset_storage(s, i);
    else if (storage.offset < 0)
      memset(s->frame.storages[i], 0, bytes);
    else
      memcpy(s->frame.storages[i], s->model->weights.data + storage.offset, bytes);
    if (status) return status;
  }
  return AOTC_OK;
}

AotcStatus session_state_get(AotcSession* handle, const char* name, DLTensor* into) {
  constexpr char kFunction[] = "session_state_get";
  Use use(kFunction, handle);
  const AotcName* found = nullptr;
  int64_t strides[kMaxRank];
  if (use.status) return use.status;
  if (AotcStatus status = find_name(use.session, kFunction, name, &found)) return status;
  Session* s = use.session;
  if (AotcStatus status = check_tensor(s, kFunction, *found, into)) return status;
  const View to = view_of(*into, strides);
  if (AotcStatus status = check_target(kFunction, *found, to)) return status;
  if (!s->gpu) return copy_safely(kFunction, to, view_of_name(s, *found));
  if (AotcStatus status = check_usable(s, GpuUse::kReadsStates)) return status;
  return gpu_of(s).copy(s, to, is_tensor_on_gpu(into->device), view_of_name(s, *found),
                        is_storage_on_gpu(s, *found));
}

AotcStatus session_state_set(AotcSession* handle, const char* name, const DLTensor* from) {
  constexpr char kFunction[] = "session_state_set";
  Use use(kFunction, handle);
  const AotcName* found = nullptr;
  int64_t strides[kMaxRank];
  uintptr_t lo = 0, hi = 0;
  if (use.status) return use.status;
  Session* s = use.session;
  if (AotcStatus status = find_state(s, kFunction, name, &found)) return status;
  if (AotcStatus status = check_tensor(s, kFunction, *found, from)) return status;
  const View to = view_of_name(s, *found), source = view_of(*from, strides);
  if (!byte_range(source, &lo, &hi))
    return fail(AOTC_INVALID_ARGUMENT, "%s: the tensor for '%s' lies outside of memory", kFunction,
                name);
  if (AotcStatus status = check_target(kFunction, *found, to)) return status;
  if (!s->gpu) return copy_safely(kFunction, to, source);
  if (AotcStatus status = check_usable(s, GpuUse::kRepairsStates)) return status;
  return states_repaired(s, gpu_of(s).copy(s, to, is_storage_on_gpu(s, *found), source,
                                           is_tensor_on_gpu(from->device)));
}

AotcStatus session_state_bind(AotcSession* handle, const char* name, const DLTensor* storage) {
  constexpr char kFunction[] = "session_state_bind";
  Use use(kFunction, handle);
  const AotcName* found = nullptr;
  if (use.status) return use.status;
  Session* s = use.session;
  if (AotcStatus status = find_state(s, kFunction, name, &found)) return status;
  if (AotcStatus status = check_usable(s, GpuUse::kAny)) return status;
  if (!storage) return unbind(s, *found);
  if (AotcStatus status = check_tensor(s, kFunction, *found, storage)) return status;
  if (AotcStatus status = check_bound_device(s, *found, storage->device)) return status;
  if (AotcStatus status = check_whole(s, *found)) return status;
  const int64_t bytes = s->program->storages[found->storage].bytes;
  if (bytes == 0) return AOTC_OK;
  if (AotcStatus status = check_binding(*found, *storage)) return status;
  char* data = static_cast<char*>(storage->data) + storage->byte_offset;
  if (AotcStatus status = check_separate(s, *found, data, bytes)) return status;
  s->frame.storages[found->storage] = data;
  return AOTC_OK;
}

AotcStatus session_state_reset(AotcSession* handle) {
  Use use("session_state_reset", handle);
  if (use.status) return use.status;
  Session* s = use.session;
  if (AotcStatus status = check_usable(s, GpuUse::kRepairsStates)) return status;
  return states_repaired(s, reset_states(s));
}

}  // namespace aotc::model
