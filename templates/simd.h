/* Vectors of the native width through the compiler's vector extension: the one place that names an
 * instruction set. Everything works at any address, and no function needs a library. */
#ifndef AOTC_TEMPLATES_SIMD_H_
#define AOTC_TEMPLATES_SIMD_H_

#include <stddef.h>
#include <stdint.h>

#define AOTC_INLINE inline __attribute__((always_inline))

/* Arrays of vectors live in registers only if the loops over them are unrolled completely. */
#if defined(__clang__)
#define AOTC_UNROLL _Pragma("unroll")
#else
#define AOTC_UNROLL _Pragma("GCC unroll 16")
#pragma GCC diagnostic ignored "-Wpsabi" /* no vector crosses a call: everything here is inlined \
                                          */
#endif

/* AOTC_VECTOR_BYTES and AOTC_VECTOR_REGISTERS can be given to test the shape of another level. */
#if !defined(AOTC_VECTOR_BYTES)
#if defined(__AVX512F__)
#define AOTC_VECTOR_BYTES 64
#elif defined(__AVX2__) && defined(__FMA__)
#define AOTC_VECTOR_BYTES 32
#else
#define AOTC_VECTOR_BYTES 16
#endif
#endif
#if !defined(AOTC_VECTOR_REGISTERS)
#if defined(__AVX512F__) || defined(__aarch64__)
#define AOTC_VECTOR_REGISTERS 32
#else
#define AOTC_VECTOR_REGISTERS 16
#endif
#endif

namespace aotc::simd {

constexpr int kVectorBytes = AOTC_VECTOR_BYTES;
constexpr int kVectorRegisters = AOTC_VECTOR_REGISTERS;

#if defined(__FMA__) || defined(__aarch64__)
constexpr bool kHasFma = true;
#else
constexpr bool kHasFma = false; /* a call of libm's fma would be far slower than two roundings */
#endif

template <class T, int kCount>
struct VectorType {
  typedef T type __attribute__((vector_size(kCount * sizeof(T))));
};

/* A vector of `kCount` elements; Vector<T> has the native width. */
template <class T, int kCount>
using VectorOf = typename VectorType<T, kCount>::type;
template <class T>
constexpr int kLanes = kVectorBytes / int(sizeof(T));
template <class T>
using Vector = VectorOf<T, kLanes<T>>;

template <class V>
AOTC_INLINE V load(const void* from) {
  V value;
  __builtin_memcpy(&value, from, sizeof value);
  return value;
}

template <class V>
AOTC_INLINE void store(void* to, V value) {
  __builtin_memcpy(to, &value, sizeof value);
}

template <class To, class From>
AOTC_INLINE To bit_cast(From from) {
  static_assert(sizeof(To) == sizeof(From), "a bit cast keeps the size");
  To to;
  __builtin_memcpy(&to, &from, sizeof to);
  return to;
}

/* All lanes equal `value`. `value - 0` is exact for every value, `value + 0` is not for -0. */
template <class T>
AOTC_INLINE Vector<T> splat(T value) {
  return value - Vector<T>{};
}

AOTC_INLINE float fused_multiply_add(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
AOTC_INLINE double fused_multiply_add(double a, double b, double c) {
  return __builtin_fma(a, b, c);
}

#if defined(__clang__)
template <class V>
AOTC_INLINE V fused_multiply_add(V a, V b, V c) {
#if __has_builtin(__builtin_elementwise_fma)
  return __builtin_elementwise_fma(a, b, c);
#else
#pragma clang fp contract(fast)
  return a * b + c;
#endif
}
#else
/* Wider vectors than the machine has are split; these overloads are the machine's own. */
template <class V>
AOTC_INLINE V fused_multiply_add(V a, V b, V c) {
  struct Halves {
    VectorOf<decltype(a[0] + 0), int(sizeof(V) / sizeof(a[0]) / 2)> low, high;
  };
  const Halves x = bit_cast<Halves>(a), y = bit_cast<Halves>(b), z = bit_cast<Halves>(c);
  return bit_cast<V>(
      Halves{fused_multiply_add(x.low, y.low, z.low), fused_multiply_add(x.high, y.high, z.high)});
}
#define AOTC_FMA(T, COUNT, ...)                                                                 \
  template <>                                                                                   \
  AOTC_INLINE VectorOf<T, COUNT> fused_multiply_add(VectorOf<T, COUNT> a, VectorOf<T, COUNT> b, \
                                                    VectorOf<T, COUNT> c) {                     \
    return __VA_ARGS__;                                                                         \
  }
#if defined(__FMA__)
AOTC_FMA(float, 4, __builtin_ia32_vfmaddps(a, b, c))
AOTC_FMA(double, 2, __builtin_ia32_vfmaddpd(a, b, c))
AOTC_FMA(float, 8, __builtin_ia32_vfmaddps256(a, b, c))
AOTC_FMA(double, 4, __builtin_ia32_vfmaddpd256(a, b, c))
#endif
#if defined(__AVX512F__) /* all lanes, rounding as the machine is set */
AOTC_FMA(float, 16, __builtin_ia32_vfmaddps512_mask(a, b, c, -1, 4))
AOTC_FMA(double, 8, __builtin_ia32_vfmaddpd512_mask(a, b, c, -1, 4))
#endif
#if defined(__aarch64__)
AOTC_FMA(float, 4, __builtin_aarch64_fmav4sf(a, b, c))
AOTC_FMA(double, 2, __builtin_aarch64_fmav2df(a, b, c))
#endif
#undef AOTC_FMA
#endif

/* Keeps a value that is used twice in a register: a load as an operand of each use costs more. */
template <class V>
AOTC_INLINE V in_register(V value) {
#if defined(__x86_64__) && AOTC_VECTOR_BYTES <= 32
  asm("" : "+x"(value));
#endif
  return value;
}

/* a * b + c, with one rounding where the machine has it; integers wrap. T is the lane's type. */
template <class T, class V>
AOTC_INLINE V multiply_add(V a, V b, V c) {
  if constexpr (kHasFma && T(0.5) != T(0)) {
    return fused_multiply_add(a, b, c);
  } else {
    return a * b + c;
  }
}

template <int... kIndex>
struct Sequence {};
template <int kCount, int... kIndex>
struct CountTo : CountTo<kCount - 1, kCount - 1, kIndex...> {};
template <int... kIndex>
struct CountTo<0, kIndex...> {
  using type = Sequence<kIndex...>;
};

/* Lane i of the low (high) exchange is lane i & ~H (i | H) of a where bit H of i is clear, of b
 * where it is set. Exchanging r[j] with r[j | H] for every H transposes a square of vectors. */
template <int H, class V, int... I>
AOTC_INLINE V exchange_low(V a, V b, Sequence<I...>) {
  return __builtin_shufflevector(a, b, ((I & H) ? int(sizeof...(I)) + (I ^ H) : I)...);
}
template <int H, class V, int... I>
AOTC_INLINE V exchange_high(V a, V b, Sequence<I...>) {
  return __builtin_shufflevector(a, b, ((I & H) ? int(sizeof...(I)) + I : (I ^ H))...);
}

/* rows[i][j] becomes rows[j][i]. */
template <class T, int H = kLanes<T> / 2>
AOTC_INLINE void transpose(Vector<T> (&rows)[kLanes<T>]) {
  if constexpr (H > 0) {
    using Lanes = typename CountTo<kLanes<T>>::type;
    AOTC_UNROLL
    for (int j = 0; j < kLanes<T>; j++) {
      if (j & H) continue;
      const Vector<T> a = rows[j], b = rows[j | H];
      rows[j] = exchange_low<H>(a, b, Lanes{});
      rows[j | H] = exchange_high<H>(a, b, Lanes{});
    }
    transpose<T, H / 2>(rows);
  }
}

/* Lane i of the result is the sum of the lanes of rows[i], added up in the same order for each i.
 */
template <class T, int H = kLanes<T> / 2>
AOTC_INLINE Vector<T> sum_lanes(Vector<T> (&rows)[kLanes<T>]) {
  if constexpr (H > 0) {
    using Lanes = typename CountTo<kLanes<T>>::type;
    AOTC_UNROLL
    for (int j = 0; j < H; j++) {
      const Vector<T> a = rows[j], b = rows[j | H];
      rows[j] = exchange_low<H>(a, b, Lanes{}) + exchange_high<H>(a, b, Lanes{});
    }
    return sum_lanes<T, H / 2>(rows);
  } else {
    return rows[0];
  }
}

}  // namespace aotc::simd
#endif /* AOTC_TEMPLATES_SIMD_H_ */
