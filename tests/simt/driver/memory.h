// Device memory: one file mapped twice. Addresses that are handed out are never readable for the
// host; kernels and copies use the second view. Each allocation has pages of its own and ends at a
// guard page.
#pragma once
#include <cstdint>
#include <map>
#include <string>

namespace aotc::simt {

class DeviceMemory {
 public:
  static DeviceMemory& get();

  // 0: no memory. The content is bytes of 0xff (NaN).
  uint64_t allocate(uint64_t bytes);
  bool release(uint64_t address);  // false: no allocation starts there
  // The host's view of [address, address + bytes); nullptr, with a complaint, unless it lies in one
  // allocation.
  char* view(uint64_t address, uint64_t bytes, const char* what);
  bool contains(uint64_t address) const { return address - begin_ < size_; }
  bool is_allocated(uint64_t address) const;
  // For messages: the allocation at or before the address in the kernels' view.
  std::string describe(uint64_t address) const;

  uint64_t begin() const { return begin_; }
  uint64_t size() const { return size_; }
  int64_t shift() const { return shift_; }
  uint64_t live_allocations() const { return live_.size(); }
  uint64_t live_bytes() const { return live_bytes_; }
  void* nowhere() const { return nowhere_; }

 private:
  DeviceMemory();
  struct Allocation {
    uint64_t first_page, pages, bytes;  // offsets in the file
  };
  uint64_t begin_ = 0, size_ = 0, live_bytes_ = 0;
  int64_t shift_ = 0;
  int file_ = -1;
  void* nowhere_ = nullptr;
  std::map<uint64_t, Allocation> live_;  // by address
  std::map<uint64_t, uint64_t> free_;    // first page -> pages
};

}  // namespace aotc::simt
