// The g++ back end: the same interface as the Clang plugin, by running g++ on temporary files. It
// compiles for this machine's architecture only, has no store checker and no formatter, and can
// build with sanitizers.
#include <algorithm>
#include <charconv>
#include <sstream>

#include "codegen/cpu_level.h"
#include "codegen/export_list.h"
#include "codegen/process.h"
#include "codegen/source_report.h"
#include "codegen/toolchain.h"
#include "ir/error.h"

namespace fs = std::filesystem;

namespace aotc {
namespace {

std::vector<std::string> cpu_arguments(const std::string& level) {
  if (cpu_architecture(level) != host_architecture())
    user_error(
        "g++ compiles for this machine's architecture ({}) only, not for '{}'; use --backend clang",
        host_architecture(), level);
  if (level == "aarch64") return {"-march=armv8-a"};
  if (level == "x86-64-v4") return {"-march=x86-64-v4", "-mprefer-vector-width=512"};
  return {"-march=" + level};
}

// -O3 because g++ vectorises reductions only there; without trapping maths because the selects of
// the branch-free functions are not vectorised with it. Neither changes a result.
std::vector<std::string> common_arguments(const CompileOptions& options) {
  std::vector<std::string> out = {options.optimize == 0 ? "-O0" : "-O3", "-std=c++20", "-w"};
  for (const char* flag :
       {"-ffp-contract=off", "-fno-trapping-math", "-fno-math-errno", "-fno-strict-aliasing",
        "-fwrapv", "-fno-exceptions", "-fno-rtti", "-fPIC", "-fvisibility=hidden",
        "-ffunction-sections", "-fdata-sections", "-nostdinc", "-nostdinc++"})
    out.push_back(flag);
  for (const std::string& flag : cpu_arguments(options.cpu_level)) out.push_back(flag);
  if (options.sanitize.empty()) {
    out.push_back("-fno-asynchronous-unwind-tables");
    return out;
  }
  for (const std::string& flag :
       {"-fsanitize=" + options.sanitize, std::string("-fno-omit-frame-pointer"),
        std::string("-fno-sanitize-recover=all"), std::string("-g")})
    out.push_back(flag);
  return out;
}

// Lines of the form "kernels.cpp:12:5: error: text" with the notes that follow them.
std::vector<SourceProblem> parse_messages(const std::string& output, const std::string& file) {
  std::vector<SourceProblem> problems;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    SourceProblem problem;
    const char *at = line.data() + file.size() + 1, *end = line.data() + line.size();
    if (!line.starts_with(file + ":")) continue;
    auto [colon, bad_line] = std::from_chars(at, end, problem.line);
    if (bad_line != std::errc() || colon == end) continue;
    auto [space, bad_column] = std::from_chars(colon + 1, end, problem.column);
    if (bad_column != std::errc()) continue;
    size_t error = line.find("error: ");
    if (error == std::string::npos) continue;
    problem.message = line.substr(error + 7);
    problems.push_back(problem);
  }
  return problems;
}

std::string how_it_ended(const ProcessResult& result) {
  return result.signal ? fmt::format("was ended by signal {}", result.signal)
                       : fmt::format("failed with exit code {}", result.exit_code);
}

class GxxToolchain : public Toolchain {
 public:
  explicit GxxToolchain(fs::path compiler) : compiler_(std::move(compiler)) {
    TemporaryFolder folder;
    ProcessResult result = run_process({compiler_.string(), "-dumpfullversion"}, folder.path());
    if (result.exit_code != 0)
      user_error("'{}' {}: {}", compiler_.string(), how_it_ended(result), result.output);
    version_ = result.output.substr(0, result.output.find('\n'));
  }

  std::vector<std::string> compile_arguments(const CompileOptions& options) const override {
    std::vector<std::string> out = {"g++-" + version_};
    for (const std::string& argument : common_arguments(options)) out.push_back(argument);
    return out;
  }

  ObjectFile compile(const SourceFile& source, const CompileOptions& options) override {
    TemporaryFolder folder;
    write_file(folder.path() / source.name, source.text);
    std::vector<std::string> command = {compiler_.string()};
    for (const std::string& argument : common_arguments(options)) command.push_back(argument);
    command.insert(command.end(),
                   {"-frandom-seed=" + source.name, "-c", source.name, "-o", "out.o"});
    ProcessResult result = run_process(command, folder.path());
    if (result.exit_code != 0) reject(source, result);
    return {fs::path(source.name).replace_extension(".o").string(),
            read_file(folder.path() / "out.o")};
  }

  std::string link(const std::vector<ObjectFile>& objects, const LinkOptions& options) override;

  void check_stores(const SourceFile&, const StoreTable&) override {}
  std::string format(const std::string& text) override { return text; }

 private:
  [[noreturn]] void reject(const SourceFile& source, const ProcessResult& result) const {
    std::vector<SourceProblem> problems = parse_messages(result.output, source.name);
    if (problems.empty()) problems.push_back({.message = result.output});
    throw InternalError(describe_problems(
        source, fmt::format("g++ {} {}", version_, how_it_ended(result)), problems));
  }

  fs::path compiler_;
  std::string version_;
};

// The sanitizers that the objects were compiled with, as -fsanitize= takes them; "" for none.
std::string used_sanitizers(const std::vector<ObjectFile>& objects) {
  std::string out;
  for (auto [symbol, name] :
       {std::pair{"__asan_init", "address"}, std::pair{"__ubsan_handle_", "undefined"},
        std::pair{"__tsan_init", "thread"}}) {
    auto uses = [&](const ObjectFile& object) {
      return object.bytes.find(symbol) != std::string::npos;
    };
    if (std::any_of(objects.begin(), objects.end(), uses))
      out += (out.empty() ? "" : ",") + std::string(name);
  }
  return out;
}

// Sanitized code needs the sanitizers' own libraries, which need the real C library, and keeps its
// symbols.
std::vector<std::string> library_arguments(const LinkOptions& options,
                                           const std::string& sanitizers) {
  if (!sanitizers.empty()) return {"-fsanitize=" + sanitizers};
  fs::path stubs = support_directory() / "stubs" / cpu_architecture(options.cpu_level);
  return {"-s",
          "-nostdlib",
          "-Wl,--as-needed",
          (stubs / "libc.so.6").string(),
          (stubs / "libm.so.6").string(),
          "-lgcc"};
}

std::vector<std::string> link_arguments(const LinkOptions& options) {
  std::vector<std::string> out = {"-shared",
                                  "-o",
                                  "out.so",
                                  "-Wl,-soname," + options.soname,
                                  "-Wl,--hash-style=gnu",
                                  "-Wl,--build-id=none",
                                  "-Wl,-z,relro,-z,now,-z,defs,-z,noexecstack,-z,noseparate-code",
                                  "-Wl,--gc-sections",
                                  "-Wl,--version-script=exports.map"};
  for (const std::string& symbol : exported_symbols(options.export_list))
    out.push_back("-Wl,-u," + symbol + ",--require-defined=" + symbol);
  return out;
}

std::string GxxToolchain::link(const std::vector<ObjectFile>& objects, const LinkOptions& options) {
  cpu_arguments(options.cpu_level);  // refuses other architectures
  TemporaryFolder folder;
  write_file(folder.path() / "exports.map", version_script(exported_symbols(options.export_list)));
  std::vector<std::string> command = {compiler_.string()};
  for (const std::string& argument : link_arguments(options)) command.push_back(argument);
  for (size_t i = 0; i < objects.size(); ++i) {
    std::string name = fmt::format("{}.o", i);
    write_file(folder.path() / name, objects[i].bytes);
    command.push_back(name);
  }
  for (const std::string& archive : options.archives)
    command.push_back(fs::absolute(archive).string());
  for (const std::string& argument : library_arguments(options, used_sanitizers(objects)))
    command.push_back(argument);
  ProcessResult result = run_process(command, folder.path());
  if (result.exit_code != 0)
    internal_error("linking '{}' with g++ {}:\n{}", options.soname, how_it_ended(result),
                   result.output);
  return read_file(folder.path() / "out.so");
}

}  // namespace

std::unique_ptr<Toolchain> make_gxx_toolchain() {
  fs::path compiler = find_on_path("g++");
  if (compiler.empty())
    user_error("there is no g++ on PATH; install g++ 12 or later, or use --backend clang");
  return std::make_unique<GxxToolchain>(compiler);
}

}  // namespace aotc
