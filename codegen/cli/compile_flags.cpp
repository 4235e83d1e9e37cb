// Declares the options once and turns them into CompileSettings.
#include "codegen/cli/compile_flags.h"

#include <charconv>

namespace aotc::cli {
namespace {

std::pair<std::string, std::string> split_assignment(const std::string& text, const char* option) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    throw CLI::ValidationError(option, "expected LEFT=RIGHT, found '" + text + "'");
  return {text.substr(0, equals), text.substr(equals + 1)};
}

// The items of "a,b": a list as one word, so that it never swallows the argument behind it.
std::vector<std::string> split_list(const std::string& text, const char* option) {
  std::vector<std::string> items;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    if (end == begin)
      throw CLI::ValidationError(option, "an item of the list '" + text + "' is empty");
    items.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return items;
}

}  // namespace

void add_compile_flags(CLI::App& command, CompileFlags& flags) {
  CompileSettings& s = flags.settings;
  command
      .add_option("--device", s.device, "where the program runs: as exported, or all on one device")
      ->check(CLI::IsMember({"as-exported", "cpu", "cuda"}))
      ->capture_default_str();
  command.add_option("--device-map", flags.device_map, "move single devices, e.g. cuda:0=cpu")
      ->type_name("FROM=TO,...");
  command
      .add_option("--cpu", flags.cpu,
                  "CPU levels to compile for: native, x86-64-v3, x86-64-v4, aarch64, ...")
      ->capture_default_str()
      ->type_name("LEVEL,...");
  command
      .add_option("--gpu", flags.gpu,
                  "GPU architectures to compile for: sm_80, sm_90, ...; sim: the simulator of the "
                  "tests (default: sm_80,sm_90,sm_100 and PTX for later ones)")
      ->type_name("ARCH,...");
  command
      .add_option("--in-place", s.in_place,
                  "require: fail, with the reason, where a mutation needs a copy")
      ->check(CLI::IsMember({"prefer", "require"}))
      ->capture_default_str();
  command
      .add_option("--alias", flags.aliases, "output OUT is input IN's storage, by name or index")
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->type_name("IN=OUT");
  command.add_option("--backend", s.backend, "the compiler of the emitted C++")
      ->check(CLI::IsMember({"clang", "g++"}))
      ->capture_default_str();
  command
      .add_option("--weights", s.weights,
                  "embed: in model.so; external: a member of its own; auto: embed up to 1 MB")
      ->check(CLI::IsMember({"auto", "embed", "external"}))
      ->capture_default_str();
  command.add_flag("--check-stages", s.check_stages,
                   "interpret the program before and after each stage and compare");
}

void add_output_flags(CLI::App& command, OutputFlags& flags) {
  command.add_flag("-q,--quiet", flags.quiet,
                   "no progress; print errors only, or only what was asked for");
  command.add_flag("--json", flags.json, "print the result as JSON on standard output");
}

CLI::Validator thread_count() {
  return {[](std::string& text) {
            int n = 0;
            const char* last = text.data() + text.size();
            const auto [end, error] = std::from_chars(text.data(), last, n);
            const bool fits = error == std::errc() && end == last && n >= 1 && n <= 1024;
            return fits ? ""
                        : fmt::format("'{}' is no number of threads: expected 1 to 1024", text);
          },
          "1 to 1024"};
}

CompileSettings settings_of(const CompileFlags& flags) {
  CompileSettings s = flags.settings;
  s.cpu_levels = split_list(flags.cpu, "--cpu");
  if (!flags.device_map.empty())
    for (const std::string& text : split_list(flags.device_map, "--device-map"))
      s.device_map.insert(split_assignment(text, "--device-map"));
  for (const std::string& text : flags.aliases)
    s.aliases.push_back(split_assignment(text, "--alias"));
  if (!flags.gpu.empty()) s.gpu_archs = split_list(flags.gpu, "--gpu");
  return s;
}

}  // namespace aotc::cli
