// Scalar library, part 6: trigonometric and inverse hyperbolic functions of double. sin and cos are
// our own, the rest is libm's. Coefficients: templates/fit_math.py; errors: tests/scalar/sweep.cpp.
#pragma once

namespace aotc {

// x = quadrant * pi/2 + (high + low) with the angle in [-pi/4, pi/4].
struct angle_f64 {
  double high, low;
  u32 quadrant;
};

// For |x| < 2^26: x - n pi/2 with pi/2 as a sum of three doubles; the first difference is exact.
AOTC_INLINE angle_f64 reduce_small_angle_f64(double x) {
  const double shifted = fma(x, 0.6366197723675814, 6755399441055744.0);
  const double n = shifted - 6755399441055744.0;
  const double first = fma(n, -1.5707963267948966, x);
  const double product = n * 6.123233995736766e-17;
  const double lost = fma(n, 6.123233995736766e-17, -product);
  const double second = first - product;
  const double step = first - second;
  const double rest =
      (first - (second + step)) + (step - product) - lost - n * -1.497384905065873e-33;
  const double high = second + rest;
  return {high, second - high + rest, static_cast<u32>(bits_as<u64>(shifted))};
}

// The high half of a 64 x 64 bit product.
AOTC_HD static inline u64 high_product(u64 a, u64 b) {
  const u64 a0 = a & 0xffffffffu, a1 = a >> 32, b0 = b & 0xffffffffu, b1 = b >> 32;
  const u64 cross = a1 * b0 + (a0 * b0 >> 32);
  return a1 * b1 + (cross >> 32) + ((a0 * b1 + (cross & 0xffffffffu)) >> 32);
}

// 64 bits of 2/pi from bit `start` after the binary point on, for start in [-32, 1098]; 0 before
// the point.
AOTC_HD static inline u64 two_over_pi_bits(i32 start) {
  constexpr u32 words[] = {0x00000000, 0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599,
                           0x3c439041, 0xfe5163ab, 0xdebbc561, 0xb7246e3a, 0x424dd2e0, 0x06492eea,
                           0x09d1921c, 0xfe1deb1c, 0xb129a73e, 0xe88235f5, 0x2ebb4484, 0xe99c7026,
                           0xb45f7e41, 0x3991d639, 0x835339f4, 0x9c845f8b, 0xbdf9283b, 0x1ff897ff,
                           0xde05980f, 0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7, 0x4f463f66,
                           0x9e5fea2d, 0x7527bac7, 0xebe5f17b, 0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1,
                           0x1f8d5d08, 0x56033046};
  const i32 first = (start + 32) / 32, shift = (start + 32) % 32;
  const u64 pair = static_cast<u64>(words[first]) << 32 | words[first + 1];
  return pair << shift | static_cast<u64>(words[first + 2]) << shift >> 32;
}

// For |x| >= 2^26, x = m 2^e: m times the bits of 2/pi that matter. Bits before e - 2 give whole
// turns; 192 are enough. The product is a fraction of a turn: two bits of quadrant, then a signed
// fraction of a quadrant.
AOTC_HD static inline angle_f64 reduce_large_angle_f64(double x) {
  const u64 bits = bits_as<u64>(x);
  const i32 e = static_cast<i32>(bits >> 52 & 0x7ff) - 1075;
  const u64 m = (bits & 0xfffffffffffffull) | 0x10000000000000ull;
  const u64 w1 = two_over_pi_bits(e + 62);
  const u64 low = m * w1 + high_product(m, two_over_pi_bits(e + 126));
  const u64 high = m * two_over_pi_bits(e - 2) + high_product(m, w1) + (low < m * w1);
  const u64 fraction = high << 2 | low >> 62;
  const double top = static_cast<double>(static_cast<i32>(fraction >> 32)) * 4294967296.0;
  const double next = static_cast<double>(fraction & 0xffffffffu);
  const double sum = top + next;
  const double rest = next - (sum - top) + static_cast<double>(low << 2) * 5.421010862427522e-20;
  const double angle = sum * 1.5707963267948966;
  const double tail = fma(sum, 1.5707963267948966, -angle) +
                      fma(sum, 6.123233995736766e-17, rest * 1.5707963267948966);
  const double unit = copysign(5.421010862427522e-20, x);
  const u32 quadrant = static_cast<u32>((high + (1ull << 61)) >> 62);
  return {angle * unit, tail * unit, x < 0.0 ? 0u - quadrant : quadrant};
}

AOTC_HD static inline angle_f64 reduce_angle_f64(double x) {
  const angle_f64 angle =
      abs(x) < 67108864.0 ? reduce_small_angle_f64(x) : reduce_large_angle_f64(x);
  return {abs(x) < infinity_f64() ? angle.high : nan_f64(), angle.low, angle.quadrant};
}

// sin and cos of an angle in [-pi/4, pi/4].
AOTC_INLINE double sin_kernel_f64(angle_f64 angle) {
  const double s = angle.high * angle.high;
  const double low = fma(-0.5 * s, angle.low, angle.low);
  return angle.high +
         fma(angle.high * s,
             polynomial(s, -0.1666666666666663, 0.00833333333332184, -0.00019841269829358514,
                        2.7557313538511816e-06, -2.5050734390021408e-08, 1.5895433424611256e-10),
             low);
}
AOTC_INLINE double cos_kernel_f64(angle_f64 angle) {
  const double s = angle.high * angle.high;
  const double tail =
      fma(s * s,
          polynomial(s, 0.041666666666666595, -0.0013888888888873338, 2.4801587288997454e-05,
                     -2.755731421528264e-07, 2.087570511171532e-09, -1.1358732562032916e-11),
          -angle.high * angle.low);
  const double main = 1.0 - 0.5 * s;
  return main + (((1.0 - main) - 0.5 * s) + tail);
}

AOTC_HD static inline double sin_f64(double x) {
  const angle_f64 angle = reduce_angle_f64(x);
  const double value = angle.quadrant & 1 ? cos_kernel_f64(angle) : sin_kernel_f64(angle);
  return x == 0.0 ? x : angle.quadrant & 2 ? -value : value;
}

AOTC_HD static inline double cos_f64(double x) {
  const angle_f64 angle = reduce_angle_f64(x);
  const double value = angle.quadrant & 1 ? sin_kernel_f64(angle) : cos_kernel_f64(angle);
  return (angle.quadrant + 1) & 2 ? -value : value;
}

AOTC_INLINE double tan_f64(double x) { return AOTC_MATH(tan)(x); }

AOTC_INLINE double asin_f64(double x) { return AOTC_MATH(asin)(x); }

AOTC_INLINE double acos_f64(double x) { return AOTC_MATH(acos)(x); }

AOTC_INLINE double atan_f64(double x) { return AOTC_MATH(atan)(x); }

AOTC_INLINE double asinh_f64(double x) { return AOTC_MATH(asinh)(x); }

AOTC_INLINE double acosh_f64(double x) { return AOTC_MATH(acosh)(x); }

AOTC_INLINE double atanh_f64(double x) { return AOTC_MATH(atanh)(x); }

AOTC_INLINE double atan2_f64(double y, double x) { return AOTC_MATH(atan2)(y, x); }

AOTC_INLINE double hypot_f64(double x, double y) { return AOTC_MATH(hypot)(x, y); }

}  // namespace aotc
