// Runs one case on a session and says what is wrong with the result.
#pragma once
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "codegen/cli/session.h"

namespace aotc::cli {

struct CaseResult {
  bool ok = false;
  std::string message;  // what failed, or a note on why it is right, e.g. a refusal
};

// What a program's form lets a case demand.
struct CaseRules {
  // Outputs must point into what meta.json says. False for a decomposed program, which no longer
  // says it.
  bool strict_aliases = true;
  std::set<std::string> mutated_inputs;  // by name: what the program writes
};

std::set<std::string> mutated_inputs(const std::string& manifest);
// Never throws for what a program or a case does wrong.
CaseResult check_case(const std::filesystem::path& folder, const Model& model, Session& session,
                      const CaseRules& rules);
// The program could not be compiled or opened: right where the case says so.
CaseResult judge_refusal(const std::filesystem::path& folder, const std::string& error);

}  // namespace aotc::cli
