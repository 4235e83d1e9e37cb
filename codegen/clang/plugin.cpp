// The plugin's Toolchain: argument lists, locks and error texts over the functions of clang_api.h.
#include "codegen/clang/plugin.h"

#include <cstring>
#include <mutex>
#include <shared_mutex>

#include "codegen/clang/clang_api.h"
#include "codegen/export_list.h"
#include "codegen/toolchain.h"
#include "ir/error.h"

namespace aotc {
namespace {

bool is_aarch64(const std::string& level) { return level == "aarch64"; }

// Generic ARMv8.0 runs on every 64-bit Arm; x86-64-v4 exists for its 512-bit registers, and
// explicit vectors of 64 bytes would be split without the preference.
std::vector<std::string> target_arguments(const std::string& level) {
  if (is_aarch64(level))
    return {"-triple", "aarch64-unknown-linux-gnu", "-target-cpu", "generic",     "-target-feature",
            "+v8a",    "-target-feature",           "+neon",       "-target-abi", "aapcs"};
  std::vector<std::string> out = {
      "-triple", "x86_64-unknown-linux-gnu", "-target-cpu", level, "-tune-cpu", "generic"};
  if (level == "x86-64-v4") out.push_back("-mprefer-vector-width=512");
  for (const char* known : {"x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4"})
    if (level == known) return out;
  user_error("unknown CPU level '{}': expected x86-64, x86-64-v2, x86-64-v3, x86-64-v4 or aarch64",
             level);
}

// Exceptions, RTTI, fast maths, errno from maths and unwind tables are off unless cc1 is asked for
// them, except RTTI. Wrapping integers and no type-based aliasing are what tensor programs mean:
// integer arithmetic wraps and one storage is read as several types.
std::vector<std::string> cc1_arguments(const CompileOptions& options) {
  std::vector<std::string> out = {"-emit-obj"};
  for (std::string& argument : target_arguments(options.cpu_level)) out.push_back(argument);
  for (const char* argument : {"-x",
                               "c++",
                               "-std=c++20",
                               "-w",
                               "-ferror-limit",
                               "20",
                               "-nostdsysteminc",
                               "-nobuiltininc",
                               "-ffp-contract=off",
                               "-fwrapv",
                               "-relaxed-aliasing",
                               "-fno-rtti",
                               "-mrelocation-model",
                               "pic",
                               "-pic-level",
                               "2",
                               "-fvisibility=hidden",
                               "-ffunction-sections",
                               "-fdata-sections",
                               "-mframe-pointer=none",
                               "-Qn"})
    out.push_back(argument);
  if (options.optimize == 0) {
    out.push_back("-O0");
  } else {
    out.insert(out.end(), {"-O2", "-vectorize-loops", "-vectorize-slp"});
  }
  return out;
}

std::vector<std::string> lld_arguments(const LinkOptions& options,
                                       const std::filesystem::path& stubs) {
  std::vector<std::string> out = {"-shared", "--soname=" + options.soname};
  for (const char* argument :
       {"--threads=1", "--no-undefined-version", "--hash-style=gnu", "--build-id=none",
        "--gc-sections", "--icf=none", "--strip-all", "-O1", "-z", "defs", "-z", "relro", "-z",
        "now", "-z", "noexecstack", "-z", "noseparate-code"})
    out.push_back(argument);
  // lld keeps a pointer to this symbol from link to link where a later link does not have it.
  out.insert(out.end(), {"-u", "_GLOBAL_OFFSET_TABLE_"});
  // Archive members that define an export are taken; --no-undefined-version makes a missing export
  // an error.
  for (const std::string& symbol : exported_symbols(options.export_list))
    out.push_back("--undefined=" + symbol);
  out.insert(out.end(), options.archives.begin(), options.archives.end());
  out.insert(out.end(),
             {"--as-needed", (stubs / "libc.so.6").string(), (stubs / "libm.so.6").string()});
  return out;
}

class ClangToolchain : public Toolchain {
 public:
  explicit ClangToolchain(const std::filesystem::path& support) : stubs_(support / "stubs") {}

  std::vector<std::string> compile_arguments(const CompileOptions& options) const override {
    std::vector<std::string> out = {"clang-" + clang_plugin::clang_version(), "-cc1"};
    for (std::string& argument : cc1_arguments(options)) out.push_back(argument);
    return out;
  }

  ObjectFile compile(const SourceFile& source, const CompileOptions& options) override {
    return run(source, options, nullptr, true);
  }

  ObjectFile compile_checked(const SourceFile& source, const StoreTable& table,
                             const CompileOptions& options) override {
    clang_plugin::StoreRules rules{table, services};
    return run(source, options, &rules, true);
  }

  void check_stores(const SourceFile& source, const StoreTable& table) override {
    clang_plugin::StoreRules rules{table, services};
    run(source, CompileOptions(), &rules, false);
  }

  std::string link(const std::vector<ObjectFile>& objects, const LinkOptions& options) override {
    std::string emulation = is_aarch64(options.cpu_level) ? "aarch64linux" : "elf_x86_64";
    std::vector<std::string> arguments =
        lld_arguments(options, stubs_ / (is_aarch64(options.cpu_level) ? "aarch64" : "x86-64"));
    std::string script = version_script(exported_symbols(options.export_list));
    std::unique_lock alone(lock_);
    clang_plugin::LinkResult result = clang_plugin::link(objects, emulation, script, arguments);
    if (!result.ok) internal_error("linking '{}' failed:\n{}", options.soname, result.messages);
    return std::move(result.bytes);
  }

  std::string format(const std::string& text) override { return clang_plugin::format(text); }

 private:
  ObjectFile run(const SourceFile& source, const CompileOptions& options,
                 const clang_plugin::StoreRules* rules, bool emit) {
    AOTC_CHECK(options.sanitize.empty(),
               "the Clang back end has no sanitizers (asked for '{}'); use --backend g++",
               options.sanitize);
    std::vector<std::string> arguments = cc1_arguments(options);
    std::shared_lock beside_other_compiles(lock_);
    clang_plugin::CompileResult result = clang_plugin::compile(source, arguments, rules, emit);
    if (!result.ok)
      throw InternalError(
          describe_problems(source, "the compiler rejects this generated source", result.errors));
    if (!result.findings.empty())
      throw InternalError(describe_problems(source, "the store check fails", result.findings));
    std::filesystem::path name = source.name;
    return {name.replace_extension(".o").string(), std::move(result.object)};
  }

  std::filesystem::path stubs_;
  // Compiles share it, a link holds it alone: lld resets LLVM's global options.
  std::shared_mutex lock_;
};

}  // namespace
}  // namespace aotc

extern "C" __attribute__((visibility("default"))) aotc::Toolchain* aotc_clang_toolchain(
    const char* version, const char* support_directory) {
  if (std::strcmp(version, aotc::kClangPluginVersion) != 0) return nullptr;
  return new aotc::ClangToolchain(support_directory);
}
