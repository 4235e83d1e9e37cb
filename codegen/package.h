// Stages 7 to 9: sources, binaries, the package.
#pragma once
#include "codegen/pipeline.h"

namespace aotc {

void make_sources(Compilation& c);
void make_binaries(Compilation& c);
void make_package(Compilation& c);
// With --in-place=require: UserError naming each write-back that stays a copy, its reason and
// Python line.
void require_in_place(const Plan& plan, const CompileSettings& settings);
// The compiler that --backend names, opened. UserError where there is none.
std::unique_ptr<Toolchain> open_toolchain(const CompileSettings& settings);
// The model's name as a C identifier.
std::string model_identifier(const Compilation& c);

}  // namespace aotc
