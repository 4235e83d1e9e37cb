// Devices, contexts, modules, errors.
#include <dlfcn.h>
#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "context.h"
#include "memory.h"
#include "settings.h"

using namespace aotc::simt;

AOTC_SIM_API cuInit(unsigned flags) {
  AOTC_SIM_ENTER_ANY(cuInit);
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (settings().devices == 0) return CUDA_ERROR_NO_DEVICE;
  c.initialized = true;
  return CUDA_SUCCESS;
}

AOTC_SIM_API cuDriverGetVersion(int* version) {
  AOTC_SIM_ENTER_ANY(cuDriverGetVersion);
  *version = 13000;
  return CUDA_SUCCESS;
}

AOTC_SIM_API cuDeviceGetCount(int* count) {
  AOTC_SIM_ENTER_ANY(cuDeviceGetCount);
  if (!c.initialized) return CUDA_ERROR_NOT_INITIALIZED;
  *count = settings().devices;
  return CUDA_SUCCESS;
}

AOTC_SIM_API cuDeviceGet(CUdevice* device, int ordinal) {
  AOTC_SIM_ENTER_ANY(cuDeviceGet);
  if (!c.initialized) return CUDA_ERROR_NOT_INITIALIZED;
  if (ordinal < 0 || ordinal >= settings().devices) return CUDA_ERROR_INVALID_DEVICE;
  *device = ordinal;
  return CUDA_SUCCESS;
}

AOTC_SIM_API cuDeviceGetName(char* name, int length, CUdevice) {
  AOTC_SIM_ENTER_ANY(cuDeviceGetName);
  std::strncpy(name, "aotc simulator", static_cast<size_t>(length));
  name[length - 1] = '\0';
  return CUDA_SUCCESS;
}

AOTC_SIM_API cuDeviceGetAttribute(int* value, int attribute, CUdevice) {
  AOTC_SIM_ENTER_ANY(cuDeviceGetAttribute);
  switch (attribute) {
    case 1:
      *value = 1024;
      break;  // MAX_THREADS_PER_BLOCK
    case 2:
    case 3:
      *value = 1024;
      break;  // MAX_BLOCK_DIM_X, Y
    case 4:
      *value = 64;
      break;  // MAX_BLOCK_DIM_Z
    case 5:
      *value = 2147483647;
      break;  // MAX_GRID_DIM_X
    case 6:
    case 7:
      *value = 65535;
      break;  // MAX_GRID_DIM_Y, Z
    case 8:
      *value = 49152;
      break;  // MAX_SHARED_MEMORY_PER_BLOCK
    case 10:
      *value = 32;
      break;  // WARP_SIZE
    case 16:
      *value = 8;
      break;  // MULTIPROCESSOR_COUNT
    case 39:
      *value = 2048;
      break;  // MAX_THREADS_PER_MULTIPROCESSOR
    case 41:
      *value = 1;
      break;  // UNIFIED_ADDRESSING
    case 75:
      *value = settings().arch / 10;
      break;  // COMPUTE_CAPABILITY_MAJOR
    case 76:
      *value = settings().arch % 10;
      break;  // COMPUTE_CAPABILITY_MINOR
    case 97:
      *value = 99 << 10;
      break;  // MAX_SHARED_MEMORY_PER_BLOCK_OPTIN
    case 115:
      *value = settings().pools ? 1 : 0;
      break;  // MEMORY_POOLS_SUPPORTED
    default:
      *value = 0;
  }
  return CUDA_SUCCESS;
}

AOTC_SIM_API cuDeviceTotalMem_v2(size_t* bytes, CUdevice) {
  AOTC_SIM_ENTER_ANY(cuDeviceTotalMem_v2);
  *bytes = settings().memory;
  return CUDA_SUCCESS;
}

AOTC_SIM_API cuDevicePrimaryCtxRetain(void** context, CUdevice) {
  AOTC_SIM_ENTER_ANY(cuDevicePrimaryCtxRetain);
  if (!c.initialized) return CUDA_ERROR_NOT_INITIALIZED;
  ++c.retained;
  *context = &c;
  return CUDA_SUCCESS;
}

AOTC_SIM_API cuDevicePrimaryCtxRelease_v2(CUdevice) {
  AOTC_SIM_ENTER_ANY(cuDevicePrimaryCtxRelease_v2);
  if (c.retained == 0) return CUDA_ERROR_INVALID_CONTEXT;
  --c.retained;
  return CUDA_SUCCESS;
}

AOTC_SIM_API cuCtxGetCurrent(void** context) {
  AOTC_SIM_ENTER_ANY(cuCtxGetCurrent);
  *context = is_current() ? &c : nullptr;
  return CUDA_SUCCESS;
}

AOTC_SIM_API cuCtxSetCurrent(void* context) {
  AOTC_SIM_ENTER_ANY(cuCtxSetCurrent);
  if (context && context != &c) return CUDA_ERROR_INVALID_CONTEXT;
  is_current() = context != nullptr;
  return CUDA_SUCCESS;
}

namespace {
thread_local std::vector<bool> pushed;
}

AOTC_SIM_API cuCtxPushCurrent_v2(void* context) {
  AOTC_SIM_ENTER_ANY(cuCtxPushCurrent_v2);
  if (context != &c) return CUDA_ERROR_INVALID_CONTEXT;
  pushed.push_back(is_current());
  is_current() = true;
  return CUDA_SUCCESS;
}

AOTC_SIM_API cuCtxPopCurrent_v2(void** context) {
  AOTC_SIM_ENTER_ANY(cuCtxPopCurrent_v2);
  if (pushed.empty()) return CUDA_ERROR_INVALID_CONTEXT;
  if (context) *context = &c;
  is_current() = pushed.back();
  pushed.pop_back();
  return CUDA_SUCCESS;
}

AOTC_SIM_API cuCtxSynchronize() {
  AOTC_SIM_ENTER(cuCtxSynchronize);
  c.run_everything();
  return c.error;
}

// ---- modules: an image is a shared library

namespace {

uint64_t elf_size(const void* data) {
  Elf64_Ehdr h;
  std::memcpy(&h, data, sizeof h);
  if (std::memcmp(h.e_ident, ELFMAG, SELFMAG) != 0) return 0;
  return h.e_shoff + uint64_t{h.e_shentsize} * h.e_shnum;
}

void* open_image(const void* data) {
  const uint64_t size = elf_size(data);
  const int file = memfd_create("aotc_sim_image", MFD_CLOEXEC);
  if (size == 0 || file < 0) return nullptr;
  const bool written = write(file, data, size) == static_cast<ssize_t>(size);
  void* library = nullptr;
  if (written)
    library = dlopen(("/proc/self/fd/" + std::to_string(file)).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) complain(std::string("cannot load an image: ") + dlerror());
  close(file);
  return library;
}

}  // namespace

AOTC_SIM_API cuModuleLoadData(void** module, const void* data) {
  AOTC_SIM_ENTER(cuModuleLoadData);
  void* library = open_image(data);
  if (!library) return CUDA_ERROR_INVALID_IMAGE;
  const auto* image = static_cast<const Image*>(dlsym(library, "aotc_sim_image"));
  if (!image || image->version != 1) {
    dlclose(library);
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
  }
  auto m = std::make_unique<Module>(Module{library, image});
  *module = m.get();
  c.modules.insert(std::move(m));
  return CUDA_SUCCESS;
}

AOTC_SIM_API cuModuleUnload(void* module) {
  AOTC_SIM_ENTER_ANY(cuModuleUnload);
  Module* m = find_in(c.modules, module);
  if (!m) return CUDA_ERROR_INVALID_HANDLE;
  c.run_everything();
  std::erase_if(c.functions, [&](const auto& f) { return f.first.first == m; });
  dlclose(m->library);
  erase_from(c.modules, module);
  return CUDA_SUCCESS;
}

AOTC_SIM_API cuModuleGetFunction(void** function, void* module, const char* name) {
  AOTC_SIM_ENTER(cuModuleGetFunction);
  Module* m = find_in(c.modules, module);
  if (!m) return CUDA_ERROR_INVALID_HANDLE;
  for (const Kernel* k = m->image->kernels_begin; k != m->image->kernels_end; ++k) {
    if (std::strcmp(k->name, name) != 0) continue;
    auto& f = c.functions[{m, k}];
    if (!f) f = std::make_unique<Function>(Function{m, k});
    *function = f.get();
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_NOT_FOUND;
}

// ---- errors

namespace {

struct ErrorText {
  CUresult code;
  const char *name, *text;
};
constexpr ErrorText kErrors[] = {
    {0, "CUDA_SUCCESS", "no error"},
    {1, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {3, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {101, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {200, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {201, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {209, "CUDA_ERROR_NO_BINARY_FOR_GPU",
     "no kernel image is available for execution on the device"},
    {400, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {500, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {600, "CUDA_ERROR_NOT_READY", "device not ready"},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {719, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {801, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
    {900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
     "operation not permitted when stream is capturing"},
    {901, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
     "operation failed due to a previous error during capture"},
    {999, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

const ErrorText& error_text(CUresult code) {
  for (const ErrorText& e : kErrors)
    if (e.code == code) return e;
  return kErrors[std::size(kErrors) - 1];
}

}  // namespace

AOTC_SIM_API cuGetErrorName(CUresult code, const char** text) {
  *text = error_text(code).name;
  return CUDA_SUCCESS;
}
AOTC_SIM_API cuGetErrorString(CUresult code, const char** text) {
  *text = error_text(code).text;
  return CUDA_SUCCESS;
}

// What tells the stand-in from a real driver, and counters for tests.
extern "C" __attribute__((visibility("default"))) int aotc_sim_is_simulator() { return 1; }
extern "C" __attribute__((visibility("default"))) uint64_t aotc_sim_counter(const char* what) {
  Context& c = Context::get();
  std::lock_guard lock(c.mutex);
  const std::string name = what;
  if (name == "launches") return launches();
  if (name == "bytes_to_device") return c.to_device;
  if (name == "bytes_from_device") return c.from_device;
  if (name == "live_bytes") return DeviceMemory::get().live_bytes();
  if (name == "live_allocations") return DeviceMemory::get().live_allocations();
  if (name == "complaints") return static_cast<uint64_t>(complaints());
  return 0;
}
