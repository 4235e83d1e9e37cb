// Scalar library, part 8: gamma and Bessel functions. They are rare: loops and branches are allowed
// here. float versions are rounded from double.
#pragma once

namespace aotc {

AOTC_INLINE double lgamma_f64(double x) { return AOTC_MATH(lgamma)(x); }

AOTC_INLINE float lgamma_f32(float x) {
  return static_cast<float>(lgamma_f64(static_cast<double>(x)));
}

// psi(x) for x > 0: psi(x) = psi(x + 1) - 1 / x up to 10, then the asymptotic series in 1 / x^2,
// whose coefficients are Bernoulli numbers B_2k / 2k.
AOTC_HD static inline double digamma_positive_f64(double x) {
  double shift = 0.0;
  for (; x < 10.0; x += 1.0) shift += 1.0 / x;
  const double z = 1.0 / (x * x);
  const double series = polynomial(z, 1.0 / 12, -1.0 / 120, 1.0 / 252, -1.0 / 240, 1.0 / 132,
                                   -691.0 / 32760, 1.0 / 12, -3617.0 / 8160);
  return log_f64(x) - 0.5 / x - z * series - shift;
}

// Below 0 by reflection: psi(1 - x) - pi / tan(pi x); infinite at 0, NaN at the negative integers.
AOTC_HD static inline double digamma_f64(double x) {
  if (x == 0.0) return copysign(infinity_f64(), -x);
  if (!(x < 0.0)) return x < infinity_f64() ? digamma_positive_f64(x) : x;
  if (x == trunc(x)) return nan_f64();
  const double angle = 3.141592653589793 * (x - trunc(x));
  return digamma_positive_f64(1.0 - x) - 3.141592653589793 * cos_f64(angle) / sin_f64(angle);
}

AOTC_HD static inline float digamma_f32(float x) {
  return static_cast<float>(digamma_f64(static_cast<double>(x)));
}

// exp(-a) I_n(a) for a >= 0 and order n = 0 or 1. Below 25 the power series, all terms of one sign;
// above it the asymptotic series, whose terms fall below 2^-54 before they grow.
AOTC_HD static inline double bessel_i_scaled_f64(double a, double order) {
  double term = 1.0, sum = 1.0;
  if (a < 25.0) {
    const double square = 0.25 * a * a;
    for (double k = 1.0; term > sum * 1.0e-17; k += 1.0) {
      term *= square / (k * (k + order));
      sum += term;
    }
    return (order == 0.0 ? sum : 0.5 * a * sum) * exp_f64(-a);
  }
  for (double k = 1.0; abs(term) > 1.0e-17; k += 1.0) {
    const double odd = 2.0 * k - 1.0;
    term *= (odd * odd - 4.0 * order) / (8.0 * k * a);
    sum += term;
  }
  return sum * 0.3989422804014327 / sqrt(a);
}

AOTC_HD static inline double i0e_f64(double x) { return bessel_i_scaled_f64(abs(x), 0.0); }

AOTC_HD static inline double i1e_f64(double x) {
  const double value = bessel_i_scaled_f64(abs(x), 1.0);
  return x < 0.0 ? -value : value;
}

// Infinite from where e^|x| is, as eager's kernels: a little before the function itself.
AOTC_HD static inline double i0_f64(double x) { return i0e_f64(x) * exp_f64(abs(x)); }
AOTC_HD static inline double i1_f64(double x) { return i1e_f64(x) * exp_f64(abs(x)); }

AOTC_HD static inline float i0e_f32(float x) {
  return static_cast<float>(i0e_f64(static_cast<double>(x)));
}

AOTC_HD static inline float i1e_f32(float x) {
  return static_cast<float>(i1e_f64(static_cast<double>(x)));
}

// e^|x| as float32 decides where the results become infinite.
AOTC_HD static inline float i0_f32(float x) {
  const double value = i0_f64(static_cast<double>(x));
  return exp_f32(abs(x)) > 3.4028235e38F ? i0e_f32(x) * exp_f32(abs(x)) : static_cast<float>(value);
}

AOTC_HD static inline float i1_f32(float x) {
  const double value = i1_f64(static_cast<double>(x));
  return exp_f32(abs(x)) > 3.4028235e38F ? i1e_f32(x) * exp_f32(abs(x)) : static_cast<float>(value);
}

}  // namespace aotc
