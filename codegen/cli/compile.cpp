// aotc compile: a program to a package, or to the text of one stage.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "codegen/check_stages.h"
#include "codegen/cli/commands.h"
#include "codegen/cli/compile_flags.h"
#include "codegen/cli/stage_clock.h"
#include "codegen/human_text.h"

namespace fs = std::filesystem;
using json = nlohmann::ordered_json;

namespace aotc::cli {
namespace {

struct CompileArguments {
  CompileFlags flags;
  OutputFlags output;
  std::string model, package, emit;
  std::vector<std::string> from;  // stage, file
  bool list_stages = false;
};

std::vector<std::string> stage_names() {
  std::vector<std::string> names;
  for (const Stage& s : stages()) names.push_back(s.name);
  return names;
}

// MODEL.aotc in the current folder, as a compiler places its output.
std::string default_package(const CompileArguments& o) {
  fs::path name = fs::path(o.model.empty() ? o.from.at(1) : o.model).filename();
  if (name.extension() == ".aotc") user_error("{}: is a package already", o.model);
  return name.replace_extension(".aotc").string();
}

Compilation compile_until(const CompileArguments& o, const CompileSettings& settings,
                          const std::string& last) {
  if (o.from.empty()) return compile_model(o.model, settings, last);
  return compile_from(o.from[0], o.from[1], o.model, settings, last);
}

void dump_stage(const Compilation& c, size_t index, const fs::path& folder) {
  const Stage& s = stages()[index];
  if (!s.print) return;
  const bool graph = s.parse != nullptr;
  const fs::path file = folder / fmt::format("{:02}_{}.{}", index, s.name, graph ? "ir" : "txt");
  std::ofstream out(file, std::ios::binary);
  out << s.print(c);
  out.close();
  if (!out) user_error("AOTC_DUMP: cannot write {}", file.string());
}

// A stage uses up what it starts from, so each is written before the next one runs.
Compilation compile_dumping(const CompileArguments& o, const CompileSettings& settings,
                            const std::string& last, const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) user_error("AOTC_DUMP: cannot create {}: {}", folder.string(), error.message());
  const std::string first = o.from.empty() ? stages().front().name : o.from[0];
  Compilation c = compile_until(o, settings, first);
  bool begun = false;
  for (size_t i = 0; i < stages().size(); ++i) {
    const Stage& s = stages()[i];
    if (begun && s.run) {
      settings.progress(s.name);
      StageChecker checker(c);
      s.run(c);
      checker.compare_after(s.name);
    }
    begun = begun || s.name == first;
    if (begun) dump_stage(c, i, folder);
    if (begun && s.name == last) break;
  }
  return c;
}

Compilation compile(const CompileArguments& o, const CompileSettings& settings,
                    const std::string& last) {
  const char* dump = std::getenv("AOTC_DUMP");
  return dump && *dump ? compile_dumping(o, settings, last, dump)
                       : compile_until(o, settings, last);
}

json package_manifest(const Compilation& c) {
  for (const PackageFile& f : c.package)
    if (f.name == "manifest.json") return json::parse(f.bytes);
  return json::object();
}

void print_summary(const std::string& package, const json& manifest, double ms) {
  int direct = 0;
  std::string copies;
  for (const json& m : manifest.value("mutations", json::array())) {
    if (m.value("write", "") == "direct")
      ++direct;
    else
      copies += "  copied: " + mutation_text(m.dump()) + "\n";
  }
  const size_t all = manifest.value("mutations", json::array()).size();
  fmt::print("{}: {}, {:.2f} s", package, bytes_text(static_cast<double>(fs::file_size(package))),
             ms / 1000);
  if (all) fmt::print("; {} of {} mutations in place", direct, all);
  fmt::print("\n{}", copies);
}

void print_json(const std::string& package, const json& manifest, const StageClock& clock) {
  json times = json::object();
  for (const auto& [stage, ms] : clock.times()) times[stage] = ms;
  json result = {{"package", package},
                 {"bytes", fs::file_size(package)},
                 {"milliseconds", times},
                 {"total_milliseconds", clock.total()}};
  for (const char* key : {"cpu", "mutations", "aliased_io", "arena_bytes", "weights_bytes"})
    if (manifest.contains(key)) result[key] = manifest[key];
  fmt::print("{}\n", result.dump(1));
}

void check_usage(const CompileArguments& o) {
  if (o.model.empty() && o.from.empty())
    throw CLI::RequiredError("MODEL.pt2 (or --from STAGE FILE)");
  if (!o.emit.empty() && !o.package.empty())
    throw CLI::ValidationError("--emit", "prints a stage and writes no package: leave -o out");
  if (o.from.empty()) return;
  std::vector<std::string> names;
  for (const Stage& stage : stages())
    if (stage.parse) names.push_back(stage.name);
  if (std::find(names.begin(), names.end(), o.from[0]) == names.end())
    throw CLI::ValidationError("--from", fmt::format("'{}' cannot be started from; {} can",
                                                     o.from[0], fmt::join(names, ", ")));
  if (o.emit.empty()) return;
  const std::vector<std::string> all = stage_names();
  if (std::ranges::find(all, o.emit) < std::ranges::find(all, o.from[0]))
    throw CLI::ValidationError(
        "--emit", fmt::format("stage '{}' comes before '{}', which the compile starts from", o.emit,
                              o.from[0]));
}

int run_compile(const CompileArguments& o) {
  if (o.list_stages) {
    fmt::print("{}", stage_list());
    return kExitOk;
  }
  check_usage(o);
  CompileSettings settings = settings_of(o.flags);
  StageClock clock(settings, o.output.quiet);
  const bool time = std::getenv("AOTC_TIME") != nullptr;
  if (!o.emit.empty()) {
    const Compilation c = compile(o, settings, o.emit);
    clock.finish();
    fmt::print("{}", stage_named(o.emit).print(c));
    if (time) fmt::print(stderr, "{}", clock.table());
    return kExitOk;
  }
  const std::string package = o.package.empty() ? default_package(o) : o.package;
  std::error_code ignored;
  if (!o.model.empty() && fs::equivalent(package, o.model, ignored))
    user_error("{}: the package would replace the program; give another name with -o", package);
  check_package_path(package);
  const Compilation c = compile(o, settings, "");
  settings.progress("write");
  write_package(c, package);
  clock.finish();
  const json manifest = package_manifest(c);
  if (o.output.json)
    print_json(package, manifest, clock);
  else if (!o.output.quiet)
    print_summary(package, manifest, clock.total());
  if (time) fmt::print(stderr, "{}", clock.table());
  return kExitOk;
}

}  // namespace

std::string stage_list() {
  std::string text;
  for (const Stage& s : stages()) text += fmt::format("  {:<12} {}\n", s.name, s.purpose);
  return text;
}

void add_compile(CLI::App& app, Action& action) {
  auto o = std::make_shared<CompileArguments>();
  CLI::App* command = app.add_subcommand("compile", "compile an exported program to a package");
  command->add_option("MODEL", o->model, "the program, as torch.export.save wrote it (.pt2)");
  command
      ->add_option("-o,--output", o->package,
                   "the package; default: MODEL.aotc in the current folder")
      ->check(
          [](const std::string& name) { return name.empty() ? "the package needs a name" : ""; });
  add_compile_flags(*command, o->flags);
  command->add_option("--emit", o->emit, "print this stage's text instead of writing a package")
      ->check(CLI::IsMember(stage_names()))
      ->type_name("STAGE");
  command
      ->add_option("--from", o->from,
                   "start after STAGE, with its text from FILE; MODEL then gives the weights")
      ->expected(2)
      ->allow_extra_args(false)
      ->type_name("STAGE FILE");
  command->add_flag("--list-stages", o->list_stages, "print the stages and their purpose");
  add_output_flags(*command, o->output);
  command->footer("Stages:\n" + stage_list() +
                  "\nEnvironment:\n"
                  "  AOTC_TIME=1     prints the time of each stage\n"
                  "  AOTC_DUMP=DIR   writes the text of each stage to DIR/00_exported.txt, "
                  "DIR/01_graph.ir, ...");
  command->callback([o, &action] { action = [o] { return run_compile(*o); }; });
}

}  // namespace aotc::cli
