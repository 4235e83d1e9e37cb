// Mapping by open, fstat and mmap; the descriptor is closed at once, the mapping stays.
#include "ir/pt2/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "ir/error.h"

namespace aotc::pt2 {
namespace {

struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

// The size of a regular, non-empty file.
size_t regular_file_size(int fd, const std::string& path) {
  struct stat info = {};
  if (::fstat(fd, &info) != 0) user_error("{}: cannot be read: {}", path, std::strerror(errno));
  if (S_ISDIR(info.st_mode)) user_error("{}: is a folder; a .pt2 file is expected", path);
  if (!S_ISREG(info.st_mode))
    user_error("{}: is not a regular file; save the archive to a file first", path);
  if (info.st_size == 0) user_error("{}: is empty; a .pt2 file is expected", path);
  return static_cast<size_t>(info.st_size);
}

}  // namespace

MappedFile::MappedFile(const std::string& path) {
  // O_NONBLOCK: opening a pipe that nobody writes must fail below, not wait.
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.fd < 0) user_error("{}: cannot be opened: {}", path, std::strerror(errno));
  const size_t size = regular_file_size(file.fd, path);
  void* data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.fd, 0);
  if (data == MAP_FAILED) user_error("{}: cannot be mapped: {}", path, std::strerror(errno));
  data_ = static_cast<const char*>(data);
  size_ = size;
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<char*>(data_), size_);
}

}  // namespace aotc::pt2
