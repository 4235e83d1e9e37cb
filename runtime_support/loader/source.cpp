// Reading a package from a file (by position, so that it may be renamed or replaced meanwhile) or
// memory.
#include "source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "failure.h"

namespace aotc::loader {

File::~File() {
  if (fd_ >= 0) close(fd_);
}

Source Source::from_file(const std::string& path) {
  File file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat info;
  if (file.fd() < 0) io_failure("open", path, errno);
  if (fstat(file.fd(), &info) != 0) io_failure("read", path, errno);
  if (!S_ISREG(info.st_mode))
    throw Failure{AOTC_INVALID_ARGUMENT, "'" + path + "' is neither a file nor a folder"};
  return Source(path, std::move(file), nullptr, static_cast<uint64_t>(info.st_size));
}

Source Source::from_memory(const void* data, uint64_t size) {
  return Source("memory", File(), static_cast<const char*>(data), size);
}

void Source::read(uint64_t offset, void* out, uint64_t size) const {
  if (offset > size_ || size > size_ - offset)
    bad_package(label_, "is truncated or damaged: bytes " + std::to_string(offset) + " to " +
                            std::to_string(offset + size) + " are wanted, it has " +
                            std::to_string(size_));
  if (memory_) {
    if (size) std::memcpy(out, memory_ + offset, size);
    return;
  }
  char* bytes = static_cast<char*>(out);
  while (size > 0) {
    const ssize_t got = pread(fd(), bytes, size, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) io_failure("read", label_, errno);
    if (got == 0) bad_package(label_, "has become shorter while it was read");
    bytes += got;
    offset += static_cast<uint64_t>(got);
    size -= static_cast<uint64_t>(got);
  }
}

std::string Source::read(uint64_t offset, uint64_t size) const {
  // Checked before allocating: a damaged size must not ask for more memory than the package has
  // bytes.
  if (offset > size_ || size > size_ - offset) read(offset, nullptr, size);
  std::string bytes(size, '\0');
  read(offset, bytes.data(), size);
  return bytes;
}

}  // namespace aotc::loader
