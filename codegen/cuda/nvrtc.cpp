// NVRTC: NVIDIA's compiler as a library. Loaded when a program is compiled for a GPU, and only
// then; nothing of the toolkit is needed to build aotc.
#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "codegen/cuda/gpu_images.h"

namespace aotc {

namespace {

// As nvrtc.h declares them.
using Program = void*;
struct Nvrtc {
  int (*create)(Program*, const char* source, const char* name, int headers, const char* const*,
                const char* const*);
  int (*destroy)(Program*);
  int (*compile)(Program, int options, const char* const*);
  int (*log_size)(Program, size_t*);
  int (*log)(Program, char*);
  int (*cubin_size)(Program, size_t*);
  int (*cubin)(Program, char*);
  int (*ptx_size)(Program, size_t*);
  int (*ptx)(Program, char*);
  const char* (*error)(int);
  int (*archs)(int*);
  int (*list_archs)(int*);
};

constexpr const char* kNames[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so",
                                  "/usr/local/cuda/lib64/libnvrtc.so"};

std::vector<const char*> library_names() {
  if (const char* name = std::getenv("AOTC_NVRTC"); name && *name) return {name};
  return {std::begin(kNames), std::end(kNames)};
}

// NULL: there is none.
void* find_library() {
  for (const char* name : library_names())
    if (void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
  return nullptr;
}

void* open_library() {
  if (void* library = find_library()) return library;
  user_error(
      "compiling for a GPU needs NVRTC of the CUDA toolkit 12 or 13, which was not found (tried "
      "{}); install it, add its folder to LD_LIBRARY_PATH or name it by AOTC_NVRTC, or use --device "
      "cpu",
      fmt::join(library_names(), ", "));
}

template <typename F>
void find(void* library, const char* name, F& function) {
  function = reinterpret_cast<F>(dlsym(library, name));
  if (!function) user_error("the NVRTC library has no function {}; use CUDA 12 or 13", name);
}

Nvrtc load() {
  void* library = open_library();
  Nvrtc n = {};
  find(library, "nvrtcCreateProgram", n.create);
  find(library, "nvrtcDestroyProgram", n.destroy);
  find(library, "nvrtcCompileProgram", n.compile);
  find(library, "nvrtcGetProgramLogSize", n.log_size);
  find(library, "nvrtcGetProgramLog", n.log);
  find(library, "nvrtcGetCUBINSize", n.cubin_size);
  find(library, "nvrtcGetCUBIN", n.cubin);
  find(library, "nvrtcGetPTXSize", n.ptx_size);
  find(library, "nvrtcGetPTX", n.ptx);
  find(library, "nvrtcGetErrorString", n.error);
  find(library, "nvrtcGetNumSupportedArchs", n.archs);
  find(library, "nvrtcGetSupportedArchs", n.list_archs);
  return n;
}

void require_known(const Nvrtc& n, const std::string& arch) {
  int count = 0;
  if (n.archs(&count) != 0) return;
  std::vector<int> known(static_cast<size_t>(count));
  if (n.list_archs(known.data()) != 0) return;
  std::vector<std::string> names;
  for (int k : known) names.push_back(fmt::format("sm_{}", k));
  const std::string name = "sm_" + arch.substr(arch.find('_') + 1);
  if (std::ranges::find(names, name) == names.end())
    user_error("--gpu {}: this NVRTC compiles for {}", name, fmt::join(names, ", "));
}

class NvrtcProgram {
 public:
  NvrtcProgram(const Nvrtc& n, const SourceFile& source) : n_(n) {
    require(n.create(&program_, source.text.c_str(), source.name.c_str(), 0, nullptr, nullptr),
            "nvrtcCreateProgram");
  }
  ~NvrtcProgram() { n_.destroy(&program_); }
  NvrtcProgram(const NvrtcProgram&) = delete;
  NvrtcProgram& operator=(const NvrtcProgram&) = delete;

  void compile(const std::vector<const char*>& options) {
    const int result = n_.compile(program_, static_cast<int>(options.size()), options.data());
    if (result != 0)
      internal_error("NVRTC rejects a generated kernel ({}):\n{}", n_.error(result), log());
  }
  std::string result(const std::string& kind) {
    size_t size = 0;
    const bool cubin = kind == "cubin";
    require(cubin ? n_.cubin_size(program_, &size) : n_.ptx_size(program_, &size), "nvrtcGetSize");
    std::string bytes(size, '\0');
    require(cubin ? n_.cubin(program_, bytes.data()) : n_.ptx(program_, bytes.data()), "nvrtcGet");
    return bytes;
  }

 private:
  void require(int result, const char* function) const {
    if (result != 0) internal_error("{} failed: {}", function, n_.error(result));
  }
  std::string log() const {
    size_t size = 0;
    if (n_.log_size(program_, &size) != 0 || size == 0) return "";
    std::string text(size, '\0');
    if (n_.log(program_, text.data()) != 0) return "";
    text.resize(size - 1);
    return text;
  }

  const Nvrtc& n_;
  Program program_ = nullptr;
};

}  // namespace

bool has_nvrtc() { return find_library() != nullptr; }

std::string compile_with_nvrtc(const SourceFile& source, const std::string& arch,
                               const std::string& kind) {
  static const Nvrtc nvrtc = load();
  require_known(nvrtc, arch);
  const std::string target = "--gpu-architecture=" + arch;
  NvrtcProgram program(nvrtc, source);
  // Products and sums are rounded one by one, as eager rounds them.
  program.compile({target.c_str(), "--std=c++17", "--fmad=false", "--device-int128"});
  return program.result(kind);
}

}  // namespace aotc
