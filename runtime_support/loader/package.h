// Opens what aotc compile writes: a package file, the same package unpacked in a folder, or a bare
// model.so.
#pragma once
#include <string>

#include "library.h"

namespace aotc::loader {

// A program of a library, closed with this object.
class Program {
 public:
  Program(const AotcApi* api, AotcModel* handle) : api_(api), handle_(handle) {}
  ~Program() {
    if (handle_) api_->model_close(handle_);
  }
  Program(Program&& other) noexcept : api_(other.api_), handle_(other.handle_) {
    other.handle_ = nullptr;
  }
  Program& operator=(Program&&) = delete;
  AotcModel* handle() const { return handle_; }

 private:
  const AotcApi* api_;
  AotcModel* handle_;
};

// The members end in reverse order: the program is closed before its code is unloaded.
struct OpenedPackage {
  Library library;
  Program program;
  std::string manifest;  // empty for a bare library: the program has it
};

// Throw Failure. `options` is the JSON of model_open.
OpenedPackage open_package(const std::string& path, const char* options);
OpenedPackage open_package_memory(const void* data, uint64_t size, const char* options);

}  // namespace aotc::loader
