#include "memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "settings.h"

namespace aotc::simt {
namespace {

constexpr uint64_t kPage = 4096, kAlignment = 256;

}  // namespace

DeviceMemory& DeviceMemory::get() {
  static DeviceMemory memory;
  return memory;
}

DeviceMemory::DeviceMemory() {
  size_ = settings().memory / kPage * kPage;
  file_ = memfd_create("aotc_cuda_sim", MFD_CLOEXEC);
  void* handed_out =
      mmap(nullptr, size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  void* used = MAP_FAILED;
  if (file_ >= 0 && ftruncate(file_, static_cast<off_t>(size_)) == 0)
    used = mmap(nullptr, size_, PROT_NONE, MAP_SHARED | MAP_NORESERVE, file_, 0);
  nowhere_ = mmap(nullptr, kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (handed_out == MAP_FAILED || used == MAP_FAILED) {
    complain("no address space for device memory");
    size_ = 0;
    return;
  }
  begin_ = reinterpret_cast<uint64_t>(handed_out);
  shift_ = static_cast<int64_t>(reinterpret_cast<uint64_t>(used) - begin_);
  free_[0] = size_ / kPage;
}

uint64_t DeviceMemory::allocate(uint64_t bytes) {
  const uint64_t used = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  const uint64_t pages = (used + kPage - 1) / kPage + 1;  // the last one guards
  for (auto it = free_.begin(); it != free_.end(); ++it) {
    if (it->second < pages) continue;
    const uint64_t first = it->first, rest = it->second - pages;
    free_.erase(it);
    if (rest > 0) free_[first + pages] = rest;
    char* const view = reinterpret_cast<char*>(begin_) + shift_ + first * kPage;
    if (mprotect(view, (pages - 1) * kPage, PROT_READ | PROT_WRITE) != 0) return 0;
    std::memset(view, 0xff, (pages - 1) * kPage);
    const uint64_t address = begin_ + (first + pages - 1) * kPage - used;
    live_[address] = {first, pages, bytes};
    live_bytes_ += bytes;
    return address;
  }
  return 0;
}

bool DeviceMemory::release(uint64_t address) {
  auto it = live_.find(address);
  if (it == live_.end()) return false;
  const Allocation a = it->second;
  live_.erase(it);
  live_bytes_ -= a.bytes;
  char* const view = reinterpret_cast<char*>(begin_) + shift_ + a.first_page * kPage;
  mprotect(view, a.pages * kPage, PROT_NONE);
  (void)fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                  static_cast<off_t>(a.first_page * kPage), static_cast<off_t>(a.pages * kPage));
  auto [place, added] = free_.emplace(a.first_page, a.pages);
  auto next = std::next(place);
  if (next != free_.end() && place->first + place->second == next->first) {
    place->second += next->second;
    free_.erase(next);
  }
  if (place != free_.begin()) {
    auto before = std::prev(place);
    if (before->first + before->second == place->first) {
      before->second += place->second;
      free_.erase(place);
    }
  }
  return true;
}

char* DeviceMemory::view(uint64_t address, uint64_t bytes, const char* what) {
  auto it = live_.upper_bound(address);
  if (it != live_.begin()) {
    --it;
    if (address + bytes <= it->first + it->second.bytes)
      return reinterpret_cast<char*>(address) + shift_;
  }
  complain(std::string(what) + ": " + std::to_string(bytes) + " bytes at device address " +
           std::to_string(address) + " are not inside one allocation" +
           describe(address + static_cast<uint64_t>(shift_)));
  return nullptr;
}

bool DeviceMemory::is_allocated(uint64_t address) const {
  auto it = live_.upper_bound(address);
  if (it == live_.begin()) return false;
  --it;
  return address < it->first + it->second.bytes;
}

std::string DeviceMemory::describe(uint64_t address) const {
  const uint64_t device = address - static_cast<uint64_t>(shift_);
  if (!contains(device)) return "; it is no device address";
  auto it = live_.upper_bound(device);
  if (it == live_.begin()) return "; no allocation lies before it";
  --it;
  return "; the allocation before it has " + std::to_string(it->second.bytes) + " bytes, " +
         std::to_string(device - it->first) + " from its start";
}

}  // namespace aotc::simt
