// Writing under a temporary name, then renaming: nobody ever sees half a file.
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "error.h"

namespace aotc::model {
namespace {

// By the system call: older C libraries have no function of that name.
bool is_special(const char* path) {
  struct stat info;
  return syscall(SYS_newfstatat, AT_FDCWD, path, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
         !S_ISREG(info.st_mode);
}

}  // namespace

AotcStatus Memory::allocate(const char* function, int64_t bytes) {
  data = static_cast<char*>(malloc(static_cast<size_t>(bytes ? bytes : 1)));
  return data ? AOTC_OK
              : fail(AOTC_OUT_OF_MEMORY, "%s: no memory for %lld bytes", function,
                     static_cast<long long>(bytes));
}

AotcStatus io_error(const char* function, const char* what, const char* path) {
  const int error = errno;
  return fail(error == ENOENT ? AOTC_NOT_FOUND : AOTC_IO, "%s: cannot %s '%s': %s", function, what,
              path, strerror(error));
}

AotcStatus NewFile::create(const char* function, const char* path) {
  function_ = function;
  path_ = path;
  if (!is_special(path)) {
    const int64_t length = static_cast<int64_t>(strlen(path)) + 64;
    if (AotcStatus status = temporary_.allocate(function, length)) return status;
    snprintf(temporary_.data, static_cast<size_t>(length), "%s.%d.%llx.tmp", path, getpid(),
             static_cast<unsigned long long>(reinterpret_cast<uintptr_t>(this)));
  }
  fd_ = open(written_path(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  return fd_ < 0 ? io_error(function, "create", path) : AOTC_OK;
}

bool NewFile::write(const void* data, int64_t size) {
  const char* bytes = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t written = ::write(fd_, bytes, static_cast<size_t>(size));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes += written;
    size -= written;
  }
  return true;
}

AotcStatus NewFile::publish(bool durable) {
  // EINVAL: not a file that can be synchronised.
  if (durable && fsync(fd_) != 0 && errno != EINVAL) return failure();
  const int fd = fd_;
  fd_ = -1;
  AotcStatus status = close(fd) == 0 ? AOTC_OK : failure();
  if (!temporary_.data) return status;
  if (!status && rename(temporary_.data, path_) != 0)
    status = io_error(function_, "replace", path_);
  if (status) unlink(temporary_.data);
  free(temporary_.data);
  temporary_.data = nullptr;
  return status;
}

AotcStatus NewFile::failure() const { return io_error(function_, "write", written_path()); }

NewFile::~NewFile() {
  if (fd_ < 0) return;
  close(fd_);
  if (temporary_.data) unlink(temporary_.data);
}

}  // namespace aotc::model
