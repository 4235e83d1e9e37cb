// Scalar library, part 2: exact operations on numbers: arithmetic, division, comparison, bits,
// rounding.
#pragma once

namespace aotc {

// Integers wrap; for bool, add is "or" and mul is "and".
template <typename T>
AOTC_INLINE T add(T a, T b) {
  return static_cast<T>(static_cast<wide_of<T>>(a) + static_cast<wide_of<T>>(b));
}

template <typename T>
AOTC_INLINE T sub(T a, T b) {
  return static_cast<T>(static_cast<wide_of<T>>(a) - static_cast<wide_of<T>>(b));
}

template <typename T>
AOTC_INLINE T mul(T a, T b) {
  return static_cast<T>(static_cast<wide_of<T>>(a) * static_cast<wide_of<T>>(b));
}

// -0.0 for 0.0; the least integer stays what it is.
template <typename T>
AOTC_INLINE T neg(T x) {
  return static_cast<T>(-static_cast<wide_of<T>>(x));
}

// True division is of floats only; integers are cast before it.
AOTC_INLINE float div(float a, float b) { return a / b; }
AOTC_INLINE double div(double a, double b) { return a / b; }

AOTC_INLINE float reciprocal(float x) { return 1.0f / x; }
AOTC_INLINE double reciprocal(double x) { return 1.0 / x; }

AOTC_INLINE float sqrt(float x) { return AOTC_MATH(sqrtf)(x); }
AOTC_INLINE double sqrt(double x) { return AOTC_MATH(sqrt)(x); }

// 1 / sqrt(x), rounded twice as eager does.
AOTC_INLINE float rsqrt(float x) { return 1.0f / AOTC_MATH(sqrtf)(x); }
AOTC_INLINE double rsqrt(double x) { return 1.0 / AOTC_MATH(sqrt)(x); }

// Signed zeros and NaN have signs too.
AOTC_INLINE bool signbit(float x) { return (bits_as<u32>(x) >> 31) != 0; }
AOTC_INLINE bool signbit(double x) { return (bits_as<u64>(x) >> 63) != 0; }
template <typename T>
AOTC_INLINE bool signbit(T x) {
  return x < T(0);
}

// The least integer is its own absolute value.
AOTC_INLINE float abs(float x) { return bits_as<float>(bits_as<u32>(x) & 0x7fffffffu); }
AOTC_INLINE double abs(double x) { return bits_as<double>(bits_as<u64>(x) & ~(1ull << 63)); }
template <typename T>
AOTC_INLINE T abs(T x) {
  return x < T(0) ? neg(x) : x;
}

// 1, 0 or -1; 0 for NaN and for -0.0.
template <typename T>
AOTC_INLINE T sign(T x) {
  return static_cast<T>((x > T(0)) - (x < T(0)));
}

AOTC_INLINE float copysign(float x, float s) {
  return bits_as<float>((bits_as<u32>(x) & 0x7fffffffu) | (bits_as<u32>(s) & 0x80000000u));
}
AOTC_INLINE double copysign(double x, double s) {
  return bits_as<double>((bits_as<u64>(x) & ~(1ull << 63)) | (bits_as<u64>(s) & (1ull << 63)));
}

template <typename T>
AOTC_INLINE bool isnan(T x) {
  return x != x;
}

AOTC_INLINE bool isinf(float x) { return abs(x) == infinity_f32(); }
AOTC_INLINE bool isinf(double x) { return abs(x) == infinity_f64(); }
template <typename T>
AOTC_INLINE bool isinf(T) {
  return false;
}

AOTC_INLINE float floor(float x) { return AOTC_MATH(floorf)(x); }
AOTC_INLINE double floor(double x) { return AOTC_MATH(floor)(x); }
template <typename T>
AOTC_INLINE T floor(T x) {
  return x;
}

AOTC_INLINE float ceil(float x) { return AOTC_MATH(ceilf)(x); }
AOTC_INLINE double ceil(double x) { return AOTC_MATH(ceil)(x); }
template <typename T>
AOTC_INLINE T ceil(T x) {
  return x;
}

AOTC_INLINE float trunc(float x) { return AOTC_MATH(truncf)(x); }
AOTC_INLINE double trunc(double x) { return AOTC_MATH(trunc)(x); }
template <typename T>
AOTC_INLINE T trunc(T x) {
  return x;
}

// To the nearest integer, halves to the even one.
AOTC_INLINE float round(float x) { return AOTC_MATH(rintf)(x); }
AOTC_INLINE double round(double x) { return AOTC_MATH(rint)(x); }
template <typename T>
AOTC_INLINE T round(T x) {
  return x;
}

template <typename T>
AOTC_INLINE bool eq(T a, T b) {
  return a == b;
}

template <typename T>
AOTC_INLINE bool ne(T a, T b) {
  return a != b;
}

template <typename T>
AOTC_INLINE bool lt(T a, T b) {
  return a < b;
}

template <typename T>
AOTC_INLINE bool le(T a, T b) {
  return a <= b;
}

template <typename T>
AOTC_INLINE bool gt(T a, T b) {
  return a > b;
}

template <typename T>
AOTC_INLINE bool ge(T a, T b) {
  return a >= b;
}

// NaN wins; of equal zeros the second is taken, as eager's vector code does.
template <typename T>
AOTC_INLINE T maximum(T a, T b) {
  return a > b || a != a ? a : b;
}

template <typename T>
AOTC_INLINE T minimum(T a, T b) {
  return a < b || a != a ? a : b;
}

// NaN loses.
template <typename T>
AOTC_INLINE T fmax(T a, T b) {
  return a >= b || b != b ? a : b;
}

template <typename T>
AOTC_INLINE T fmin(T a, T b) {
  return a <= b || b != b ? a : b;
}

template <typename T>
AOTC_INLINE T where(bool condition, T a, T b) {
  return condition ? a : b;
}

// True for zero; NaN is not zero.
template <typename T>
AOTC_INLINE bool logical_not(T x) {
  return x == T(0);
}

template <typename T>
AOTC_INLINE T bitwise_and(T a, T b) {
  return static_cast<T>(a & b);
}

template <typename T>
AOTC_INLINE T bitwise_or(T a, T b) {
  return static_cast<T>(a | b);
}

template <typename T>
AOTC_INLINE T bitwise_xor(T a, T b) {
  return static_cast<T>(a ^ b);
}

template <typename T>
AOTC_INLINE T bitwise_not(T x) {
  return static_cast<T>(~static_cast<wide_of<T>>(x));
}
AOTC_INLINE bool bitwise_not(bool x) { return !x; }

// A shift by the width or more, or by a negative count, gives 0.
template <typename T>
AOTC_INLINE T shift_left(T x, T count) {
  const bool inside = count >= T(0) && static_cast<wide_of<T>>(count) < sizeof(T) * 8;
  return inside ? static_cast<T>(static_cast<wide_of<T>>(x) << (inside ? count : T(0))) : T(0);
}

// Arithmetic; a shift by the width or more, or by a negative count, leaves only the sign.
template <typename T>
AOTC_INLINE T shift_right(T x, T count) {
  const bool inside = count >= T(0) && static_cast<wide_of<T>>(count) < sizeof(T) * 8;
  return inside     ? static_cast<T>(x >> (inside ? count : T(0)))
         : x < T(0) ? static_cast<T>(-1)
                    : T(0);
}

// Rounds towards zero. Division by 0 gives 0 (it is checked elsewhere), least / -1 wraps.
template <typename T>
AOTC_INLINE T trunc_divide(T a, T b) {
  const bool special = b == T(0) || (number_traits<T>::is_signed && b == static_cast<T>(-1));
  const T quotient = static_cast<T>(a / (special ? T(1) : b));
  return b == T(0) ? T(0) : special ? neg(a) : quotient;
}
AOTC_INLINE float trunc_divide(float a, float b) { return AOTC_MATH(truncf)(a / b); }
AOTC_INLINE double trunc_divide(double a, double b) { return AOTC_MATH(trunc)(a / b); }

// The remainder has the sign of the dividend. Division by 0 gives 0 for integers, NaN for floats.
template <typename T>
AOTC_INLINE T fmod(T a, T b) {
  const bool special = b == T(0) || (number_traits<T>::is_signed && b == static_cast<T>(-1));
  return special ? T(0) : static_cast<T>(a % (special ? T(1) : b));
}
AOTC_INLINE float fmod(float a, float b) { return AOTC_MATH(fmodf)(a, b); }
AOTC_INLINE double fmod(double a, double b) { return AOTC_MATH(fmod)(a, b); }

// The remainder has the sign of the divisor (of the dividend where it is 0).
template <typename T>
AOTC_INLINE T remainder(T a, T b) {
  const T rest = fmod(a, b);
  return rest != T(0) && (rest < T(0)) != (b < T(0)) ? add(rest, b) : rest;
}

// (a - remainder) / b is close to an integer and is moved onto it; a / 0 is infinite or NaN as in
// true division, and zero has the sign of the quotient.
template <typename T>
AOTC_INLINE T float_floor_divide(T a, T b) {
  const T rest = fmod(a, b);
  const T near = (a - rest) / b - T(rest != T(0) && (rest < T(0)) != (b < T(0)));
  const T down = floor(near);
  const T quotient = near == T(0) ? copysign(T(0), a / b) : down + T(near - down > T(0.5));
  return b == T(0) ? a / b : quotient;
}

// Rounds towards minus infinity. Integer division by 0 gives 0.
template <typename T>
AOTC_INLINE T floor_divide(T a, T b) {
  const bool below = fmod(a, b) != T(0) && (a < T(0)) != (b < T(0));
  return sub(trunc_divide(a, b), static_cast<T>(below));
}
AOTC_INLINE float floor_divide(float a, float b) { return float_floor_divide(a, b); }
AOTC_INLINE double floor_divide(double a, double b) { return float_floor_divide(a, b); }

// For integers: wraps. A negative exponent gives 0 but for the bases 1 and -1; 0 to the power 0
// is 1.
template <typename T>
AOTC_HD static inline T pow_int(T base, T exponent) {
  const T odd_sign = base == static_cast<T>(-1) && (exponent & T(1)) ? static_cast<T>(-1) : T(1);
  if (exponent < T(0)) return base == T(1) || base == static_cast<T>(-1) ? odd_sign : T(0);
  T result = T(1);
  for (; exponent != T(0); exponent = static_cast<T>(exponent >> 1)) {
    if (exponent & T(1)) result = mul(result, base);
    base = mul(base, base);
  }
  return result;
}

// The greatest common divisor; negative only where the least integer, its own absolute value, takes
// part. gcd(0, 0) is 0.
template <typename T>
AOTC_HD static inline T gcd(T a, T b) {
  T divisor = abs(a), rest = abs(b);
  while (divisor != T(0)) {
    const T next = fmod(rest, divisor);
    rest = divisor;
    divisor = next;
  }
  return rest;
}

// The next representable number after x towards y.
AOTC_INLINE float nextafter(float x, float y) {
  const u32 bits = bits_as<u32>(x);
  const bool grow = (y > x) == (x > 0.0f);
  const float from_zero = copysign(bits_as<float>(1u), y);
  const float next = x == 0.0f ? from_zero : bits_as<float>(grow ? bits + 1 : bits - 1);
  return x != x || y != y ? x + y : x == y ? y : next;
}
AOTC_INLINE double nextafter(double x, double y) {
  const u64 bits = bits_as<u64>(x);
  const bool grow = (y > x) == (x > 0.0);
  const double from_zero = copysign(bits_as<double>(1ull), y);
  const double next = x == 0.0 ? from_zero : bits_as<double>(grow ? bits + 1 : bits - 1);
  return x != x || y != y ? x + y : x == y ? y : next;
}

}  // namespace aotc
