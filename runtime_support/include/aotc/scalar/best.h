// Scalar library, part 13: which of the values that a search meets it keeps. NaN wins over numbers.
#pragma once

namespace aotc {

// Whether v replaces the best value so far where positions ascend: the first of equals stays.
template <typename T>
AOTC_INLINE bool takes_over_maximum(T v, T best, bool first) {
  return first || v > best || (v != v && best == best);
}

template <typename T>
AOTC_INLINE bool takes_over_minimum(T v, T best, bool first) {
  return first || v < best || (v != v && best == best);
}

// The same where positions come in any order: of equals the one with the lower position stays. A
// position of -1: there is no value yet.
template <typename T>
AOTC_INLINE bool comes_before(T v, T best, i64 at, i64 best_at) {
  return (v == best || (v != v && best != best)) && at < best_at;
}

template <typename T>
AOTC_INLINE bool takes_over_maximum_at(T v, T best, i64 at, i64 best_at) {
  return takes_over_maximum(v, best, best_at == -1) || comes_before(v, best, at, best_at);
}

template <typename T>
AOTC_INLINE bool takes_over_minimum_at(T v, T best, i64 at, i64 best_at) {
  return takes_over_minimum(v, best, best_at == -1) || comes_before(v, best, at, best_at);
}

}  // namespace aotc
