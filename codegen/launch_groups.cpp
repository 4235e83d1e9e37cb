#include "codegen/launch_groups.h"

#include <algorithm>

#include "codegen/kernel_edit.h"

namespace aotc {

using namespace loops;

namespace {

class Grouper {
 public:
  explicit Grouper(LoopProgram& p) : p_(p) {}

  std::vector<LaunchGroup> run() {
    for (size_t i = 0; i < p_.kernels.size();) {
      const std::optional<size_t> reader = only_reader(i);
      if (!reader || !order_axes(p_.kernels[*reader], p_.kernels[i].matmul->c.buffer)) {
        ++i;
        continue;
      }
      readers_.insert(p_.kernels[*reader].name);
      const auto at = [&](size_t k) { return p_.kernels.begin() + static_cast<std::ptrdiff_t>(k); };
      std::rotate(at(i), at(i) + 1, at(*reader));
      if (*reader == i + 1) i += 2;  // else another kernel is here now
    }
    std::vector<LaunchGroup> groups;
    for (size_t i = 0; i + 1 < p_.kernels.size(); ++i)
      if (p_.kernels[i].matmul && readers_.contains(p_.kernels[i + 1].name)) groups.push_back({i});
    return groups;
  }

 private:
  const Buffer& buffer(BufferId b) const { return p_.buffers[static_cast<size_t>(b)]; }

  // The kernel that takes over the product of kernel i, which may run as late as that one.
  std::optional<size_t> only_reader(size_t i) const {
    if (!p_.kernels[i].matmul || p_.kernels[i].device == Device{}) return std::nullopt;
    const BufferId product = p_.kernels[i].matmul->c.buffer;
    if (buffer(product).home != Home::Temp || count_readers(p_, product) != 1) return std::nullopt;
    for (size_t j = i + 1; j < p_.kernels.size(); ++j) {
      const Kernel& k = p_.kernels[j];
      if (k.kind == KernelKind::Control) return std::nullopt;
      if (buffers_written(k).contains(product)) return std::nullopt;
      if (buffers_read(k).contains(product))
        return takes_elements(k, i) ? std::optional(j) : std::nullopt;
      if (k.kind != KernelKind::Wait && conflict(p_, p_.kernels[i], k)) return std::nullopt;
    }
    return std::nullopt;
  }

  // One element per iteration, and nothing is stored where another block may still read factors.
  bool takes_elements(const Kernel& k, size_t product) const {
    if (k.kind != KernelKind::Loops && k.kind != KernelKind::Copy) return false;
    if (!(k.device == p_.kernels[product].device) || readers_.contains(k.name)) return false;
    if (k.phases.size() != 1 || !k.accumulators.empty()) return false;
    const Phase& ph = k.phases[0];
    if (!ph.axes.empty() || ph.ordered) return false;
    return std::ranges::none_of(ph.stores, [&](const Store& s) {
      return s.accumulate || reads_memory_of(p_, p_.kernels[product], s.buffer);
    });
  }

  // Puts the axes into the order in which they walk the memory of `product`, if each iteration
  // loads another element of it and all of them are loaded.
  bool order_axes(Kernel& k, BufferId product) const {
    const std::optional<Sym> offset = offset_of_loads(k, product);
    if (!offset) return false;
    std::vector<Axis> ordered, rest;
    for (const Axis& a : k.axes) (a.extent.is(1) ? ordered : rest).push_back(a);
    Sym step(1), remainder = *offset;
    std::vector<Axis> inner;  // innermost first
    while (!rest.empty()) {
      const auto next = std::ranges::find_if(rest, [&](const Axis& a) {
        const auto linear = offset->linear_in(a.name);
        return linear && linear->coefficient == step;
      });
      if (next == rest.end()) return false;
      remainder = remainder.linear_in(next->name)->rest;
      step = step * next->extent;
      inner.push_back(*next);
      rest.erase(next);
    }
    for (const Axis& a : ordered) remainder = remainder.substitute({{a.name, Sym(0)}});
    if (!remainder.is(0) || !(step == aotc::product(buffer(product).sizes))) return false;
    ordered.insert(ordered.end(), inner.rbegin(), inner.rend());
    k.axes = std::move(ordered);
    return true;
  }

  // The offset that all loads of `product` have; nullopt if they differ or depend on data.
  std::optional<Sym> offset_of_loads(const Kernel& k, BufferId product) const {
    const Assumptions assumptions = p_.assumptions(k);
    std::optional<Sym> found;
    for (const Expr& e : k.exprs) {
      if (e.kind != ExprKind::Load || e.buffer != product) continue;
      const Sym at = assumptions.simplify(flat_offset(buffer(product), e.at));
      if (e.guard >= 0 || (found && !(*found == at))) return std::nullopt;
      found = at;
    }
    return found;
  }

  LoopProgram& p_;
  std::set<std::string> readers_;  // kernels that are in a group
};

}  // namespace

std::vector<LaunchGroup> group_launches(LoopProgram& p) { return Grouper(p).run(); }

}  // namespace aotc
