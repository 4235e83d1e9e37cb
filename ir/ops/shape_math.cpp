// Index arithmetic on shapes: row-major numbering, reshape maps, strides of views.
#include "ir/ops/shape_math.h"

namespace aotc {
namespace {

using Sizes = std::vector<Sym>;

// The smallest runs from i and j whose products agree; the rest of both shapes where none do.
std::pair<size_t, size_t> matching_runs(const Sizes& from, size_t i, const Sizes& to, size_t j) {
  Sym a = from[i];
  for (size_t ei = i + 1;; a = a * from[ei++]) {
    Sym b = to[j];
    for (size_t ej = j + 1;; b = b * to[ej++]) {
      if (a == b) return {ei, ej};
      if (ej == to.size()) break;
    }
    if (ei == from.size()) break;
  }
  return {from.size(), to.size()};
}

Sizes run(const Sizes& v, size_t begin, size_t end) {
  return Sizes(v.begin() + static_cast<std::ptrdiff_t>(begin),
               v.begin() + static_cast<std::ptrdiff_t>(end));
}

bool is_empty(const Sizes& sizes) {
  for (const Sym& s : sizes)
    if (s.is(0)) return true;
  return false;
}

}  // namespace

std::vector<Sym> strides_of(const TensorType& t) {
  return t.strides.size() == t.sizes.size() ? t.strides : contiguous_strides(t.sizes);
}

Sym linearize(const Sizes& index, const Sizes& sizes) {
  Sym number = 0;
  for (size_t i = 0; i < index.size(); ++i) number = number * sizes[i] + index[i];
  return number;
}

Sizes delinearize(const Sym& number, const Sizes& sizes) {
  Sizes index(sizes.size(), Sym(0));
  Sym rest = number;
  for (size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i].is(1)) continue;
    bool outermost = true;
    for (size_t k = 0; k < i; ++k) outermost &= sizes[k].is(1);
    index[i] = outermost ? rest : mod(rest, sizes[i]);
    if (outermost) break;
    rest = floordiv(rest, sizes[i]);
  }
  return index;
}

Sizes reshape_index(const Sizes& index, const Sizes& from, const Sizes& to) {
  if (is_empty(from)) return Sizes(from.size(), Sym(0));
  Sizes at(from.size(), Sym(0));
  size_t i = 0, j = 0;
  while (i < from.size()) {
    if (from[i].is(1)) {
      ++i;
      continue;
    }
    while (j < to.size() && to[j].is(1)) ++j;
    if (j == to.size()) break;
    auto [ei, ej] = matching_runs(from, i, to, j);
    Sym number = linearize(run(index, j, ej), run(to, j, ej));
    Sizes part = delinearize(number, run(from, i, ei));
    for (size_t k = i; k < ei; ++k) at[k] = part[k - i];
    i = ei;
    j = ej;
  }
  return at;
}

Sizes resolve_sizes(Sizes requested, const Sizes& from) {
  Sym known = 1;
  for (const Sym& s : requested)
    if (!s.is(-1)) known = known * s;
  for (Sym& s : requested)
    if (s.is(-1)) s = known.is(0) ? Sym(0) : floordiv(product(from), known);
  return requested;
}

std::optional<Sizes> view_strides(const TensorType& from, const Sizes& to) {
  Sizes strides = strides_of(from);
  if (is_empty(from.sizes) || from.sizes.empty()) return contiguous_strides(to);
  Sizes result(to.size(), Sym(1));
  size_t next = to.size();
  Sym base = strides.back(), elements = 1, covered = 1;
  for (size_t d = from.sizes.size(); d-- > 0;) {
    elements = elements * from.sizes[d];
    bool ends = d == 0 || (!from.sizes[d - 1].is(1) && strides[d - 1] != elements * base);
    if (!ends) continue;
    while (next > 0 && (covered != elements || to[next - 1].is(1))) {
      --next;
      result[next] = covered * base;
      covered = covered * to[next];
    }
    if (covered != elements) return std::nullopt;
    if (d > 0) base = strides[d - 1];
    elements = covered = 1;
  }
  if (next > 0) return std::nullopt;
  return result;
}

Sym wrap_index(const Sym& i, const Sym& size) {
  if (auto c = i.constant()) return *c < 0 ? i + size : i;
  return i + size * sym_lt(i, 0);
}

Sym clamp_bound(const Sym& i, const Sym& size) {
  if (i.is(0)) return i;
  if (i == size) return i;
  if (auto c = i.constant(); c && *c == INT64_MAX) return size;
  Sym wrapped = wrap_index(i, size);
  if (auto c = i.constant(); c && *c > 0) return sym_min(wrapped, size);
  return sym_max(sym_min(wrapped, size), 0);
}

}  // namespace aotc
