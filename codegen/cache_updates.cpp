// Which write-backs are updates of a cache: rows of one dimension are overwritten, at positions
// that are constants, sizes or data, with values that do not come from the cache; the others stay.
#include <algorithm>

#include "codegen/kernel_edit.h"
#include "codegen/passes.h"
#include "ir/template_kernel.h"

namespace aotc {

using namespace loops;

namespace {

using Index = std::vector<Sym>;

// Walks the whole of a dimension of this size.
bool is_whole(const Sym& index, const Sym& size, const std::vector<Axis>& axes) {
  if (size.is(1)) return index.is(0);
  return std::ranges::any_of(
      axes, [&](const Axis& a) { return index == Sym::symbol(a.name) && a.extent == size; });
}

// The one dimension that is not written whole; nullopt if there is none or are several.
std::optional<size_t> position_dim(const Index& at, const Index& sizes,
                                   const std::vector<Axis>& axes) {
  std::optional<size_t> found;
  for (size_t d = 0; d < at.size(); ++d) {
    if (is_whole(at[d], sizes[d], axes)) continue;
    if (found) return std::nullopt;
    found = d;
  }
  return found;
}

// position, position + axis, or what an index tensor says.
bool is_position(const Sym& index, const std::vector<Axis>& axes) {
  Sym rest = index;
  int walked = 0;
  for (const Axis& a : axes) {
    auto linear = rest.linear_in(a.name);
    if (!linear || !(linear->coefficient.is(0) || linear->coefficient.is(1))) return false;
    walked += linear->coefficient.is(1);
    rest = linear->rest;
  }
  return walked <= 1;
}

bool is_cache_update(const LoopProgram& p, BufferId target) {
  const Index& sizes = p.buffers[static_cast<size_t>(target)].sizes;
  if (sizes.size() < 2) return false;
  std::optional<size_t> dim;
  for (const Kernel& k : p.kernels) {
    if (!writes_memory_of(p, k, target)) continue;
    if (is_template(k) || reads_memory_of(p, k, target)) return false;
    for (const Phase& ph : k.phases)
      for (const Store& s : ph.stores) {
        if (!same_memory(p, s.buffer, target)) continue;
        const std::vector<Axis> axes = axes_around(k, ph);
        auto here = position_dim(s.at, sizes, axes);
        if (s.buffer != target || s.guard >= 0 || s.accumulate || !here || (dim && dim != here) ||
            !is_position(s.at[*here], axes))
          return false;
        dim = here;
      }
  }
  return dim.has_value();
}

}  // namespace

void find_cache_updates(LoopProgram& p) {
  for (WriteBackInfo& w : p.write_backs) w.cache_update = w.direct && is_cache_update(p, w.target);
}

}  // namespace aotc
