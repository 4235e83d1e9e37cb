// Merges kernels over the same independent axes. The merged kernel runs the phases of both for each
// outer iteration; a value that one phase leaves for a later one at the same position is forwarded,
// and a temporary that nobody else reads disappears.
#include <algorithm>

#include "codegen/kernel_edit.h"
#include "codegen/passes.h"

namespace aotc {

using namespace loops;

namespace {

constexpr size_t kMaxMergedBody = 600;
constexpr size_t kMaxPhases = 12;

bool is_pointwise(const Kernel& k) {
  return k.phases.size() == 1 && k.phases[0].axes.empty() && k.phases[0].accumulators.empty();
}

// The kernels that copy a storage before a part of it is updated, and back. They disappear where
// the write-back is direct; merged into the update they would stay.
std::set<std::string> copies_around_updates(const LoopProgram& p) {
  std::set<std::string> names;
  for (const WriteBackInfo& w : p.write_backs)
    for (const Kernel& k : p.kernels)
      if (is_whole_copy(p, k, w.target, w.value)) names.insert({k.name, w.kernel});
  return names;
}

// Moves the axes from `prefix` on of a pointwise kernel into its phase.
void split_axes(Kernel& k, size_t prefix) {
  if (prefix == k.axes.size()) return;
  AOTC_CHECK(is_pointwise(k), "only pointwise kernels can be split");
  k.phases[0].axes.assign(k.axes.begin() + static_cast<std::ptrdiff_t>(prefix), k.axes.end());
  k.axes.resize(prefix);
}

// Splits axes of a pointwise kernel so that its first ones have these extents: an axis over all
// channels becomes one over groups and one over the channels of a group.
void split_as(const LoopProgram& p, Kernel& k, const std::vector<Axis>& wanted) {
  int next = 0;
  for (const Axis& a : k.axes) next = std::max(next, std::atoi(a.name.c_str() + 1) + 1);
  bool any = false;
  for (size_t i = 0; i < wanted.size() && i < k.axes.size(); ++i) {
    const auto part = wanted[i].extent.constant(), whole = k.axes[i].extent.constant();
    if (k.axes[i].extent == wanted[i].extent) continue;
    if (!part || !whole || *part <= 1 || *whole <= 0 || *whole % *part != 0) break;
    const Axis outer{fmt::format("i{}", next), Sym(*part)};
    const Axis inner{fmt::format("i{}", next + 1), Sym(*whole / *part)};
    substitute_axis(k, k.axes[i].name,
                    Sym::symbol(outer.name) * inner.extent + Sym::symbol(inner.name));
    k.axes[i] = inner;
    k.axes.insert(k.axes.begin() + static_cast<std::ptrdiff_t>(i), outer);
    next += 2;
    any = true;
  }
  if (any) simplify_indices(p, k);
}

bool is_data(const Sym& index) {
  auto names = index.symbols();
  return std::any_of(names.begin(), names.end(),
                     [](const std::string& name) { return name.starts_with('%'); });
}

// Some element is found through a value that was loaded, which a check may have to allow first.
bool addresses_by_data(const Kernel& k) {
  auto any = [](const std::vector<Sym>& at) { return std::any_of(at.begin(), at.end(), is_data); };
  for (const Expr& e : k.exprs)
    if (e.kind == ExprKind::Load && any(e.at)) return true;
  for (const Phase& p : k.phases)
    for (const Store& s : p.stores)
      if (any(s.at)) return true;
  return false;
}

class Merger {
 public:
  explicit Merger(LoopProgram& p) : p_(p), kept_(copies_around_updates(p)) {}

  void run() {
    copy_first();
    for (size_t b = 1; b < p_.kernels.size();) {
      if (try_merge_back(b))
        p_.kernels.erase(p_.kernels.begin() + static_cast<std::ptrdiff_t>(b));
      else
        ++b;
    }
    for (Kernel& k : p_.kernels)
      if (k.kind == KernelKind::Loops || k.kind == KernelKind::Copy) remove_dead_expressions(k);
    remove_dead_kernels(p_);
  }

 private:
  // Copies of storages do not come between what can be merged.
  void copy_first() {
    for (size_t i = 0; i < p_.kernels.size(); ++i) {
      size_t to = i;
      while (kept_.contains(p_.kernels[i].name) && to > 0 &&
             !conflict(p_, p_.kernels[to - 1], p_.kernels[i]))
        --to;
      const auto at = [&](size_t k) { return p_.kernels.begin() + static_cast<std::ptrdiff_t>(k); };
      std::rotate(at(to), at(i), at(i) + 1);
    }
  }

  bool mergeable(const Kernel& k) const {
    if (k.kind != KernelKind::Loops && k.kind != KernelKind::Copy) return false;
    return !kept_.contains(k.name) &&
           std::none_of(k.phases.begin(), k.phases.end(), [](const Phase& p) {
             return p.ordered || std::any_of(p.stores.begin(), p.stores.end(),
                                             [](const Store& s) { return s.accumulate; });
           });
  }

  // Merges kernel b into the nearest earlier kernel that allows it, if b may move there.
  bool try_merge_back(size_t b) {
    if (!mergeable(p_.kernels[b])) return false;
    for (size_t a = b; a-- > 0;) {
      if (mergeable(p_.kernels[a]) && try_merge(a, b)) return true;
      if (!may_move_above(a, b)) return false;
    }
    return false;
  }

  // A write to memory that outlives the call never moves above a check that may still fail, nor
  // does an access whose place is data.
  bool may_move_above(size_t a, size_t b) const {
    const Kernel& earlier = p_.kernels[a];
    if (earlier.kind == KernelKind::Check && addresses_by_data(p_.kernels[b])) return false;
    if (earlier.kind == KernelKind::Check || earlier.kind == KernelKind::Host)
      for (BufferId w : buffers_written(p_.kernels[b])) {
        Home h = p_.buffers[static_cast<size_t>(w)].home;
        if (h == Home::Input || h == Home::Storage) return false;
      }
    return !conflict(p_, earlier, p_.kernels[b]);
  }

  bool share_memory(const Kernel& a, const Kernel& b) const {
    for (BufferId w : buffers_written(a))
      if (reads_memory_of(p_, b, w)) return true;
    for (BufferId r : buffers_read(a))
      if (p_.buffers[static_cast<size_t>(r)].sizes.size() >= a.axes.size() &&
          buffers_read(b).contains(r))
        return true;
    return false;
  }

  bool try_merge(size_t ia, size_t ib) {
    Kernel a = p_.kernels[ia], b = p_.kernels[ib];
    if (!(a.device == b.device) || !share_memory(a, b)) return false;
    if (a.exprs.size() + b.exprs.size() > kMaxMergedBody ||
        a.phases.size() + b.phases.size() > kMaxPhases)
      return false;
    if (is_pointwise(b) && !is_pointwise(a)) split_as(p_, b, a.axes);
    size_t prefix = common_prefix(a, b);
    if (prefix == 0 && !(a.axes.empty() && b.axes.empty())) return false;
    if ((prefix < a.axes.size() && !is_pointwise(a)) ||
        (prefix < b.axes.size() && !is_pointwise(b)))
      return false;
    // Two pointwise kernels meet at all their axes or not at all: parallelism is not given up for
    // them.
    if (is_pointwise(a) && is_pointwise(b) && (prefix < a.axes.size() || prefix < b.axes.size()))
      return false;
    split_axes(a, prefix);
    split_axes(b, prefix);
    if (!same_outer_iteration(a, b)) return false;
    combine(a, b, ia, ib);
    return true;
  }

  static size_t common_prefix(const Kernel& a, const Kernel& b) {
    size_t n = 0;
    while (n < a.axes.size() && n < b.axes.size() && a.axes[n].extent == b.axes[n].extent) ++n;
    return n;
  }

  // Accesses of `k` to memory of buffer w (all of them).
  static void for_each_access(const LoopProgram& p, const Kernel& k, BufferId w, bool writes_only,
                              const std::function<void(BufferId, const std::vector<Sym>&)>& f) {
    for (const Phase& ph : k.phases)
      for (const Store& s : ph.stores)
        if (same_memory(p, s.buffer, w)) f(s.buffer, s.at);
    if (writes_only) return;
    for (const Expr& e : k.exprs)
      if (e.kind == ExprKind::Load && same_memory(p, e.buffer, w)) f(e.buffer, e.at);
  }

  // For every buffer that one of the two writes and the other touches: both touch, in each outer
  // iteration, only the slice whose coordinates are that iteration's axes.
  bool same_outer_iteration(const Kernel& a, const Kernel& b) const {
    std::set<BufferId> written = buffers_written(a);
    written.merge(buffers_written(b));
    for (BufferId w : written) {
      bool a_writes = writes_memory_of(p_, a, w), b_writes = writes_memory_of(p_, b, w);
      bool a_touches = a_writes || reads_memory_of(p_, a, w),
           b_touches = b_writes || reads_memory_of(p_, b, w);
      if (!(a_writes && b_touches) && !(b_writes && a_touches)) continue;
      std::optional<std::map<size_t, size_t>> position;  // dimension -> outer axis
      bool ok = true;
      auto access = [&](const Kernel& k) {
        for_each_access(p_, k, w, false, [&](BufferId id, const std::vector<Sym>& at) {
          ok &= id == w;  // the same memory under another shape is not followed
          auto here = outer_coordinates(k, at);
          if (!here || (position && *position != *here)) ok = false;
          if (here) position = here;
        });
      };
      access(a);
      access(b);
      if (!ok) return false;
    }
    return true;
  }

  // Which dimension is indexed by which outer axis alone; nullopt unless each outer axis (of extent
  // other than 1) appears so, exactly once, and nowhere else.
  static std::optional<std::map<size_t, size_t>> outer_coordinates(const Kernel& k,
                                                                   const std::vector<Sym>& at) {
    std::map<size_t, size_t> found;
    for (size_t x = 0; x < k.axes.size(); ++x) {
      if (k.axes[x].extent.is(1)) continue;
      int count = 0;
      for (size_t d = 0; d < at.size(); ++d) {
        if (at[d] == Sym::symbol(k.axes[x].name)) {
          found[d] = x;
          ++count;
        } else if (at[d].symbols().contains(k.axes[x].name)) {
          return std::nullopt;
        }
      }
      if (count != 1) return std::nullopt;
    }
    for (const Sym& s : at)
      for (const std::string& n : s.symbols())
        if (n[0] == '%') return std::nullopt;
    return found;
  }

  // Appends b's phases to a's kernel.
  void combine(const Kernel& a, const Kernel& b, size_t ia, size_t ib) {
    Kernel out = a;
    out.kind = KernelKind::Loops;
    BodyBuilder body(out);
    BodyBuilder::Context c;
    c.from = &b;
    for (size_t i = 0; i < b.axes.size(); ++i) c.axes[b.axes[i].name] = Sym::symbol(a.axes[i].name);
    int next_inner = 0;
    for (const Phase& ph : a.phases)
      for (const Axis& x : ph.axes)
        next_inner = std::max(next_inner, std::atoi(x.name.c_str() + 1) + 1);
    for (size_t i = 0; i < b.accumulators.size(); ++i) {
      c.accumulators[static_cast<int>(i)] = static_cast<int>(out.accumulators.size());
      out.accumulators.push_back(b.accumulators[i]);
      Accumulator& acc = out.accumulators.back();
      if (acc.companion >= 0) acc.companion += static_cast<int>(a.accumulators.size());
    }
    for (size_t i = 0; i < b.phases.size(); ++i)
      append_phase(out, b, b.phases[i], body, c, next_inner);
    for (const Origin& o : b.origins) out.origins.push_back(o);
    rename_write_back(b.name, out.name);
    p_.kernels[ia] = std::move(out);
    p_.kernels[ib] = Kernel{};  // its work is done in the other kernel now
    drop_unread_stores(p_.kernels[ia]);
    remove_dead_expressions(p_.kernels[ia]);
    simplify_indices(p_, p_.kernels[ia]);
  }

  void append_phase(Kernel& out, const Kernel& b, const Phase& ph, BodyBuilder& body,
                    BodyBuilder::Context& c, int& next_inner) {
    Phase renamed;
    bool join = may_join(out, b, ph, c);
    for (size_t i = 0; i < ph.axes.size(); ++i) {
      std::string name = join ? out.phases.back().axes[i].name : "r" + std::to_string(next_inner++);
      c.axes[ph.axes[i].name] = Sym::symbol(name);
      renamed.axes.push_back({name, ph.axes[i].extent});
    }
    if (!join) out.phases.push_back(renamed);
    int target = static_cast<int>(out.phases.size()) - 1;
    c.done.clear();
    c.load_hook = [&](const Expr& load) { return forwarded(out, target, load); };
    for (int id : ph.accumulators) {
      int mapped = c.accumulators.at(id);
      Accumulator& acc = out.accumulators[static_cast<size_t>(mapped)];
      acc.phase = target;
      ExprId value = body.copy(c, b.accumulators[static_cast<size_t>(id)].value);
      out.accumulators[static_cast<size_t>(mapped)].value = value;
      out.phases[static_cast<size_t>(target)].accumulators.push_back(mapped);
    }
    for (const Store& s : ph.stores) {
      Store copy = s;
      copy.value = body.copy(c, s.value);
      copy.guard = body.copy(c, s.guard);
      for (Sym& at : copy.at) at = body.rewrite(c, at);
      out.phases[static_cast<size_t>(target)].stores.push_back(std::move(copy));
    }
  }

  // A phase may run inside the last one if it has the same axes and needs nothing that the last one
  // only has when it is finished: its accumulators, and elements stored at other inner positions.
  bool may_join(const Kernel& out, const Kernel& b, const Phase& ph,
                const BodyBuilder::Context& c) const {
    const Phase& last = out.phases.back();
    if (last.axes.size() != ph.axes.size()) return false;
    for (size_t i = 0; i < ph.axes.size(); ++i)
      if (!(last.axes[i].extent == ph.axes[i].extent)) return false;
    std::map<std::string, Sym> axes = c.axes;
    for (size_t i = 0; i < ph.axes.size(); ++i)
      axes[ph.axes[i].name] = Sym::symbol(last.axes[i].name);
    std::set<ExprId> used;
    std::function<bool(ExprId)> fine = [&](ExprId id) -> bool {
      if (id < 0 || !used.insert(id).second) return true;
      const Expr& e = b.exprs[static_cast<size_t>(id)];
      if (e.kind == ExprKind::Accumulator) {
        auto it = c.accumulators.find(e.accumulator);
        int mapped = it == c.accumulators.end() ? e.accumulator : it->second;
        const auto& fed = last.accumulators;
        if (std::find(fed.begin(), fed.end(), mapped) != fed.end()) return false;
      }
      if (e.kind == ExprKind::Load) {
        for (const Store& s : last.stores) {
          if (!same_memory(p_, s.buffer, e.buffer)) continue;
          // Such a load is not forwarded, and would come before the store.
          if (e.guard >= 0 || s.buffer != e.buffer || s.guard >= 0 || s.accumulate) return false;
          for (size_t d = 0; d < e.at.size(); ++d)
            if (!(e.at[d].substitute(axes) == s.at[d])) return false;
        }
      }
      for (const Sym& s : e.at)
        for (const std::string& n : s.symbols())
          if (n[0] == '%' && !fine(std::stoi(n.substr(1)))) return false;
      for (ExprId a : e.args)
        if (!fine(a)) return false;
      return fine(e.guard) && fine(e.otherwise);
    };
    for (int id : ph.accumulators)
      if (!fine(b.accumulators[static_cast<size_t>(id)].value)) return false;
    for (const Store& s : ph.stores) {
      if (!fine(s.value) || !fine(s.guard)) return false;
      // What the last phase reads at other positions must not be overwritten by this one.
      for (const Expr& e : out.exprs)
        if (e.kind == ExprKind::Load && same_memory(p_, e.buffer, s.buffer))
          for (size_t d = 0; d < e.at.size(); ++d)
            if (!(e.at[d] == s.at[d].substitute(axes))) return false;
    }
    return true;
  }

  // The value that an earlier phase (or this one) left at exactly this place, if it is still at
  // hand.
  ExprId forwarded(const Kernel& out, int phase, const Expr& load) const {
    for (int ph = phase; ph >= 0; --ph) {
      const Phase& earlier = out.phases[static_cast<size_t>(ph)];
      for (size_t i = earlier.stores.size(); i-- > 0;) {
        const Store& s = earlier.stores[i];
        if (!same_memory(p_, s.buffer, load.buffer)) continue;
        if (s.buffer != load.buffer || s.guard >= 0 || s.accumulate || load.guard >= 0) return -1;
        if (!(s.at == load.at)) return -1;
        bool scalar = ph == phase || earlier.axes.empty();
        return scalar ? s.value : -1;
      }
    }
    return -1;
  }

  void rename_write_back(const std::string& from, const std::string& to) {
    for (WriteBackInfo& w : p_.write_backs)
      if (w.kernel == from) w.kernel = to;
  }

  // Stores to temporaries that no kernel loads (this one included: loads were forwarded).
  void drop_unread_stores(Kernel& k) {
    remove_dead_expressions(k);
    for (Phase& ph : k.phases)
      std::erase_if(ph.stores, [&](const Store& s) {
        return p_.buffers[static_cast<size_t>(s.buffer)].home == Home::Temp &&
               count_readers(p_, s.buffer) == 0;
      });
    remove_empty_phases(k);
  }

  LoopProgram& p_;
  const std::set<std::string> kept_;
};

}  // namespace

void merge_kernels(LoopProgram& p) { Merger(p).run(); }

}  // namespace aotc
