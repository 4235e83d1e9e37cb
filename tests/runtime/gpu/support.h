// Sessions of the programs with a GPU part, tensors on the device, and what the stand-in driver
// counts.
#pragma once
#include <dlfcn.h>

#include <cstdlib>

#include "../support.h"

extern "C" {
const AotcApi* aotc_affine_get_api(uint32_t);
const AotcApi* aotc_hybrid_get_api(uint32_t);
const AotcApi* aotc_straight_get_api(uint32_t);
const AotcApi* aotc_crash_get_api(uint32_t);
const AotcApi* aotc_second_gpu_get_api(uint32_t);
}

namespace aotc::test {

constexpr DLDevice kGpu = {kDLCUDA, 0}, kCpu = {kDLCPU, 0};

inline void* driver() {
  const char* name = std::getenv("AOTC_CUDA_DRIVER");
  static void* library = dlopen(name ? name : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  return library;
}
template <class Function>
Function driver_function(const char* name) {
  return reinterpret_cast<Function>(dlsym(driver(), name));
}
// "launches", "live_bytes", "live_allocations", "bytes_to_device", ...; 0 on a real device.
inline bool is_simulated() { return driver_function<void (*)()>("aotc_sim_counter") != nullptr; }
inline uint64_t counter(const char* what) {
  const auto ask = driver_function<uint64_t (*)(const char*)>("aotc_sim_counter");
  return ask ? ask(what) : 0;
}

// The same once the device has done everything.
inline uint64_t settled(const char* what) {
  void* context = nullptr;
  driver_function<int (*)(void**, int)>("cuDevicePrimaryCtxRetain")(&context, 0);
  driver_function<int (*)(void*)>("cuCtxPushCurrent_v2")(context);
  driver_function<int (*)()>("cuCtxSynchronize")();
  driver_function<int (*)(void**)>("cuCtxPopCurrent_v2")(&context);
  driver_function<int (*)(int)>("cuDevicePrimaryCtxRelease_v2")(0);
  return counter(what);
}

// Like Program, with tensors on the device.
struct DeviceProgram : Program {
  explicit DeviceProgram(GetApi get_api, const std::string& options = "{}")
      : Program(get_api, options) {}

  Tensor device(Floats& values, std::vector<int64_t> sizes = {}) {
    return model.to_device(over(values, std::move(sizes)));
  }
  // The elements of a contiguous tensor, wherever it is.
  template <class T = float>
  std::vector<T> host(const Tensor& tensor) {
    return values<T>(model.to_host(tensor));
  }
  // A view of device memory.
  static Tensor view(const Tensor& base, std::vector<int64_t> sizes, std::vector<int64_t> strides,
                     int64_t offset = 0, int64_t bytes = 0) {
    char* data = static_cast<char*>(base.raw()) + offset * 4 + bytes;
    return Tensor::borrow_raw(data, base.dtype(), std::move(sizes), std::move(strides),
                              base.device());
  }
};

}  // namespace aotc::test
