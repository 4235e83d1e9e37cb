#include "codegen/product_layout.h"

#include <algorithm>

namespace aotc::loops {

std::optional<Layout> chained(std::vector<Walk> walks, const Sym& offset, const Sym& count) {
  std::erase_if(walks, [](const Walk& w) { return w.extent.is(1); });
  Layout layout{{}, offset};
  Sym step(1);
  while (layout.walks.size() < walks.size()) {
    auto next = std::ranges::find_if(walks, [&](const Walk& w) { return w.from == step; });
    if (next == walks.end()) return std::nullopt;
    layout.walks.push_back(*next);
    step = step * next->extent;
    next->from = Sym(0);
  }
  return step == count ? std::optional(layout) : std::nullopt;
}

std::optional<Placed> place(const Sym& size, const Sym& stride, const Layout& layout) {
  if (size.is(1) || stride.is(0)) return Placed{size, Sym(0), {}};
  auto first = std::ranges::find_if(layout.walks, [&](const Walk& w) { return w.from == stride; });
  Placed placed{Sym(1), Sym(0), {}};
  Sym count(1);
  for (auto w = first; w != layout.walks.end() && !(count == size); ++w) {
    if (w == first)
      placed = {w->extent, w->to, {}};
    else if (placed.outer.empty() && w->to == placed.step * placed.extent)
      placed.extent = placed.extent * w->extent;
    else
      placed.outer.push_back({w->extent, count, w->to});
    count = count * w->extent;
  }
  return count == size ? std::optional(placed) : std::nullopt;
}

}  // namespace aotc::loops
