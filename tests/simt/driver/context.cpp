#include "context.h"

#include <unistd.h>
#include <cstdio>
#include <cstdlib>

#include "memory.h"
#include "settings.h"

namespace aotc::simt {
namespace {

void report() {
  Context& c = Context::get();
  const DeviceMemory& memory = DeviceMemory::get();
  auto leak = [](size_t n, const char* what) {
    if (n > 0) complain("leak: " + std::to_string(n) + " " + what);
  };
  leak(memory.live_allocations(), "device allocations");
  leak(c.streams.size(), "streams");
  leak(c.events.size(), "events");
  leak(c.modules.size(), "modules");
  leak(c.graphs.size() + c.execs.size(), "graphs");
  leak(c.pools.size(), "memory pools");
  leak(c.pinned.size(), "pinned host allocations");
  leak(static_cast<size_t>(c.retained), "references to the context");
  if (complaints() > 0) {
    std::fflush(nullptr);
    _exit(86);
  }
}

}  // namespace

Context& Context::get() {
  static Context* context = [] {
    auto* c = new Context;  // outlives everything that may still call
    c->default_stream.blocking = true;
    if (settings().report) std::atexit(report);
    return c;
  }();
  return *context;
}

bool& is_current() {
  thread_local bool current = false;
  return current;
}

Stream* Context::stream(void* handle) {
  const auto number = reinterpret_cast<uintptr_t>(handle);
  if (number <= 2) return &default_stream;  // 0, CU_STREAM_LEGACY, CU_STREAM_PER_THREAD
  return find_in(streams, handle);
}

Event* Context::event(void* handle) { return find_in(events, handle); }

bool Context::is_pinned(const void* address) const {
  auto it = pinned.upper_bound(reinterpret_cast<uint64_t>(address));
  if (it == pinned.begin()) return false;
  --it;
  return reinterpret_cast<uint64_t>(address) < it->first + it->second;
}

void Context::join_default() {
  for (const auto& s : streams)
    if (s->blocking) s->run_all();
  default_stream.run_all();
}

void Context::run_everything() {
  default_stream.run_all();
  for (const auto& s : streams) s->run_all();
}

CUresult Context::submit(Stream& s, Node node) {
  if (s.capture) {
    s.capture->nodes.push_back(std::make_unique<Node>(std::move(node)));
    return CUDA_SUCCESS;
  }
  // A stream that blocks is ordered against the default stream.
  if (&s == &default_stream) {
    for (const auto& other : streams)
      if (other->blocking) other->run_all();
  } else if (s.blocking) {
    default_stream.run_all();
  }
  s.submit([this, n = std::make_shared<Node>(std::move(node))] {
    if (error) return;
    if (n->kind == Node::Kind::Copy) {
      if (n->copy.to_device && !n->copy.from_device) to_device += n->copy.bytes;
      if (!n->copy.to_device && n->copy.from_device) from_device += n->copy.bytes;
    }
    if (!n->run())
      lose(n->kind == Node::Kind::Kernel ? CUDA_ERROR_LAUNCH_FAILED : CUDA_ERROR_ILLEGAL_ADDRESS);
  });
  return CUDA_SUCCESS;
}

void Context::lose(CUresult code) {
  if (!error) error = code;
}

}  // namespace aotc::simt
