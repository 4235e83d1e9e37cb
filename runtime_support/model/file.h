// Files that the run time writes, and what goes wrong with them.
#pragma once
#include "session.h"

namespace aotc::model {

// Memory that is freed with its scope.
struct Memory {
  char* data = nullptr;
  Memory() = default;
  ~Memory() { free(data); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  AotcStatus allocate(const char* function, int64_t bytes);
};

// "<function>: cannot <what> '<path>': <errno's text>"; AOTC_NOT_FOUND or AOTC_IO.
AotcStatus io_error(const char* function, const char* what, const char* path);

// A file that appears under its name when it is complete: until then it has a temporary name beside
// it. What is no regular file (a link, a device, a pipe) is written as it is, since a rename would
// replace it. `function` and `path` must outlive the object.
class NewFile {
 public:
  NewFile() = default;
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  AotcStatus create(const char* function, const char* path);
  bool write(const void* data, int64_t size);  // false: errno says why; see failure()
  AotcStatus publish(bool durable);            // durable: it survives a power failure
  AotcStatus failure() const;                  // after a write that failed

 private:
  const char* written_path() const { return temporary_.data ? temporary_.data : path_; }

  const char *function_ = nullptr, *path_ = nullptr;
  Memory temporary_;  // the temporary name; NULL: written as it is, or published
  int fd_ = -1;
};

}  // namespace aotc::model
