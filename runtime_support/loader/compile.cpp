// aotc_compile: the compiler is a library of its own that only compiling loads.
#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "failure.h"

namespace {

using aotc::loader::fail;
using aotc::loader::Failure;
using aotc::loader::guarded;
using Compile = AotcStatus (*)(const char* pt2_path, const char* package_path, const char* options,
                               char** error);

// lib/aotc/libaotc_compile.so, where this is lib/libaotc.so.
std::string plugin_path() {
  Dl_info info;
  const std::string self =
      dladdr(reinterpret_cast<const void*>(&aotc_compile), &info) ? info.dli_fname : "";
  const size_t slash = self.rfind('/');
  return (slash == std::string::npos ? "" : self.substr(0, slash + 1)) + "aotc/libaotc_compile.so";
}

// The compiler stays loaded: it does not support being unloaded, and the next compile is faster.
Compile load_compiler() {
  const std::string path = plugin_path();
  if (access(path.c_str(), F_OK) != 0)
    throw Failure{AOTC_UNSUPPORTED,
                  "aotc_compile: this version of libaotc has no compiler of its own "
                  "(it would be '" +
                      path + "'): compile with the program aotc"};
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  void* entry = library ? dlsym(library, "aotc_compile_entry") : nullptr;
  if (entry) return reinterpret_cast<Compile>(entry);
  const char* error = dlerror();
  throw Failure{AOTC_UNSUPPORTED, "aotc_compile: the compiler cannot be loaded: " +
                                      (error ? std::string(error) : path)};
}

}  // namespace

extern "C" AotcStatus aotc_compile(const char* pt2_path, const char* package_path,
                                   const char* options) {
  return guarded([&] {
    if (!pt2_path || !package_path)
      throw Failure{AOTC_INVALID_ARGUMENT, "aotc_compile: a path is NULL"};
    char* error = nullptr;
    const AotcStatus status = load_compiler()(pt2_path, package_path, options, &error);
    if (status) fail(status, error ? error : "the compiler failed without a message");
    std::free(error);
    return status;
  });
}
