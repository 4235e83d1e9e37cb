// aotc explain: a row per kernel, and for each mutation whether it is written in place and why.
#include "codegen/cli/commands.h"
#include "codegen/cli/compile_flags.h"
#include "codegen/cli/program_facts.h"

namespace aotc::cli {
namespace {

struct ExplainArguments {
  std::string path;
  CompileFlags flags;
  OutputFlags output;
};

int run_explain(const ExplainArguments& o) {
  fmt::print("{}", explanation_of(o.path, settings_of(o.flags), o.output.json));
  return kExitOk;
}

}  // namespace

void add_explain(CLI::App& app, Action& action) {
  auto o = std::make_shared<ExplainArguments>();
  CLI::App* command = app.add_subcommand(
      "explain",
      "per kernel: Python lines, ops, bytes, storage; per mutation: in place or why not");
  command->add_option("FILE", o->path, "an exported program (.pt2) or a package")->required();
  add_compile_flags(*command, o->flags);
  add_output_flags(*command, o->output);
  command->callback([o, &action] { action = [o] { return run_explain(*o); }; });
}

}  // namespace aotc::cli
