// Python floats in expressions: what programs compute from sizes (sizes scaled by 1.5) and from
// data (item() of a float tensor). A float Sym is one atom whose value is the bit pattern of a
// double, so it passes wherever int64 values pass; only the functions here compute with it. Each
// rounds once, as Python does. Symbols named zf... and zuf... hold floats, as in torch.
#pragma once
#include <optional>

#include "ir/sym.h"

namespace aotc {

bool is_float(const Sym& s);
int64_t float_bits(double v);
double float_of_bits(int64_t bits);

Sym float_number(double v);
std::optional<double> float_constant(const Sym& s);  // the value of a float without symbols
Sym to_float(const Sym& s);                          // of an integer; a float stays

// Operands may be integers: they become floats.
Sym float_add(const Sym& a, const Sym& b);
Sym float_sub(const Sym& a, const Sym& b);
Sym float_mul(const Sym& a, const Sym& b);
Sym float_div(const Sym& a, const Sym& b);
Sym float_pow(const Sym& a, const Sym& b);
Sym float_min(const Sym& a, const Sym& b);
Sym float_max(const Sym& a, const Sym& b);
Sym float_sqrt(const Sym& a);
// 0 or 1
Sym float_eq(const Sym& a, const Sym& b);
Sym float_lt(const Sym& a, const Sym& b);
Sym float_le(const Sym& a, const Sym& b);

// The integer towards zero, below, above, nearest (halves to even). Evaluation throws UserError
// for a value that no int64 holds.
Sym trunc_to_int(const Sym& f);
Sym floor_to_int(const Sym& f);
Sym ceil_to_int(const Sym& f);
Sym round_to_int(const Sym& f);

}  // namespace aotc
