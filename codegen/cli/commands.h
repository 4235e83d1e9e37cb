// The commands of `aotc`: each adds its options to the parser; when it is chosen, parsing sets
// `action`.
#pragma once
#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

namespace aotc::cli {

constexpr int kExitOk = 0, kExitUser = 1, kExitUsage = 2, kExitInternal = 70;

// Runs the chosen command and returns its exit code; throws UserError or InternalError.
using Action = std::function<int()>;

void add_compile(CLI::App& app, Action& action);
void add_run(CLI::App& app, Action& action);
void add_inspect(CLI::App& app, Action& action);
void add_explain(CLI::App& app, Action& action);
void add_verify(CLI::App& app, Action& action);
void add_bench(CLI::App& app, Action& action);
void add_ops(CLI::App& app, Action& action);
void add_emit_source(CLI::App& app, Action& action);

// The stages of the compiler, a line each: name and purpose.
std::string stage_list();

}  // namespace aotc::cli
