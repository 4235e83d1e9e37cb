#include "stream.h"

#include <cstring>

#include "memory.h"
#include "settings.h"

namespace aotc::simt {

void KernelCall::set_arguments(void** given) {
  arguments.clear();
  for (int i = 0; i < function->kernel->arguments; ++i) {
    const char* bytes = static_cast<const char*>(given[i]);
    arguments.emplace_back(bytes, bytes + function->kernel->sizes[i]);
  }
}

bool KernelCall::run() {
  std::vector<void*> pointers;
  for (auto& a : arguments) pointers.push_back(a.data());
  return run_launch({function->module->image, function->kernel, grid, block, pointers.data()});
}

bool Copy::run() const {
  if (bytes == 0) return true;
  DeviceMemory& memory = DeviceMemory::get();
  char* t = to_device ? memory.view(to, bytes, "copy to the device") : reinterpret_cast<char*>(to);
  const char* f = from_device ? memory.view(from, bytes, "copy from the device")
                  : kept      ? kept->data()
                              : reinterpret_cast<const char*>(from);
  if (!t || !f) return false;
  std::memmove(t, f, bytes);
  return true;
}

bool Fill::run() const {
  if (count == 0) return true;
  char* t = DeviceMemory::get().view(to, count * static_cast<uint64_t>(width), "fill");
  if (!t) return false;
  for (uint64_t i = 0; i < count; ++i)
    std::memcpy(t + i * static_cast<uint64_t>(width), &value, static_cast<size_t>(width));
  return true;
}

void Stream::submit(std::function<void()> f) {
  work.push_back(std::move(f));
  ++submitted;
  if (work.size() > 4096) run_until(done + 2048);  // a real queue is not endless either
}

void Stream::run_until(uint64_t number) {
  while (done < number && !work.empty()) {
    auto next = std::move(work.front());
    work.pop_front();
    next();
    ++done;
  }
}

}  // namespace aotc::simt
