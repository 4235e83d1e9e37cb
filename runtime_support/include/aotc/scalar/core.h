// Scalar library, part 1: macros, bit patterns, classes of types and polynomials, on which the rest
// stands.
#pragma once

// AOTC_HD marks functions for host and device. AOTC_INLINE and AOTC_MEMBER ones are always inlined,
// since a loop with a call in it is not vectorised. AOTC_MATH(name) is a function of libm by the
// compiler's own name, so that nothing needs declaring. AOTC_NATIVE_FLOAT16: the target converts
// float16 in hardware, and the compiler has the type.
#if defined(__clang__) && defined(__CUDA__)
#define AOTC_HD __attribute__((host)) __attribute__((device))
#elif defined(__CUDACC__)
#define AOTC_HD __host__ __device__
#else
#define AOTC_HD
#endif
#define AOTC_MEMBER AOTC_HD inline __attribute__((always_inline))
#define AOTC_INLINE static AOTC_MEMBER
#if defined(__CUDACC__) && !defined(__clang__)
#define AOTC_MATH(name) ::name
#else
#define AOTC_MATH(name) __builtin_##name
#endif
#if !defined(__CUDACC__) && !defined(__CUDA__) && defined(__FLT16_MAX__) && \
    (defined(__F16C__) || defined(__aarch64__))
#define AOTC_NATIVE_FLOAT16 true
#define AOTC_EXTEND_FLOAT16(bits) static_cast<float>(__builtin_bit_cast(_Float16, bits))
#define AOTC_ROUND_TO_FLOAT16(x) __builtin_bit_cast(unsigned short, static_cast<_Float16>(x))
#else
#define AOTC_NATIVE_FLOAT16 false
#define AOTC_EXTEND_FLOAT16(bits) static_cast<float>(bits)
#define AOTC_ROUND_TO_FLOAT16(x) static_cast<unsigned short>(x)
#endif

namespace aotc {

using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long long;
using i32 = int;
using i64 = long long;

// The same bits as another type of the same size.
template <typename To, typename From>
AOTC_INLINE To bits_as(From x) {
  return __builtin_bit_cast(To, x);
}

AOTC_INLINE float infinity_f32() { return bits_as<float>(0x7f800000u); }
AOTC_INLINE double infinity_f64() { return bits_as<double>(0x7ff0000000000000ull); }

AOTC_INLINE float nan_f32() { return bits_as<float>(0x7fc00000u); }
AOTC_INLINE double nan_f64() { return bits_as<double>(0x7ff8000000000000ull); }

// What a built-in number type is. Wide: the type in which its sums and products are formed:
// unsigned for integers (they wrap, and narrow ones are not promoted to int, where a product could
// overflow).
template <typename W, bool IsInteger, bool IsSigned>
struct number_kind {
  using Wide = W;
  static constexpr bool is_integer = IsInteger, is_signed = IsSigned;
};
AOTC_HD number_kind<u32, true, false> kind_of(bool);
AOTC_HD number_kind<u32, true, (static_cast<char>(-1) < 0)> kind_of(char);
AOTC_HD number_kind<u32, true, true> kind_of(signed char);
AOTC_HD number_kind<u32, true, false> kind_of(unsigned char);
AOTC_HD number_kind<u32, true, true> kind_of(short);
AOTC_HD number_kind<u32, true, false> kind_of(unsigned short);
AOTC_HD number_kind<u32, true, true> kind_of(int);
AOTC_HD number_kind<u32, true, false> kind_of(unsigned int);
AOTC_HD number_kind<u64, true, true> kind_of(long);
AOTC_HD number_kind<u64, true, false> kind_of(unsigned long);
AOTC_HD number_kind<u64, true, true> kind_of(long long);
AOTC_HD number_kind<u64, true, false> kind_of(unsigned long long);
AOTC_HD number_kind<float, false, true> kind_of(float);
AOTC_HD number_kind<double, false, true> kind_of(double);
template <typename T>
using number_traits = decltype(kind_of(T()));

template <typename T>
using wide_of = typename number_traits<T>::Wide;

// a * b + c, rounded once.
AOTC_INLINE float fma(float a, float b, float c) { return AOTC_MATH(fmaf)(a, b, c); }
AOTC_INLINE double fma(double a, double b, double c) { return AOTC_MATH(fma)(a, b, c); }

// c0 + c1 x + c2 x^2 + ..., by Horner's rule.
template <typename T>
AOTC_INLINE T polynomial(T, T c) {
  return c;
}
template <typename T, typename... Rest>
AOTC_INLINE T polynomial(T x, T c, Rest... rest) {
  return fma(polynomial(x, rest...), x, c);
}

}  // namespace aotc
