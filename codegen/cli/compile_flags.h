// The options that all commands which compile share.
#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "codegen/pipeline.h"

namespace aotc::cli {

struct CompileFlags {
  CompileSettings settings;
  std::string cpu = "native", gpu, device_map;  // lists, separated by commas
  std::vector<std::string> aliases;
};

// Options of a command that all take the same meaning; --quiet and --json.
struct OutputFlags {
  bool quiet = false, json = false;
};

// `flags` must live as long as the command's action.
void add_compile_flags(CLI::App& command, CompileFlags& flags);
void add_output_flags(CLI::App& command, OutputFlags& flags);
// The check of an option that is a number of threads.
CLI::Validator thread_count();
// Throws CLI::ValidationError (a usage error) for an option that does not say what it should.
CompileSettings settings_of(const CompileFlags& flags);

}  // namespace aotc::cli
