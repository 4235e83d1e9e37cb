// A package's machine code as a loaded library, without a file of its own on disk.
#pragma once
#include <string>

#include "aotc/aotc.h"

namespace aotc::loader {

// Owns a dlopen handle; moving transfers it.
class Library {
 public:
  Library() = default;
  // Loads the bytes of a shared library from an anonymous memory file; `label` names it in
  // messages. Throws Failure when this system cannot load it or it serves no table of this ABI
  // version.
  Library(const std::string& bytes, const std::string& label);
  ~Library();
  Library(Library&& other) noexcept : handle_(other.handle_), api_(other.api_) {
    other.handle_ = nullptr;
  }
  Library& operator=(Library&&) = delete;
  const AotcApi* api() const { return api_; }

 private:
  void* handle_ = nullptr;
  const AotcApi* api_ = nullptr;
};

}  // namespace aotc::loader
