// Whether strided tensors share memory. Cheap sufficient tests answer the usual cases (nested
// strides, interleaved or adjacent windows of one tensor); the rest is settled exactly with a
// bitmap of the bytes in question, which costs time in proportion to the elements but never gives a
// wrong answer.
#include <string.h>

#include "tensor.h"

namespace aotc::model {
namespace {

int64_t magnitude(int64_t n) { return n < 0 ? -n : n; }

int64_t greatest_common_divisor(int64_t a, int64_t b) {
  while (b) {
    const int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

// The view's dimensions of more than one element, strides in bytes and positive, `data` at the
// lowest address: the same set of bytes, in a normal form.
struct Reach {
  uintptr_t lo, hi;
  int64_t item;
  int32_t ndim;
  int64_t sizes[kMaxRank], strides[kMaxRank];
};

// False when the view leaves the address space. The caller has no empty view.
bool reach_of(const View& view, Reach* out) {
  out->item = view.item;
  out->ndim = 0;
  if (!byte_range(view, &out->lo, &out->hi)) return false;
  for (int32_t d = 0; d < view.ndim; ++d) {
    if (view.sizes[d] == 1) continue;
    const int64_t stride = magnitude(view.strides[d] * view.item);
    int32_t at = out->ndim++;
    for (; at > 0 && out->strides[at - 1] > stride; --at) {
      out->strides[at] = out->strides[at - 1];
      out->sizes[at] = out->sizes[at - 1];
    }
    out->strides[at] = stride;
    out->sizes[at] = view.sizes[d];
  }
  return true;
}

// Each stride steps over everything that the smaller ones reach: no two elements can meet.
bool is_nested(const Reach& r) {
  int64_t inner = r.item;
  for (int32_t d = 0; d < r.ndim; ++d) {
    if (r.strides[d] < inner) return false;
    inner += (r.sizes[d] - 1) * r.strides[d];
  }
  return true;
}

// Bytes that the dimensions with strides below `period` reach; -1 when a larger stride is no
// multiple of it.
int64_t bytes_within(const Reach& r, int64_t period) {
  int64_t inner = r.item;
  for (int32_t d = 0; d < r.ndim; ++d)
    if (r.strides[d] < period)
      inner += (r.sizes[d] - 1) * r.strides[d];
    else if (r.strides[d] % period != 0)
      return -1;
  return inner;
}

// Modulo `period` both are one run of bytes; if the runs are apart, so are the tensors.
bool are_apart_modulo(const Reach& a, const Reach& b, int64_t period) {
  const int64_t bytes_a = bytes_within(a, period), bytes_b = bytes_within(b, period);
  if (bytes_a < 0 || bytes_b < 0) return false;
  const uintptr_t modulus = static_cast<uintptr_t>(period);
  const int64_t from_a =
      static_cast<int64_t>((b.lo % modulus + modulus - a.lo % modulus) % modulus);
  return from_a >= bytes_a && period - from_a >= bytes_b;
}

bool are_apart(const Reach& a, const Reach& b) {
  for (int32_t d = 0; d < a.ndim; ++d)
    if (a.strides[d] && are_apart_modulo(a, b, a.strides[d])) return true;
  for (int32_t d = 0; d < b.ndim; ++d)
    if (b.strides[d] && are_apart_modulo(a, b, b.strides[d])) return true;
  return false;
}

// One bit per `unit` bytes of [lo, hi), all element boundaries being multiples of `unit` from lo.
struct Bitmap {
  uintptr_t lo, hi;
  int64_t unit;
  unsigned char* bits;
};

// Whether a unit of this element inside the map is set already. `set` marks all of them.
bool visit_element(Bitmap& map, uintptr_t address, int64_t item, bool set) {
  bool found = false;
  for (uintptr_t at = address; at < address + static_cast<uintptr_t>(item);
       at += static_cast<uintptr_t>(map.unit)) {
    if (at < map.lo || at >= map.hi) continue;
    const uint64_t bit = (at - map.lo) / static_cast<uint64_t>(map.unit);
    const unsigned char mask = static_cast<unsigned char>(1u << (bit & 7));
    if (map.bits[bit >> 3] & mask) found = true;
    if (set) map.bits[bit >> 3] = static_cast<unsigned char>(map.bits[bit >> 3] | mask);
  }
  return found;
}

// Visits every element; with `stop_at_marked`, true as soon as one was marked before.
bool visit_elements(Bitmap& map, const Reach& r, bool set, bool stop_at_marked) {
  int64_t index[kMaxRank] = {};
  uintptr_t address = r.lo;
  for (;;) {
    if (visit_element(map, address, r.item, set) && stop_at_marked) return true;
    int32_t d = 0;
    for (; d < r.ndim; ++d) {
      address += static_cast<uintptr_t>(r.strides[d]);
      if (++index[d] < r.sizes[d]) break;
      address -= static_cast<uintptr_t>(r.strides[d] * r.sizes[d]);
      index[d] = 0;
    }
    if (d == r.ndim) return false;
  }
}

int64_t unit_of(const Reach& r, int64_t unit) {
  unit = greatest_common_divisor(r.item, unit);
  for (int32_t d = 0; d < r.ndim; ++d) unit = greatest_common_divisor(r.strides[d], unit);
  return unit;
}

bool make_bitmap(Bitmap* map, uintptr_t lo, uintptr_t hi, int64_t unit) {
  const uint64_t bytes = (hi - lo) / static_cast<uint64_t>(unit) / 8 + 1;
  *map = {lo, hi, unit, static_cast<unsigned char*>(calloc(bytes, 1))};
  return map->bits != nullptr;
}

bool is_empty(const View& view) { return count_elements(view.sizes, view.ndim) == 0; }

}  // namespace

bool overlaps_itself(const View& view) {
  Reach r;
  if (is_empty(view)) return false;
  if (!reach_of(view, &r)) return true;
  if (is_nested(r)) return false;
  if (r.strides[0] == 0) return true;
  Bitmap map;
  if (!make_bitmap(&map, r.lo, r.hi, unit_of(r, 0))) return true;
  const bool found = visit_elements(map, r, true, true);
  free(map.bits);
  return found;
}

bool views_overlap(const View& a, const View& b) {
  Reach ra, rb;
  if (is_empty(a) || is_empty(b)) return false;
  if (!reach_of(a, &ra) || !reach_of(b, &rb)) return true;
  if (ra.hi <= rb.lo || rb.hi <= ra.lo) return false;
  if (are_apart(ra, rb)) return false;
  const uintptr_t lo = ra.lo > rb.lo ? ra.lo : rb.lo;
  const uintptr_t hi = ra.hi < rb.hi ? ra.hi : rb.hi;
  const int64_t distance = static_cast<int64_t>(lo - (ra.lo < rb.lo ? ra.lo : rb.lo));
  Bitmap map;
  if (!make_bitmap(&map, lo, hi, unit_of(ra, unit_of(rb, distance)))) return true;
  visit_elements(map, ra, true, false);
  const bool found = visit_elements(map, rb, false, true);
  free(map.bits);
  return found;
}

}  // namespace aotc::model
