// What is known of a program, from a package (read) or from a .pt2 (planned, not compiled).
#pragma once
#include <string>

#include "codegen/pipeline.h"

namespace aotc::cli {

// The manifest as JSON. `path`: a .pt2, a package file, an unpacked package or a bare model.so.
// Throws UserError.
std::string manifest_of(const std::string& path, const CompileSettings& settings);
// The text of `aotc explain`, or its JSON; a bare model.so has none.
std::string explanation_of(const std::string& path, const CompileSettings& settings, bool json);

}  // namespace aotc::cli
