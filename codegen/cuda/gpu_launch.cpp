#include "codegen/cuda/gpu_launch.h"

#include <algorithm>

#include "codegen/cuda/kept_rows.h"
#include "codegen/kernel_edit.h"
#include "codegen/passes.h"

// Which threads do what.
namespace aotc {

using namespace loops;

namespace {

constexpr int kWarp = 32, kMostThreads = 512;
constexpr int64_t kRounds = 2;     // iterations of a row that one thread should have
constexpr int64_t kShortRow = 16;  // not worth several threads
constexpr int64_t kPackBytes = 16, kMostWidth = 8;
constexpr int64_t kMostPackWork = 512;  // scalar operations that are written out for a pack
constexpr int64_t kFewPacks = 16;       // of which an incomplete one is a large part

// Orders that iterations must keep are kept by one thread.
bool is_ordered(const Kernel& k) {
  return std::ranges::any_of(k.phases, [](const Phase& ph) { return ph.ordered; }) ||
         std::ranges::any_of(k.accumulators, [](const Accumulator& a) { return a.ordered; });
}

// Of the longest loop; 0: not known.
int64_t longest_row(const Kernel& k) {
  int64_t longest = 1;
  for (const Phase& ph : k.phases) {
    const auto n = PackedAxes(ph.axes, 1).count.constant();
    if (!n) return 0;
    longest = std::max(longest, *n);
  }
  return longest;
}

// Bytes of the widest element that the phase accesses side by side; 0: there is none.
int64_t widest_adjacent(const LoopProgram& p, const Kernel& k, const Phase& ph) {
  const std::string& axis = ph.axes.back().name;
  int64_t widest = 0;
  const auto consider = [&](BufferId b, const Sym& at) {
    if (is_adjacent(k, at, axis))
      widest = std::max<int64_t>(widest, element_size(p.buffers[static_cast<size_t>(b)].dtype));
  };
  for (ExprId id : expressions_of(k, ph)) {
    const Expr& e = k.exprs[static_cast<size_t>(id)];
    if (e.kind == ExprKind::Load && e.guard < 0 && !is_scalar_argument(p, k, e))
      consider(e.buffer, e.at[0]);
  }
  for (const Store& s : ph.stores)
    if (s.guard < 0 && !s.accumulate) consider(s.buffer, s.at[0]);
  return widest;
}

int64_t work_of(const Kernel& k, const Phase& ph) {
  int64_t work = 1;
  for (ExprId id : expressions_of(k, ph)) {
    const Expr& e = k.exprs[static_cast<size_t>(id)];
    if (e.kind == ExprKind::Apply) work += prim_is_transcendental(e.prim) ? 16 : 1;
  }
  return work;
}

// Adjacent iterations of the phase that a thread should take at once; 0: it does not matter.
int64_t width_for(const LoopProgram& p, const Kernel& k, const Phase& ph) {
  const int64_t widest = widest_adjacent(p, k, ph);
  if (widest == 0) return 0;
  int64_t width = std::min(std::max<int64_t>(kPackBytes / widest, 1), kMostWidth);
  while (width > 1 && width * work_of(k, ph) > kMostPackWork) width /= 2;
  const auto n = ph.axes.back().extent.constant();
  while (n && width > 1 && *n % width != 0 && *n < kFewPacks * width) width /= 2;
  return width;
}

// One width for all phases, so that a thread has the same elements in each.
int row_width(const LoopProgram& p, const Kernel& k, int64_t longest) {
  int64_t width = kMostWidth;
  bool any = false;
  for (const Phase& ph : k.phases) {
    const int64_t wanted = ph.axes.empty() ? 0 : width_for(p, k, ph);
    any |= wanted > 0;
    if (wanted > 0) width = std::min(width, wanted);
  }
  while (longest > 0 && width > 1 && longest < kWarp * width) width /= 2;
  return any ? static_cast<int>(width) : 1;
}

bool is_elementwise_loop(const Kernel& k) {
  return k.kind != KernelKind::Check && k.phases.size() == 1 && k.phases[0].axes.empty() &&
         k.phases[0].accumulators.empty() && !k.axes.empty();
}

// The iterations of a pack must not change what another of them reads.
bool accumulates(const Phase& ph) {
  return std::ranges::any_of(ph.stores, [](const Store& s) { return s.accumulate; });
}

void widen_pointwise(const LoopProgram& p, Kernel& k, GpuLaunch& launch) {
  if (!is_elementwise_loop(k) || accumulates(k.phases[0])) return;
  Kernel split = k;
  split.phases[0].axes = {split.axes.back()};
  split.axes.pop_back();
  const int64_t width = width_for(p, split, split.phases[0]);
  if (width <= 1) return;
  launch.width = static_cast<int>(width);
  k = std::move(split);
}

}  // namespace

PackedAxes::PackedAxes(const std::vector<Axis>& axes, int width)
    : in_last(1), count(1), full(true) {
  if (axes.empty()) return;
  const Sym& last = axes.back().extent;
  const auto n = last.constant();
  full = width == 1 || (n && *n % width == 0);
  in_last = ceildiv(last, Sym(width));
  for (size_t i = 0; i + 1 < axes.size(); ++i) count = count * axes[i].extent;
  count = count * in_last;
}

bool is_adjacent(const Kernel& k, const Sym& at, const std::string& axis) {
  const auto linear = at.linear_in(axis);
  if (!linear || !linear->coefficient.is(1)) return false;
  return std::ranges::none_of(linear->rest.symbols(), [&](const std::string& n) {
    return n[0] == '%' && axes_of(k, std::stoi(n.substr(1))).contains(axis);
  });
}

GpuLaunch gpu_launch(const LoopProgram& p, Kernel& k) {
  GpuLaunch launch;
  const int64_t longest = longest_row(k);
  if (k.kind == KernelKind::Check || is_ordered(k) || (longest > 0 && longest <= kShortRow)) {
    if (!is_ordered(k)) widen_pointwise(p, k, launch);
    return launch;
  }
  launch.unit = GpuLaunch::Unit::Row;
  launch.width = row_width(p, k, longest);
  if (longest > 0) {
    launch.threads = kWarp;
    while (launch.threads < kMostThreads && launch.threads * launch.width * kRounds < longest)
      launch.threads *= 2;
    if (launch.threads == kWarp) launch.rows = 4;
  }
  keep_rows(p, k, launch);
  return launch;
}

}  // namespace aotc
