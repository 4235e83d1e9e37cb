// What the plugin's Clang-facing files offer to plugin.cpp. Nothing of LLVM is named here, so that
// a change of LLVM's major version stays inside those files. None of these functions throws.
#pragma once
#include <string>
#include <vector>

#include "codegen/source_report.h"
#include "codegen/toolchain.h"

namespace aotc::clang_plugin {

// "19.1.7"
std::string clang_version();

struct StoreRules {
  const StoreTable& table;
  const StoreServices& services;
};

struct CompileResult {
  bool ok = false;
  std::string object;                   // when an object was asked for
  std::vector<SourceProblem> errors;    // the compiler's, with the notes that belong to each
  std::vector<SourceProblem> findings;  // the store checker's
};

// Parses `source` with cc1 `arguments` on a file system that holds nothing else; checks stores if
// `rules` is not null; makes an object if `emit`.
CompileResult compile(const SourceFile& source, const std::vector<std::string>& arguments,
                      const StoreRules* rules, bool emit);

struct LinkResult {
  bool ok = false;
  std::string bytes;
  std::string messages;
};

// Links `objects` and what `arguments` names (after them) for the ld emulation `emulation`. The
// linker keeps global state: one call at a time, and no compile meanwhile.
LinkResult link(const std::vector<ObjectFile>& objects, const std::string& emulation,
                const std::string& version_script, const std::vector<std::string>& arguments);

// Google style, 100 columns.
std::string format(const std::string& text);

}  // namespace aotc::clang_plugin
