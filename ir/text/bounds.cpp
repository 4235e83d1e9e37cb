// Extreme values of affine indices.
#include "ir/text/bounds.h"

#include <algorithm>

#include "ir/text/phase_steps.h"

namespace aotc::text {

using namespace loops;

Bounds::Bounds(const LoopProgram& program, const Kernel& k, const Phase& p) : axes_(k.axes) {
  axes_.insert(axes_.end(), p.axes.begin(), p.axes.end());
  if (program.graph) known_ = program.assumptions(k);
  runs_ = std::all_of(axes_.begin(), axes_.end(),
                      [&](const Axis& a) { return known_.proves_nonnegative(a.extent - 1); });
}

Sym Bounds::extreme(Sym index, bool largest) const {
  for (const Axis& a : axes_) {
    auto linear = index.linear_in(a.name);
    if (!linear) return index;
    auto factor = linear->coefficient.constant();
    if (!factor) continue;
    bool at_end = (*factor > 0) == largest;
    index = linear->rest + linear->coefficient * (at_end ? a.extent - 1 : Sym(0));
  }
  return index;
}

bool Bounds::reaches_outside(const Sym& index, const Sym& size) const {
  if (!runs_) return false;
  for (const std::string& name : index.symbols())
    if (expr_of_symbol(name) >= 0) return false;
  return known_.proves_nonnegative(Sym(-1) - extreme(index, false)) ||
         known_.proves_nonnegative(extreme(index, true) - size);
}

}  // namespace aotc::text
