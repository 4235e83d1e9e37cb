// Compiles one program and runs its cases, in this process.
#pragma once
#include <functional>

#include "codegen/cli/check_case.h"
#include "codegen/cli/verify_programs.h"
#include "codegen/pipeline.h"

namespace aotc::cli {

struct VerifySettings {
  CompileSettings compile;
  int threads = 0;                    // of sessions; 0: the run time's default
  std::filesystem::path work_folder;  // for the package, which is removed as soon as it is open
  bool keep = false;                  // unless it is kept
};

// Calls `report` once per case, in order. Throws nothing that a program can cause.
void verify_program(const ProgramCases& program, const VerifySettings& settings,
                    const std::function<void(size_t index, const CaseResult&)>& report);

}  // namespace aotc::cli
