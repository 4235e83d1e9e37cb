// Reports about emitted sources: what a compiler or the store check says, with the kernel's origin
// and the text.
#pragma once
#include <string>
#include <vector>

#include "codegen/toolchain.h"

namespace aotc {

struct SourceProblem {
  int line = 0, column = 0;   // from 1; 0: not known
  std::string function = {};  // "" when not known
  std::string message = {};
  auto operator<=>(const SourceProblem&) const = default;
};

// The comment lines directly above the top-level definition that contains `line` ("" if there are
// none). A definition starts in the first column with neither a comment, a preprocessor line nor a
// closing brace.
std::string kernel_comment(const std::string& text, int line);

// "kernels.cpp: <summary>" and, for each problem, its place and message, the comment of its kernel
// and the offending line between its neighbours.
std::string describe_problems(const SourceFile& source, const std::string& summary,
                              const std::vector<SourceProblem>& problems);

}  // namespace aotc
