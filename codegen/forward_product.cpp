#include "codegen/forward_product.h"

#include <algorithm>

#include "codegen/kernel_edit.h"
#include "codegen/product_layout.h"

namespace aotc::loops {

namespace {

constexpr int64_t kMostRowsOfSplit = 8;  // the rows are read again for each part of the columns
constexpr size_t kMostBatchDims = 4;     // of the template

bool uses_iterations(const Sym& s, const Kernel& copy) {
  const std::set<std::string> names = s.symbols();
  return std::ranges::any_of(names, [&](const std::string& n) {
    return n[0] == '%' ||
           std::ranges::any_of(copy.axes, [&](const Axis& a) { return a.name == n; });
  });
}

std::optional<Layout> layout_of(const LoopProgram& p, const Kernel& copy) {
  const Store& s = copy.phases[0].stores[0];
  const Expr& load = copy.exprs[static_cast<size_t>(s.value)];
  const Buffer& result = p.buffers[static_cast<size_t>(load.buffer)];
  Sym from = flat_offset(result, load.at),
      to = flat_offset(p.buffers[static_cast<size_t>(s.buffer)], s.at) -
           p.buffers[static_cast<size_t>(s.buffer)].offset;
  std::vector<Walk> walks;
  for (const Axis& a : copy.axes) {
    auto f = from.linear_in(a.name), t = to.linear_in(a.name);
    if (!f || !t || uses_iterations(f->coefficient, copy) || uses_iterations(t->coefficient, copy))
      return std::nullopt;
    from = f->rest;
    to = t->rest;
    walks.push_back({a.extent, f->coefficient, t->coefficient});
  }
  if (!from.is(0)) return std::nullopt;
  return chained(walks, to, product(result.sizes));
}

class ProductForwarder {
 public:
  ProductForwarder(const Matmul& m, const Layout& layout) : m_(m), layout_(layout) {}

  std::optional<Matmul> run() {
    Matmul out = m_;
    out_ = &out;
    out.batch_sizes.clear();
    for (MatmulOperand* o : {&out.a, &out.b, &out.c, &out.d}) o->batch.clear();
    out.c.offset = layout_.target_offset;
    for (size_t i = 0; i < m_.batch_sizes.size(); ++i) {
      auto placed = place(m_.batch_sizes[i], m_.c.batch[i], layout_);
      if (!placed) return std::nullopt;
      const Sym d = m_.d.buffer < 0 ? Sym(0) : m_.d.batch[i];
      split(*placed, m_.a.batch[i], m_.b.batch[i], d);
      batch(placed->extent, m_.a.batch[i], m_.b.batch[i], d, placed->step);
    }
    auto rows = place(m_.m, m_.c.row, layout_), columns = place(m_.n, m_.c.col, layout_);
    if (!rows || !columns || !rows->outer.empty()) return std::nullopt;
    auto few = m_.m.constant();
    if (!columns->outer.empty() && (!few || *few > kMostRowsOfSplit)) return std::nullopt;
    split(*columns, Sym(0), m_.b.col, m_.d.col);
    out.n = columns->extent;
    out.c.row = rows->step;
    out.c.col = columns->step;
    if (out.batch_sizes.size() > kMostBatchDims) return std::nullopt;
    return out;
  }

 private:
  void split(const Placed& placed, const Sym& a, const Sym& b, const Sym& d) {
    for (size_t i = placed.outer.size(); i-- > 0;) {
      const Walk& w = placed.outer[i];
      batch(w.extent, a * w.from, b * w.from, d * w.from, w.to);
    }
  }

  void batch(const Sym& size, const Sym& a, const Sym& b, const Sym& d, const Sym& c) {
    if (size.is(1)) return;
    out_->batch_sizes.push_back(size);
    out_->a.batch.push_back(a);
    out_->b.batch.push_back(b);
    out_->c.batch.push_back(c);
    if (m_.d.buffer >= 0) out_->d.batch.push_back(d);
  }

  const Matmul& m_;
  const Layout& layout_;
  Matmul* out_ = nullptr;
};

}  // namespace

std::optional<Matmul> forward_product(const LoopProgram& p, const Matmul& product,
                                      const Kernel& copy) {
  auto layout = layout_of(p, copy);
  if (!layout || !product.c.offset.is(0)) return std::nullopt;
  auto out = ProductForwarder(product, *layout).run();
  if (out) out->c.buffer = copy.phases[0].stores[0].buffer;
  return out;
}

}  // namespace aotc::loops
