// Substitutes pointwise producers into their consumers. A producer is a kernel of one plain phase
// with one store that covers its whole temporary, element by element; or, on a GPU, several that
// have a range of one dimension each (what cat puts together).
#include <algorithm>

#include "codegen/kernel_edit.h"
#include "codegen/passes.h"
#include "ir/template_kernel.h"

namespace aotc {

using namespace loops;

namespace {

constexpr int kCheap = 6;         // recomputing this much is no worse than a store and a load
constexpr size_t kMaxBody = 600;  // expressions per kernel

int prim_cost(Prim p) {
  if (prim_is_transcendental(p)) return 20;
  return p == Prim::div || p == Prim::sqrt || p == Prim::remainder || p == Prim::floor_divide ? 4
                                                                                              : 1;
}

int body_cost(const Kernel& k) {
  int cost = 0;
  for (const Expr& e : k.exprs) {
    if (e.kind == ExprKind::Apply) cost += prim_cost(e.prim);
    if (e.kind == ExprKind::Load) cost += 1;
  }
  return cost;
}

// The buffer that `k` computes elementwise, or -1.
BufferId pointwise_result(const LoopProgram& p, const Kernel& k) {
  const Store* s = elementwise_store(k);
  const bool is_temporary = s && p.buffers[static_cast<size_t>(s->buffer)].home == Home::Temp;
  return is_temporary && covers_buffer(p, k, *s) ? s->buffer : -1;
}

// What computes a temporary: a kernel for each range of dimension `dim`, in order.
struct Piece {
  size_t kernel;
  Sym begin;
};
struct Producer {
  BufferId result = -1;
  int dim = 0;
  std::vector<Piece> pieces;
  size_t last() const {
    size_t k = 0;
    for (const Piece& p : pieces) k = std::max(k, p.kernel);
    return k;
  }
};

// Where the iterations of `k` lie along dimension `dim` of what it stores; nullopt unless they are
// all of the other dimensions.
std::optional<Sym> range_begin(const LoopProgram& p, const Kernel& k, const Store& s, int dim) {
  const std::vector<Sym>& sizes = p.buffers[static_cast<size_t>(s.buffer)].sizes;
  if (s.at.size() != k.axes.size() || s.guard >= 0 || s.accumulate) return std::nullopt;
  std::optional<Sym> begin;
  for (size_t d = 0; d < s.at.size(); ++d) {
    const Axis& a = k.axes[d];
    const Sym from =
        a.extent.is(1) ? s.at[d].substitute({{a.name, Sym(0)}}) : s.at[d] - Sym::symbol(a.name);
    if (static_cast<int>(d) == dim)
      begin = from;
    else if (!from.is(0) || !(a.extent == sizes[d]))
      return std::nullopt;
  }
  if (begin)
    for (const std::string& n : begin->symbols())
      if (n[0] == '%' || std::ranges::any_of(k.axes, [&](const Axis& a) { return a.name == n; }))
        return std::nullopt;
  return begin;
}

class Inliner {
 public:
  explicit Inliner(LoopProgram& p) : p_(p) {}

  void run() {
    for (size_t i = 0; i < p_.kernels.size(); ++i)
      if (const auto producer = producer_at(i)) inline_into_readers(*producer);
    remove_dead_kernels(p_);
  }

 private:
  // The producer whose last kernel is `i`.
  std::optional<Producer> producer_at(size_t i) const {
    const Kernel& k = p_.kernels[i];
    const Store* s = elementwise_store(k);
    if (!s || p_.buffers[static_cast<size_t>(s->buffer)].home != Home::Temp) return std::nullopt;
    const std::vector<size_t> all = writers(s->buffer);
    if (all.size() == 1)
      return pointwise_result(p_, k) < 0 ? std::nullopt
                                         : std::optional(Producer{s->buffer, 0, {{i, Sym(0)}}});
    if (k.device == Device{} || all.back() != i) return std::nullopt;
    for (size_t d = 0; d < k.axes.size(); ++d)
      if (auto pieces = assembled(s->buffer, static_cast<int>(d), all)) return pieces;
    return std::nullopt;
  }

  std::vector<size_t> writers(BufferId t) const {
    std::vector<size_t> list;
    for (size_t k = 0; k < p_.kernels.size(); ++k)
      if (buffers_written(p_.kernels[k]).contains(t)) list.push_back(k);
    return list;
  }

  // The ranges follow one another from 0 to the size.
  std::optional<Producer> assembled(BufferId t, int dim, const std::vector<size_t>& all) const {
    std::vector<std::pair<Piece, Sym>> rest;  // with the extent
    for (size_t w : all) {
      const Kernel& k = p_.kernels[w];
      const Store* s = elementwise_store(k);
      const auto begin = s && s->buffer == t ? range_begin(p_, k, *s, dim) : std::nullopt;
      if (!begin || !(k.device == p_.kernels[all.back()].device)) return std::nullopt;
      for (size_t j = w + 1; j < all.back(); ++j)
        if (p_.kernels[j].kind == KernelKind::Control || buffers_read(p_.kernels[j]).contains(t))
          return std::nullopt;
      rest.push_back({{w, *begin}, k.axes[static_cast<size_t>(dim)].extent});
    }
    Producer producer{t, dim, {}};
    Sym end(0);
    while (!rest.empty()) {
      const auto next =
          std::ranges::find_if(rest, [&](const auto& r) { return r.first.begin == end; });
      if (next == rest.end()) return std::nullopt;
      end = end + next->second;
      producer.pieces.push_back(next->first);
      rest.erase(next);
    }
    const Buffer& b = p_.buffers[static_cast<size_t>(t)];
    return end == b.sizes[static_cast<size_t>(dim)] ? std::optional(producer) : std::nullopt;
  }

  // Every load of the producer must still see the same memory at kernel `to`.
  bool operands_unchanged(size_t from, size_t to) const {
    for (BufferId r : buffers_read(p_.kernels[from]))
      for (size_t k = from + 1; k < to; ++k)
        if (writes_memory_of(p_, p_.kernels[k], r)) return false;
    return true;
  }

  // If kernel `k` itself writes memory that the producer reads, each of those reads must be at the
  // element that the same iteration overwrites, and no other iteration may write it.
  bool reads_before_overwriting(const Kernel& producer, const Kernel& k, BufferId t) const {
    for (const Expr& read : producer.exprs) {
      if (read.kind != ExprKind::Load || !writes_memory_of(p_, k, read.buffer)) continue;
      for (const Expr& load : k.exprs)
        if (load.kind == ExprKind::Load && load.buffer == t &&
            !same_element(producer, read, load, k))
          return false;
    }
    return true;
  }

  // Whether `read`, in place of `load` in kernel `k`, is at the index of every store of `k` to that
  // memory.
  bool same_element(const Kernel& producer, const Expr& read, const Expr& load,
                    const Kernel& k) const {
    if (k.phases.size() != 1 || k.phases[0].ordered) return false;
    std::map<std::string, Sym> place;
    const std::vector<Sym>& stored = producer.phases[0].stores[0].at;
    for (size_t i = 0; i < producer.axes.size(); ++i)
      place[producer.axes[i].name] =
          load.at[i] - stored[i].substitute({{producer.axes[i].name, Sym(0)}});
    std::vector<Sym> at;
    for (const Sym& s : read.at) {
      for (const std::string& n : s.symbols())
        if (n[0] == '%') return false;
      at.push_back(s.substitute(place));
    }
    const std::vector<Axis> axes = axes_around(k, k.phases[0]);
    for (const Store& s : k.phases[0].stores)
      if (same_memory(p_, s.buffer, read.buffer) &&
          (s.buffer != read.buffer || !(s.at == at) || !visits_once(s.at, axes)))
        return false;
    return true;
  }

  // True if the consumer evaluates each element at most about once.
  static bool evaluated_once(const Kernel& k, const Expr& load) {
    std::set<std::string> used;
    for (const Sym& s : load.at)
      for (const std::string& n : s.symbols()) {
        if (n[0] == '%') return false;
        used.insert(n);
      }
    for (const Axis& a : k.axes)
      if (!used.contains(a.name) && !a.extent.is(1)) return false;
    return true;
  }

  // Whether each piece yields in kernel `k` what it yields where it is.
  bool same_in(const Producer& producer, size_t k) const {
    return std::ranges::all_of(producer.pieces, [&](const Piece& piece) {
      return operands_unchanged(piece.kernel, k) &&
             reads_before_overwriting(p_.kernels[piece.kernel], p_.kernels[k], producer.result);
    });
  }

  void inline_into_readers(const Producer& producer) {
    const BufferId t = producer.result;
    std::vector<size_t> readers;
    bool all_inlinable = true;
    bool other_block = false;  // which may run another number of times
    int loads = 0;
    bool once = true;
    for (size_t k = producer.last() + 1; k < p_.kernels.size(); ++k) {
      const Kernel& kernel = p_.kernels[k];
      other_block |= kernel.kind == KernelKind::Control;
      if (!buffers_read(kernel).contains(t)) continue;
      if (other_block || is_template(kernel) || kernel.kind == KernelKind::Host ||
          kernel.kind == KernelKind::Transfer ||
          !(kernel.device == p_.kernels[producer.last()].device) || !same_in(producer, k)) {
        all_inlinable = false;
        continue;
      }
      readers.push_back(k);
      for (const Expr& e : kernel.exprs)
        if (e.kind == ExprKind::Load && e.buffer == t) {
          ++loads;
          once &= evaluated_once(kernel, e);
        }
    }
    int cost = 0;
    size_t body = 0;
    for (const Piece& piece : producer.pieces) {
      cost += body_cost(p_.kernels[piece.kernel]);
      body += p_.kernels[piece.kernel].exprs.size();
    }
    bool single = all_inlinable && loads == 1 && once;
    if (!single && cost > kCheap) return;
    if (!single && !all_inlinable && cost > 1) return;
    for (size_t k : readers)
      if (p_.kernels[k].exprs.size() + body <= kMaxBody) substitute(producer, k);
  }

  // Rebuilds kernel `k` with each load of the result replaced by the producer's formula at that
  // index.
  void substitute(const Producer& producer, size_t k) {
    Kernel old = p_.kernels[k];
    Kernel& out = p_.kernels[k];
    const Assumptions known = p_.assumptions(old);
    out.exprs.clear();
    BodyBuilder body(out);
    BodyBuilder::Context c;
    c.from = &old;
    c.load_hook = [&](const Expr& load) -> ExprId {
      if (load.buffer != producer.result) return -1;
      const ExprId value = value_at(producer, load, known, body);
      if (load.guard < 0) return value;
      return body.add(apply(Prim::where, load.dtype, {load.guard, value, load.otherwise}));
    };
    rebuild(old, out, body, c);
    for (const Piece& piece : producer.pieces)
      add_origins(out, p_.kernels[piece.kernel].origins, true);
    simplify_indices(p_, out);
  }

  // The formula of the piece that has the index of `load`; of the last one where it is in no other.
  ExprId value_at(const Producer& producer, const Expr& load, const Assumptions& known,
                  BodyBuilder& body) const {
    const Sym index = load.at.empty() ? Sym(0) : load.at[static_cast<size_t>(producer.dim)];
    std::vector<Piece> left = producer.pieces;
    while (left.size() > 1 && known.proves_le(left[1].begin, index)) left.erase(left.begin());
    while (left.size() > 1 && known.proves_lt(index, left.back().begin)) left.pop_back();
    return choose(left, 0, index, load, load.guard, body);
  }

  ExprId choose(const std::vector<Piece>& pieces, size_t i, const Sym& index, const Expr& load,
                ExprId guard, BodyBuilder& body) const {
    if (i + 1 == pieces.size()) return piece_value(pieces[i], load, guard, body);
    Expr at, bound;
    at.kind = bound.kind = ExprKind::Index;
    at.dtype = bound.dtype = DType::Int64;
    at.index = index;
    bound.index = pieces[i + 1].begin;
    const ExprId is_here = body.add(
        apply(Prim::lt, DType::Bool, {body.add(std::move(at)), body.add(std::move(bound))}));
    const ExprId is_later = body.add(apply(Prim::logical_not, DType::Bool, {is_here}));
    const auto both = [&](ExprId condition) {
      if (guard < 0) return condition;
      return body.add(apply(Prim::bitwise_and, DType::Bool, {guard, condition}));
    };
    const ExprId here = piece_value(pieces[i], load, both(is_here), body);
    const ExprId later = choose(pieces, i + 1, index, load, both(is_later), body);
    return body.add(apply(Prim::where, load.dtype, {is_here, here, later}));
  }

  ExprId piece_value(const Piece& piece, const Expr& load, ExprId guard, BodyBuilder& body) const {
    const Kernel& source = p_.kernels[piece.kernel];
    BodyBuilder::Context c;
    c.from = &source;
    c.guard = guard;
    const std::vector<Sym>& at = source.phases[0].stores[0].at;
    for (size_t i = 0; i < source.axes.size(); ++i) {
      const std::string& axis = source.axes[i].name;
      c.axes[axis] = load.at[i] - at[i].substitute({{axis, Sym(0)}});
    }
    return body.copy(c, source.phases[0].stores[0].value);
  }

  static Expr apply(Prim prim, DType dtype, std::vector<ExprId> args) {
    Expr e;
    e.kind = ExprKind::Apply;
    e.dtype = dtype;
    e.prim = prim;
    e.args = std::move(args);
    return e;
  }

  static void rebuild(const Kernel& old, Kernel& out, BodyBuilder& body, BodyBuilder::Context& c) {
    for (size_t a = 0; a < old.accumulators.size(); ++a)
      out.accumulators[a].value = body.copy(c, old.accumulators[a].value);
    for (size_t ph = 0; ph < old.phases.size(); ++ph)
      for (size_t s = 0; s < old.phases[ph].stores.size(); ++s) {
        const Store& from = old.phases[ph].stores[s];
        Store& to = out.phases[ph].stores[s];
        to.value = body.copy(c, from.value);
        to.guard = body.copy(c, from.guard);
        for (size_t i = 0; i < from.at.size(); ++i) to.at[i] = body.rewrite(c, from.at[i]);
      }
    out.condition = body.copy(c, old.condition);
    out.report = body.copy(c, old.report);
  }

  LoopProgram& p_;
};

}  // namespace

void inline_producers(LoopProgram& p) {
  remove_dead_kernels(p);
  Inliner(p).run();
}

}  // namespace aotc
