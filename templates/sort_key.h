/* Keys: unsigned integers that are ordered as the elements are, equal for equal elements. */
#ifndef AOTC_TEMPLATES_SORT_KEY_H_
#define AOTC_TEMPLATES_SORT_KEY_H_

#include "sort.h"

namespace aotc::sort {

using Index = int64_t;

constexpr int kAnyKind = -1; /* told at run time, for paths where speed matters less than size */

/* The order of the bits of elements that are as wide as the unsigned type U. */
template <class U, int kKind>
struct Order {
  static constexpr U kSign = U(U(1) << (sizeof(U) * 8 - 1));
  static constexpr U kNan = U(~U(0));
  static constexpr U kZero = kSign; /* both zeros */
  U infinity;
  U flip; /* all ones when descending */
  int32_t kind;

  bool is(int32_t what) const { return (kKind == kAnyKind ? kind : kKind) == what; }

  U key(U bits) const {
    if (is(AOTC_SORT_UNSIGNED)) return U(bits ^ flip);
    if (is(AOTC_SORT_SIGNED)) return U(bits ^ kSign ^ flip);
    const U magnitude = U(bits & ~kSign);
    const U negative = U(-U(bits >> (sizeof(U) * 8 - 1))); /* all ones if so */
    U k = U(bits ^ (negative | kSign));
    k = magnitude == 0 ? kZero : k;
    k = magnitude > infinity ? kNan : k;
    return U(k ^ flip);
  }

  /* Whether the key tells the element. */
  bool invertible(U key) const {
    const U k = U(key ^ flip);
    return !is(AOTC_SORT_FLOAT) || (k != kZero && k != kNan);
  }

  U bits(U key) const {
    const U k = U(key ^ flip);
    if (is(AOTC_SORT_UNSIGNED)) return k;
    if (is(AOTC_SORT_SIGNED)) return U(k ^ kSign);
    return k & kSign ? U(k ^ kSign) : U(~k);
  }
};

}  // namespace aotc::sort
#endif /* AOTC_TEMPLATES_SORT_KEY_H_ */
