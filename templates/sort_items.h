/* Items, each a key with its place in the row, and their sorting: ranks for few, merges for some,
 * a radix sort from the least digit on for many. No two items are equal. */
#ifndef AOTC_TEMPLATES_SORT_ITEMS_H_
#define AOTC_TEMPLATES_SORT_ITEMS_H_

#include <string.h>

#include "sort_key.h"

namespace aotc::sort {

/* Keys of up to 32 bits in rows of fewer than 2^32 elements: key and place in one number. */
struct Packed {
  uint64_t bits;
  static Packed make(uint64_t key, Index place) { return {key << 32 | uint64_t(place)}; }
  uint64_t key() const { return bits >> 32; }
  Index place() const { return Index(bits & 0xffffffffu); }
  bool before(Packed other) const { return bits < other.bits; }
};

struct Wide {
  uint64_t number;
  Index at;
  static Wide make(uint64_t key, Index place) { return {key, place}; }
  uint64_t key() const { return number; }
  Index place() const { return at; }
  bool before(const Wide& other) const {
    return (number < other.number) | ((number == other.number) & (at < other.at));
  }
};

/* Whether an item comes before another one. */
struct ByItem {
  template <class Item>
  bool operator()(const Item& a, const Item& b) const {
    return a.before(b);
  }
};

constexpr Index kRun = 16; /* items that are sorted by counting, for each, those before it */

/* Sorts n <= kLanes items; the others are made to come last. */
template <int kLanes>
inline void rank_sort(Packed* items, Index n) {
  constexpr uint64_t kBias = uint64_t(1) << 63; /* vectors compare signed numbers */
  int64_t padded[kLanes], ranks[kLanes], sorted[kLanes];
  for (int i = 0; i < kLanes; i++) padded[i] = INT64_MAX;
  for (Index i = 0; i < n; i++) padded[i] = int64_t(items[i].bits ^ kBias);
  for (int i = 0; i < kLanes; i++) ranks[i] = 0;
  for (int j = 0; j < kLanes; j++) {
    for (int i = 0; i < kLanes; i++) ranks[i] += padded[j] < padded[i] ? 1 : 0;
  }
  for (Index i = 0; i < n; i++) sorted[ranks[i]] = padded[i];
  for (Index i = 0; i < n; i++) items[i].bits = uint64_t(sorted[i]) ^ kBias;
}

inline void sort_run(Packed* items, Index n, ByItem) {
  if (n <= 4) return rank_sort<4>(items, n);
  if (n <= 8) return rank_sort<8>(items, n);
  rank_sort<kRun>(items, n);
}

template <class Before>
void sort_run(Wide* items, Index n, Before before) {
  for (Index i = 1; i < n; i++) {
    const Wide item = items[i];
    Index j = i;
    for (; j > 0 && before(item, items[j - 1]); j--) items[j] = items[j - 1];
    items[j] = item;
  }
}

template <class Item, class Before>
void merge(const Item* left, Index lefts, const Item* right, Index rights, Item* out,
           Before before) {
  const Item *left_end = left + lefts, *right_end = right + rights;
  while (left < left_end && right < right_end) {
    const Index takes_right = before(*right, *left);
    const Item* const sources[2] = {left, right}; /* no branch that half of the time goes wrong */
    *out++ = *sources[takes_right];
    right += takes_right;
    left += 1 - takes_right;
  }
  while (left < left_end) *out++ = *left++;
  while (right < right_end) *out++ = *right++;
}

/* The sorted items are in the memory that is returned: `items` or `other`. */
template <class Item, class Before = ByItem>
Item* merge_sort(Item* items, Item* other, Index n, Before before = {}) {
  for (Index i = 0; i < n; i += kRun) sort_run(items + i, n - i < kRun ? n - i : kRun, before);
  for (Index run = kRun; run < n; run *= 2) {
    for (Index i = 0; i < n; i += 2 * run) {
      const Index left = n - i < run ? n - i : run;
      const Index right = n - i - left < run ? n - i - left : run;
      merge(items + i, left, items + i + left, right, other + i, before);
    }
    Item* sorted = other;
    other = items;
    items = sorted;
  }
  return items;
}

constexpr int kDigitBits = 8, kDigits = 1 << kDigitBits;

/* As merge_sort, by the keys alone: the items' places must rise. */
template <int kKeyBytes, class Item>
Item* radix_sort(Item* items, Item* other, Index n) {
  Index starts[kKeyBytes][kDigits];
  memset(starts, 0, sizeof starts);
  for (Index i = 0; i < n; i++) {
    const uint64_t key = items[i].key();
    for (int d = 0; d < kKeyBytes; d++) starts[d][key >> (d * kDigitBits) & (kDigits - 1)]++;
  }
  for (int d = 0; d < kKeyBytes; d++) {
    const int shift = d * kDigitBits;
    Index* start = starts[d];
    if (start[items[0].key() >> shift & (kDigits - 1)] == n) continue; /* one digit for all */
    Index sum = 0;
    for (int v = 0; v < kDigits; v++) {
      const Index count = start[v];
      start[v] = sum;
      sum += count;
    }
    for (Index i = 0; i < n; i++)
      other[start[items[i].key() >> shift & (kDigits - 1)]++] = items[i];
    Item* sorted = other;
    other = items;
    items = sorted;
  }
  return items;
}

/* From here on a pass for each digit costs less than the merges. */
template <int kKeyBytes>
constexpr Index kRadixItems = 40 * kKeyBytes;

template <int kKeyBytes, class Item>
Item* sort_items(Item* items, Item* other, Index n) {
  return n < kRadixItems<kKeyBytes> ? merge_sort(items, other, n)
                                    : radix_sort<kKeyBytes>(items, other, n);
}

}  // namespace aotc::sort
#endif /* AOTC_TEMPLATES_SORT_ITEMS_H_ */
