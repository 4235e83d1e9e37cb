// Lets matrix products read an operand where it lies: the transposed, split or repeated heads of an
// attention are strides of the product, not copies. A cache is then read once per step, not copied.
#include <algorithm>

#include "codegen/kernel_edit.h"
#include "codegen/passes.h"
#include "codegen/product_layout.h"
#include "ir/template_kernel.h"

namespace aotc {

using namespace loops;

namespace {

constexpr size_t kMostBatchDims = 4;  // of the template
constexpr int kMostSplits = 4;

// The first floordiv(axis, number) in `s`: {axis, number}.
std::optional<std::pair<std::string, int64_t>> divided_axis(const Sym& s, const Kernel& k) {
  for (const Sym::Term& t : s.terms())
    for (const Sym::AtomPtr& atom : t.factors) {
      if (atom->op != SymOp::FloorDiv) continue;
      const auto axis = atom->args[0].symbol_name();
      const auto by = atom->args[1].constant();
      if (axis && by && *by > 1 &&
          std::ranges::any_of(k.axes, [&](const Axis& a) { return a.name == *axis; }))
        return {{*axis, *by}};
    }
  return std::nullopt;
}

class CopyAbsorber {
 public:
  explicit CopyAbsorber(LoopProgram& p) : p_(p) {}

  void run() {
    for (size_t i = 0; i < p_.kernels.size(); ++i) {
      if (!p_.kernels[i].matmul) continue;
      for (MatmulOperand Matmul::*o : {&Matmul::a, &Matmul::b, &Matmul::d}) absorb(i, o);
    }
    remove_dead_kernels(p_);
  }

 private:
  const Buffer& buffer(BufferId b) const { return p_.buffers[static_cast<size_t>(b)]; }

  void absorb(size_t at, MatmulOperand Matmul::*operand) {
    const BufferId copied = ((*p_.kernels[at].matmul).*operand).buffer;
    if (copied < 0 || buffer(copied).home != Home::Temp) return;
    const std::optional<size_t> copy = only_writer(copied);
    if (!copy || *copy >= at || !is_copy(p_.kernels[*copy], copied)) return;
    const Kernel& k = p_.kernels[*copy];
    const BufferId source = k.exprs[static_cast<size_t>(k.phases[0].stores[0].value)].buffer;
    if (!(buffer(source).device == p_.kernels[at].device) || changes(source, *copy, at)) return;
    const std::optional<Layout> layout = layout_of(k);
    if (!layout) return;
    if (auto product = reading(*p_.kernels[at].matmul, operand, *layout, source)) {
      p_.kernels[at].matmul = std::make_shared<Matmul>(std::move(*product));
      add_origins(p_.kernels[at], k.origins, true);
    }
  }

  std::optional<size_t> only_writer(BufferId b) const {
    std::optional<size_t> found;
    for (size_t j = 0; j < p_.kernels.size(); ++j) {
      if (!buffers_written(p_.kernels[j]).contains(b)) continue;
      if (found) return std::nullopt;
      found = j;
    }
    return found;
  }

  bool is_copy(const Kernel& k, BufferId to) const {
    if (k.kind != KernelKind::Loops && k.kind != KernelKind::Copy) return false;
    const Store* s = elementwise_store(k);
    if (!s || s->buffer != to || s->guard >= 0 || s->accumulate || !covers_buffer(p_, k, *s))
      return false;
    const Expr& e = k.exprs[static_cast<size_t>(s->value)];
    return e.kind == ExprKind::Load && e.guard < 0 && e.dtype == buffer(to).dtype;
  }

  // Whether memory of `b` may be written between the two kernels, or another block begins.
  bool changes(BufferId b, size_t from, size_t to) const {
    for (size_t j = from + 1; j < to; ++j)
      if (p_.kernels[j].kind == KernelKind::Control || writes_memory_of(p_, p_.kernels[j], b))
        return true;
    return false;
  }

  // How the copy's axes walk it and its source. An axis that is divided there is two axes.
  std::optional<Layout> layout_of(Kernel k) const {
    const Store store = k.phases[0].stores[0];
    const Expr load = k.exprs[static_cast<size_t>(store.value)];
    const Buffer &copied = buffer(store.buffer), &source = buffer(load.buffer);
    Sym from = flat_offset(copied, store.at) - copied.offset;
    Sym to = flat_offset(source, load.at) - source.offset;
    for (int i = 0; i < kMostSplits; ++i) {
      const auto divided = divided_axis(to, k);
      if (!divided) break;
      if (!split(k, divided->first, divided->second, from, to)) return std::nullopt;
    }
    std::vector<Walk> walks;
    for (const Axis& a : k.axes) {
      const auto f = from.linear_in(a.name), t = to.linear_in(a.name);
      if (!f || !t || depends_on_iteration(f->coefficient, k) ||
          depends_on_iteration(t->coefficient, k))
        return std::nullopt;
      from = f->rest;
      to = t->rest;
      walks.push_back({a.extent, f->coefficient, t->coefficient});
    }
    if (!from.is(0) || depends_on_iteration(to, k)) return std::nullopt;
    return chained(walks, to, product(copied.sizes));
  }

  bool split(Kernel& k, const std::string& name, int64_t by, Sym& from, Sym& to) const {
    const auto axis = std::ranges::find_if(k.axes, [&](const Axis& a) { return a.name == name; });
    const auto extent = axis->extent.constant();
    if (!extent || *extent % by != 0) return false;
    const std::string outer = name + "_outer", inner = name + "_inner";
    *axis = {outer, Sym(*extent / by)};
    k.axes.push_back({inner, Sym(by)});
    Assumptions known = p_.assumptions(k);
    const Sym place = Sym::symbol(outer) * Sym(by) + Sym::symbol(inner);
    from = known.simplify(from.substitute({{name, place}}));
    to = known.simplify(to.substitute({{name, place}}));
    return true;
  }

  static bool depends_on_iteration(const Sym& s, const Kernel& k) {
    const std::set<std::string> names = s.symbols();
    return std::ranges::any_of(names, [&](const std::string& n) {
      return n[0] == '%' || std::ranges::any_of(k.axes, [&](const Axis& a) { return a.name == n; });
    });
  }

  // ---- the product with another operand

  std::optional<Matmul> reading(const Matmul& m, MatmulOperand Matmul::*operand,
                                const Layout& layout, BufferId source) const {
    const MatmulOperand& old = m.*operand;
    if (!old.offset.is(0)) return std::nullopt;
    Matmul out = m;
    MatmulOperand& now = out.*operand;
    const bool is_b = operand == &Matmul::b;
    const auto rows = place(is_b ? m.k : m.m, old.row, layout);
    const auto columns = place(operand == &Matmul::a ? m.k : m.n, old.col, layout);
    if (!rows || !columns || !rows->outer.empty() || !columns->outer.empty()) return std::nullopt;
    now.buffer = source;
    now.offset = layout.target_offset;
    now.row = rows->step;
    now.col = columns->step;
    if (!is_fast(now) && is_fast(old)) return std::nullopt;
    if (!split_batches(m, operand, layout, out)) return std::nullopt;
    return out;
  }

  // Templates want one of them contiguous.
  static bool is_fast(const MatmulOperand& o) { return o.row.is(1) || o.col.is(1); }

  static bool split_batches(const Matmul& m, MatmulOperand Matmul::*operand, const Layout& layout,
                            Matmul& out) {
    const std::vector<MatmulOperand Matmul::*> all = {&Matmul::a, &Matmul::b, &Matmul::c,
                                                      &Matmul::d};
    out.batch_sizes.clear();
    for (auto o : all) (out.*o).batch.clear();
    const auto add = [&](size_t i, const Sym& size, const Sym& count, const Sym& step) {
      if (size.is(1)) return;
      out.batch_sizes.push_back(size);
      for (auto o : all)
        if ((m.*o).buffer >= 0)
          (out.*o).batch.push_back(o == operand ? step : (m.*o).batch[i] * count);
    };
    for (size_t i = 0; i < m.batch_sizes.size(); ++i) {
      const auto placed = place(m.batch_sizes[i], (m.*operand).batch[i], layout);
      if (!placed) return false;
      for (size_t w = placed->outer.size(); w-- > 0;)
        add(i, placed->outer[w].extent, placed->outer[w].from, placed->outer[w].to);
      add(i, placed->extent, Sym(1), placed->step);
    }
    return out.batch_sizes.size() <= kMostBatchDims;
  }

  LoopProgram& p_;
};

}  // namespace

void absorb_copies(LoopProgram& p) { CopyAbsorber(p).run(); }

}  // namespace aotc
