// Substitutes pointwise producers into their consumers. A producer is a kernel of one plain phase
// with one store that covers its whole temporary, element by element.
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

class Inliner {
 public:
  explicit Inliner(LoopProgram& p) : p_(p) {}

  void run() {
    for (size_t i = 0; i < p_.kernels.size(); ++i) {
      BufferId t = pointwise_result(p_, p_.kernels[i]);
      if (t < 0 || writers(t) != 1) continue;
      inline_into_readers(i, t);
    }
    remove_dead_kernels(p_);
  }

 private:
  int writers(BufferId t) const {
    int n = 0;
    for (const Kernel& k : p_.kernels) n += buffers_written(k).contains(t);
    return n;
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
    for (size_t i = 0; i < producer.axes.size(); ++i) place[producer.axes[i].name] = load.at[i];
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

  void inline_into_readers(size_t producer, BufferId t) {
    std::vector<size_t> readers;
    bool all_inlinable = true;
    bool other_block = false;  // which may run another number of times
    int loads = 0;
    bool once = true;
    for (size_t k = producer + 1; k < p_.kernels.size(); ++k) {
      const Kernel& kernel = p_.kernels[k];
      other_block |= kernel.kind == KernelKind::Control;
      if (!buffers_read(kernel).contains(t)) continue;
      if (other_block || is_template(kernel) || kernel.kind == KernelKind::Host ||
          kernel.kind == KernelKind::Transfer || !(kernel.device == p_.kernels[producer].device) ||
          !operands_unchanged(producer, k) ||
          !reads_before_overwriting(p_.kernels[producer], kernel, t)) {
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
    int cost = body_cost(p_.kernels[producer]);
    bool single = all_inlinable && loads == 1 && once;
    if (!single && cost > kCheap) return;
    if (!single && !all_inlinable && cost > 1) return;
    for (size_t k : readers)
      if (p_.kernels[k].exprs.size() + p_.kernels[producer].exprs.size() <= kMaxBody)
        substitute(producer, k, t);
  }

  // Rebuilds kernel `k` with each load of `t` replaced by the producer's formula at that index.
  void substitute(size_t producer, size_t k, BufferId t) {
    const Kernel& source = p_.kernels[producer];
    Kernel old = p_.kernels[k];
    Kernel& out = p_.kernels[k];
    out.exprs.clear();
    BodyBuilder body(out);
    BodyBuilder::Context c;
    c.from = &old;
    c.load_hook = [&](const Expr& load) -> ExprId {
      if (load.buffer != t) return -1;
      BodyBuilder::Context inner;
      inner.from = &source;
      inner.guard = load.guard;
      for (size_t i = 0; i < source.axes.size(); ++i) inner.axes[source.axes[i].name] = load.at[i];
      ExprId value = body.copy(inner, source.phases[0].stores[0].value);
      if (load.guard < 0) return value;
      Expr select;
      select.kind = ExprKind::Apply;
      select.dtype = load.dtype;
      select.prim = Prim::where;
      select.args = {load.guard, value, load.otherwise};
      return body.add(std::move(select));
    };
    rebuild(old, out, body, c);
    add_origins(out, source.origins, true);
    simplify_indices(p_, out);
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
