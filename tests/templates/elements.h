// Element types as the tests see them: their names, entry points, and an independent conversion to
// and from the type in which the reference sums (double, or uint64 for integers).
#ifndef AOTC_TESTS_TEMPLATES_ELEMENTS_H_
#define AOTC_TESTS_TEMPLATES_ELEMENTS_H_

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "matmul_table.h"

struct BFloat16 {
  uint16_t bits;
};
struct Half {
  uint16_t bits;
};

inline double to_wide(float x) { return x; }
inline double to_wide(double x) { return x; }
inline double to_wide(BFloat16 x) {
  const uint32_t bits = uint32_t(x.bits) << 16;
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
inline double to_wide(Half x) {
  const int exponent = x.bits >> 10 & 31, fraction = x.bits & 1023;
  const double sign = x.bits & 0x8000 ? -1 : 1;
  if (exponent == 31) {
    return fraction ? std::numeric_limits<double>::quiet_NaN()
                    : sign * std::numeric_limits<double>::infinity();
  }
  return sign * std::ldexp(exponent ? 1024 + fraction : fraction, (exponent ? exponent : 1) - 25);
}
inline uint64_t to_wide(int64_t x) { return uint64_t(x); }
inline uint64_t to_wide(int32_t x) { return uint64_t(int64_t(x)); }
inline uint64_t to_wide(int16_t x) { return uint64_t(int64_t(x)); }
inline uint64_t to_wide(int8_t x) { return uint64_t(int64_t(x)); }
inline uint64_t to_wide(uint8_t x) { return x; }

// Rounds to a binary float of `digits` digits whose smallest step is 2^lowest, to nearest even.
inline double round_to(double x, int digits, int lowest) {
  if (x == 0 || !std::isfinite(x)) return x;
  int exponent;
  std::frexp(x, &exponent);
  const int step = exponent - digits > lowest ? exponent - digits : lowest;
  return std::ldexp(std::nearbyint(std::ldexp(x, -step)), step);
}

template <class T>
struct From;
template <>
struct From<float> {
  static float wide(double x) { return float(x); }
};
template <>
struct From<double> {
  static double wide(double x) { return x; }
};
template <>
struct From<BFloat16> {
  static BFloat16 wide(double x) {
    if (std::isnan(x)) return {0x7fc0};
    const float value = float(round_to(x, 8, -133));
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return {uint16_t(bits >> 16)};
  }
};
template <>
struct From<Half> {
  static Half wide(double x) {
    if (std::isnan(x)) return {0x7e00};
    const uint16_t sign = std::signbit(x) ? 0x8000 : 0;
    const double size = std::fabs(round_to(x, 11, -24));
    if (size > 65504) return {uint16_t(sign | 0x7c00)};
    if (size < std::ldexp(1, -14)) return {uint16_t(sign | uint16_t(std::ldexp(size, 24)))};
    const int exponent = std::ilogb(size);
    const auto fraction = uint16_t(std::ldexp(size, 10 - exponent));
    return {uint16_t(sign | ((exponent + 14) * 1024 + fraction))};
  }
};
template <class T>
struct FromInteger {
  static T wide(uint64_t x) { return T(x); }
};
template <>
struct From<int64_t> : FromInteger<int64_t> {};
template <>
struct From<int32_t> : FromInteger<int32_t> {};
template <>
struct From<int16_t> : FromInteger<int16_t> {};
template <>
struct From<int8_t> : FromInteger<int8_t> {};
template <>
struct From<uint8_t> : FromInteger<uint8_t> {};

template <class T>
using Wide = decltype(to_wide(T{}));

inline auto entry(const MatmulTable& table, float) { return table.f32; }
inline auto entry(const MatmulTable& table, double) { return table.f64; }
inline auto entry(const MatmulTable& table, BFloat16) { return table.bf16; }
inline auto entry(const MatmulTable& table, Half) { return table.f16; }
inline auto entry(const MatmulTable& table, int64_t) { return table.i64; }
inline auto entry(const MatmulTable& table, int32_t) { return table.i32; }
inline auto entry(const MatmulTable& table, int16_t) { return table.i16; }
inline auto entry(const MatmulTable& table, int8_t) { return table.i8; }
inline auto entry(const MatmulTable& table, uint8_t) { return table.u8; }

// Equal as numbers; a NaN equals any NaN.
template <class T>
bool same_number(T a, T b) {
  if constexpr (std::numeric_limits<Wide<T>>::is_integer) {
    return a == b;
  } else {
    const double x = to_wide(a), y = to_wide(b);
    return x == y || (std::isnan(x) && std::isnan(y));
  }
}

#endif  // AOTC_TESTS_TEMPLATES_ELEMENTS_H_
