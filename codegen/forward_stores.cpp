// A kernel that only moves a temporary into its place (a row of a cache, a part of an output)
// disappears: what computes the temporary stores there itself, when the move would have run.
#include <algorithm>

#include "codegen/forward_product.h"
#include "codegen/kernel_edit.h"
#include "codegen/passes.h"
#include "ir/template_kernel.h"

namespace aotc {

using namespace loops;

namespace {

class ForwardStores {
 public:
  explicit ForwardStores(LoopProgram& p) : p_(p) {}

  void run() {
    for (size_t i = 0; i < p_.kernels.size(); ++i) {
      const BufferId moved = moved_temporary(p_.kernels[i]);
      if (moved < 0) continue;
      auto producer = only_producer(moved, i);
      if (producer && may_run_at(*producer, i)) i = forward(*producer, i);
    }
  }

 private:
  // The temporary whose elements the kernel stores elsewhere, if nothing else reads it; or -1.
  BufferId moved_temporary(const Kernel& k) const {
    const Store* s = elementwise_store(k);
    if (!s || is_write_back(k)) return -1;
    const Expr& e = k.exprs[static_cast<size_t>(s->value)];
    if (e.kind != ExprKind::Load || e.guard >= 0 || buffer(e.buffer).home != Home::Temp ||
        buffer(e.buffer).dtype != buffer(s->buffer).dtype || count_readers(p_, e.buffer) != 1)
      return -1;
    // Where it goes is not told by what moves.
    for (const Expr& other : k.exprs)
      if (&other != &e && other.kind == ExprKind::Load && other.buffer == e.buffer) return -1;
    return e.buffer;
  }

  // Copies that the proofs kept stay.
  bool is_write_back(const Kernel& k) const {
    return std::ranges::any_of(p_.write_backs,
                               [&](const WriteBackInfo& w) { return w.kernel == k.name; });
  }

  std::optional<size_t> only_producer(BufferId b, size_t before) const {
    std::optional<size_t> found;
    for (size_t j = 0; j < p_.kernels.size(); ++j) {
      if (!buffers_written(p_.kernels[j]).contains(b)) continue;
      if (found || j >= before) return std::nullopt;
      found = j;
    }
    return found;
  }

  // The producer does not touch the target, and nothing between needs it to have run.
  bool may_run_at(size_t producer, size_t move) const {
    const Kernel& k = p_.kernels[producer];
    if (touches_target(k, p_.kernels[move])) return false;
    for (size_t j = producer + 1; j < move; ++j)
      if (conflict(p_, k, p_.kernels[j])) return false;
    return true;
  }

  // Whether the kernel may read or write what the move writes.
  bool touches_target(const Kernel& k, const Kernel& move) const {
    const Store& target = move.phases[0].stores[0];
    auto meets = [&](BufferId b, const std::vector<Sym>& at) {
      return same_memory(p_, b, target.buffer) &&
             (b != target.buffer || !never_meet(p_, k, at, move, target.at));
    };
    if (is_template(k) && reads_memory_of(p_, k, target.buffer)) return true;
    for (const Expr& e : k.exprs)
      if (e.kind == ExprKind::Load && meets(e.buffer, e.at)) return true;
    for (const Phase& ph : k.phases)
      for (const Store& s : ph.stores)
        if (meets(s.buffer, s.at)) return true;
    return false;
  }

  // Where the loop goes on.
  size_t forward(size_t producer, size_t move) {
    const Kernel copy = p_.kernels[move];
    Kernel k = p_.kernels[producer];
    std::vector<Kernel> before;
    if (k.matmul ? !forward_matmul(k, copy, before) : !forward_loops(k, copy)) return move;
    add_origins(k, copy.origins, false);
    const auto at = [&](size_t i) { return p_.kernels.begin() + static_cast<std::ptrdiff_t>(i); };
    p_.kernels[move] = std::move(k);
    p_.kernels.insert(at(move), before.begin(), before.end());
    p_.kernels.erase(at(producer));
    return move + before.size() - 1;
  }

  // ---- loops

  bool forward_loops(Kernel& k, const Kernel& copy) const {
    const Store& to = copy.phases[0].stores[0];
    const Expr& load = copy.exprs[static_cast<size_t>(to.value)];
    auto axes = axes_by_dimension(copy, load);
    if (!axes || (k.kind != KernelKind::Loops && k.kind != KernelKind::Copy)) return false;
    for (const Phase& ph : k.phases)
      for (const Store& s : ph.stores)
        if (s.buffer == load.buffer && s.accumulate) return false;
    BodyBuilder body(k);
    for (Phase& ph : k.phases)
      for (Store& s : ph.stores) {
        if (s.buffer != load.buffer) continue;
        BodyBuilder::Context c;
        c.from = &copy;
        for (size_t d = 0; d < s.at.size(); ++d)
          if (!(*axes)[d].empty()) c.axes[(*axes)[d]] = s.at[d];
        std::vector<Sym> at = to.at;
        for (Sym& index : at) index = body.rewrite(c, index);
        s.buffer = to.buffer;
        s.at = std::move(at);
      }
    simplify_indices(p_, k);
    return true;
  }

  // The axis that walks each dimension of what is moved ("" if it has size 1), each over the whole.
  std::optional<std::vector<std::string>> axes_by_dimension(const Kernel& copy,
                                                            const Expr& load) const {
    std::vector<std::string> axes;
    const Buffer& from = buffer(load.buffer);
    size_t used = 0;
    for (size_t d = 0; d < load.at.size(); ++d) {
      auto axis = std::ranges::find_if(copy.axes, [&](const Axis& a) {
        return load.at[d] == Sym::symbol(a.name) && a.extent == from.sizes[d];
      });
      const bool single = from.sizes[d].is(1) && load.at[d].is(0);
      if (!single && (axis == copy.axes.end() || std::ranges::count(axes, axis->name) > 0))
        return std::nullopt;
      axes.push_back(single ? "" : axis->name);
      used += !single;
    }
    size_t walked = 0;
    for (const Axis& a : copy.axes)
      walked += !a.extent.is(1) || std::ranges::count(axes, a.name) > 0;
    return used == walked ? std::optional(axes) : std::nullopt;
  }

  // ---- matrix products

  // Values that tell the place are read before.
  bool forward_matmul(Kernel& k, const Kernel& copy, std::vector<Kernel>& before) {
    auto product = forward_product(p_, *k.matmul, copy);
    if (!product) return false;
    std::map<std::string, Sym> values;
    for (const std::string& n : product->c.offset.symbols()) {
      if (n[0] != '%') continue;
      const auto id = static_cast<ExprId>(std::stoi(n.substr(1)));
      if (depends_on_iteration(copy, id)) return false;
      if (!(copy.device == Device{})) return false;  // the host would have to wait for it
      values[n] = Sym::symbol("at_" + k.name + "_" + n.substr(1));
      read_value(copy, id, values[n].str(), before);
    }
    product->c.offset = product->c.offset.substitute(values);
    k.matmul = std::make_shared<Matmul>(std::move(*product));
    return true;
  }

  static bool depends_on_iteration(const Kernel& copy, ExprId id) {
    const std::set<std::string> names = axes_of(copy, id);
    return std::ranges::any_of(
        copy.axes, [&](const Axis& a) { return !a.extent.is(1) && names.contains(a.name); });
  }

  // What sets `symbol` to the value of an expression of the copy.
  void read_value(const Kernel& copy, ExprId id, const std::string& symbol,
                  std::vector<Kernel>& before) {
    Buffer place;
    place.name = symbol;
    place.dtype = copy.exprs[static_cast<size_t>(id)].dtype;
    place.device = copy.device;
    p_.buffers.push_back(place);
    Kernel computes, reads;
    computes.name = unique_kernel_name(p_, symbol + "_value");
    reads.name = unique_kernel_name(p_, symbol + "_read");
    computes.device = reads.device = copy.device;
    computes.origins = reads.origins = copy.origins;
    BodyBuilder body(computes);
    BodyBuilder::Context c;
    c.from = &copy;
    for (const Axis& a : copy.axes) c.axes[a.name] = Sym(0);
    Store s;
    s.buffer = static_cast<BufferId>(p_.buffers.size()) - 1;
    s.value = body.copy(c, id);
    computes.phases = {{{}, false, {s}, {}}};
    reads.kind = KernelKind::Host;
    reads.symbol = symbol;
    Expr load;
    load.kind = ExprKind::Load;
    load.dtype = place.dtype;
    load.buffer = s.buffer;
    reads.add(std::move(load));
    reads.phases = {{}};
    p_.graph->symbols[symbol].unbacked = true;
    before.push_back(std::move(computes));
    before.push_back(std::move(reads));
  }

  const Buffer& buffer(BufferId b) const { return p_.buffers[static_cast<size_t>(b)]; }

  LoopProgram& p_;
};

}  // namespace

void forward_stores(LoopProgram& p) { ForwardStores(p).run(); }

}  // namespace aotc
