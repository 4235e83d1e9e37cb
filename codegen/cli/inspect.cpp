// aotc inspect: what a program takes, yields and changes. Reads a package's manifest alone, so it
// is instant.
#include "codegen/cli/commands.h"
#include "codegen/cli/compile_flags.h"
#include "codegen/cli/program_facts.h"

namespace aotc::cli {
namespace {

struct InspectArguments {
  std::string path;
  CompileFlags flags;
  OutputFlags output;
};

int run_inspect(const InspectArguments& o) {
  const std::string manifest = manifest_of(o.path, settings_of(o.flags));
  if (o.output.json)
    fmt::print("{}\n", manifest);
  else
    fmt::print("{}", describe_manifest(manifest));
  return kExitOk;
}

}  // namespace

void add_inspect(CLI::App& app, Action& action) {
  auto o = std::make_shared<InspectArguments>();
  CLI::App* command = app.add_subcommand(
      "inspect", "signature, shapes and ranges, mutations, aliased_io, devices, memory");
  command->add_option("FILE", o->path, "an exported program (.pt2) or a package")->required();
  add_compile_flags(*command, o->flags);
  add_output_flags(*command, o->output);
  command->callback([o, &action] { action = [o] { return run_inspect(*o); }; });
}

}  // namespace aotc::cli
