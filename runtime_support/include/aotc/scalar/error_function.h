// Scalar library, part 7: erf, erfc and erfinv, without libm.
// Coefficients: templates/fit_math.py; errors: tests/scalar/sweep.cpp.
#pragma once

namespace aotc {

// Near 0 x + x P(x^2), elsewhere 1 - P(|x|)^4: two squarings replace an exponential.
AOTC_INLINE float erf_f32(float x) {
  const float a = abs(x);
  const float s = x * x;
  const float small =
      fma(x,
          polynomial(s, 0.12837917f, -0.3761263f, 0.112836584f, -0.026859501f, 0.005207515f,
                     -0.0008324509f, 0.000103202605f, -7.4332465e-06f),
          x);
  const float t = a > 3.95f ? 3.95f : a;
  const float root = polynomial(t, 1.0070037f, -0.31455785f, -0.054096814f, -0.05871173f,
                                0.070402846f, -0.023524582f, 0.003453101f, -0.00019485813f);
  const float square = root * root;
  const float large = copysign(fma(-square, square, 1.0f), x);
  return a < 1.25f ? small : large;
}

// (a - middle) / (a + middle) and (p + p_low) / (1 + 2a), corrected by the residues of the
// divisions.
template <typename T>
AOTC_INLINE T centered_ratio(T a, T middle) {
  const T inverse = T(1) / (a + middle);
  const T estimate = (a - middle) * inverse;
  return fma(inverse, fma(-estimate, a, fma(-middle, estimate + T(1), a)), estimate);
}
template <typename T>
AOTC_INLINE T over_one_plus_double(T p, T p_low, T a) {
  const T inverse = T(1) / fma(T(2), a, T(1));
  const T estimate = p * inverse;
  return fma(inverse, fma(T(-2) * a, estimate, p - estimate) + p_low, estimate);
}

// For a = |x|: exp(-a^2) P(q) / (1 + 2a), q = (a - 2) / (a + 2); the part of a^2 that rounding
// drops goes into the exponential too. Relative accuracy down to the last denormal, at 10.05.
AOTC_INLINE float erfc_f32(float x) {
  const float a = abs(x) > 10.1f ? 10.1f : abs(x);
  const float q = centered_ratio(a, 2.0f);
  const float tail = over_one_plus_double(
      polynomial(q, 1.2769784f, -0.092763916f, -0.16603096f, 0.16405459f, -0.054207508f,
                 -0.008057902f, 0.008640463f, 0.001314048f, -0.0012383184f, -0.00040474968f),
      0.0f, a);
  const float square = a * a;
  const exp_parts_f32 parts = reduce_exp_f32(-square);
  const float power = exp_kernel_f32(parts.rest - fma(a, a, -square));
  const float result = scale_f32(power * tail, parts.exponent);
  const float right = x < 0.0f ? 2.0f - result : result;
  return x != x ? x : right;
}

// The last step of Horner's rule, c + x * slope, and what its rounding loses.
AOTC_INLINE sum_f64 last_step_f64(double slope, double x, double c) {
  const double high = fma(slope, x, c);
  return {high, fma(slope, x, c - high)};
}

// erfc(a) for a >= 0.75, the same way with q = (a - 4) / (a + 4). Both factors are sums of two
// doubles.
AOTC_INLINE double erfc_tail_f64(double a) {
  const double t = a > 27.3 ? 27.3 : a;
  const double q = centered_ratio(t, 4.0);
  const double slope = polynomial(
      q, -0.1396211168405625, 0.0153796521026043, 0.0680970542546905, -0.10103906603544256,
      0.09373283499850092, -0.06633036583074714, 0.03716751553270435, -0.016197733857792027,
      0.005031970054153516, -0.0007577745071562411, -0.00019925737802955869, 0.00015062608558307953,
      -2.4395533592005663e-05, -1.1231593770923849e-05, 5.697546594110849e-06,
      3.059568620140134e-07, -8.010277529440845e-07, 6.580194895475229e-08, 8.260723419647048e-08,
      -1.3616593881239481e-08);
  const sum_f64 p = last_step_f64(slope, q, 1.2329951186255526);
  const double tail = over_one_plus_double(p.high, p.low, t);
  const double square = t * t;
  const exp_parts_f64 parts = reduce_exp_f64(-square);
  const double r = parts.rest - fma(t, t, -square);
  const sum_f64 power = last_step_f64(exp_slope_f64(r), r, 1.0);
  return scale_f64(fma(power.high, tail, power.low * tail), parts.exponent);
}

// erf(x) - x, for |x| <= 0.75.
AOTC_INLINE double erf_minus_x_f64(double x) {
  return x * polynomial(x * x, 0.1283791670955126, -0.37612638903184176, 0.11283791670978856,
                        -0.026866170650281546, 0.005223977681883033, -0.0008548330534489108,
                        0.00012055462902246152, -1.492848225275323e-05, 1.649481198532079e-06,
                        -1.6471876071105238e-07, 1.3348631623852583e-08);
}

AOTC_INLINE double erf_f64(double x) {
  const double large = copysign(1.0 - erfc_tail_f64(abs(x)), x);
  return x != x ? x : abs(x) < 0.75 ? x + erf_minus_x_f64(x) : large;
}

AOTC_INLINE double erfc_f64(double x) {
  const double tail = erfc_tail_f64(abs(x));
  const double large = x < 0.0 ? 2.0 - tail : tail;
  const double small =
      x < 0.25 ? 1.0 - (x + erf_minus_x_f64(x)) : 0.5 - ((x - 0.5) + erf_minus_x_f64(x));
  return x != x ? x : abs(x) < 0.75 ? small : large;
}

// Winitzki's estimate, to 2e-3, then three of Halley's steps, each of which cubes the error. The
// residue is taken of erfc for large x: 1 - x is exact there.
AOTC_HD static inline double erfinv_f64(double x) {
  const double a = abs(x);
  const double log_term = log1p_f64(-a) + log1p_f64(a);
  const double t = 4.330746750799873 + 0.5 * log_term;
  double y = sqrt(sqrt(t * t - log_term / 0.147) - t);
  for (int step = 0; step < 3; ++step) {
    const double residue = a < 0.5 ? erf_f64(y) - a : (1.0 - a) - erfc_f64(y);
    const double newton = residue * 0.886226925452758 * exp_f64(y * y);
    y -= newton / (1.0 + y * newton);
  }
  const double inside = a == 1.0 ? infinity_f64() : y;
  return a <= 1.0 ? copysign(inside, x) : nan_f64();
}

AOTC_HD static inline float erfinv_f32(float x) {
  return static_cast<float>(erfinv_f64(static_cast<double>(x)));
}

}  // namespace aotc
