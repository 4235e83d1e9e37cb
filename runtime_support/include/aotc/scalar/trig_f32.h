// Scalar library, part 4: trigonometric and inverse hyperbolic functions of float, without branches
// or libm. Coefficients: templates/fit_math.py; errors: tests/scalar/sweep.cpp.
#pragma once

namespace aotc {

// One of five values by the size of a: below 2^47, 2^70, 2^93, 2^116 or above.
template <typename T>
AOTC_INLINE T by_magnitude_f32(float a, T first, T second, T third, T fourth, T fifth) {
  const T from_93 = a < 0x1p116f ? fourth : fifth;
  const T from_70 = a < 0x1p93f ? third : from_93;
  const T from_47 = a < 0x1p70f ? second : from_70;
  return a < 0x1p47f ? first : from_47;
}

// x = quadrant * pi/2 + (high + low) with the angle in [-pi/4, pi/4], for every finite x. A large x
// is an integer times a power of two, whose quadrants count modulo 4; they are a sum of two
// doubles, and the product is formed without loss. Adding 1.5 * 2^52 rounds to an integer, which
// then stands in the low bits.
struct angle_f32 {
  float high, low;
  u32 quadrant;
};
AOTC_INLINE angle_f32 reduce_angle_f32(float x) {
  const float a = abs(x);
  const double n =
      static_cast<double>(x * by_magnitude_f32(a, 1.0f, 0x1p-24f, 0x1p-47f, 0x1p-70f, 0x1p-93f));
  const double unit =
      by_magnitude_f32(a, 0.6366197723675814, -0.5691182564096516, -1.9586640550588434,
                       -0.9615790552223038, -1.7552702594299052);
  const double unit_low =
      by_magnitude_f32(a, -3.935735335036497e-17, -9.117048055938418e-18, -7.489489106980592e-17,
                       2.9732224602413937e-18, 3.74675564956312e-17);
  const double quadrants = n * unit;
  const double lost = fma(n, unit_low, fma(n, unit, -quadrants));
  const double shifted = quadrants + 6755399441055744.0;
  const double angle = ((quadrants - (shifted - 6755399441055744.0)) + lost) * 1.5707963267948966;
  const float high = static_cast<float>(angle);
  const float low = static_cast<float>(angle - static_cast<double>(high));
  return {high, low, static_cast<u32>(bits_as<u64>(shifted))};
}

// sin and cos of an angle in [-pi/4, pi/4].
AOTC_INLINE float sin_kernel_f32(angle_f32 angle) {
  const float s = angle.high * angle.high;
  return angle.high +
         fma(angle.high * s, polynomial(s, -0.16666655f, 0.008332189f, -0.00019518285f), angle.low);
}
AOTC_INLINE float cos_kernel_f32(angle_f32 angle) {
  const float s = angle.high * angle.high;
  const float tail = fma(s * s, polynomial(s, 0.041666646f, -0.001388731f, 2.4432327e-05f),
                         -angle.high * angle.low);
  return 1.0f - fma(0.5f, s, -tail);
}

AOTC_INLINE float sin_f32(float x) {
  const angle_f32 angle = reduce_angle_f32(x);
  const float value = angle.quadrant & 1 ? cos_kernel_f32(angle) : sin_kernel_f32(angle);
  const float result = bits_as<float>(bits_as<u32>(value) ^ ((angle.quadrant & 2) << 30));
  return x == 0.0f ? x : result;
}

AOTC_INLINE float cos_f32(float x) {
  const angle_f32 angle = reduce_angle_f32(x);
  const float value = angle.quadrant & 1 ? sin_kernel_f32(angle) : cos_kernel_f32(angle);
  return bits_as<float>(bits_as<u32>(value) ^ (((angle.quadrant + 1) & 2) << 30));
}

AOTC_INLINE float tan_f32(float x) {
  const angle_f32 angle = reduce_angle_f32(x);
  const float s = sin_kernel_f32(angle), c = cos_kernel_f32(angle);
  const float value = angle.quadrant & 1 ? -c / s : s / c;
  return x == 0.0f ? x : value;
}

// asin(r) for r in [0, 1/2], given s = r^2.
AOTC_INLINE float asin_kernel_f32(float r, float s) {
  return fma(r * s,
             polynomial(s, 0.16666752f, 0.074953094f, 0.045469154f, 0.02418474f, 0.042158406f), r);
}

// Above 1/2: pi/2 - 2 asin(sqrt((1 - |x|) / 2)).
AOTC_INLINE float asin_f32(float x) {
  const float a = abs(x);
  const float s = a > 0.5f ? 0.5f - 0.5f * a : a * a;
  const float kernel = asin_kernel_f32(a > 0.5f ? sqrt(s) : a, s);
  const float large = 1.5707964f - fma(2.0f, kernel, 4.371139e-08f);
  return copysign(a > 0.5f ? large : kernel, x);
}

AOTC_INLINE float acos_f32(float x) {
  const float a = abs(x);
  const float s = a > 0.5f ? 0.5f - 0.5f * a : a * a;
  const float kernel = asin_kernel_f32(a > 0.5f ? sqrt(s) : a, s);
  const float small = 1.5707964f - (copysign(kernel, x) + 4.371139e-08f);
  const float large = x > 0.0f ? 2.0f * kernel : 3.1415927f - fma(2.0f, kernel, 8.742278e-08f);
  return a > 0.5f ? large : small;
}

// atan(r) for r in [0, 1].
AOTC_INLINE float atan_kernel_f32(float r) {
  const float s = r * r;
  return fma(r * s,
             polynomial(s, -0.333333f, 0.1999853f, -0.14264016f, 0.10950881f, -0.08399311f,
                        0.057881452f, -0.031096945f, 0.0108685475f, -0.0017827495f),
             r);
}

// Above 1: pi/2 - atan(1 / |x|).
AOTC_INLINE float atan_f32(float x) {
  const float a = abs(x);
  const float kernel = atan_kernel_f32(a > 1.0f ? 1.0f / a : a);
  const float large = 1.5707964f - (kernel + 4.371139e-08f);
  return copysign(a > 1.0f ? large : kernel, x);
}

// The angle of the point (x, y): like C's, also for zeros and infinities of either sign.
AOTC_INLINE float atan2_f32(float y, float x) {
  const float ax = abs(x), ay = abs(y);
  const float least = ay < ax ? ay : ax, greatest = ay < ax ? ax : ay;
  const float ratio = least == greatest ? (least == 0.0f ? 0.0f : 1.0f) : least / greatest;
  const float kernel = atan_kernel_f32(ratio);
  const float steep = ay > ax ? 1.5707964f - (kernel + 4.371139e-08f) : kernel;
  const float angle = signbit(x) ? 3.1415927f - (steep + 8.742278e-08f) : steep;
  return x != x || y != y ? x + y : copysign(angle, y);
}

// log1p(a + a^2 / (1 + sqrt(1 + a^2))); for large a, log1p(a) + log(2).
AOTC_INLINE float asinh_f32(float x) {
  const float a = abs(x);
  const float square = a * a;
  const float exact = a + square / (1.0f + sqrt(1.0f + square));
  const float result = log1p_f32(a > 1.0e9f ? a : exact) + (a > 1.0e9f ? 0.6931472f : 0.0f);
  return copysign(result, x);
}

AOTC_INLINE float acosh_f32(float x) {
  const float t = x - 1.0f;
  const float exact = t + sqrt(fma(t, t, t + t));
  const float result = log1p_f32(x > 1.0e9f ? x : exact) + (x > 1.0e9f ? 0.6931472f : 0.0f);
  return x < 1.0f ? nan_f32() : result;
}

AOTC_INLINE float atanh_f32(float x) {
  const float a = abs(x);
  return copysign(0.5f * log1p_f32(2.0f * a / (1.0f - a)), x);
}

// In double nothing overflows or underflows before the end. Infinity wins over NaN.
AOTC_INLINE float hypot_f32(float x, float y) {
  const double a = static_cast<double>(x), b = static_cast<double>(y);
  const float length = static_cast<float>(sqrt(fma(a, a, b * b)));
  return abs(x) == infinity_f32() || abs(y) == infinity_f32() ? infinity_f32() : length;
}

}  // namespace aotc
