// Scalar library, part 3: exponential and logarithmic functions of float, without branches or libm.
// Coefficients: templates/fit_math.py; errors: tests/scalar/sweep.cpp.
#pragma once

namespace aotc {

// x * 2^k for k in [-252, 254], in two steps, so that only a denormal result is rounded.
AOTC_INLINE float scale_f32(float x, i32 k) {
  const u32 half = static_cast<u32>(k >> 1);
  const u32 rest = static_cast<u32>(k) - half;
  return x * bits_as<float>((half + 127) << 23) * bits_as<float>((rest + 127) << 23);
}

// x = exponent * ln(2) + rest, for x in [-104, 90]; NaN gives rest NaN. Adding 1.5 * 2^23 rounds to
// an integer, which then stands in the low bits.
struct exp_parts_f32 {
  float rest;
  i32 exponent;
};
AOTC_INLINE exp_parts_f32 reduce_exp_f32(float x) {
  const float shifted = fma(x, 1.442695f, 12582912.0f);
  const float n = shifted - 12582912.0f;
  const float rest = fma(n, 1.9046542e-09f, fma(n, -0.6931472f, x));
  return {rest, static_cast<i32>(bits_as<u32>(shifted) - 0x4b400000u)};
}

// (exp(r) - 1) / r and exp(r), for r in [-ln(2)/2, ln(2)/2].
AOTC_INLINE float exp_slope_f32(float r) {
  return polynomial(r, 1.0f, 0.49999994f, 0.16666521f, 0.041668274f, 0.008368683f, 0.0013820049f);
}
AOTC_INLINE float exp_kernel_f32(float r) { return fma(exp_slope_f32(r), r, 1.0f); }

AOTC_INLINE float exp_f32(float x) {
  const float low = x < -104.0f ? -104.0f : x;
  const exp_parts_f32 parts = reduce_exp_f32(low > 89.0f ? 89.0f : low);
  return scale_f32(exp_kernel_f32(parts.rest), parts.exponent);
}

AOTC_INLINE float exp2_f32(float x) {
  const float low = x < -151.0f ? -151.0f : x;
  const float inside = low > 129.0f ? 129.0f : low;
  const float shifted = inside + 12582912.0f;
  const float rest = inside - (shifted - 12582912.0f);
  const i32 exponent = static_cast<i32>(bits_as<u32>(shifted) - 0x4b400000u);
  return scale_f32(polynomial(rest, 1.0f, 0.6931472f, 0.24022648f, 0.0555036f, 0.009618506f,
                              0.0013390806f, 0.00015326471f),
                   exponent);
}

// 2^n (e^r - 1) + (2^n - 1), in halves so that 2^128 does not overflow. The sign is that of x, also
// for -0.0.
AOTC_INLINE float expm1_f32(float x) {
  const float low = x < -30.0f ? -30.0f : x;
  const exp_parts_f32 parts = reduce_exp_f32(low > 89.0f ? 89.0f : low);
  const float r = parts.rest;
  const float power = fma(
      r * r,
      polynomial(r, 0.5f, 0.16666666f, 0.041666493f, 0.008333544f, 0.001393234f, 0.00019763438f),
      r);
  const float half = bits_as<float>(static_cast<u32>(parts.exponent + 126) << 23);
  return copysign(2.0f * fma(half, power, half - 0.5f), x);
}

AOTC_INLINE float sigmoid_f32(float x) { return 1.0f / (1.0f + exp_f32(-x)); }

// Near 0 an odd polynomial, elsewhere 1 - 2 / (e^2x + 1), which rounds to 1 from 9.02 on.
AOTC_INLINE float tanh_f32(float x) {
  const float a = abs(x);
  const exp_parts_f32 parts = reduce_exp_f32(a > 9.5f ? 19.0f : a + a);
  const float scale = bits_as<float>(static_cast<u32>(parts.exponent + 127) << 23);
  const float e = exp_kernel_f32(parts.rest) * scale;
  const float s = a * a;
  const float small = fma(
      a * s, polynomial(s, -0.333333f, 0.13331936f, -0.053784717f, 0.020798625f, -0.005897966f), a);
  return copysign(a < 0.6f ? small : 1.0f - 2.0f / (e + 1.0f), x);
}

// e^|x| / 2, which does not overflow before sinh and cosh do.
AOTC_INLINE float half_exp_abs_f32(float x) {
  const float a = abs(x);
  const exp_parts_f32 parts = reduce_exp_f32(a > 90.0f ? 90.0f : a);
  return scale_f32(exp_kernel_f32(parts.rest), parts.exponent - 1);
}

AOTC_INLINE float sinh_f32(float x) {
  const float e = half_exp_abs_f32(x);
  const float s = x * x;
  const float small =
      fma(x * s, polynomial(s, 0.16666667f, 0.0083333105f, 0.00019842896f, 2.7822134e-06f), x);
  return abs(x) < 1.0f ? small : copysign(e - 0.25f / e, x);
}

AOTC_INLINE float cosh_f32(float x) {
  const float e = half_exp_abs_f32(x);
  return e + 0.25f / e;
}

// x = 2^exponent * (1 + fraction) with fraction in [-1/3, 1/3), for positive x; denormals are
// scaled first.
struct log_parts_f32 {
  float fraction, exponent;
};
AOTC_INLINE log_parts_f32 split_log_f32(float x) {
  const bool denormal = x < 1.17549435e-38f;
  const u32 bits = bits_as<u32>(denormal ? x * 8388608.0f : x);
  const i32 exponent = static_cast<i32>(bits - 0x3f2aaaabu) >> 23;
  const float mantissa = bits_as<float>(bits - (static_cast<u32>(exponent) << 23));
  return {mantissa - 1.0f, static_cast<float>(exponent) - (denormal ? 23.0f : 0.0f)};
}

// What every logarithm gives where its formula does not hold: at 0, below 0, at infinity and at
// NaN.
AOTC_INLINE float log_limits_f32(float x, float result) {
  const float above = x == 0.0f ? -infinity_f32() : result;
  const float valued = x < 0.0f ? nan_f32() : above;
  return x < infinity_f32() ? valued : x;
}

AOTC_INLINE float log1p_series_f32(float f) {
  return fma(f * f,
             polynomial(f, -0.5f, 0.33333215f, -0.24999806f, 0.20010427f, -0.16680197f, 0.14005733f,
                        -0.12187445f, 0.1398461f, -0.12880231f),
             f);
}

AOTC_INLINE float log_f32(float x) {
  const log_parts_f32 parts = split_log_f32(x);
  return log_limits_f32(x, fma(parts.exponent, 0.6931472f, log1p_series_f32(parts.fraction)));
}

// The factor log2(e) is a sum: its small part is in the polynomial.
AOTC_INLINE float log2_f32(float x) {
  const log_parts_f32 parts = split_log_f32(x);
  const float f = parts.fraction;
  const float tail =
      f * polynomial(f, 2.4942887e-08f, -0.7213476f, 0.480896f, -0.3606676f, 0.28871042f,
                     -0.24072151f, 0.20180556f, -0.17510031f, 0.20278327f, -0.18825905f);
  return log_limits_f32(x, fma(f, 1.442695f, tail) + parts.exponent);
}

AOTC_INLINE float log10_f32(float x) {
  const log_parts_f32 parts = split_log_f32(x);
  const float f = parts.fraction;
  const float tail =
      fma(parts.exponent, -1.4320989e-08f,
          f * polynomial(f, -8.392219e-09f, -0.21714725f, 0.14476408f, -0.10857234f, 0.08691221f,
                         -0.07245269f, 0.0607265f, -0.052809607f, 0.06114122f, -0.056370795f));
  const float fraction = fma(f, 0.4342945f, tail);
  return log_limits_f32(x, fma(parts.exponent, 0.30103f, fraction));
}

// 1 + x = 2^k m with m in [2/3, 4/3); m - 1 = x 2^-k + (2^-k - 1) is formed without rounding 1 + x.
AOTC_INLINE float log1p_f32(float x) {
  const u32 shift = (bits_as<u32>(x + 1.0f) - 0x3f2aaaabu) & 0xff800000u;
  const float four_scale = bits_as<float>(0x40800000u - shift);
  const float f = bits_as<float>(bits_as<u32>(x) - shift) + fma(0.25f, four_scale, -1.0f);
  const float k = static_cast<float>(static_cast<i32>(shift) >> 23);
  const float result = copysign(fma(k, 0.6931472f, log1p_series_f32(f)), x);
  const float valued = x < -1.0f ? nan_f32() : x == -1.0f ? -infinity_f32() : result;
  return x < infinity_f32() ? valued : x;
}

// log2(m) for m in [sqrt(1/2), sqrt(2)], and 2^f for f in [-1/2, 1/2], to 36 and 28 bits: enough
// for pow of floats.
AOTC_INLINE double pow_log2_f32(double m) {
  const double s = (m - 1.0) / (m + 1.0);
  return s * polynomial(s * s, 2.885390081790092, 0.9617966733335008, 0.5770835866617487,
                        0.4116726112833452, 0.34073219867062765);
}
AOTC_INLINE double pow_exp2_f32(double f) {
  return polynomial(f, 1.0, 0.6931472028541732, 0.2402264791329082, 0.05550332472467502,
                    0.009618437402248764, 0.001339887406695341, 0.00015353349797343622);
}

// |x|^y = 2^(y log2 |x|), in double.
AOTC_INLINE float pow_abs_f32(float a, float y) {
  const u32 bits = bits_as<u32>(a < 1.17549435e-38f ? a * 8388608.0f : a);
  const i32 exponent = static_cast<i32>(bits - 0x3f3504f3u) >> 23;
  const float mantissa = bits_as<float>(bits - (static_cast<u32>(exponent) << 23));
  const float whole = static_cast<float>(exponent) - (a < 1.17549435e-38f ? 23.0f : 0.0f);
  const double logarithm = static_cast<double>(whole) + pow_log2_f32(static_cast<double>(mantissa));
  const double limit = static_cast<double>(a == 0.0f ? -infinity_f32() : infinity_f32());
  const double product =
      static_cast<double>(y) * (a == 0.0f || a == infinity_f32() ? limit : logarithm);
  const double low = product < -200.0 ? -200.0 : product;
  const double inside = low > 200.0 ? 200.0 : low;
  const double shifted = inside + 6755399441055744.0;
  const double power = pow_exp2_f32(inside - (shifted - 6755399441055744.0));
  return static_cast<float>(bits_as<double>(bits_as<u64>(power) + (bits_as<u64>(shifted) << 52)));
}

// As in C: 1 where y is 0 or x is 1, whatever the other is; NaN for negative x unless y is an
// integer.
AOTC_INLINE float pow_f32(float x, float y) {
  const float a = abs(x);
  const bool integer = floor(y) == y;
  const bool odd = integer && floor(0.5f * y) != 0.5f * y;
  const float magnitude = a == 1.0f && y == y ? 1.0f : pow_abs_f32(a, y);
  const float result = odd && signbit(x) ? -magnitude : magnitude;
  const bool invalid = x < 0.0f && a != infinity_f32() && !integer;
  const float valued = invalid ? nan_f32() : x != x || y != y ? x + y : result;
  return y == 0.0f || x == 1.0f ? 1.0f : valued;
}

}  // namespace aotc
