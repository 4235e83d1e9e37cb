// Questions about loop programs that every user of them asks.
#include "ir/loops.h"

#include "ir/template_kernel.h"

namespace aotc::loops {

Assumptions LoopProgram::assumptions(const Kernel& k) const {
  Assumptions a = graph->assumptions();
  for (const Axis& x : k.axes) a.set_axis(x.name, x.extent);
  for (const Phase& p : k.phases)
    for (const Axis& x : p.axes) a.set_axis(x.name, x.extent);
  return a;
}

std::vector<Control> controls_of(const LoopProgram& p) {
  std::vector<Control> all;
  for (const Kernel& k : p.kernels) all.push_back(k.control);
  return all;
}

Sym flat_offset(const Buffer& b, const std::vector<Sym>& at) {
  Sym s = b.offset;
  for (size_t i = 0; i < at.size(); ++i) s = s + at[i] * b.strides[i];
  return s;
}

std::set<BufferId> buffers_read(const Kernel& k) {
  std::set<BufferId> ids;
  for (const Expr& e : k.exprs)
    if (e.kind == ExprKind::Load) ids.insert(e.buffer);
  for (const Phase& ph : k.phases)
    for (const Store& s : ph.stores)
      if (s.accumulate) ids.insert(s.buffer);
  for (BufferId b : template_reads(k)) ids.insert(b);
  return ids;
}

std::set<BufferId> buffers_written(const Kernel& k) {
  std::set<BufferId> ids;
  for (const Phase& ph : k.phases)
    for (const Store& s : ph.stores) ids.insert(s.buffer);
  for (BufferId b : template_writes(k)) ids.insert(b);
  return ids;
}

}  // namespace aotc::loops
