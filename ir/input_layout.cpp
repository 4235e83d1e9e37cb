// Which exported layouts hold every element once: the strides nest, each at least as long as all
// that the smaller ones reach.
#include "ir/input_layout.h"

#include <algorithm>

namespace aotc {
namespace {

bool nests(const TensorType& type, const Assumptions& known) {
  std::vector<size_t> rest;
  for (size_t d = 0; d < type.rank(); ++d)
    if (!type.sizes[d].is(1)) rest.push_back(d);
  Sym reach(0);  // of the dimensions so far: the last element's offset
  while (!rest.empty()) {
    const auto smallest = std::find_if(rest.begin(), rest.end(), [&](size_t d) {
      return std::all_of(rest.begin(), rest.end(), [&](size_t other) {
        return known.proves_le(type.strides[d], type.strides[other]);
      });
    });
    if (smallest == rest.end()) return false;
    const Sym& stride = type.strides[*smallest];
    if (!known.proves_lt(reach, stride)) return false;
    reach = reach + (type.sizes[*smallest] - 1) * stride;
    rest.erase(smallest);
  }
  return true;
}

}  // namespace

bool is_dense_permutation(const std::vector<Sym>& sizes, const std::vector<Sym>& strides) {
  std::vector<size_t> order;
  for (size_t i = 0; i < sizes.size(); ++i)
    if (!sizes[i].is(1)) order.push_back(i);
  Sym expected(1);
  while (!order.empty()) {
    auto it =
        std::find_if(order.begin(), order.end(), [&](size_t i) { return strides[i] == expected; });
    if (it == order.end()) return false;
    expected = expected * sizes[*it];
    order.erase(it);
  }
  return true;
}

std::vector<Sym> compiled_strides(const TensorType& type, const Assumptions& known) {
  if (type.strides.empty()) return contiguous_strides(type.sizes);
  if (is_dense_permutation(type.sizes, type.strides) || nests(type, known)) return type.strides;
  return contiguous_strides(type.sizes);
}

}  // namespace aotc
