// Scalar library, part 12: conversion between any two element types, as eager does on x86-64.
#pragma once

namespace aotc {

template <typename A, typename B>
struct same_type {
  static constexpr bool value = false;
};
template <typename A>
struct same_type<A, A> {
  static constexpr bool value = true;
};

// Element types that are classes are complex, or storage with a Wide type to compute in.
template <typename T>
AOTC_HD constexpr bool is_complex_type() {
  if constexpr (__is_class(T)) return T::is_complex;
  return false;
}
template <typename T>
AOTC_HD constexpr bool is_storage_type() {
  return __is_class(T) && !is_complex_type<T>();
}

// Truncation; what does not fit gives the least integer, as the x86 instruction does.
template <typename From>
AOTC_INLINE i32 truncate_to_i32(From x) {
  return x >= From(-2147483648.0) && x < From(2147483648.0) ? static_cast<i32>(x) : -2147483647 - 1;
}
template <typename From>
AOTC_INLINE i64 truncate_to_i64(From x) {
  const bool fits = x >= From(-9223372036854775808.0) && x < From(9223372036854775808.0);
  return fits ? static_cast<i64>(x) : -9223372036854775807ll - 1;
}

// Narrow types wrap what truncation to 32 bits gives. uint32 and uint64 wrap what truncation to as
// many bits gives, but have the upper half of their range too, and 0 above it.
template <typename To, typename From>
AOTC_INLINE To float_to_integer(From x) {
  if constexpr (sizeof(To) < 4 || number_traits<To>::is_signed) {
    return sizeof(To) > 4 ? static_cast<To>(truncate_to_i64(x))
                          : static_cast<To>(truncate_to_i32(x));
  } else {
    constexpr From half = sizeof(To) == 4 ? From(2147483648.0) : From(9223372036854775808.0);
    const To high = x >= half && x < half + half ? static_cast<To>(x) : To(0);
    const To low =
        sizeof(To) == 4 ? static_cast<To>(truncate_to_i32(x)) : static_cast<To>(truncate_to_i64(x));
    return x >= half ? high : low;
  }
}

// Integers wrap; anything but 0 is true, NaN too; complex to real drops the imaginary part;
// float16, bfloat16 and float8 are reached through float.
template <typename To, typename From>
AOTC_INLINE To cast(From x) {
  if constexpr (same_type<To, From>::value) {
    return x;
  } else if constexpr (is_storage_type<From>()) {
    return cast<To>(x.value());
  } else if constexpr (is_storage_type<To>()) {
    return To::from(cast<typename To::Wide>(x));
  } else if constexpr (is_complex_type<From>() && is_complex_type<To>()) {
    return To{cast<typename To::Part>(x.re), cast<typename To::Part>(x.im)};
  } else if constexpr (is_complex_type<To>()) {
    return To{cast<typename To::Part>(x), typename To::Part(0)};
  } else if constexpr (is_complex_type<From>() && same_type<To, bool>::value) {
    return x.re != 0 || x.im != 0;
  } else if constexpr (is_complex_type<From>()) {
    return cast<To>(x.re);
  } else if constexpr (same_type<To, bool>::value) {
    return x != From(0);
  } else if constexpr (number_traits<To>::is_integer && !number_traits<From>::is_integer) {
    return float_to_integer<To>(x);
  } else {
    return static_cast<To>(x);
  }
}

// The same bits as an element of another type of that size; any byte but 0 is true.
template <typename To, typename From>
AOTC_INLINE To bitcast(From x) {
  static_assert(sizeof(To) == sizeof(From));
  if constexpr (same_type<To, bool>::value)
    return __builtin_bit_cast(unsigned char, x) != 0;
  else
    return __builtin_bit_cast(To, x);
}

}  // namespace aotc
