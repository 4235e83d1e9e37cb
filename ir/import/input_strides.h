// Strides of dynamic inputs that the archive gives symbols of their own.
#pragma once
#include <map>
#include <string>

#include "ir/pt2/exported_program.h"
#include "ir/sym.h"

namespace aotc {

// torch names the stride of a dynamic input with gaps by a symbol that no size gives (a slice of a
// larger tensor: sizes [s0, s1], strides [s7, 1]). Calls may bring any layout, so such a symbol is
// what it is without gaps: here, over the archive's names. Dimensions with known strides are the
// inner ones, the rest follow from the last to the first.
std::map<std::string, Sym> stride_symbols(const pt2::ExportedProgram& program);

}  // namespace aotc
