// aotc emit-source: the program as a C++ project that builds without aotc.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "codegen/cli/commands.h"
#include "codegen/cli/compile_flags.h"
#include "codegen/cli/stage_clock.h"
#include "codegen/pipeline.h"
#include "codegen/project_name.h"

namespace aotc {

// codegen/emit_source.cpp
void emit_source_project(const std::string& pt2, const std::string& dir,
                         const CompileSettings& settings);

namespace cli {
namespace {

struct EmitSourceArguments {
  std::string model, folder, name;
  CompileFlags flags;
  OutputFlags output;
};

// The name becomes part of symbols and file names.
void check_name(const std::string& name) {
  const bool begins =
      name.empty() || std::isalpha(static_cast<unsigned char>(name[0])) || name[0] == '_';
  const bool plain = std::all_of(name.begin(), name.end(),
                                 [](unsigned char c) { return std::isalnum(c) || c == '_'; });
  if (!begins || !plain)
    throw CLI::ValidationError("--name",
                               fmt::format("'{}' is no C identifier: letters, digits and _", name));
  if (const std::string fault = project_name_fault(name); !fault.empty())
    throw CLI::ValidationError("--name", fault);
}

int run_emit_source(const EmitSourceArguments& o) {
  check_name(o.name);
  CompileSettings settings = settings_of(o.flags);
  settings.embedded_name = o.name;
  StageClock clock(settings, o.output.quiet);
  emit_source_project(o.model, o.folder, settings);
  if (o.output.json)
    fmt::print("{}\n", nlohmann::json{{"folder", o.folder}}.dump(1));
  else if (!o.output.quiet)
    fmt::print("{}: cmake -S {} -B BUILD && cmake --build BUILD\n", o.folder, o.folder);
  return kExitOk;
}

}  // namespace

void add_emit_source(CLI::App& app, Action& action) {
  auto o = std::make_shared<EmitSourceArguments>();
  CLI::App* command = app.add_subcommand(
      "emit-source", "write the program as a CMake project with all sources that it needs");
  command->add_option("MODEL", o->model, "the program, as torch.export.save wrote it (.pt2)")
      ->required();
  command->add_option("-o,--output", o->folder, "the folder of the project")
      ->required()
      ->type_name("DIR");
  command
      ->add_option(
          "--name", o->name,
          "a C identifier for the library, the header and the API function (default: the model's)")
      ->type_name("NAME");
  add_compile_flags(*command, o->flags);
  add_output_flags(*command, o->output);
  command->callback([o, &action] { action = [o] { return run_emit_source(*o); }; });
}

}  // namespace cli
}  // namespace aotc
