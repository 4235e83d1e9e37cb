// Bytes of a package: an open file or memory of the caller. Reads are bounds-checked.
#pragma once
#include <cstdint>
#include <string>

namespace aotc::loader {

// Closes its file descriptor.
class File {
 public:
  File() = default;
  explicit File(int fd) : fd_(fd) {}
  ~File();
  File(File&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  File& operator=(File&&) = delete;
  int fd() const { return fd_; }

 private:
  int fd_ = -1;
};

class Source {
 public:
  // Throw Failure when the file cannot be opened or is not a regular file.
  static Source from_file(const std::string& path);
  static Source from_memory(const void* data, uint64_t size);

  // What messages call it: its path, or "memory".
  const std::string& label() const { return label_; }
  uint64_t size() const { return size_; }
  // Copies [offset, offset + size); throws Failure when that is not all inside, or reading fails.
  void read(uint64_t offset, void* out, uint64_t size) const;
  std::string read(uint64_t offset, uint64_t size) const;
  // The memory, or NULL for a file.
  const char* memory() const { return memory_; }
  int fd() const { return file_.fd(); }

 private:
  Source(std::string label, File file, const char* memory, uint64_t size)
      : label_(std::move(label)), file_(std::move(file)), memory_(memory), size_(size) {}
  std::string label_;
  File file_;
  const char* memory_;
  uint64_t size_;
};

}  // namespace aotc::loader
