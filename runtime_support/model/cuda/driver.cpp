// Finding the driver, and the texts of its errors.
#include "driver.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include "../error.h"

namespace aotc::model::cuda {
namespace {

pthread_mutex_t driver_mutex = PTHREAD_MUTEX_INITIALIZER;
Driver the_driver;
bool is_driver_ready;

const char* driver_name() {
  const char* name = getenv("AOTC_CUDA_DRIVER");
  return name && *name ? name : "libcuda.so.1";
}

AotcStatus open_driver(void** library) {
  *library = dlopen(driver_name(), RTLD_NOW | RTLD_LOCAL);
  if (*library) return AOTC_OK;
  const char* why = dlerror();
  return fail(AOTC_DEVICE,
              "the program has a GPU part, but the CUDA driver cannot be loaded: %s; install "
              "NVIDIA's driver, name another library in AOTC_CUDA_DRIVER, or compile the program "
              "for the CPU (--device cpu)",
              why ? why : driver_name());
}

// The table's members in their order.
constexpr const char* kRequired[] = {
#define X(name, parameters) #name,
    AOTC_CUDA_REQUIRED(X)};
constexpr const char* kOptional[] = {AOTC_CUDA_OPTIONAL(X)};
#undef X
using Function = CUresult (*)();
constexpr size_t kRequiredCount = sizeof kRequired / sizeof *kRequired,
                 kOptionalCount = sizeof kOptional / sizeof *kOptional;
static_assert(offsetof(Driver, is_simulator) ==
                  (kRequiredCount + kOptionalCount) * sizeof(Function),
              "the table begins with one pointer per name");

AotcStatus find_functions(void* library, Driver* out) {
  void** at = reinterpret_cast<void**>(out);
  for (const char* name : kRequired) {
    *at = dlsym(library, name);
    if (!*at++)
      return fail(AOTC_DEVICE, "the CUDA driver '%s' has no function %s: update the driver",
                  driver_name(), name);
  }
  for (const char* name : kOptional) *at++ = dlsym(library, name);
  out->is_simulator = dlsym(library, "aotc_sim_is_simulator") != nullptr;
  return AOTC_OK;
}

AotcStatus initialise(const Driver* driver) {
  const CUresult code = driver->cuInit(0);
  if (code == kSuccess) return AOTC_OK;
  if (code == kNoDevice)
    return fail(AOTC_DEVICE,
                "the program has a GPU part, but the CUDA driver '%s' finds no GPU: see "
                "CUDA_VISIBLE_DEVICES, or compile the program for the CPU (--device cpu)",
                driver_name());
  return driver_error(driver, code, "cuInit", "the CUDA driver '%s' does not start", driver_name());
}

}  // namespace

AotcStatus load_driver(const Driver** out) {
  *out = &the_driver;
  if (load_acquire(&is_driver_ready)) return AOTC_OK;
  pthread_mutex_lock(&driver_mutex);
  AotcStatus status = AOTC_OK;
  if (!is_driver_ready) {
    void* library = nullptr;
    status = open_driver(&library);
    if (!status) status = find_functions(library, &the_driver);
    if (!status) status = initialise(&the_driver);
    if (status && library) dlclose(library);
    if (!status) store_release(&is_driver_ready, true);
  }
  pthread_mutex_unlock(&driver_mutex);
  return status;
}

AotcStatus driver_error(const Driver* driver, CUresult code, const char* function,
                        const char* format, ...) {
  char what[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(what, sizeof what, format, arguments);
  va_end(arguments);
  const char *text = nullptr, *name = nullptr;
  driver->cuGetErrorString(code, &text);
  driver->cuGetErrorName(code, &name);
  return fail(code == kOutOfMemory ? AOTC_OUT_OF_MEMORY : AOTC_DEVICE, "%s: %s failed: %s (%s, %d)",
              what, function, text ? text : "unknown error", name ? name : "?", code);
}

}  // namespace aotc::model::cuda
