// Several writes to parts of a tensor are a chain in which each copies the tensor and then stores
// its part. Where nobody needs the tensor before the copy any more, the part is stored into that
// one: the chain costs one copy, and none where the write-back is direct.
#include <algorithm>

#include "codegen/kernel_edit.h"
#include "codegen/passes.h"

namespace aotc {

using namespace loops;

namespace {

class ShareCopies {
 public:
  explicit ShareCopies(LoopProgram& p) : p_(p) {}

  void run() {
    const Blocks blocks(controls_of(p_));
    for (size_t i = 0; i < p_.kernels.size(); ++i) {
      if (blocks.depth(i) > 0) continue;
      const BufferId from = copied_temporary(p_.kernels[i]);
      if (from < 0) continue;
      const BufferId to = p_.kernels[i].phases[0].stores[0].buffer;
      if (!is_temporary(to) || !same_type(from, to) || !ends_at(from, i) || !begins_at(to, i))
        continue;
      replace_buffer(p_, to, from);
      p_.kernels[i].phases[0].stores.clear();
    }
    std::erase_if(p_.kernels, [](const Kernel& k) {
      return k.kind == KernelKind::Loops && k.phases.size() == 1 && k.phases[0].stores.empty() &&
             k.phases[0].accumulators.empty();
    });
  }

 private:
  bool is_temporary(BufferId b) const {
    return p_.buffers[static_cast<size_t>(b)].home == Home::Temp;
  }

  // The temporary that the kernel copies whole, or -1.
  BufferId copied_temporary(const Kernel& k) const {
    const std::set<BufferId> read = buffers_read(k), written = buffers_written(k);
    if (k.kind != KernelKind::Loops || read.size() != 1 || written.size() != 1) return -1;
    return is_temporary(*read.begin()) && is_whole_copy(p_, k, *read.begin(), *written.begin())
               ? *read.begin()
               : -1;
  }

  bool same_type(BufferId a, BufferId b) const {
    const Buffer &x = p_.buffers[static_cast<size_t>(a)], &y = p_.buffers[static_cast<size_t>(b)];
    return x.dtype == y.dtype && x.sizes == y.sizes && x.strides == y.strides &&
           x.device == y.device;
  }

  // Nothing after kernel i touches b; nothing says that it is written back.
  bool ends_at(BufferId b, size_t i) const {
    for (size_t j = i + 1; j < p_.kernels.size(); ++j)
      if (touches(p_.kernels[j], b)) return false;
    return std::ranges::none_of(p_.write_backs,
                                [&](const WriteBackInfo& w) { return w.value == b; });
  }
  bool begins_at(BufferId b, size_t i) const {
    for (size_t j = 0; j < i; ++j)
      if (touches(p_.kernels[j], b)) return false;
    return true;
  }
  static bool touches(const Kernel& k, BufferId b) {
    return buffers_read(k).contains(b) || buffers_written(k).contains(b);
  }

  LoopProgram& p_;
};

}  // namespace

void share_copies(LoopProgram& p) { ShareCopies(p).run(); }

}  // namespace aotc
