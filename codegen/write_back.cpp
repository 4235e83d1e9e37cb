// Proves write-backs direct. The base is always correct: a write-back is a copy into the storage
// after everything else. Two things make it direct:
//  - merging has already put the computation into the copy kernel (the value never was a
//  temporary), or
//  - the temporary that holds the value can live in the storage itself: then its kernels write the
//    storage, the copy disappears, and a kernel that first copied the old content into the
//    temporary (a partial update) disappears too, so that the update costs what it writes.
//
// The second needs: same dtype, shape and device; the temporary is written back once and is no
// output; from its first write on, nothing reads the storage's old content except the very kernel
// that writes, and that only where nothing is overwritten before; and no check that can still fail
// runs at or after that write. Readers may be moved before the write; a partial update that reads
// what it overwrites is kept aside until it is complete; one of the whole runs in the order in
// which it reads ahead.
#include <algorithm>

#include "codegen/kernel_edit.h"
#include "codegen/passes.h"
#include "ir/template_kernel.h"

namespace aotc {

using namespace loops;

namespace {

class WriteBacks {
 public:
  explicit WriteBacks(LoopProgram& p) : p_(p) {}

  void run() {
    for (WriteBackInfo& w : p_.write_backs) decide(w);
    drop_self_copies();
    remove_dead_kernels(p_);
  }

 private:
  void decide(WriteBackInfo& w) {
    auto copy = find_kernel(w.kernel);
    AOTC_CHECK(copy != p_.kernels.end(), "write-back kernel {} is gone", w.kernel);
    BufferId source = loaded_temporary(*copy, w.target);
    std::string obstacle = source < 0 ? "" : place_in_storage(source, w);
    w.direct = obstacle.empty();
    w.reason = source < 0 ? "computed by the kernel that writes the storage"
               : w.direct ? "computed in the storage"
                          : obstacle;
    if (!w.direct) return;
    w.kernel.clear();
    w.value = w.target;
  }

  std::vector<Kernel>::iterator find_kernel(const std::string& name) {
    return std::find_if(p_.kernels.begin(), p_.kernels.end(),
                        [&](const Kernel& k) { return k.name == name; });
  }

  // The buffer whose plain elements the kernel stores into `target`, or -1 if it computes them.
  BufferId loaded_temporary(const Kernel& k, BufferId target) const {
    for (const Phase& ph : k.phases)
      for (const Store& s : ph.stores) {
        if (s.buffer != target) continue;
        const Expr& e = k.exprs[static_cast<size_t>(s.value)];
        if (e.kind == ExprKind::Load && e.at == s.at &&
            p_.buffers[static_cast<size_t>(e.buffer)].home != Home::Input &&
            p_.buffers[static_cast<size_t>(e.buffer)].home != Home::Storage)
          return e.buffer;
      }
    return -1;
  }

  // Moves temporary t into the storage of the write-back; the obstacle, if something forbids it.
  std::string place_in_storage(BufferId t, const WriteBackInfo& w) {
    const Buffer &temp = p_.buffers[static_cast<size_t>(t)],
                 &target = p_.buffers[static_cast<size_t>(w.target)];
    if (temp.home == Home::Output) return "the value is also an output with storage of its own";
    if (temp.dtype != target.dtype || !(temp.sizes == target.sizes)) return "shape or dtype differ";
    if (!(temp.device == target.device)) return "the devices differ";
    for (const WriteBackInfo& other : p_.write_backs)
      if (&other != &w && other.value == t) return "the value is written back to two storages";
    if (!(temp.strides == target.strides) && has_fixed_layout(t))
      return "a template uses the value in another layout than the storage's";
    if (computed_in_block(t)) return "the value is computed in a branch or a loop";
    const std::string obstacle = old_value_needed(t, w.target);
    if (!obstacle.empty() && !is_free_after_changes(t, w.target)) return obstacle;
    retarget(t, w.target);
    return "";
  }

  // Whether the old content can go once `rearrange` has changed the program; if not, it is as
  // before.
  bool is_free_after(BufferId t, BufferId target, const auto& rearrange) {
    const LoopProgram before = p_;
    rearrange();
    if (old_value_needed(t, target).empty()) return true;
    p_.kernels = before.kernels;
    p_.buffers = before.buffers;
    return false;
  }

  bool is_free_after_changes(BufferId t, BufferId target) {
    auto move = [&] { move_readers_ahead(p_, t, target); };
    auto stage = [&] { stage_updates(p_, t, target); };
    // A whole update would need as much as the copy does.
    const bool is_partial = std::ranges::any_of(
        p_.kernels, [&](const Kernel& k) { return is_whole_copy(p_, k, target, t); });
    return is_free_after(t, target, move) ||
           (is_partial && (is_free_after(t, target, stage) || is_free_after(t, target,
                                                                            [&] {
                                                                              stage();
                                                                              move();
                                                                            }))) ||
           is_free_after(t, target, [&] { order_iterations(p_, t, target); });
  }

  bool has_fixed_layout(BufferId t) const {
    return std::any_of(p_.kernels.begin(), p_.kernels.end(),
                       [&](const Kernel& k) { return fixes_layout(k, t); });
  }

  bool computed_in_block(BufferId t) const {
    const Blocks blocks(controls_of(p_));
    for (size_t i = 0; i < p_.kernels.size(); ++i)
      if (blocks.depth(i) > 0 && buffers_written(p_.kernels[i]).contains(t)) return true;
    return false;
  }

  std::string old_value_needed(BufferId t, BufferId target) const {
    bool written = false;
    std::vector<const Kernel*> writers;  // of t, before k
    for (const Kernel& k : p_.kernels) {
      bool writes_t = buffers_written(k).contains(t);
      if (writes_t && !written && is_whole_copy(p_, k, target, t))
        continue;  // disappears: the old content stays
      bool writes_target = writes_memory_of(p_, k, target);
      written |= writes_t;
      if (!written) continue;
      if (k.kind == KernelKind::Check || k.kind == KernelKind::Host)
        return "a later check can fail: " + k.message;
      if (writes_target && loaded_temporary(k, target) != t)
        return "another write to the storage comes between";
      const bool reads_own = writes_t && reads_only_where_it_writes(k, t, target);
      const bool overwritten = std::any_of(writers.begin(), writers.end(), [&](const Kernel* w) {
        return may_overwrite(*w, t, k, target);
      });
      if (writes_t) writers.push_back(&k);
      if (!reads_memory_of(p_, k, target)) continue;
      if (!reads_own || overwritten)
        return fmt::format("kernel {} reads the old content after it would be overwritten", k.name);
    }
    return "";
  }

  // The earlier kernel `w` may store t where `k` loads `target`.
  bool may_overwrite(const Kernel& w, BufferId t, const Kernel& k, BufferId target) const {
    for (const Expr& e : k.exprs) {
      if (e.kind != ExprKind::Load || !same_memory(p_, e.buffer, target)) continue;
      if (e.buffer != target || is_template(w)) return true;
      if (!is_never_written(w, k, e.at, t)) return true;
    }
    return false;
  }

  // No iteration of `writer` stores t at the indices `at` of kernel k.
  bool is_never_written(const Kernel& writer, const Kernel& k, const std::vector<Sym>& at,
                        BufferId t) const {
    for (const Phase& ph : writer.phases)
      for (const Store& s : ph.stores)
        if (s.buffer == t && !never_meet(p_, writer, s.at, k, at)) return false;
    return true;
  }

  // In one kernel: nothing that is loaded of `target` was overwritten before.
  bool reads_only_where_it_writes(const Kernel& k, BufferId t, BufferId target) const {
    for (size_t q = 0; q < k.phases.size(); ++q)
      for (ExprId id : expressions_of(k, k.phases[q])) {
        const Expr& e = k.exprs[static_cast<size_t>(id)];
        if (e.kind != ExprKind::Load || !same_memory(p_, e.buffer, target)) continue;
        if (e.buffer != target) return false;
        for (size_t w = 0; w < k.phases.size(); ++w)
          for (const Store& s : k.phases[w].stores)
            if (s.buffer == t && !is_read_first(k, e, q, s, w)) return false;
      }
    return true;
  }

  // The load, in phase q, comes before any iteration stores its element in phase w. In one phase:
  // it is at the index of the store, which no other iteration has. In an earlier one: no other
  // iteration of the kernel's axes stores where this one loads.
  bool is_read_first(const Kernel& k, const Expr& load, size_t q, const Store& s, size_t w) const {
    if (never_meet(p_, k, s.at, k, load.at)) return true;
    if (w == q && k.phases[w].ordered) return is_stored_later(k, k.phases[w], load.at, s.at);
    if (w < q || k.phases[w].ordered) return false;
    if (w > q) return shares_outer_indices(k, s.at, load.at);
    return s.at == load.at && visits_once(s.at, axes_around(k, k.phases[w]));
  }

  // In a phase that runs in order: the element is stored by a later inner iteration of the same
  // outer one, or by this one.
  static bool is_stored_later(const Kernel& k, const Phase& ph, const std::vector<Sym>& load,
                              const std::vector<Sym>& store) {
    const std::vector<Axis> axes = axes_around(k, ph);
    if (store.size() != axes.size()) return false;
    std::vector<bool> walked(store.size());
    bool decided = false;
    for (size_t i = 0; i < axes.size(); ++i) {
      if (axes[i].extent.is(1)) continue;
      size_t d = 0;
      while (d < store.size() && !store[d].symbols().contains(axes[i].name)) ++d;
      const int64_t step = d < store.size() ? step_alone(store[d], axes, i) : 0;
      const auto distance = d < store.size() ? (load[d] - store[d]).constant() : std::nullopt;
      if ((step != 1 && step != -1) || !distance) return false;
      walked[d] = true;
      if (decided || *distance == 0) continue;
      if (i < k.axes.size() || *distance * step <= 0) return false;
      decided = true;
    }
    for (size_t d = 0; d < store.size(); ++d)
      if (!walked[d] && !(load[d] == store[d])) return false;
    return true;
  }

  // How far `index` walks with axis i, if with no other one; else 0.
  static int64_t step_alone(const Sym& index, const std::vector<Axis>& axes, size_t i) {
    for (size_t j = 0; j < axes.size(); ++j)
      if (j != i && index.symbols().contains(axes[j].name)) return 0;
    const auto linear = index.linear_in(axes[i].name);
    return linear ? linear->coefficient.constant().value_or(0) : 0;
  }

  static bool shares_outer_indices(const Kernel& k, const std::vector<Sym>& a,
                                   const std::vector<Sym>& b) {
    return std::ranges::all_of(k.axes, [&](const Axis& axis) {
      if (axis.extent.is(1)) return true;
      for (size_t d = 0; d < a.size(); ++d)
        if (a[d] == Sym::symbol(axis.name) && b[d] == a[d]) return true;
      return false;
    });
  }

  void retarget(BufferId t, BufferId target) {
    for (Kernel& k : p_.kernels)
      if (is_whole_copy(p_, k, target, t)) k.phases[0].stores.clear();
    replace_buffer(p_, t, target);
  }

  // Stores of an element onto itself, and kernels left without any effect.
  void drop_self_copies() {
    for (Kernel& k : p_.kernels)
      for (Phase& ph : k.phases)
        std::erase_if(ph.stores, [&](const Store& s) {
          if (s.value < 0 || s.accumulate) return false;
          const Expr& e = k.exprs[static_cast<size_t>(s.value)];
          return e.kind == ExprKind::Load && e.buffer == s.buffer && e.at == s.at && e.guard < 0;
        });
    for (Kernel& k : p_.kernels) remove_empty_phases(k);
    std::erase_if(p_.kernels, [](const Kernel& k) {
      if (k.kind != KernelKind::Loops && k.kind != KernelKind::Copy) return false;
      return std::all_of(k.phases.begin(), k.phases.end(),
                         [](const Phase& ph) { return ph.stores.empty(); });
    });
    for (Kernel& k : p_.kernels)
      if (k.kind == KernelKind::Loops || k.kind == KernelKind::Copy) remove_dead_expressions(k);
  }

  LoopProgram& p_;
};

}  // namespace

void remove_write_back_copies(LoopProgram& p) { WriteBacks(p).run(); }

}  // namespace aotc
