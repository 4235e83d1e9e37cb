// The one context of the simulated device and everything that lives in it.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "cuda_api.h"
#include "stream.h"

namespace aotc::simt {

struct Context {
  static Context& get();
  std::recursive_mutex mutex;
  bool initialized = false;
  int retained = 0;
  CUresult error = CUDA_SUCCESS;  // once set, every call answers it
  Stream default_stream;
  std::set<std::unique_ptr<Stream>> streams;
  std::set<std::unique_ptr<Event>> events;
  std::set<std::unique_ptr<Module>> modules;
  std::map<std::pair<const Module*, const Kernel*>, std::unique_ptr<Function>> functions;
  std::set<std::unique_ptr<Graph>> graphs;
  std::set<std::unique_ptr<GraphExec>> execs;
  std::set<std::unique_ptr<Pool>> pools;
  std::map<uint64_t, uint64_t> pinned;  // host memory: address -> bytes
  uint64_t to_device = 0, from_device = 0;

  // nullptr: no such stream.
  Stream* stream(void* handle);
  Event* event(void* handle);
  bool is_pinned(const void* address) const;
  // What the default stream waits for, and what waits for it.
  void join_default();
  void run_everything();
  // Submits to the stream or adds to what it captures.
  CUresult submit(Stream& s, Node node);
  void lose(CUresult code);  // after an error that cannot be undone
};

// Whether the context is current on this thread.
bool& is_current();

template <typename T>
T* find_in(const std::set<std::unique_ptr<T>>& all, const void* handle) {
  for (const auto& x : all)
    if (x.get() == handle) return x.get();
  return nullptr;
}
template <typename T>
bool erase_from(std::set<std::unique_ptr<T>>& all, const void* handle) {
  for (auto it = all.begin(); it != all.end(); ++it)
    if (it->get() == handle) {
      all.erase(it);
      return true;
    }
  return false;
}

}  // namespace aotc::simt

#define AOTC_SIM_API extern "C" __attribute__((visibility("default"))) CUresult
// At the start of each call. `Any`: allowed in a lost context and without one.
#define AOTC_SIM_ENTER_ANY(name)                                  \
  if (int code = aotc::simt::planned_failure(#name)) return code; \
  auto& c = aotc::simt::Context::get();                           \
  std::lock_guard lock(c.mutex);                                  \
  (void)c
#define AOTC_SIM_ENTER(name)                                        \
  AOTC_SIM_ENTER_ANY(name);                                         \
  if (!c.initialized) return CUDA_ERROR_NOT_INITIALIZED;            \
  if (!aotc::simt::is_current()) return CUDA_ERROR_INVALID_CONTEXT; \
  if (c.error) return c.error
