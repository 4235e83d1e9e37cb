// Scalar library, part 5: exponential and logarithmic functions of double, without libm but where
// marked. Coefficients: templates/fit_math.py; errors: tests/scalar/sweep.cpp.
#pragma once

namespace aotc {

// x * 2^k for k in [-2044, 2046], in two steps, so that only a denormal result is rounded.
AOTC_INLINE double scale_f64(double x, i64 k) {
  const u64 half = static_cast<u64>(k >> 1);
  const u64 rest = static_cast<u64>(k) - half;
  return x * bits_as<double>((half + 1023) << 52) * bits_as<double>((rest + 1023) << 52);
}

// x = exponent * ln(2) + rest, for x in [-750, 720]; NaN gives rest NaN. Adding 1.5 * 2^52 rounds
// to an integer, which then stands in the low bits.
struct exp_parts_f64 {
  double rest;
  i64 exponent;
};
AOTC_INLINE exp_parts_f64 reduce_exp_f64(double x) {
  const double shifted = fma(x, 1.4426950408889634, 6755399441055744.0);
  const double n = shifted - 6755399441055744.0;
  const double rest = fma(n, -2.3190468138462996e-17, fma(n, -0.6931471805599453, x));
  return {rest, static_cast<i64>(bits_as<u64>(shifted) - 0x4338000000000000ull)};
}

// (exp(r) - 1) / r and exp(r), for r in [-ln(2)/2, ln(2)/2].
AOTC_INLINE double exp_slope_f64(double r) {
  return polynomial(r, 1.0, 0.5000000000000011, 0.16666666666666452, 0.04166666666652805,
                    0.008333333333476673, 0.0013888888943998526, 0.0001984126953572741,
                    2.4801492794821804e-05, 2.755756556927437e-06, 2.7630346399290147e-07,
                    2.5005557609092406e-08);
}
AOTC_INLINE double exp_kernel_f64(double r) { return fma(exp_slope_f64(r), r, 1.0); }

AOTC_INLINE double exp_f64(double x) {
  const double low = x < -750.0 ? -750.0 : x;
  const exp_parts_f64 parts = reduce_exp_f64(low > 710.0 ? 710.0 : low);
  return scale_f64(exp_kernel_f64(parts.rest), parts.exponent);
}

// 2^f for f in [-1/2, 1/2].
AOTC_INLINE double exp2_kernel_f64(double f) {
  return polynomial(f, 1.0, 0.6931471805599453, 0.24022650695910108, 0.05550410866482172,
                    0.009618129107601606, 0.0013333558146546374, 0.00015403530449033766,
                    1.5252733633933348e-05, 1.3215438837314123e-06, 1.0178160052002154e-07,
                    7.073232785566628e-09, 4.438863281111542e-10);
}

// 2^(high + low) for |low| much less than |high|.
AOTC_INLINE double exp2_of_sum_f64(double high, double low) {
  const double up = high < -1080.0 ? -1080.0 : high;
  const double inside = up > 1025.0 ? 1025.0 : up;
  const double shifted = inside + 6755399441055744.0;
  const i64 exponent = static_cast<i64>(bits_as<u64>(shifted) - 0x4338000000000000ull);
  const double fraction = inside - (shifted - 6755399441055744.0);
  return scale_f64(exp2_kernel_f64(fraction + low), exponent);
}

AOTC_INLINE double exp2_f64(double x) { return exp2_of_sum_f64(x, 0.0); }

// 2^n (e^r - 1) + (2^n - 1), in halves so that 2^1024 does not overflow. The sign is that of x,
// also for -0.0.
AOTC_INLINE double expm1_f64(double x) {
  const double low = x < -60.0 ? -60.0 : x;
  const exp_parts_f64 parts = reduce_exp_f64(low > 710.0 ? 710.0 : low);
  const double r = parts.rest;
  const double power =
      fma(r * r,
          polynomial(r, 0.5, 0.16666666666666677, 0.041666666666666685, 0.008333333333321789,
                     0.0013888888888893643, 0.00019841269885378853, 2.4801587279164212e-05,
                     2.7557245097664043e-06, 2.7557329280645954e-07, 2.510871177290309e-08,
                     2.089402830394023e-09),
          r);
  const double half = bits_as<double>(static_cast<u64>(parts.exponent + 1022) << 52);
  return copysign(2.0 * fma(half, power, half - 0.5), x);
}

AOTC_INLINE double sigmoid_f64(double x) { return 1.0 / (1.0 + exp_f64(-x)); }

// Near 0 an odd polynomial, elsewhere 1 - 2 / (e^2x + 1), which rounds to 1 from 19.1 on.
AOTC_INLINE double tanh_f64(double x) {
  const double a = abs(x);
  const double e = exp_f64(a > 20.0 ? 40.0 : a + a);
  const double s = a * a;
  const double small =
      fma(a * s,
          polynomial(s, -0.33333333333333326, 0.13333333333331865, -0.05396825396725823,
                     0.021869488502532237, -0.008863234866018166, 0.0035921196868695738,
                     -0.0014557641710221355, 0.0005896223806578816, -0.0002375127656691067,
                     9.248903766714466e-05, -3.117791252976267e-05, 6.5029883328755905e-06),
          a);
  return copysign(a < 0.6 ? small : 1.0 - 2.0 / (e + 1.0), x);
}

AOTC_INLINE double sinh_f64(double x) { return AOTC_MATH(sinh)(x); }

AOTC_INLINE double cosh_f64(double x) { return AOTC_MATH(cosh)(x); }

// x = 2^exponent * mantissa with mantissa in [sqrt(1/2), sqrt(2)), for positive x; denormals are
// scaled first.
struct log_parts_f64 {
  double mantissa, exponent;
};
AOTC_INLINE log_parts_f64 split_log_f64(double x) {
  const bool denormal = x < 2.2250738585072014e-308;
  const u64 bits = bits_as<u64>(denormal ? x * 18014398509481984.0 : x);
  const i64 exponent = static_cast<i64>(bits - 0x3fe6a09e667f3bcdull) >> 52;
  const double mantissa = bits_as<double>(bits - (static_cast<u64>(exponent) << 52));
  return {mantissa, static_cast<double>(exponent) - (denormal ? 54.0 : 0.0)};
}

// What every logarithm gives where its formula does not hold: at 0, below 0, at infinity and at
// NaN.
AOTC_INLINE double log_limits_f64(double x, double result) {
  const double above = x == 0.0 ? -infinity_f64() : result;
  const double valued = x < 0.0 ? nan_f64() : above;
  return x < infinity_f64() ? valued : x;
}

// exponent * ln(2) + log(1 + f) + correction for f in [-0.3, 0.42]: with s = f / (2 + f),
// log(1 + f) = f - (f^2/2 - s (f^2/2 + s^2 P(s^2))).
AOTC_INLINE double log_series_f64(double f, double exponent, double correction) {
  const double s = f / (2.0 + f);
  const double z = s * s;
  const double tail = z * polynomial(z, 0.6666666666666734, 0.3999999999941681, 0.2857142874198077,
                                     0.22222198609838792, 0.18183562636431588, 0.1531408906720722,
                                     0.1479560604381979);
  const double half_square = 0.5 * f * f;
  const double low = fma(exponent, 2.3190468138462996e-17, correction);
  const double body = half_square - fma(s, half_square + tail, low);
  return fma(exponent, 0.6931471805599453, f - body);
}

AOTC_INLINE double log_f64(double x) {
  const log_parts_f64 parts = split_log_f64(x);
  return log_limits_f64(x, log_series_f64(parts.mantissa - 1.0, parts.exponent, 0.0));
}

// log2(x) = high + low for positive x, to 2^-63: with s = (m - 1) / (m + 1) in two parts,
// log2(m) = 2 log2(e) (s + s^3/3 + s^5 P(s^2)).
struct sum_f64 {
  double high, low;
};
AOTC_INLINE sum_f64 log2_sum_f64(double x) {
  const log_parts_f64 parts = split_log_f64(x);
  const double numerator = parts.mantissa - 1.0, denominator = parts.mantissa + 1.0;
  const double lost = parts.mantissa - (denominator - 1.0);
  const double s = numerator / denominator;
  const double s_low = (fma(-s, denominator, numerator) - s * lost) / denominator;
  const double z = s * s;
  const double z_low = fma(s, s, -z) + 2.0 * s * s_low;
  const double cube_tail =
      fma(z,
          polynomial(z, 0.5770780163556178, 0.4121985830919898, 0.3205989022651912,
                     0.2623077018171378, 0.2219839676149536, 0.1912558260336997, 0.190379571837434),
          5.0577616648125907e-17);
  const double factor = 0.9617966939259756 + cube_tail;
  const double factor_low = 0.9617966939259756 - factor + cube_tail;
  const double cubic = z * factor;
  const double cubic_low = fma(z, factor, -cubic) + z * factor_low + z_low * factor;
  const double slope = 2.8853900817779268 + cubic;
  const double slope_low = 2.8853900817779268 - slope + cubic + cubic_low + 4.0710547481862066e-17;
  const double product = s * slope;
  const double product_low = fma(s, slope, -product) + s * slope_low + s_low * slope;
  const double high = parts.exponent + product;
  const double low = parts.exponent - high + product + product_low;
  return {high + low, high - (high + low) + low};
}

AOTC_INLINE double log2_f64(double x) { return log_limits_f64(x, log2_sum_f64(x).high); }

AOTC_INLINE double log10_f64(double x) {
  const sum_f64 logarithm = log2_sum_f64(x);
  const double tail =
      fma(logarithm.high, -2.8037281277851704e-18, logarithm.low * 0.3010299956639812);
  return log_limits_f64(x, fma(logarithm.high, 0.3010299956639812, tail));
}

// With u = 1 + x rounded: log(u) + (x - (u - 1)) / u.
AOTC_INLINE double log1p_f64(double x) {
  const double u = 1.0 + x;
  const log_parts_f64 parts = split_log_f64(u);
  const double lost = u > 2.0 ? 1.0 - (u - x) : x - (u - 1.0);
  const bool near = parts.exponent == 0.0;
  const double f = near ? x : parts.mantissa - 1.0;
  const double result = log_series_f64(f, parts.exponent, near ? 0.0 : lost / u);
  const double valued = x < -1.0 ? nan_f64() : x == -1.0 ? -infinity_f64() : copysign(result, x);
  return x < infinity_f64() ? valued : x;
}

// |x|^y = 2^(y log2 |x|), with the logarithm and the product as sums of two doubles.
AOTC_INLINE double pow_abs_f64(double a, double y) {
  const sum_f64 logarithm = log2_sum_f64(a);
  const double limit = a == 0.0 ? -infinity_f64() : infinity_f64();
  const double high = y * (a == 0.0 || a == infinity_f64() ? limit : logarithm.high);
  const double low = fma(y, logarithm.high, -high) + y * logarithm.low;
  return exp2_of_sum_f64(high, abs(high) < 2000.0 ? low : 0.0);
}

// As in C: 1 where y is 0 or x is 1, whatever the other is; NaN for negative x unless y is an
// integer.
AOTC_INLINE double pow_f64(double x, double y) {
  const double a = abs(x);
  const bool integer = floor(y) == y;
  const bool odd = integer && floor(0.5 * y) != 0.5 * y;
  const double magnitude = a == 1.0 && y == y ? 1.0 : pow_abs_f64(a, y);
  const double result = odd && signbit(x) ? -magnitude : magnitude;
  const bool invalid = x < 0.0 && a != infinity_f64() && !integer;
  const double valued = invalid ? nan_f64() : x != x || y != y ? x + y : result;
  return y == 0.0 || x == 1.0 ? 1.0 : valued;
}

}  // namespace aotc
