// Index arithmetic on shapes: row-major numbering, reshape maps, strides of views.
#pragma once
#include <optional>
#include <vector>

#include "ir/ops/op.h"

namespace aotc {

// The strides of a type; a type without any is contiguous.
std::vector<Sym> strides_of(const TensorType& t);

// Row-major number of an index, and the index of a number.
Sym linearize(const std::vector<Sym>& index, const std::vector<Sym>& sizes);
std::vector<Sym> delinearize(const Sym& number, const std::vector<Sym>& sizes);

// The index into `from` of element `index` of its reshape to `to`. Dimensions that the two shapes
// share pass through, so that maps stay simple.
std::vector<Sym> reshape_index(const std::vector<Sym>& index, const std::vector<Sym>& from,
                               const std::vector<Sym>& to);

// The requested sizes with -1 replaced by what the others leave.
std::vector<Sym> resolve_sizes(std::vector<Sym> requested, const std::vector<Sym>& from);

// Strides of a view with other sizes on the same memory; nullopt where eager would have to copy.
std::optional<std::vector<Sym>> view_strides(const TensorType& from, const std::vector<Sym>& to);

// A Python index or slice bound: negative counts from the end.
Sym wrap_index(const Sym& i, const Sym& size);
// A slice bound, wrapped and clamped to 0..size.
Sym clamp_bound(const Sym& i, const Sym& size);

}  // namespace aotc
