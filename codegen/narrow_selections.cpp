// The decomposed form of a write to one row is a selection between the row and the tensor over the
// whole of it: t[i, j] = where(i == 3, row[j], x[i, j]). Where that leads to a write-back, it
// becomes a copy of x and a store of the row, as other partial writes are, so that the row can be
// written in place.
#include <algorithm>

#include "codegen/kernel_edit.h"
#include "codegen/passes.h"

namespace aotc {

using namespace loops;

namespace {

using Index = std::vector<Sym>;

class NarrowSelections {
 public:
  explicit NarrowSelections(LoopProgram& p) : p_(p) {}

  void run() {
    const Blocks blocks(controls_of(p_));
    std::set<BufferId> wanted;
    for (const WriteBackInfo& w : p_.write_backs) wanted.insert(w.value);
    for (size_t i = p_.kernels.size(); i-- > 0;) {
      const Store* s = elementwise_store(p_.kernels[i]);
      if (blocks.depth(i) > 0 || !s || !wanted.contains(s->buffer)) continue;
      const BufferId base = narrow(i);
      if (base >= 0) wanted.insert(base);
    }
    remove_dead_kernels(p_);
  }

 private:
  // Replaces kernel i if it is such a selection; the buffer that the rest comes from, or -1.
  BufferId narrow(size_t i) {
    const Kernel k = p_.kernels[i];
    const Store& s = k.phases[0].stores[0];
    const Expr& value = expr(k, s.value);
    if (value.kind != ExprKind::Apply || value.prim != Prim::where) return -1;
    const Expr& rest = expr(k, value.args[2]);
    if (rest.kind != ExprKind::Load || rest.guard >= 0 || !(rest.at == s.at) ||
        !covers_buffer(p_, k, s) || !(buffer(rest.buffer).sizes == buffer(s.buffer).sizes))
      return -1;
    auto row = selected_row(i, value.args[0]);
    if (!row) return -1;
    p_.kernels[i] = only_row(k, value.args[1], *row);
    p_.kernels.insert(p_.kernels.begin() + static_cast<std::ptrdiff_t>(i), copy_of_rest(k));
    return rest.buffer;
  }

  struct Row {
    std::string axis;
    Sym index;
  };

  // The condition is `axis == index` with an index of the axis.
  std::optional<Row> selected_row(size_t i, ExprId condition) const {
    const Kernel& k = p_.kernels[i];
    auto sides = compared(i, condition, {});
    if (!sides) return std::nullopt;
    const Sym difference = sides->first - sides->second;
    const Assumptions known = p_.assumptions(k);
    for (const Axis& a : k.axes) {
      auto linear = difference.linear_in(a.name);
      auto factor = linear ? linear->coefficient.constant() : std::nullopt;
      if (!factor || (*factor != 1 && *factor != -1)) continue;
      const Sym index = linear->rest * Sym(-*factor);
      if (uses_axes(index, k) || !known.proves_nonnegative(index) ||
          !known.proves_lt(index, a.extent))
        return std::nullopt;
      return Row{a.name, index};
    }
    return std::nullopt;
  }

  static bool uses_axes(const Sym& s, const Kernel& k) {
    return std::ranges::any_of(k.axes, [&](const Axis& a) { return s.symbols().contains(a.name); });
  }

  using Places = std::map<std::string, Sym>;  // axes of a producer in terms of its reader's

  // The integers that an equality compares, which may be computed by kernels before kernel i.
  std::optional<std::pair<Sym, Sym>> compared(size_t i, ExprId id, const Places& places) const {
    const Expr& e = expr(p_.kernels[i], id);
    if (e.kind == ExprKind::Apply && e.prim == Prim::eq) {
      auto a = integer(i, e.args[0], places), b = integer(i, e.args[1], places);
      if (!a || !b) return std::nullopt;
      return std::pair(*a, *b);
    }
    const auto from = producer(i, e, places);
    if (!from) return std::nullopt;
    return compared(from->kernel, from->value, from->places);
  }

  std::optional<Sym> integer(size_t i, ExprId id, const Places& places) const {
    const Expr& e = expr(p_.kernels[i], id);
    if (e.dtype != DType::Int64) return std::nullopt;
    if (e.kind == ExprKind::Constant) return Sym(as_int64(e.constant));
    if (e.kind == ExprKind::Index) return in_terms_of(e.index, places);
    if (e.kind == ExprKind::Apply) {
      if (e.prim != Prim::add && e.prim != Prim::mul && e.prim != Prim::sub) return std::nullopt;
      auto a = integer(i, e.args[0], places), b = integer(i, e.args[1], places);
      if (!a || !b) return std::nullopt;
      return e.prim == Prim::add ? *a + *b : e.prim == Prim::mul ? *a * *b : *a - *b;
    }
    const auto from = producer(i, e, places);
    if (!from) return std::nullopt;
    return integer(from->kernel, from->value, from->places);
  }

  static std::optional<Sym> in_terms_of(const Sym& s, const Places& places) {
    const std::set<std::string> names = s.symbols();
    if (std::ranges::any_of(names, [](const std::string& n) { return n[0] == '%'; }))
      return std::nullopt;
    return s.substitute(places);
  }

  struct Producer {
    size_t kernel;
    ExprId value;
    Places places;
  };

  // The only kernel that writes what `load` reads, if it computes it element by element.
  std::optional<Producer> producer(size_t i, const Expr& load, const Places& places) const {
    if (load.kind != ExprKind::Load || load.guard >= 0 || buffer(load.buffer).home != Home::Temp)
      return std::nullopt;
    std::optional<Producer> found;
    for (size_t j = 0; j < p_.kernels.size(); ++j) {
      if (!buffers_written(p_.kernels[j]).contains(load.buffer)) continue;
      const Store* s = elementwise_store(p_.kernels[j]);
      if (found || j >= i || !s || !covers_buffer(p_, p_.kernels[j], *s)) return std::nullopt;
      found = Producer{j, s->value, {}};
    }
    if (!found) return std::nullopt;
    const Kernel& source = p_.kernels[found->kernel];
    for (size_t d = 0; d < source.axes.size(); ++d) {
      auto at = in_terms_of(load.at[d], places);
      if (!at) return std::nullopt;
      found->places[source.axes[d].name] = *at;
    }
    return found;
  }

  Kernel copy_of_rest(const Kernel& k) const {
    Kernel c;
    c.name = unique_kernel_name(p_, k.name + "_rest");
    c.device = k.device;
    c.axes = k.axes;
    c.origins = k.origins;
    Expr load = expr(k, expr(k, k.phases[0].stores[0].value).args[2]);
    Store s = k.phases[0].stores[0];
    s.value = c.add(std::move(load));
    c.phases = {{{}, false, {s}, {}}};
    return c;
  }

  Kernel only_row(const Kernel& k, ExprId value, const Row& row) const {
    Kernel out = k;
    out.exprs.clear();
    std::erase_if(out.axes, [&](const Axis& a) { return a.name == row.axis; });
    BodyBuilder body(out);
    BodyBuilder::Context c;
    c.from = &k;
    c.axes[row.axis] = row.index;
    Store& s = out.phases[0].stores[0];
    s.value = body.copy(c, value);
    for (Sym& at : s.at) at = body.rewrite(c, at);
    simplify_indices(p_, out);
    return out;
  }

  const Buffer& buffer(BufferId b) const { return p_.buffers[static_cast<size_t>(b)]; }
  static const Expr& expr(const Kernel& k, ExprId id) { return k.exprs[static_cast<size_t>(id)]; }

  LoopProgram& p_;
};

}  // namespace

void narrow_selections(LoopProgram& p) { NarrowSelections(p).run(); }

}  // namespace aotc
