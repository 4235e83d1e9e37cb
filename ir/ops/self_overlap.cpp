#include "ir/ops/self_overlap.h"

#include <algorithm>

#include "ir/ops/require.h"

namespace aotc {
namespace {

constexpr int64_t kMostPositions = 1 << 20;  // tried one by one

struct Dim {
  Sym size, stride;
  bool is_known() const { return size.constant() && stride.constant(); }
};

// Those that are walked, the one with the smallest stride first; what only a call knows comes last,
// as if rows were laid out in order.
std::vector<Dim> walked(const Index& sizes, const Index& strides) {
  std::vector<Dim> dims;
  for (size_t d = sizes.size(); d-- > 0;)
    if (!sizes[d].is(1)) dims.push_back({sizes[d], strides[d]});
  std::stable_sort(dims.begin(), dims.end(), [](const Dim& a, const Dim& b) {
    auto x = a.stride.constant(), y = b.stride.constant();
    return x && y ? *x < *y : x && !y;
  });
  return dims;
}

// Each dimension steps over all that the smaller ones reach.
bool are_nested(const std::vector<Dim>& dims) {
  Sym reach = 1;
  for (const Dim& d : dims) {
    if (!can_hold(sym_or(sym_le(d.size, Sym(1)), sym_le(reach, d.stride)))) return false;
    reach = reach + (d.size - 1) * d.stride;
  }
  return true;
}

// Interleaved dimensions (strides 2 and 3) may still never meet.
bool positions_repeat(const std::vector<Dim>& dims) {
  std::vector<int64_t> at = {0};
  for (const Dim& d : dims) {
    std::vector<int64_t> next;
    for (int64_t i = 0; i < *d.size.constant(); ++i)
      for (int64_t p : at) next.push_back(p + i * *d.stride.constant());
    at = std::move(next);
  }
  std::sort(at.begin(), at.end());
  return std::adjacent_find(at.begin(), at.end()) != at.end();
}

}  // namespace

bool may_overlap_itself(const Index& sizes, const Index& strides) {
  if (std::any_of(sizes.begin(), sizes.end(), [](const Sym& s) { return s.is(0); })) return false;
  const std::vector<Dim> dims = walked(sizes, strides);
  const bool known =
      std::all_of(dims.begin(), dims.end(), [](const Dim& d) { return d.is_known(); });
  if (!known) return !are_nested(dims);
  auto count = product(sizes).constant();
  return !are_nested(dims) && (!count || *count > kMostPositions || positions_repeat(dims));
}

}  // namespace aotc
