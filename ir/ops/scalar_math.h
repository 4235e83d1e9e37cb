// Named scalar functions of E, so that the formulas of op rows read as mathematics.
#pragma once
#include <span>

#include "ir/lowering.h"

namespace aotc {

#define AOTC_UNARY(name) \
  inline E name(E a) { return unary(Prim::name, a); }
AOTC_UNARY(abs)
AOTC_UNARY(sign)
AOTC_UNARY(floor)
AOTC_UNARY(ceil)
AOTC_UNARY(trunc)
AOTC_UNARY(round)
AOTC_UNARY(exp)
AOTC_UNARY(exp2)
AOTC_UNARY(expm1)
AOTC_UNARY(log)
AOTC_UNARY(log1p)
AOTC_UNARY(log2)
AOTC_UNARY(sqrt)
AOTC_UNARY(rsqrt)
AOTC_UNARY(reciprocal)
AOTC_UNARY(sin)
AOTC_UNARY(cos)
AOTC_UNARY(sinh)
AOTC_UNARY(tan)
AOTC_UNARY(tanh)
AOTC_UNARY(erf)
AOTC_UNARY(erfc)
AOTC_UNARY(lgamma)
AOTC_UNARY(digamma)
AOTC_UNARY(sigmoid)
AOTC_UNARY(isnan)
AOTC_UNARY(isinf)
#undef AOTC_UNARY

inline E maximum(E a, E b) { return binary(Prim::maximum, a, b); }
inline E minimum(E a, E b) { return binary(Prim::minimum, a, b); }
inline E pow(E a, E b) { return binary(Prim::pow, a, b); }
inline E copysign(E a, E b) { return binary(Prim::copysign, a, b); }
inline E square(E a) { return a * a; }

// Comparisons with a constant of the operand's type.
inline E operator<(E a, double b) { return a < like(a, b); }
inline E operator<=(E a, double b) { return a <= like(a, b); }
inline E operator>(E a, double b) { return a > like(a, b); }
inline E operator>=(E a, double b) { return a >= like(a, b); }
inline E operator==(E a, double b) { return a == like(a, b); }
inline E operator!=(E a, double b) { return a != like(a, b); }
inline E operator*(double a, E b) { return b * a; }
inline E operator+(double a, E b) { return b + a; }
inline E where(E condition, E a, double b) { return where(condition, a, like(a, b)); }
inline E where(E condition, double a, E b) { return where(condition, like(b, a), b); }

// Arithmetic as eager's vector code does it on types that only store (float16, bfloat16): each
// result is rounded to the type. For other types it is plain arithmetic.
struct Rounded {
  E e;
  DType type;
};
inline Rounded rounded(E value, DType type) {
  return {cast(cast(value, type), value.dtype()), type};
}
inline Rounded operator+(Rounded a, Rounded b) { return rounded(a.e + b.e, a.type); }
inline Rounded operator-(Rounded a, Rounded b) { return rounded(a.e - b.e, a.type); }
inline Rounded operator*(Rounded a, Rounded b) { return rounded(a.e * b.e, a.type); }
inline Rounded operator/(Rounded a, Rounded b) { return rounded(a.e / b.e, a.type); }
inline Rounded operator+(Rounded a, double b) { return a + rounded(like(a.e, b), a.type); }
inline Rounded operator-(Rounded a, double b) { return a - rounded(like(a.e, b), a.type); }
inline Rounded operator-(double a, Rounded b) { return rounded(like(b.e, a), b.type) - b; }
inline Rounded operator*(Rounded a, double b) { return a * rounded(like(a.e, b), a.type); }

// The polynomial whose coefficients are given from the highest power down to the constant.
inline E polynomial(E x, std::span<const double> coefficients) {
  E sum = like(x, coefficients.front());
  for (double c : coefficients.subspan(1)) sum = sum * x + c;
  return sum;
}

}  // namespace aotc
