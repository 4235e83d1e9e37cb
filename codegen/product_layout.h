// How the dimensions of a matrix product walk memory that a copy fills or empties: the product then
// works where the copy would have.
#pragma once
#include <optional>
#include <vector>

#include "ir/sym.h"

namespace aotc::loops {

// A dimension of the copy: how far it walks on the product's side and on the other one.
struct Walk {
  Sym extent, from, to;
};

// The copy's dimensions, those that walk the product's side in the smallest steps first.
struct Layout {
  std::vector<Walk> walks;
  Sym target_offset;  // on the other side
};

// The layout, if the walks reach each of `count` elements of the product's side once.
std::optional<Layout> chained(std::vector<Walk> walks, const Sym& offset, const Sym& count);

// One dimension of the product: as part of it, and what has to become a batch dimension.
struct Placed {
  Sym extent, step;         // of the inner part
  std::vector<Walk> outer;  // `from`: in elements of this dimension
};
std::optional<Placed> place(const Sym& size, const Sym& stride, const Layout& layout);

}  // namespace aotc::loops
