// Opens the template libraries that the CPU can run.
#include "levels.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <sstream>

namespace {

// "wide" runs the register tiles of 64-byte vectors on the instructions of x86-64-v3.
bool cpu_has(const std::string& level) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool v2 = __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt");
  const bool v3 = v2 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                  __builtin_cpu_supports("bmi2");
  const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  if (level == "x86-64-v2") return v2;
  if (level == "x86-64-v3" || level == "wide") return v3;
  if (level == "x86-64-v4") return v4;
#endif
  return level == "x86-64" || level == "aarch64";
}

Level open_level(const std::string& level) {
  const std::string path = AOTC_TEMPLATE_LIBRARIES "/matmul_" + level + ".so";
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  void* table = library ? dlsym(library, "aotc_matmul_table") : nullptr;
  void* sort = library ? dlsym(library, "aotc_sort_table") : nullptr;
  if (!table || !sort) {
    std::fprintf(stderr, "%s: %s\n", path.c_str(), dlerror());
    std::exit(1);
  }
  return {level, static_cast<const MatmulTable*>(table), static_cast<const SortTable*>(sort)};
}

std::vector<Level> open_levels() {
  std::vector<Level> levels;
  std::istringstream names(AOTC_TEMPLATE_LEVELS);
  for (std::string name; names >> name;) {
    if (cpu_has(name)) {
      levels.push_back(open_level(name));
    } else {
      std::printf("note: this CPU cannot run level %s; it is skipped\n", name.c_str());
    }
  }
  return levels;
}

}  // namespace

const std::vector<Level>& usable_levels() {
  static const std::vector<Level> levels = open_levels();
  return levels;
}
