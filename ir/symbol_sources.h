// Where the symbols of a call get their values: from the inputs' sizes and integers, or from nodes.
#pragma once
#include <optional>
#include <string>

#include "ir/loops.h"
#include "ir/sym.h"

namespace aotc {

// factor * symbol + offset, factor not 0.
struct LinearSize {
  std::string symbol;
  int64_t factor = 1, offset = 0;
};
std::optional<LinearSize> linear_size(const Sym& s);

// A UserError that names what has no value: a symbol of the inputs that no linear size or integer
// of an input gives one, or a symbol of a buffer's size that neither an input nor a kernel does.
void require_solvable_inputs(const Graph& g);
void require_defined_sizes(const loops::LoopProgram& p);

}  // namespace aotc
