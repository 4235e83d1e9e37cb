// The functions of Sym atoms.
#pragma once
#include "ir/sym.h"

namespace aotc {

const char* name_of(SymOp op);  // in canonical text
int64_t floor_divide(int64_t a, int64_t d);
// The same function of other operands, simplified.
Sym rebuild(const Sym::Atom& a, const std::vector<Sym>& args);

}  // namespace aotc
