/* Keys: unsigned integers that are ordered as the elements are, equal for equal elements. */
#ifndef AOTC_TEMPLATES_SORT_KEY_H_
#define AOTC_TEMPLATES_SORT_KEY_H_

#include "sort.h"

namespace aotc::sort {

using Index = int64_t;

/* The order of the bits of elements that are as wide as the unsigned type U. */
template <class U>
struct Order {
  static constexpr U kSign = U(U(1) << (sizeof(U) * 8 - 1));
  static constexpr U kNan = U(~U(0));
  static constexpr U kZero = kSign; /* both zeros */
  U infinity;
  U flip; /* all ones when descending */

  template <int kKind>
  U key(U bits) const {
    if constexpr (kKind == AOTC_SORT_UNSIGNED) return U(bits ^ flip);
    if constexpr (kKind == AOTC_SORT_SIGNED) return U(bits ^ kSign ^ flip);
    const U magnitude = U(bits & ~kSign);
    const U negative = U(-U(bits >> (sizeof(U) * 8 - 1))); /* all ones if so */
    U k = U(bits ^ (negative | kSign));
    k = magnitude == 0 ? kZero : k;
    k = magnitude > infinity ? kNan : k;
    return U(k ^ flip);
  }

  /* Whether the key tells the element. */
  template <int kKind>
  bool invertible(U key) const {
    if constexpr (kKind != AOTC_SORT_FLOAT) return true;
    const U k = U(key ^ flip);
    return k != kZero && k != kNan;
  }

  template <int kKind>
  U bits(U key) const {
    const U k = U(key ^ flip);
    if constexpr (kKind == AOTC_SORT_UNSIGNED) return k;
    if constexpr (kKind == AOTC_SORT_SIGNED) return U(k ^ kSign);
    return k & kSign ? U(k ^ kSign) : U(~k);
  }
};

}  // namespace aotc::sort
#endif /* AOTC_TEMPLATES_SORT_KEY_H_ */
