// A partial update that reads the storage it changes at other places (a shift, a swap, rows chosen
// by indices) is computed into a temporary of the update's size first; then the storage needs no
// copy of its old content.
#include <algorithm>

#include "codegen/kernel_edit.h"
#include "codegen/passes.h"

namespace aotc {

using namespace loops;

namespace {

class StageUpdates {
 public:
  StageUpdates(LoopProgram& p, BufferId value, BufferId target)
      : p_(p), value_(value), target_(target) {}

  void run() {
    for (size_t i = 0; i < p_.kernels.size(); ++i) {
      const int phase = writing_phase(p_.kernels[i]);
      if (phase < 0 || !reads_memory_of(p_, p_.kernels[i], target_) ||
          is_whole_copy(p_, p_.kernels[i], target_, value_))
        continue;
      if (!can_address_later(p_.kernels[i], p_.kernels[i].phases[static_cast<size_t>(phase)]))
        continue;
      Kernel stores = split(p_.kernels[i], static_cast<size_t>(phase));
      p_.kernels.insert(p_.kernels.begin() + static_cast<std::ptrdiff_t>(++i), std::move(stores));
    }
  }

 private:
  // The only phase that stores the value; -1 if there is none or the kernel also reads it.
  int writing_phase(const Kernel& k) const {
    if (k.kind != KernelKind::Loops && k.kind != KernelKind::Copy) return -1;
    if (std::ranges::any_of(
            k.exprs, [&](const Expr& e) { return e.kind == ExprKind::Load && e.buffer == value_; }))
      return -1;
    int found = -1;
    for (size_t q = 0; q < k.phases.size(); ++q)
      if (std::ranges::any_of(k.phases[q].stores,
                              [&](const Store& s) { return stores_value(s); })) {
        if (found >= 0) return -1;
        found = static_cast<int>(q);
      }
    return found;
  }

  bool stores_value(const Store& s) const { return s.buffer == value_; }

  // Where and whether to store can be told again from what the update does not change.
  bool can_address_later(const Kernel& k, const Phase& ph) const {
    std::set<ExprId> seen;
    std::function<bool(ExprId)> fine = [&](ExprId id) -> bool {
      if (id < 0 || !seen.insert(id).second) return true;
      const Expr& e = k.exprs[static_cast<size_t>(id)];
      if (e.kind == ExprKind::Accumulator) return false;
      if (e.kind == ExprKind::Load &&
          (same_memory(p_, e.buffer, target_) || buffers_written(k).contains(e.buffer)))
        return false;
      return std::ranges::all_of(e.args, fine) && fine(e.guard) && fine(e.otherwise) &&
             std::ranges::all_of(e.at, [&](const Sym& s) { return are_fine(s, fine); }) &&
             are_fine(e.index, fine);
    };
    return std::ranges::all_of(ph.stores, [&](const Store& s) {
      return !stores_value(s) || (fine(s.guard) && std::ranges::all_of(s.at, [&](const Sym& at) {
                                    return are_fine(at, fine);
                                  }));
    });
  }

  static bool are_fine(const Sym& index, const std::function<bool(ExprId)>& fine) {
    return std::ranges::all_of(index.symbols(), [&](const std::string& n) {
      return n[0] != '%' || fine(std::stoi(n.substr(1)));
    });
  }

  // Lets the kernel store into temporaries; what stores those into the value.
  Kernel split(Kernel& k, size_t phase) {
    const Kernel old = k;
    Phase& ph = k.phases[phase];
    Kernel stores;
    stores.name = unique_kernel_name(p_, k.name + "_store");
    stores.device = k.device;
    stores.axes = k.axes;
    stores.origins = k.origins;
    stores.phases = {{ph.axes, ph.ordered, {}, {}}};
    BodyBuilder body(stores);
    BodyBuilder::Context c;
    c.from = &old;
    const std::vector<Axis> axes = axes_around(k, ph);
    for (Store& s : ph.stores)
      if (stores_value(s)) stores.phases[0].stores.push_back(set_aside(s, axes, body, c));
    // Running totals need the order too.
    if (ph.accumulators.empty() &&
        std::ranges::none_of(ph.stores, [&](const Store& s) { return is_ordinary(s); }))
      ph.ordered = false;
    remove_dead_expressions(k);
    return stores;
  }

  // A store that was not set aside may need the order of the iterations.
  bool is_ordinary(const Store& s) const {
    return std::ranges::find(aside_, s.buffer) == aside_.end();
  }

  Store set_aside(Store& s, const std::vector<Axis>& axes, BodyBuilder& body,
                  BodyBuilder::Context& c) {
    const BufferId temp = new_temporary(axes);
    Store later = s;
    later.guard = body.copy(c, s.guard);
    for (Sym& at : later.at) at = body.rewrite(c, at);
    Expr load;
    load.kind = ExprKind::Load;
    load.dtype = p_.buffers[static_cast<size_t>(temp)].dtype;
    load.buffer = temp;
    for (const Axis& a : axes) load.at.push_back(Sym::symbol(a.name));
    if (later.guard >= 0) {  // elsewhere nothing was kept
      Expr zero;
      zero.dtype = load.dtype;
      zero.constant = cast(ScalarValue::of(int64_t{0}), load.dtype);
      load.guard = later.guard;
      load.otherwise = body.add(std::move(zero));
    }
    s.buffer = temp;
    s.at = load.at;
    s.accumulate = false;
    later.value = body.add(std::move(load));
    return later;
  }

  BufferId new_temporary(const std::vector<Axis>& axes) {
    const Buffer& value = p_.buffers[static_cast<size_t>(value_)];
    Buffer b;
    b.name = value.name + "_part" + (aside_.empty() ? "" : std::to_string(aside_.size()));
    b.dtype = value.dtype;
    b.device = value.device;
    for (const Axis& a : axes) b.sizes.push_back(a.extent);
    b.strides = contiguous_strides(b.sizes);
    p_.buffers.push_back(std::move(b));
    aside_.push_back(static_cast<BufferId>(p_.buffers.size()) - 1);
    return aside_.back();
  }

  LoopProgram& p_;
  const BufferId value_, target_;
  std::vector<BufferId> aside_;
};

}  // namespace

void stage_updates(LoopProgram& p, BufferId value, BufferId target) {
  StageUpdates(p, value, target).run();
}

}  // namespace aotc
