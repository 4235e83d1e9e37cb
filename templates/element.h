/* Element types: the type that sums are kept in, and the exact way from and to it. Sixteen-bit
 * floats sum in float32 and round to nearest even; integers sum in unsigned arithmetic of at least
 * their width. */
#ifndef AOTC_TEMPLATES_ELEMENT_H_
#define AOTC_TEMPLATES_ELEMENT_H_

#include "simd.h"

namespace aotc {

struct Bf16 {
  uint16_t bits;
};
struct F16 {
  uint16_t bits;
};

/* Sum: what elements are added up in. Bits: the element's storage as an integer. Wide: an integer
 * of Sum's width that Bits converts to with the right sign. */
template <class T>
struct Element;
#define AOTC_ELEMENT(T, SUM, BITS, WIDE) \
  template <>                            \
  struct Element<T> {                    \
    using Sum = SUM;                     \
    using Bits = BITS;                   \
    using Wide = WIDE;                   \
  };
AOTC_ELEMENT(float, float, uint32_t, uint32_t)
AOTC_ELEMENT(double, double, uint64_t, uint64_t)
AOTC_ELEMENT(Bf16, float, uint16_t, uint32_t)
AOTC_ELEMENT(F16, float, uint16_t, uint32_t)
AOTC_ELEMENT(int64_t, uint64_t, uint64_t, uint64_t)
AOTC_ELEMENT(int32_t, uint32_t, uint32_t, uint32_t)
AOTC_ELEMENT(int16_t, uint32_t, int16_t, int32_t)
AOTC_ELEMENT(int8_t, uint32_t, int8_t, int32_t)
AOTC_ELEMENT(uint8_t, uint32_t, uint8_t, int32_t)
AOTC_ELEMENT(uint32_t, uint32_t, uint32_t, uint32_t)
AOTC_ELEMENT(uint64_t, uint64_t, uint64_t, uint64_t)
#undef AOTC_ELEMENT

template <class T>
using Sum = typename Element<T>::Sum;

template <class A, class B>
constexpr bool kSame = false;
template <class A>
constexpr bool kSame<A, A> = true;

/* Elements whose bits are those of their sum need no conversion. */
template <class T>
constexpr bool kPlain = sizeof(T) == sizeof(Sum<T>);

/* The conversions below hold for one number (uint32_t) and for a vector of them alike, hence masks
 * of all ones or zeros instead of comparisons. */
template <class U>
AOTC_INLINE U below_mask(U value, uint32_t limit) { /* value, limit < 2^31 */
  return U{} - ((value - limit) >> 31);
}

AOTC_INLINE float number(uint32_t value) { return float(int32_t(value)); }
template <class U>
AOTC_INLINE auto number(U value) {
  using S = simd::VectorOf<int32_t, int(sizeof(U) / 4)>;
  return __builtin_convertvector(simd::bit_cast<S>(value), simd::VectorOf<float, sizeof(U) / 4>);
}

template <class U>
AOTC_INLINE U bf16_to_f32(U bits) {
  return bits << 16;
}

template <class U>
AOTC_INLINE U f32_to_bf16(U bits) {
  const U finite = below_mask(bits & 0x7fffffffu, 0x7f800001u);
  const U rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  return (finite & rounded) | (~finite & 0x7fc0u);
}

template <class U>
AOTC_INLINE U f16_to_f32(U bits) {
  constexpr uint32_t kRebias = 112u << 23;
  const U magnitude = bits & 0x7fffu;
  const U finite = below_mask(magnitude, 0x7c00u), subnormal = below_mask(magnitude, 0x0400u);
  const U normal = (magnitude << 13) + kRebias + (~finite & kRebias);
  const U tiny = simd::bit_cast<U>(number(magnitude) * 0x1p-24f);
  return (subnormal & tiny) | (~subnormal & normal) | ((bits & 0x8000u) << 16);
}

template <class F, class U>
AOTC_INLINE U f32_to_f16(U bits) {
  const U magnitude = bits & 0x7fffffffu;
  const U tiny = below_mask(magnitude, 0x38800000u), finite = below_mask(magnitude, 0x47800000u);
  const U number_mask = below_mask(magnitude, 0x7f800001u);
  const U normal = (magnitude - (112u << 23) + 0xfffu + ((magnitude >> 13) & 1u)) >> 13;
  /* Adding 0.5 leaves a multiple of 2^-24, the smallest step of float16, rounded by the machine. */
  const U subnormal = simd::bit_cast<U>(simd::bit_cast<F>(magnitude) + 0.5f) - 0x3f000000u;
  const U special = (number_mask & 0x7c00u) | (~number_mask & 0x7e00u);
  return (tiny & subnormal) | (~tiny & finite & normal) | (~finite & special) |
         ((bits >> 16) & 0x8000u);
}

/* W is Wide or a vector of it, S is Sum or a vector of it. */
template <class T, class S, class W>
AOTC_INLINE S widen_bits(W bits) {
  if constexpr (kSame<T, Bf16>) return simd::bit_cast<S>(bf16_to_f32(bits));
  if constexpr (kSame<T, F16>) return simd::bit_cast<S>(f16_to_f32(bits));
  if constexpr (!kSame<T, Bf16> && !kSame<T, F16>) return simd::bit_cast<S>(bits);
}

template <class T, class W, class S>
AOTC_INLINE W narrow_bits(S sum) {
  if constexpr (kSame<T, Bf16>) return f32_to_bf16(simd::bit_cast<W>(sum));
  if constexpr (kSame<T, F16>) return f32_to_f16<S>(simd::bit_cast<W>(sum));
  if constexpr (!kSame<T, Bf16> && !kSame<T, F16>) return simd::bit_cast<W>(sum);
}

template <class T>
AOTC_INLINE Sum<T> load_one(const T* from) {
  typename Element<T>::Bits bits;
  __builtin_memcpy(&bits, from, sizeof bits);
  return widen_bits<T, Sum<T>>(typename Element<T>::Wide(bits));
}

template <class T>
AOTC_INLINE void store_one(T* to, Sum<T> sum) {
  const auto bits =
      static_cast<typename Element<T>::Bits>(narrow_bits<T, typename Element<T>::Wide>(sum));
  __builtin_memcpy(to, &bits, sizeof bits);
}

/* A native vector of sums from as many neighbouring elements. */
template <class T>
AOTC_INLINE simd::Vector<Sum<T>> load_vector(const T* from) {
  using V = simd::Vector<Sum<T>>;
  if constexpr (kPlain<T>) {
    return simd::load<V>(from);
  } else {
    using Bits = simd::VectorOf<typename Element<T>::Bits, simd::kLanes<Sum<T>>>;
#if defined(__F16C__) && AOTC_VECTOR_BYTES == 32
    if constexpr (kSame<T, F16>) {
      return __builtin_ia32_vcvtph2ps256(simd::load<simd::VectorOf<short, 8>>(from));
    }
#endif
    return widen_bits<T, V>(
        __builtin_convertvector(simd::load<Bits>(from), simd::Vector<typename Element<T>::Wide>));
  }
}

template <class T>
AOTC_INLINE void store_vector(T* to, simd::Vector<Sum<T>> sums) {
  if constexpr (kPlain<T>) {
    simd::store(to, sums);
  } else {
    using Bits = simd::VectorOf<typename Element<T>::Bits, simd::kLanes<Sum<T>>>;
    using Wide = simd::Vector<typename Element<T>::Wide>;
    simd::store(to, __builtin_convertvector((narrow_bits<T, Wide>(sums)), Bits));
  }
}

}  // namespace aotc
#endif /* AOTC_TEMPLATES_ELEMENT_H_ */
