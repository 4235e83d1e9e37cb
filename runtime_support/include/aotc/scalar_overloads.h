// The scalar library under torch's names: exp(x) for float, double, complex64 and complex128, and
// so on. For hand-written C++; generated code calls exp_f32 and the like, so that only these are
// copied into it.
#pragma once

namespace aotc {

#define AOTC_UNARY(name)                                    \
  AOTC_INLINE float name(float x) { return name##_f32(x); } \
  AOTC_INLINE double name(double x) { return name##_f64(x); }
#define AOTC_BINARY(name)                                               \
  AOTC_INLINE float name(float x, float y) { return name##_f32(x, y); } \
  AOTC_INLINE double name(double x, double y) { return name##_f64(x, y); }
AOTC_UNARY(exp)
AOTC_UNARY(exp2)
AOTC_UNARY(expm1)
AOTC_UNARY(log)
AOTC_UNARY(log2)
AOTC_UNARY(log10)
AOTC_UNARY(log1p)
AOTC_UNARY(sigmoid)
AOTC_UNARY(sin)
AOTC_UNARY(cos)
AOTC_UNARY(tan)
AOTC_UNARY(asin)
AOTC_UNARY(acos)
AOTC_UNARY(atan)
AOTC_UNARY(sinh)
AOTC_UNARY(cosh)
AOTC_UNARY(tanh)
AOTC_UNARY(asinh)
AOTC_UNARY(acosh)
AOTC_UNARY(atanh)
AOTC_UNARY(erf)
AOTC_UNARY(erfc)
AOTC_UNARY(erfinv)
AOTC_UNARY(lgamma)
AOTC_UNARY(digamma)
AOTC_UNARY(i0)
AOTC_UNARY(i0e)
AOTC_UNARY(i1)
AOTC_UNARY(i1e)
AOTC_BINARY(pow)
AOTC_BINARY(atan2)
AOTC_BINARY(hypot)
#undef AOTC_UNARY
#undef AOTC_BINARY

template <typename T>
AOTC_INLINE T pow(T base, T exponent) {
  return pow_int(base, exponent);
}

// Every complex function serves both types, and so does its name here.
#define AOTC_COMPLEX(name, operation)           \
  template <typename T>                         \
  AOTC_INLINE auto operation(complex_of<T> z) { \
    return complex_##name(z);                   \
  }
#define AOTC_COMPLEX_BINARY(name, operation)                     \
  template <typename T>                                          \
  AOTC_INLINE auto operation(complex_of<T> a, complex_of<T> b) { \
    return complex_##name(a, b);                                 \
  }
AOTC_COMPLEX(exp, exp)
AOTC_COMPLEX(exp2, exp2)
AOTC_COMPLEX(expm1, expm1)
AOTC_COMPLEX(log, log)
AOTC_COMPLEX(log2, log2)
AOTC_COMPLEX(log10, log10)
AOTC_COMPLEX(log1p, log1p)
AOTC_COMPLEX(sqrt, sqrt)
AOTC_COMPLEX(rsqrt, rsqrt)
AOTC_COMPLEX(sigmoid, sigmoid)
AOTC_COMPLEX(sin, sin)
AOTC_COMPLEX(cos, cos)
AOTC_COMPLEX(tan, tan)
AOTC_COMPLEX(asin, asin)
AOTC_COMPLEX(acos, acos)
AOTC_COMPLEX(atan, atan)
AOTC_COMPLEX(sinh, sinh)
AOTC_COMPLEX(cosh, cosh)
AOTC_COMPLEX(tanh, tanh)
AOTC_COMPLEX(asinh, asinh)
AOTC_COMPLEX(acosh, acosh)
AOTC_COMPLEX(atanh, atanh)
AOTC_COMPLEX(abs, abs)
AOTC_COMPLEX(neg, neg)
AOTC_COMPLEX(reciprocal, reciprocal)
AOTC_COMPLEX(logical_not, logical_not)
AOTC_COMPLEX(isnan, isnan)
AOTC_COMPLEX(isinf, isinf)
AOTC_COMPLEX(real, real)
AOTC_COMPLEX(imag, imag)
AOTC_COMPLEX(conj, conj)
AOTC_COMPLEX(neg, operator-)
AOTC_COMPLEX_BINARY(add, add)
AOTC_COMPLEX_BINARY(sub, sub)
AOTC_COMPLEX_BINARY(mul, mul)
AOTC_COMPLEX_BINARY(div, div)
AOTC_COMPLEX_BINARY(pow, pow)
AOTC_COMPLEX_BINARY(eq, eq)
AOTC_COMPLEX_BINARY(ne, ne)
AOTC_COMPLEX_BINARY(add, operator+)
AOTC_COMPLEX_BINARY(sub, operator-)
AOTC_COMPLEX_BINARY(mul, operator*)
AOTC_COMPLEX_BINARY(div, operator/)
AOTC_COMPLEX_BINARY(eq, operator==)
AOTC_COMPLEX_BINARY(ne, operator!=)
#undef AOTC_COMPLEX
#undef AOTC_COMPLEX_BINARY

}  // namespace aotc
