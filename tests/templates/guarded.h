// Memory that ends exactly at an unreadable page, and that notices writes before its beginning.
#ifndef AOTC_TESTS_TEMPLATES_GUARDED_H_
#define AOTC_TESTS_TEMPLATES_GUARDED_H_

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <stdexcept>

class Guarded {
 public:
  // `size` bytes, aligned to `alignment` at the beginning: fewer than `alignment` bytes lie between
  // the end and the unreadable page.
  explicit Guarded(size_t size, size_t alignment = 1) : size_(size) {
    const size_t page = size_t(sysconf(_SC_PAGESIZE));
    const size_t body = (size + alignment + page - 1) / page * page;
    mapped_ = body + page;
    memory_ = static_cast<uint8_t*>(
        mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (memory_ == MAP_FAILED) throw std::runtime_error("mmap failed");
    mprotect(memory_ + body, page, PROT_NONE);
    data_ = memory_ + (body - size) / alignment * alignment;
    tail_ = size_t(memory_ + body - data_) - size;
    std::memset(memory_, kCanary, size_t(data_ - memory_));
    std::memset(data_ + size, kCanary, tail_);
  }
  ~Guarded() { munmap(memory_, mapped_); }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;

  uint8_t* data() const { return data_; }
  size_t size() const { return size_; }

  // True while nothing around the data has been written.
  bool intact() const {
    for (const uint8_t* p = memory_; p < data_; p++) {
      if (*p != kCanary) return false;
    }
    for (size_t i = 0; i < tail_; i++) {
      if (data_[size_ + i] != kCanary) return false;
    }
    return true;
  }

 private:
  static constexpr uint8_t kCanary = 0xa5;
  size_t size_, mapped_, tail_;
  uint8_t *memory_, *data_;
};

#endif  // AOTC_TESTS_TEMPLATES_GUARDED_H_
