// The host runs ahead of the device: before it touches memory that a transfer brings, it waits. It
// waits, too, before it changes what outlives the call while a check on the device may have failed.
#include <algorithm>

#include "codegen/kernel_edit.h"
#include "codegen/passes.h"
#include "ir/template_kernel.h"

namespace aotc {

using namespace loops;

namespace {

class Waiter {
 public:
  explicit Waiter(LoopProgram& p) : p_(p) {}

  void run() {
    std::vector<Kernel> old = std::move(p_.kernels);
    p_.kernels.clear();
    for (Kernel& k : old) {
      if (must_wait(k)) wait(k);
      if (k.kind == KernelKind::Check && on_device(k.device)) unseen_check_ = true;
      if (k.kind == KernelKind::Transfer)
        for (BufferId b : buffers_written(k))
          if (!on_device(buffer(b).device)) arriving_.insert(b);
      p_.kernels.push_back(std::move(k));
    }
  }

 private:
  const Buffer& buffer(BufferId b) const { return p_.buffers[static_cast<size_t>(b)]; }
  static bool on_device(const Device& d) { return !(d == Device{}); }

  bool must_wait(const Kernel& k) const {
    // Another block may run any number of times.
    if (k.kind == KernelKind::Control) return !arriving_.empty() || unseen_check_;
    for (BufferId b : arriving_) {
      if (k.kind == KernelKind::Transfer && buffers_written(k).contains(b)) continue;  // in order
      if (reads_memory_of(p_, k, b) || writes_memory_of(p_, k, b)) return true;
    }
    if (!unseen_check_ || on_device(k.device) || k.kind == KernelKind::Transfer) return false;
    return std::ranges::any_of(buffers_written(k), [&](BufferId b) {
      const Home h = buffer(b).home;
      return h == Home::Input || h == Home::Storage;
    });
  }

  void wait(const Kernel& before) {
    Kernel w;
    w.name = unique_kernel_name(p_, "wait");
    w.kind = KernelKind::Wait;
    w.origins = before.origins;
    w.phases.emplace_back();
    p_.kernels.push_back(std::move(w));
    arriving_.clear();
    unseen_check_ = false;
  }

  LoopProgram& p_;
  std::set<BufferId> arriving_;  // on the host
  bool unseen_check_ = false;
};

}  // namespace

void insert_waits(LoopProgram& p) { Waiter(p).run(); }

}  // namespace aotc
