// The command line program: chooses the command, turns its errors into exit codes.
#include <cstdio>
#include <new>
#include <nlohmann/json.hpp>

#include "codegen/cli/commands.h"
#include "codegen/cli/crash_report.h"
#include "codegen/cli/replay.h"
#include "codegen/cli/stage_clock.h"
#include "codegen/toolchain.h"
#include "ir/error.h"

namespace aotc::cli {
namespace {

bool wants_json(const std::vector<std::string>& arguments) {
  return std::find(arguments.begin(), arguments.end(), "--json") != arguments.end();
}

void report(const std::vector<std::string>& arguments, const std::string& message) {
  if (wants_json(arguments))
    fmt::print("{}\n", nlohmann::json{{"error", message}}.dump(
                           1, ' ', false, nlohmann::json::error_handler_t::replace));
  std::fflush(stdout);
  fmt::print(stderr, "aotc: error: {}\n", message);
}

int internal_failure(const std::vector<std::string>& arguments, const std::string& what) {
  const std::string stage = current_stage();
  const std::string file = write_replay(arguments, stage, what);
  std::string text = "internal error";
  if (!stage.empty()) text += fmt::format(" in stage '{}'", stage);
  text += ": " + what + "\nThis is a fault of aotc, not of the program.";
  if (!file.empty()) text += " Details are in " + file + ".";
  report(arguments, text + "\nTo see it again: " + replay_command(arguments));
  return kExitInternal;
}

// Everything printed has arrived; a full disk is an error like any other.
int flush_output(int exit_code) {
  if (std::fflush(stdout) == 0 && !std::ferror(stdout)) return exit_code;
  fmt::print(stderr, "aotc: error: cannot write to standard output\n");
  return exit_code == kExitOk ? kExitUser : exit_code;
}

void build_parser(CLI::App& app, Action& action, bool& list_stages, bool& native_level) {
  app.set_version_flag("--version", std::string("aotc ") + AOTC_VERSION_TEXT);
  app.set_help_all_flag("--help-all", "help of all commands");
  app.add_flag("--list-stages", list_stages, "print the stages of the compiler and their purpose");
  app.add_flag("--native-cpu-level", native_level,
               "print the CPU level that 'native' means on this machine");
  app.require_subcommand(0, 1);
  for (auto add : {add_compile, add_run, add_inspect, add_explain, add_verify, add_bench, add_ops,
                   add_emit_source})
    add(app, action);
  app.footer("Stages:\n" + stage_list() +
             "\nExit codes: 0 ok, 1 an error in what was given or a failed verification, 2 usage, "
             "70 internal error.\nMore: aotc COMMAND --help\n");
}

int parse_and_run(int argc, char** argv) {
  CLI::App app("aotc: ahead-of-time compiler for exported PyTorch programs", "aotc");
  Action action;
  bool list_stages = false, native_level = false;
  build_parser(app, action, list_stages, native_level);
  try {
    app.parse(argc, argv);
    if (native_level) action = [] { return fmt::print("{}\n", native_cpu_level()), kExitOk; };
    if (list_stages) action = [] { return fmt::print("{}", stage_list()), kExitOk; };
    if (action) return action();
    fmt::print(stderr, "{}", app.help());
    return kExitUsage;
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app.exit(e), kExitOk;
    app.exit(e);
    return kExitUsage;
  }
}

int run_main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv, argv + argc);
  report_crashes(arguments);
  try {
    return parse_and_run(argc, argv);
  } catch (const UserError& e) {
    report(arguments, e.what());
  } catch (const std::bad_alloc&) {
    report(arguments, "not enough memory");
  } catch (const std::exception& e) {
    // What is printed must arrive somewhere; fmt throws where stdio only remembers.
    if (std::ferror(stdout)) return kExitUser;  // flush_output says so
    return internal_failure(arguments, e.what());
  }
  return kExitUser;
}

}  // namespace
}  // namespace aotc::cli

int main(int argc, char** argv) { return aotc::cli::flush_output(aotc::cli::run_main(argc, argv)); }
