// Shared by the toolchain tests: one loaded plugin, sources to compile, libraries opened from
// memory, ELF facts.
#pragma once
#include <map>
#include <set>
#include <string>

#include "codegen/toolchain.h"

namespace aotc::test {

// The Clang toolchain, loaded once.
Toolchain& clang();

// y[i] = silu(x[i]) and a sum, with declarations for what emitted code uses; exports `kernel`.
SourceFile kernel_source();

// A shared library opened from memory; throws std::runtime_error with dlerror's text.
class Library {
 public:
  explicit Library(const std::string& bytes);
  ~Library();
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  template <typename Function>
  Function* get(const char* name) const {
    return reinterpret_cast<Function*>(find(name));
  }

 private:
  void* find(const char* name) const;
  void* handle_ = nullptr;
};

// What a shared library says about itself.
struct ElfFacts {
  uint16_t machine = 0, type = 0;
  std::string soname;
  std::set<std::string> needed;
  std::set<std::string> exports;  // defined dynamic symbols
  std::map<std::string, std::string>
      imports;  // undefined dynamic symbols -> "library VERSION", "" unversioned
  std::set<std::string> defined_versions;  // "symbol@VERSION"
};
ElfFacts read_elf(const std::string& bytes);

// Compiles and links `source` for `level`, exporting `symbol`.
std::string build(Toolchain& toolchain, const SourceFile& source, const std::string& level,
                  const std::string& symbol);

// The message of the exception of type E that `body` throws; fails the test when there is none.
template <typename E, typename Body>
std::string error_of(Body body) {
  try {
    body();
  } catch (const E& error) {
    return error.what();
  }
  throw std::logic_error("no error was thrown");
}

bool contains(const std::string& text, const std::string& part);

}  // namespace aotc::test
