// Scalar library, part 10: functions of complex numbers. They are computed in double, with the
// branch cuts and the values at zeros and infinities that C99's annex G gives; complex64 results
// are rounded once.
#pragma once

namespace aotc {

AOTC_INLINE complex128 widen(complex64 z) {
  return {static_cast<double>(z.re), static_cast<double>(z.im)};
}
AOTC_INLINE complex64 narrow(complex128 z) {
  return {static_cast<float>(z.re), static_cast<float>(z.im)};
}

// i z, and -i z: sin, asin, ... are sinh, asinh, ... turned by a right angle.
AOTC_INLINE complex128 turn_left(complex128 z) { return {-z.im, z.re}; }
AOTC_INLINE complex128 turn_right(complex128 z) { return {z.im, -z.re}; }

AOTC_HD static inline bool is_finite(double x) { return abs(x) < infinity_f64(); }

AOTC_HD static inline double complex_abs(complex128 z) { return hypot_f64(z.re, z.im); }
AOTC_HD static inline float complex_abs(complex64 z) { return hypot_f32(z.re, z.im); }

// e^x is applied in two halves: it may overflow where the product does not.
AOTC_HD static inline complex128 complex_exp(complex128 z) {
  if (z.im == 0.0) return {exp_f64(z.re), z.im};
  if (z.re == -infinity_f64() && !is_finite(z.im)) return {0.0, copysign(0.0, z.im)};
  if (z.re == infinity_f64() && !is_finite(z.im)) return {z.re, nan_f64()};
  const double half = exp_f64(0.5 * z.re);
  return {half * cos_f64(z.im) * half, half * sin_f64(z.im) * half};
}
AOTC_HD static inline complex64 complex_exp(complex64 z) { return narrow(complex_exp(widen(z))); }

// log|z|: near 1 from |z|^2 - 1, formed without cancellation; huge and tiny values are scaled
// first.
AOTC_HD static inline double complex_log_abs(complex128 z) {
  if (isinf(z.re) || isinf(z.im)) return infinity_f64();
  const double a = maximum(abs(z.re), abs(z.im)), b = minimum(abs(z.re), abs(z.im));
  if (a > 1.0e300) return log_f64(hypot_f64(0.25 * a, 0.25 * b)) + 1.3862943611198906;
  if (a < 1.0e-290) return log_f64(hypot_f64(a * 1.0e30, b * 1.0e30)) - 69.07755278982137;
  if (a < 0.5 || a > 1.5) return log_f64(hypot_f64(a, b));
  const double square = a * a, other = b * b;
  const double lost = fma(a, a, -square) + fma(b, b, -other);
  return 0.5 * log1p_f64(square - 1.0 + other + lost);
}

AOTC_HD static inline complex128 complex_log(complex128 z) {
  return {complex_log_abs(z), atan2_f64(z.im, z.re)};
}
AOTC_HD static inline complex64 complex_log(complex64 z) { return narrow(complex_log(widen(z))); }

// By quarters and multiples of 2^54 where |z| itself would overflow or lose its last bits.
AOTC_HD static inline complex128 complex_sqrt(complex128 z) {
  if (isinf(z.im)) return {infinity_f64(), z.im};
  if (isinf(z.re)) {
    const double other = z.im != z.im ? z.im : 0.0;
    return z.re > 0.0 ? complex128{z.re, copysign(other, z.im)}
                      : complex128{other, copysign(z.re, z.im)};
  }
  const double greatest = maximum(abs(z.re), abs(z.im));
  if (greatest == 0.0) return {0.0, z.im};
  const double in = greatest > 1.0e300 ? 0.25 : greatest < 1.0e-290 ? 18014398509481984.0 : 1.0;
  const double out = greatest > 1.0e300 ? 2.0 : greatest < 1.0e-290 ? 7.450580596923828e-09 : 1.0;
  const double x = abs(z.re) * in, y = z.im * in;
  const double major = sqrt(0.5 * (x + hypot_f64(x, y)));
  const double minor = abs(y) / (2.0 * major);
  return z.re >= 0.0 ? complex128{major * out, copysign(minor, y) * out}
                     : complex128{minor * out, copysign(major, y) * out};
}
AOTC_HD static inline complex64 complex_sqrt(complex64 z) { return narrow(complex_sqrt(widen(z))); }

// (sinh x cos y, cosh x sin y). For large x both are e^|x| / 2, applied in two halves.
AOTC_HD static inline complex128 complex_sinh(complex128 z) {
  if (z.im == 0.0) return {sinh_f64(z.re), z.im};
  if (!is_finite(z.im) && (z.re == 0.0 || isinf(z.re))) return {z.re, nan_f64()};
  const double c = cos_f64(z.im), s = sin_f64(z.im);
  if (!(abs(z.re) > 700.0)) return {sinh_f64(z.re) * c, cosh_f64(z.re) * s};
  const double half = exp_f64(0.5 * abs(z.re));
  return {copysign(0.5 * half, z.re) * c * half, 0.5 * half * s * half};
}
AOTC_HD static inline complex64 complex_sinh(complex64 z) { return narrow(complex_sinh(widen(z))); }

AOTC_HD static inline complex128 complex_cosh(complex128 z) {
  if (z.im == 0.0) return {cosh_f64(z.re), copysign(0.0, z.re) * z.im};
  if (!is_finite(z.im) && isinf(z.re)) return {infinity_f64(), nan_f64()};
  if (z.re == 0.0) return {cos_f64(z.im), is_finite(z.im) ? z.re * sin_f64(z.im) : 0.0};
  const double c = cos_f64(z.im), s = sin_f64(z.im);
  if (!(abs(z.re) > 700.0)) return {cosh_f64(z.re) * c, sinh_f64(z.re) * s};
  const double half = exp_f64(0.5 * abs(z.re));
  return {0.5 * half * c * half, copysign(0.5 * half, z.re) * s * half};
}
AOTC_HD static inline complex64 complex_cosh(complex64 z) { return narrow(complex_cosh(widen(z))); }

// With t = tan y and s = sinh x: (s sqrt(1 + s^2) (1 + t^2), t) / (1 + s^2 (1 + t^2)).
AOTC_HD static inline complex128 complex_tanh(complex128 z) {
  if (z.im == 0.0) return {tanh_f64(z.re), z.im};
  if (z.re == 0.0 && !is_finite(z.im)) return {z.re, nan_f64()};
  if (abs(z.re) > 22.0) {
    const double e = exp_f64(-abs(z.re));
    const double im = is_finite(z.im) ? 4.0 * sin_f64(z.im) * cos_f64(z.im) * e * e : 0.0;
    return {copysign(1.0, z.re), is_finite(z.im) ? im : copysign(0.0, z.im)};
  }
  const double s = sinh_f64(z.re), sine = sin_f64(z.im), cosine = cos_f64(z.im);
  const double denominator = cosine * cosine + s * s;
  return {s * sqrt(1.0 + s * s) / denominator, sine * cosine / denominator};
}
AOTC_HD static inline complex64 complex_tanh(complex64 z) { return narrow(complex_tanh(widen(z))); }

// |z| from which on 1 + z^2 is z^2 and may overflow.
AOTC_HD static inline bool complex_is_huge(complex128 z) {
  return fmax(abs(z.re), abs(z.im)) > 1.0e150;
}

// Kahan's formulas: products of square roots keep the branch cuts and the relative accuracy.
AOTC_HD static inline complex128 complex_asin(complex128 z) {
  if (complex_is_huge(z)) {
    return {atan2_f64(z.re, abs(z.im)), copysign(complex_log_abs(z) + 0.6931471805599453, z.im)};
  }
  const complex128 minus = complex_sqrt(complex128{1.0 - z.re, -z.im}),
                   plus = complex_sqrt(complex128{1.0 + z.re, z.im});
  return {atan2_f64(z.re, minus.re * plus.re - minus.im * plus.im),
          copysign(asinh_f64(minus.re * plus.im - minus.im * plus.re), z.im)};
}
AOTC_HD static inline complex64 complex_asin(complex64 z) { return narrow(complex_asin(widen(z))); }

AOTC_HD static inline complex128 complex_acos(complex128 z) {
  if (complex_is_huge(z)) {
    return {atan2_f64(abs(z.im), z.re), copysign(complex_log_abs(z) + 0.6931471805599453, -z.im)};
  }
  const complex128 minus = complex_sqrt(complex128{1.0 - z.re, -z.im}),
                   plus = complex_sqrt(complex128{1.0 + z.re, z.im});
  return {2.0 * atan2_f64(minus.re, plus.re),
          copysign(asinh_f64(plus.re * minus.im - plus.im * minus.re), -z.im)};
}
AOTC_HD static inline complex64 complex_acos(complex64 z) { return narrow(complex_acos(widen(z))); }

AOTC_HD static inline complex128 complex_asinh(complex128 z) {
  return turn_right(complex_asin(turn_left(z)));
}
AOTC_HD static inline complex64 complex_asinh(complex64 z) {
  return narrow(complex_asinh(widen(z)));
}

AOTC_HD static inline complex128 complex_acosh(complex128 z) {
  const complex128 w = complex_acos(z);
  return {abs(w.im), copysign(w.re, z.im)};
}
AOTC_HD static inline complex64 complex_acosh(complex64 z) {
  return narrow(complex_acosh(widen(z)));
}

// (log1p(4x / ((1 - x)^2 + y^2)) / 4, atan2(2y, (1 - x)(1 + x) - y^2) / 2), odd in x.
AOTC_HD static inline complex128 complex_atanh(complex128 z) {
  const double x = abs(z.re), y = z.im;
  if (complex_is_huge(z)) {
    const double larger = fmax(x, abs(y)), ratio = fmin(x, abs(y)) / larger;
    const double re = isinf(larger) ? 0.0 : x / larger / (1.0 + ratio * ratio) / larger;
    return {copysign(re, z.re), y != y ? y : copysign(1.5707963267948966, y)};
  }
  const double below = 1.0 - x;
  const double re = 0.25 * log1p_f64(4.0 * x / (below * below + y * y));
  const double im = 0.5 * atan2_f64(2.0 * y, below * (1.0 + x) - y * y);
  return {copysign(re, z.re), im};
}
AOTC_HD static inline complex64 complex_atanh(complex64 z) {
  return narrow(complex_atanh(widen(z)));
}

AOTC_HD static inline complex128 complex_sin(complex128 z) {
  return turn_right(complex_sinh(turn_left(z)));
}
AOTC_HD static inline complex64 complex_sin(complex64 z) { return narrow(complex_sin(widen(z))); }

AOTC_HD static inline complex128 complex_cos(complex128 z) { return complex_cosh(turn_left(z)); }
AOTC_HD static inline complex64 complex_cos(complex64 z) { return narrow(complex_cos(widen(z))); }

AOTC_HD static inline complex128 complex_tan(complex128 z) {
  return turn_right(complex_tanh(turn_left(z)));
}
AOTC_HD static inline complex64 complex_tan(complex64 z) { return narrow(complex_tan(widen(z))); }

AOTC_HD static inline complex128 complex_atan(complex128 z) {
  return turn_right(complex_atanh(turn_left(z)));
}
AOTC_HD static inline complex64 complex_atan(complex64 z) { return narrow(complex_atan(widen(z))); }

AOTC_HD static inline complex128 complex_exp2(complex128 z) {
  return complex_exp(complex128{z.re * 0.6931471805599453, z.im * 0.6931471805599453});
}
AOTC_HD static inline complex64 complex_exp2(complex64 z) { return narrow(complex_exp2(widen(z))); }

// (expm1(x) cos y - 2 sin^2(y/2), e^x sin y).
AOTC_HD static inline complex128 complex_expm1(complex128 z) {
  const double s = sin_f64(0.5 * z.im);
  return {expm1_f64(z.re) * cos_f64(z.im) - 2.0 * s * s, exp_f64(z.re) * sin_f64(z.im)};
}
AOTC_HD static inline complex64 complex_expm1(complex64 z) {
  return narrow(complex_expm1(widen(z)));
}

// |1 + z|^2 - 1 = x (2 + x) + y^2 is formed directly where it is small.
AOTC_HD static inline complex128 complex_log1p(complex128 z) {
  const double excess = z.re * (2.0 + z.re) + z.im * z.im;
  const bool near = abs(z.re) < 0.5 && abs(z.im) < 0.5;
  const double re = near ? 0.5 * log1p_f64(excess) : complex_log_abs(complex128{1.0 + z.re, z.im});
  return {re, atan2_f64(z.im, 1.0 + z.re)};
}
AOTC_HD static inline complex64 complex_log1p(complex64 z) {
  return narrow(complex_log1p(widen(z)));
}

AOTC_HD static inline complex128 complex_log2(complex128 z) {
  const complex128 w = complex_log(z);
  return {w.re / 0.6931471805599453, w.im / 0.6931471805599453};
}
AOTC_HD static inline complex64 complex_log2(complex64 z) { return narrow(complex_log2(widen(z))); }

AOTC_HD static inline complex128 complex_log10(complex128 z) {
  const complex128 w = complex_log(z);
  return {w.re / 2.302585092994046, w.im / 2.302585092994046};
}
AOTC_HD static inline complex64 complex_log10(complex64 z) {
  return narrow(complex_log10(widen(z)));
}

AOTC_HD static inline complex128 complex_rsqrt(complex128 z) {
  return complex_reciprocal(complex_sqrt(z));
}
AOTC_HD static inline complex64 complex_rsqrt(complex64 z) {
  return narrow(complex_rsqrt(widen(z)));
}

AOTC_HD static inline complex128 complex_sigmoid(complex128 z) {
  return complex_reciprocal(complex_add(complex128{1.0, 0.0}, complex_exp(complex_neg(z))));
}
AOTC_HD static inline complex64 complex_sigmoid(complex64 z) {
  return narrow(complex_sigmoid(widen(z)));
}

// exp(w log z), also at 0, where it is NaN for w = 0 as in eager mode.
AOTC_HD static inline complex128 complex_pow(complex128 z, complex128 w) {
  return complex_exp(complex_mul(w, complex_log(z)));
}
AOTC_HD static inline complex64 complex_pow(complex64 z, complex64 w) {
  return narrow(complex_pow(widen(z), widen(w)));
}

}  // namespace aotc
