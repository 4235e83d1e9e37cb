// Finds the parts of an aotc installation, loads the compile plugin and knows the CPU levels.
#include "codegen/toolchain.h"

#include <dlfcn.h>
#include <link.h>

#include "codegen/clang/plugin.h"
#include "codegen/cpu_level.h"
#include "codegen/elf_writer.h"
#include "ir/error.h"

namespace fs = std::filesystem;

namespace aotc {
namespace {

// The file that contains this code: libaotc.so, or the program when the code is linked into it.
fs::path containing_file() {
  Dl_info info = {};
  link_map* map = nullptr;
  void* here = reinterpret_cast<void*>(&support_directory);
  bool found = dladdr1(here, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) != 0;
  bool in_library = found && map && map->l_name && map->l_name[0] != '\0';
  return fs::canonical(in_library ? fs::path(map->l_name) : fs::path("/proc/self/exe"));
}

// Found once: the file may be replaced while the process runs.
const fs::path& containing_folder() {
  static const fs::path folder = containing_file().parent_path();
  return folder;
}

std::vector<fs::path> support_candidates() {
  const fs::path& folder = containing_folder();
  return {folder / "aotc", folder.parent_path() / "lib" / "aotc"};
}

using Factory = Toolchain* (*)(const char* version, const char* support_directory);

Toolchain* call_factory(const fs::path& file) {
  // Lazy: of the 60 000 bytes of call table that LLVM has, a compile uses few (the plugin itself is
  // linked to be complete at once).
  void* library = dlopen(file.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (!library)
    user_error(
        "cannot load the compile plugin '{}': {}; install libllvm19 and libclang-cpp19, or use "
        "--backend g++",
        file.string(), dlerror());
  auto factory = reinterpret_cast<Factory>(dlsym(library, kClangPluginFactory));
  Toolchain* toolchain =
      factory ? factory(kClangPluginVersion, file.parent_path().c_str()) : nullptr;
  if (!toolchain)
    user_error(
        "the compile plugin '{}' belongs to another build of aotc: expected '{}'; reinstall aotc",
        file.string(), kClangPluginVersion);
  return toolchain;  // the library stays loaded: LLVM keeps state that outlives every toolchain
}

}  // namespace

fs::path support_directory() {
  std::string tried;
  for (const fs::path& folder : support_candidates()) {
    if (fs::is_directory(folder)) return folder;
    tried += (tried.empty() ? "'" : ", '") + folder.string() + "'";
  }
  user_error("aotc's support files are missing: looked for a folder in {}; reinstall aotc", tried);
}

std::unique_ptr<Toolchain> load_clang_toolchain() {
  fs::path file = support_directory() / kClangPluginFile;
  if (!fs::exists(file))
    user_error(
        "the compile plugin '{}' is missing: this aotc was built without Clang (AOTC_CLANG=OFF) or "
        "is "
        "not fully installed; use --backend g++",
        file.string());
  return std::unique_ptr<Toolchain>(call_factory(file));
}

void format_generated(Toolchain& tools, SourceFile& file) {
  file.text =
      file.text.substr(0, file.generated_at) + tools.format(file.text.substr(file.generated_at));
  file.generated_at = file.text.size();
}

std::string cpu_architecture(const std::string& cpu_level) {
  return elf_machine(cpu_level) == EM_AARCH64 ? "aarch64" : "x86-64";
}

std::string host_architecture() {
#if defined(__x86_64__)
  return "x86-64";
#elif defined(__aarch64__)
  return "aarch64";
#else
  return "";
#endif
}

std::vector<std::string> known_cpu_levels() {
  std::vector<std::string> all = {"x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4", "aarch64"};
#ifndef AOTC_HAVE_CLANG
  std::erase_if(
      all, [](const std::string& level) { return cpu_architecture(level) != host_architecture(); });
#endif
  return all;
}

std::string native_cpu_level() {
#if defined(__x86_64__)
  // The compiler's run-time support asks CPUID and, for the wide registers, whether the system
  // saves them.
  __builtin_cpu_init();
  if (__builtin_cpu_supports("x86-64-v4")) return "x86-64-v4";
  if (__builtin_cpu_supports("x86-64-v3")) return "x86-64-v3";
  if (__builtin_cpu_supports("x86-64-v2")) return "x86-64-v2";
  return "x86-64";
#elif defined(__aarch64__)
  return "aarch64";
#else
  user_error("aotc does not know this machine's CPU architecture; name a level with --cpu");
#endif
}

}  // namespace aotc
