#include <algorithm>

#include "codegen/cuda/gpu_launch.h"
#include "codegen/kernel_edit.h"
#include "codegen/passes.h"

// What a GPU kernel moves.
namespace aotc {

using namespace loops;

namespace {

class TrafficCounter {
 public:
  TrafficCounter(const LoopProgram& p, const Kernel& k, const GpuLaunch& launch)
      : p_(p), k_(k), launch_(launch), outer_(1) {
    for (const Axis& a : k.axes) outer_ = outer_ * a.extent;
  }

  Traffic count() const {
    Traffic t;
    for (BufferId b : buffers_read(k_)) t.read = t.read + read(b);
    for (size_t f = 0; f < k_.phases.size(); ++f)
      for (size_t i = 0; i < k_.phases[f].stores.size(); ++i)
        t.written = t.written + written(static_cast<int>(f), static_cast<int>(i));
    return t;
  }

 private:
  const Buffer& buffer(BufferId b) const { return p_.buffers[static_cast<size_t>(b)]; }
  Sym element(BufferId b) const { return Sym(element_size(buffer(b).dtype)); }

  // At most the whole of the buffer for each phase that loads its elements from memory.
  Sym read(BufferId b) const {
    if (launch_.chip_buffers.contains(b)) return 0;
    const Sym whole = product(buffer(b).sizes) * element(b);
    Sym total(0);
    bool loops = false;
    for (const Phase& ph : k_.phases) {
      bool memory = false, kept = false;
      for (ExprId id : expressions_of(k_, ph)) {
        const Expr& e = k_.exprs[static_cast<size_t>(id)];
        if (e.kind != ExprKind::Load || e.buffer != b || !depends_on_axes(id, ph)) continue;
        const bool served = launch_.kept_loads.contains(id) && !fills(id);
        (served ? kept : memory) = true;
      }
      loops |= memory || kept;
      if (memory)
        total = total + whole;
      else if (kept)
        total = total + not_kept(ph) * element(b);
    }
    return loops ? total : whole;
  }

  bool fills(ExprId id) const {
    return std::ranges::any_of(launch_.kept, [&](const KeptRow& r) { return r.load == id; });
  }

  bool depends_on_axes(ExprId id, const Phase& ph) const {
    if (launch_.unit == GpuLaunch::Unit::Thread) return false;  // each element once
    const std::set<std::string> names = axes_of(k_, id);
    return std::ranges::any_of(ph.axes, [&](const Axis& a) { return names.contains(a.name); });
  }

  // Elements of all rows beyond those that are kept.
  Sym not_kept(const Phase& ph) const {
    const Sym count = PackedAxes(ph.axes, launch_.width).count;
    const Sym kept = Sym(int64_t{launch_.rounds} * launch_.threads);
    return outer_ * sym_max(count - kept, 0) * Sym(launch_.width);
  }

  Sym written(int f, int i) const {
    const Phase& ph = k_.phases[static_cast<size_t>(f)];
    const Store& s = ph.stores[static_cast<size_t>(i)];
    if (launch_.chip_stores.contains({f, i})) return not_kept(ph) * element(s.buffer);
    Sym n = outer_;
    for (const Axis& a : ph.axes) n = n * a.extent;
    return n * element(s.buffer);
  }

  const LoopProgram& p_;
  const Kernel& k_;
  const GpuLaunch& launch_;
  Sym outer_;
};

}  // namespace

Traffic gpu_traffic(const LoopProgram& p, const Kernel& scheduled, const GpuLaunch& launch) {
  return TrafficCounter(p, scheduled, launch).count();
}

}  // namespace aotc
