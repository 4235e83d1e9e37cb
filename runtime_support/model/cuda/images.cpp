// Which of a program's images a device can run.
#include <stdio.h>
#include <string.h>

#include "../error.h"
#include "gpu_model.h"

namespace aotc::model::cuda {
namespace {

// "sm_90", "compute_120", "sm_90a" (for exactly that one), "sm_100f" (for its family).
struct Architecture {
  int32_t major, minor;
  bool exact;
};

Architecture read_architecture(const char* text) {
  const char* digits = strchr(text, '_');
  int32_t number = 0;
  for (digits = digits ? digits + 1 : text; *digits >= '0' && *digits <= '9'; ++digits)
    number = number * 10 + (*digits - '0');
  return {number / 10, number % 10, *digits == 'a'};
}

// 0: it does not run there; the larger, the better it fits.
int32_t fitness(const AotcDeviceImage& image, const Device* device) {
  const Architecture a = read_architecture(image.arch);
  if (strcmp(image.kind, "sim") == 0) return device->driver->is_simulator ? 1 : 0;
  if (device->driver->is_simulator) return 0;
  const bool same = a.major == device->major && a.minor == device->minor;
  if (a.exact && !same) return 0;
  if (strcmp(image.kind, "cubin") == 0)
    return a.major == device->major && a.minor <= device->minor ? 2000 + a.minor : 0;
  const bool is_older =
      a.major < device->major || (a.major == device->major && a.minor <= device->minor);
  return strcmp(image.kind, "ptx") == 0 && is_older ? 1 + a.major * 10 + a.minor : 0;
}

AotcStatus no_image(const AotcGpu& gpu, const Device* device) {
  char list[256] = "";
  int used = 0;
  for (int32_t i = 0; i < gpu.n_images && used < 200; ++i)
    used += snprintf(list + used, sizeof list - static_cast<size_t>(used), "%s%.20s (%.10s)",
                     i ? ", " : "", gpu.images[i].arch, gpu.images[i].kind);
  if (device->driver->is_simulator)
    return fail(AOTC_UNSUPPORTED,
                "the program has code for %s; the driver is the simulator: compile it with --gpu "
                "sim",
                used ? list : "no GPU");
  return fail(AOTC_UNSUPPORTED,
              "the program has code for %s; cuda:%d (%s) is sm_%d%d: compile it with --gpu sm_%d%d",
              used ? list : "no GPU", device->ordinal, device->name, device->major, device->minor,
              device->major, device->minor);
}

}  // namespace

AotcStatus choose_image(const AotcProgram* program, const Device* device,
                        const AotcDeviceImage** out) {
  const AotcGpu& gpu = *program->gpu;
  int32_t best = 0;
  *out = nullptr;
  for (int32_t i = 0; i < gpu.n_images; ++i) {
    const int32_t fit = fitness(gpu.images[i], device);
    if (fit <= best) continue;
    best = fit;
    *out = &gpu.images[i];
  }
  return *out ? AOTC_OK : no_image(gpu, device);
}

}  // namespace aotc::model::cuda
