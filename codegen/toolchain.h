// Compiling emitted sources: three small interfaces (compile a unit, link, check stores) and
// formatting. The Clang implementation lives in one plugin library that only a compile loads
// (codegen/clang/); `g++` is the optional second back end behind the same interface
// (codegen/gxx.cpp).
#pragma once
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace aotc {

// A source file in memory. `name` has no directory, e.g. "kernels.cpp".
struct SourceFile {
  std::string name;
  std::string text;
  size_t generated_at = 0;  // what is before was copied from formatted files
};

// A relocatable object in memory.
struct ObjectFile {
  std::string name;
  std::string bytes;
};

// What a generated file may write: function name -> names of the pointers it may store through.
// Names are:
// - `y`: the parameter `y`, or, behind a parameter that points to a struct, the pointer member `y`
// - `outputs[2]`: the pointer at constant index 2 of that parameter or member; `outputs`: at any
// - `frame.failure`: the member `failure` itself, in the struct that the parameter points to
// - `a.inner.y`: a qualified member, where `y` alone would not tell two structs apart
//
// A function that is not listed is a helper: what it stores through is checked at its call sites.
// One that can be called from elsewhere (external linkage, or its address is taken) and stores
// anything must be listed.
using StoreTable = std::map<std::string, std::set<std::string>>;

// What emitted code may use of the run time without an entry in the table: members of its structs,
// and parameters of the same name.
struct StoreServices {
  // Function pointers that may be called. The struct of such a member may be an argument of the
  // call; a pointer that the call returns is fresh memory.
  std::set<std::string> callees = {"parallel_for", "obtain_output", "obtain_scratch"};
  // Opaque pointers that may be handed to any call.
  std::set<std::string> handles = {"parallel_context"};
};

struct CompileOptions {
  std::string cpu_level = "x86-64-v3";  // x86-64, x86-64-v2, x86-64-v3, x86-64-v4, aarch64
  int optimize = 2;                     // 0 or 2
  std::string sanitize;                 // "", or e.g. "address,undefined" (g++ back end only)
};

struct LinkOptions {
  std::string cpu_level = "x86-64-v3";  // of the objects; decides the architecture
  std::vector<std::string> archives;  // static archives, searched in order, unused members dropped
  std::string export_list;  // the one exported symbol, "aotc_get_api" (or several, by spaces)
  std::string soname = "model.so";
};

// Safe to use from several threads at once: compiles run side by side, links one after the other.
class Toolchain {
 public:
  virtual ~Toolchain() = default;
  // The exact arguments, for the record in the manifest.
  virtual std::vector<std::string> compile_arguments(const CompileOptions&) const = 0;
  // Compiles one C++ file that includes nothing. Throws InternalError with the compiler's messages,
  // the kernel's origin (the comment above it) and the source when our own code is rejected.
  virtual ObjectFile compile(const SourceFile&, const CompileOptions&) = 0;
  // Links objects and archives to a shared library that needs libc.so.6 (and libm.so.6) at most.
  virtual std::string link(const std::vector<ObjectFile>&, const LinkOptions&) = 0;
  // Proves that every store in `source` goes through a pointer that `table` allows. Throws
  // InternalError naming function, line and reason. A back end without a checker does nothing.
  virtual void check_stores(const SourceFile& source, const StoreTable& table) = 0;
  // check_stores, then compile; a back end that has a checker parses once for both.
  virtual ObjectFile compile_checked(const SourceFile& source, const StoreTable& table,
                                     const CompileOptions& options) {
    check_stores(source, table);
    return compile(source, options);
  }
  // `text` formatted (Google style, 100 columns); a back end without a formatter returns it
  // unchanged.
  virtual std::string format(const std::string& text) = 0;

  StoreServices services;
};

// Formats the part of a file that is not formatted yet.
void format_generated(Toolchain& tools, SourceFile& file);

// Loads the Clang plugin (found relative to the running executable or libaotc.so: lib/aotc/).
// Throws UserError that names the file when it is missing.
std::unique_ptr<Toolchain> load_clang_toolchain();
// Runs g++ (found on PATH, argument vectors, no shell). Throws UserError when there is none.
std::unique_ptr<Toolchain> make_gxx_toolchain();

// The folder lib/aotc with the plugin, the stub C libraries (stubs/<arch>/) and the run-time
// archives: beside libaotc.so or in ../lib of the program that contains this code. Throws UserError
// that names where it looked.
std::filesystem::path support_directory();

// The level names this build can compile for, and the best one that this machine runs ("native").
std::vector<std::string> known_cpu_levels();
std::string native_cpu_level();

// A relocatable ELF object with `bytes` in .rodata under the global symbol `symbol`, aligned to 64
// bytes.
ObjectFile make_data_object(const std::string& symbol, const std::string& bytes,
                            const std::string& cpu_level);

}  // namespace aotc
