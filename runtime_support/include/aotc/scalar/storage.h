// Scalar library, part 11: element types of 8 and 16 bits, and complex32. They only store: values
// are computed in a wider type (Wide) and rounded to nearest even. NaN stays NaN. The bits are
// torch's.
#pragma once

namespace aotc {

struct bfloat16 {
  static constexpr bool is_complex = false;
  using Wide = float;
  u16 bits;
  static AOTC_MEMBER bfloat16 from(float x) {
    const u32 whole = bits_as<u32>(x);
    const u32 rounded = (whole + 0x7fffu + (whole >> 16 & 1u)) >> 16;
    return {static_cast<u16>(x != x ? 0x7fc0u : rounded)};
  }
  AOTC_MEMBER float value() const { return bits_as<float>(static_cast<u32>(bits) << 16); }
};

// a >= 0 in a format with that many mantissa bits and that exponent bias, rounded to nearest even,
// as if its exponent had no limit. Below the least normal number, adding a power of two drops the
// right bits.
template <int MantissaBits, int Bias>
AOTC_INLINE u32 encode_small_float(float a) {
  constexpr u32 dropped = 23 - MantissaBits;
  const u32 bits = bits_as<u32>(a);
  const u32 half = (1u << (dropped - 1)) - 1 + (bits >> dropped & 1);
  const u32 normal = ((bits + half) >> dropped) - (static_cast<u32>(127 - Bias) << MantissaBits);
  constexpr u32 magic = static_cast<u32>(151 - Bias - MantissaBits) << 23;
  const u32 denormal = bits_as<u32>(a + bits_as<float>(magic)) - magic;
  return a < bits_as<float>(static_cast<u32>(128 - Bias) << 23) ? denormal : normal;
}

// The inverse for finite values. The multiplication by a power of two is exact, also for denormals.
template <int MantissaBits, int Bias>
AOTC_INLINE float decode_small_float(u32 code) {
  return bits_as<float>(code << (23 - MantissaBits)) *
         bits_as<float>(static_cast<u32>(254 - Bias) << 23);
}

struct float16 {
  static constexpr bool is_complex = false;
  using Wide = float;
  u16 bits;
  static AOTC_MEMBER float16 from(float x) {
    if (AOTC_NATIVE_FLOAT16) return {AOTC_ROUND_TO_FLOAT16(x)};
    const u32 code = encode_small_float<10, 15>(abs(x));
    const u32 finite = code > 0x7bffu ? 0x7c00u : code;
    const u32 sign_bit = bits_as<u32>(x) >> 16 & 0x8000u;
    const u32 nan = 0x7e00u | (bits_as<u32>(x) >> 13 & 0x3ffu);  // as the hardware does it
    return {static_cast<u16>((x != x ? nan : finite) | sign_bit)};
  }
  AOTC_MEMBER float value() const {
    if (AOTC_NATIVE_FLOAT16) return AOTC_EXTEND_FLOAT16(bits);
    const u32 code = bits & 0x7fffu;
    const float special = bits_as<float>(code << 13 | (code > 0x7c00u ? 0x7fc00000u : 0x7f800000u));
    const float magnitude = code > 0x7bffu ? special : decode_small_float<10, 15>(code);
    return bits_as<float>(bits_as<u32>(magnitude) | static_cast<u32>(bits & 0x8000u) << 16);
  }
};

// Greatest: code of the greatest finite value; Overflow: code of what is beyond. Formats without a
// negative zero use its code for NaN.
template <int MantissaBits, int Bias, u32 Greatest, u32 Overflow, bool SignedZero>
struct float8 {
  static constexpr bool is_complex = false;
  using Wide = float;
  unsigned char bits;
  static AOTC_MEMBER float8 from(float x) {
    const u32 code = encode_small_float<MantissaBits, Bias>(abs(x));
    const u32 finite = code > Greatest ? Overflow : code;
    const u32 sign_bit = SignedZero || finite != 0 ? bits_as<u32>(x) >> 24 & 0x80u : 0u;
    return {static_cast<unsigned char>(x != x ? (SignedZero ? 0x7fu : 0x80u) : finite | sign_bit)};
  }
  AOTC_MEMBER float value() const {
    const u32 code = bits & 0x7fu;
    const float special = code == Overflow ? infinity_f32() : nan_f32();
    const float magnitude =
        code > Greatest ? special : decode_small_float<MantissaBits, Bias>(code);
    const float result = bits & 0x80u ? -magnitude : magnitude;
    return !SignedZero && bits == 0x80u ? nan_f32() : result;
  }
};

using float8_e4m3fn = float8<3, 7, 0x7e, 0x7e, true>;

using float8_e5m2 = float8<2, 15, 0x7b, 0x7c, true>;

using float8_e4m3fnuz = float8<3, 8, 0x7f, 0x80, false>;

using float8_e5m2fnuz = float8<2, 16, 0x7f, 0x80, false>;

struct complex32 {
  static constexpr bool is_complex = false;
  using Wide = complex64;
  float16 re, im;
  static AOTC_MEMBER complex32 from(complex64 z) {
    return {float16::from(z.re), float16::from(z.im)};
  }
  AOTC_MEMBER complex64 value() const { return {re.value(), im.value()}; }
};

}  // namespace aotc
