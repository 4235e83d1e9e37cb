// Scalar library, part 9: complex numbers and their exact operations.
#pragma once

namespace aotc {

template <typename T>
struct complex_of {
  static constexpr bool is_complex = true;
  using Part = T;
  T re, im;
};
using complex64 = complex_of<float>;
using complex128 = complex_of<double>;

template <typename T>
AOTC_INLINE complex_of<T> complex(T re, T im) {
  return {re, im};
}

template <typename T>
AOTC_INLINE T complex_real(complex_of<T> z) {
  return z.re;
}

template <typename T>
AOTC_INLINE T complex_imag(complex_of<T> z) {
  return z.im;
}

template <typename T>
AOTC_INLINE complex_of<T> complex_conj(complex_of<T> z) {
  return {z.re, -z.im};
}

template <typename T>
AOTC_INLINE complex_of<T> complex_neg(complex_of<T> z) {
  return {-z.re, -z.im};
}

template <typename T>
AOTC_INLINE complex_of<T> complex_add(complex_of<T> a, complex_of<T> b) {
  return {a.re + b.re, a.im + b.im};
}

template <typename T>
AOTC_INLINE complex_of<T> complex_sub(complex_of<T> a, complex_of<T> b) {
  return {a.re - b.re, a.im - b.im};
}

template <typename T>
AOTC_INLINE complex_of<T> complex_mul(complex_of<T> a, complex_of<T> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

// Smith's way: the divisor is scaled by its greater part, so that its square does not overflow.
template <typename T>
AOTC_INLINE complex_of<T> complex_div(complex_of<T> a, complex_of<T> b) {
  const bool flat = abs(b.re) >= abs(b.im);
  const T ratio = flat ? b.im / b.re : b.re / b.im;
  const T scale = T(1) / (flat ? b.re + b.im * ratio : b.re * ratio + b.im);
  const T re = flat ? a.re + a.im * ratio : a.re * ratio + a.im;
  const T im = flat ? a.im - a.re * ratio : a.im * ratio - a.re;
  const bool by_zero = b.re == T(0) && b.im == T(0);
  return by_zero ? complex_of<T>{a.re / abs(b.re), a.im / abs(b.re)}
                 : complex_of<T>{re * scale, im * scale};
}

template <typename T>
AOTC_INLINE complex_of<T> complex_reciprocal(complex_of<T> z) {
  return complex_div(complex_of<T>{T(1), T(0)}, z);
}

template <typename T>
AOTC_INLINE bool complex_eq(complex_of<T> a, complex_of<T> b) {
  return a.re == b.re && a.im == b.im;
}

template <typename T>
AOTC_INLINE bool complex_ne(complex_of<T> a, complex_of<T> b) {
  return a.re != b.re || a.im != b.im;
}

template <typename T>
AOTC_INLINE bool complex_logical_not(complex_of<T> z) {
  return z.re == T(0) && z.im == T(0);
}

template <typename T>
AOTC_INLINE bool complex_isnan(complex_of<T> z) {
  return z.re != z.re || z.im != z.im;
}

template <typename T>
AOTC_INLINE bool complex_isinf(complex_of<T> z) {
  return isinf(z.re) || isinf(z.im);
}

}  // namespace aotc
