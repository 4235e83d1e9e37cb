// Decides on which device each kernel runs, and makes what crosses between devices explicit: a
// kernel afterwards touches memory of its own device only, but for single numbers of the host,
// which a GPU kernel gets as arguments. What moves between devices is gathered where it comes from,
// so that no more than that is transferred; what is there already is not transferred again.
#include <algorithm>

#include "codegen/kernel_edit.h"
#include "codegen/passes.h"
#include "ir/input_layout.h"
#include "ir/lowering.h"
#include "ir/template_kernel.h"

namespace aotc {

using namespace loops;

bool is_scalar_argument(const LoopProgram& p, const Kernel& k, const Expr& load) {
  const Buffer& b = p.buffers[static_cast<size_t>(load.buffer)];
  if (k.device == Device{} || !(b.device == Device{})) return false;
  return std::ranges::all_of(b.sizes, [](const Sym& s) { return s.is(1); });
}

namespace {

class Placer {
 public:
  explicit Placer(LoopProgram& p) : p_(p) {}

  void run() {
    std::vector<Kernel> old = std::move(p_.kernels);
    p_.kernels.clear();
    for (Kernel& k : old) place(std::move(k));
  }

 private:
  const Buffer& buffer(BufferId b) const { return p_.buffers[static_cast<size_t>(b)]; }
  const Device& device(BufferId b) const { return buffer(b).device; }

  void place(Kernel k) {
    if (k.kind == KernelKind::Control) mirrors_.clear();  // other blocks see other contents
    k.device = runs_on(k);
    if (k.kind == KernelKind::Host) k = computed_at_home(std::move(k));
    if (moves_only(k)) return place_move(std::move(k));
    std::vector<std::pair<BufferId, BufferId>> results;  // (where it is computed, where it belongs)
    for (BufferId b : foreign(k, buffers_read(k))) retarget(k, b, mirror(b, k), true, false);
    for (BufferId b : foreign(k, buffers_written(k))) {
      const BufferId copy = is_template(k) ? twin(b, k.device, "_result") : mirror(b, k);
      retarget(k, b, copy, false, true);
      results.emplace_back(copy, b);
    }
    push(std::move(k));
    for (const auto& [from, to] : results) push(transfer(from, to, p_.kernels.back().origins));
  }

  // Values for the host are computed there; a check of host numbers too.
  Device runs_on(const Kernel& k) const {
    if (k.kind == KernelKind::Host || k.kind == KernelKind::Control) return {};
    if (k.sort) return {};
    if (k.kind != KernelKind::Check) return k.device;
    for (BufferId b : buffers_read(k))
      if (!(device(b) == Device{})) return device(b);
    return {};
  }

  // Buffers on another device than the kernel's, without its arguments.
  std::vector<BufferId> foreign(const Kernel& k, const std::set<BufferId>& all) const {
    std::vector<BufferId> list;
    for (BufferId b : all)
      if (!(device(b) == k.device) && !passed_by_value(k, b)) list.push_back(b);
    return list;
  }

  bool passed_by_value(const Kernel& k, BufferId b) const {
    if (is_template(k) || buffers_written(k).contains(b)) return false;
    return std::ranges::all_of(k.exprs, [&](const Expr& e) {
      return e.kind != ExprKind::Load || e.buffer != b || is_scalar_argument(p_, k, e);
    });
  }

  static void retarget(Kernel& k, BufferId from, BufferId to, bool loads, bool stores) {
    if (is_template(k)) return replace_template_buffer(k, from, to);
    for (Expr& e : k.exprs)
      if (loads && e.kind == ExprKind::Load && e.buffer == from) e.buffer = to;
    for (Phase& ph : k.phases)
      for (Store& s : ph.stores)
        if (stores && s.buffer == from) s.buffer = to;
  }

  // ---- moves

  // One element per iteration, computed from an element on another device.
  bool moves_only(const Kernel& k) const {
    const Store* s = elementwise_store(k);
    if (k.kind != KernelKind::Loops || !s || s->guard >= 0 || s->accumulate) return false;
    if (!covers_buffer(p_, k, *s)) return false;
    const std::set<BufferId> read = buffers_read(k);
    return read.size() == 1 && !(device(*read.begin()) == device(s->buffer));
  }

  // Computed where the operand is, then transferred.
  void place_move(Kernel k) {
    const BufferId from = *buffers_read(k).begin();
    const BufferId to = elementwise_store(k)->buffer;
    if (is_whole_copy(p_, k, from, to) && same_dense_layout(from, to)) {
      const BufferId there = known_mirror(from, device(to));
      if (there < 0) {
        push(transfer(from, to, k.origins));
        mirrors_[{from, device(to).type}] = to;
        return;
      }
      k.device = device(to);
      retarget(k, from, there, true, false);
      return push(std::move(k));
    }
    const BufferId gathered = twin(to, device(from), "_to_move");
    retarget(k, to, gathered, false, true);
    k.device = device(from);
    const std::vector<Origin> origins = k.origins;
    push(std::move(k));
    push(transfer(gathered, to, origins));
  }

  // A value for the host that is read from another device: computed there, moved as one number.
  Kernel computed_at_home(Kernel k) {
    const auto elsewhere = std::ranges::find_if(k.exprs, [&](const Expr& e) {
      return e.kind == ExprKind::Load && !(device(e.buffer) == Device{});
    });
    if (elsewhere == k.exprs.end()) return k;
    Kernel computes = k;
    computes.kind = KernelKind::Loops;
    computes.device = device(elsewhere->buffer);
    computes.name = unique_kernel_name(p_, k.name + "_value");
    computes.symbol.clear();
    const BufferId there = one_number(k.name + "_value", computes.device);
    computes.phases.assign(1, Phase{});
    computes.phases[0].stores.push_back({there, {}, 0});
    place(std::move(computes));
    const BufferId here = one_number(k.name + "_host_value", Device{});
    push(transfer(there, here, k.origins));
    Expr load;
    load.kind = ExprKind::Load;
    load.dtype = DType::Int64;
    load.buffer = here;
    k.exprs.assign(1, load);
    return k;
  }

  // ---- mirrors: copies of a buffer on another device

  BufferId known_mirror(BufferId b, const Device& d) const {
    auto it = mirrors_.find({b, d.type});
    return it == mirrors_.end() ? -1 : it->second;
  }

  BufferId mirror(BufferId b, const Kernel& k) {
    if (const BufferId known = known_mirror(b, k.device); known >= 0) return known;
    BufferId source = b;
    if (!is_dense_permutation(buffer(b).sizes, buffer(b).strides)) {
      source = twin(b, device(b), "_dense");
      push(copy_kernel(b, source, KernelKind::Loops, device(b), k.origins));
    }
    const BufferId there = twin(source, k.device, "_on_" + k.device.type);
    push(transfer(source, there, k.origins));
    mirrors_[{b, k.device.type}] = there;
    return there;
  }

  // A temporary like b, in its layout where that is dense.
  BufferId twin(BufferId b, const Device& d, const std::string& suffix) {
    Buffer t = buffer(b);
    t.home = Home::Temp;
    t.index = -1;
    t.offset = Sym(0);
    t.device = d;
    t.name = unique_buffer_name(t.name + suffix);
    if (!is_dense_permutation(t.sizes, t.strides)) t.strides = contiguous_strides(t.sizes);
    p_.buffers.push_back(std::move(t));
    return static_cast<BufferId>(p_.buffers.size()) - 1;
  }

  BufferId one_number(const std::string& name, const Device& d) {
    Buffer b;
    b.name = unique_buffer_name(name);
    b.dtype = DType::Int64;
    b.device = d;
    p_.buffers.push_back(std::move(b));
    return static_cast<BufferId>(p_.buffers.size()) - 1;
  }

  std::string unique_buffer_name(const std::string& wanted) const {
    std::string name = wanted;
    const auto taken = [&](const Buffer& b) { return b.name == name; };
    for (int i = 1; std::ranges::any_of(p_.buffers, taken); ++i)
      name = fmt::format("{}_{}", wanted, i);
    return name;
  }

  bool same_dense_layout(BufferId a, BufferId b) const {
    return is_dense_permutation(buffer(a).sizes, buffer(a).strides) &&
           buffer(a).strides == buffer(b).strides;
  }

  // ---- kernels

  Kernel transfer(BufferId from, BufferId to, const std::vector<Origin>& origins) const {
    return copy_kernel(from, to, KernelKind::Transfer, device(to), origins);
  }

  Kernel copy_kernel(BufferId from, BufferId to, KernelKind kind, const Device& d,
                     const std::vector<Origin>& origins) const {
    Kernel k;
    k.name = unique_kernel_name(
        p_,
        fmt::format("{}_{}", kind == KernelKind::Transfer ? "transfer" : "copy", identifier(from)));
    k.kind = kind;
    k.device = d;
    k.origins = origins;
    Expr load;
    load.kind = ExprKind::Load;
    load.dtype = buffer(from).dtype;
    load.buffer = from;
    for (size_t i = 0; i < buffer(from).sizes.size(); ++i) {
      k.axes.push_back({fmt::format("i{}", i), buffer(from).sizes[i]});
      load.at.push_back(Sym::symbol(k.axes.back().name));
    }
    Phase ph;
    ph.stores.push_back({to, load.at, k.add(load)});
    k.phases.push_back(std::move(ph));
    return k;
  }

  std::string identifier(BufferId b) const {
    std::string s;
    for (char c : buffer(b).name) s += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
    return s;
  }

  void push(Kernel k) {
    for (BufferId w : buffers_written(k))
      std::erase_if(mirrors_, [&](const auto& m) {
        return same_memory(p_, m.first.first, w) || same_memory(p_, m.second, w);
      });
    p_.kernels.push_back(std::move(k));
  }

  LoopProgram& p_;
  std::map<std::pair<BufferId, std::string>, BufferId> mirrors_;  // (buffer, device) -> copy there
};

}  // namespace

void place_kernels(LoopProgram& p) {
  const bool one_device =
      std::ranges::all_of(p.buffers, [](const Buffer& b) { return b.device == Device{}; });
  if (!one_device) Placer(p).run();
}

void verify_places(const LoopProgram& p) {
  for (const Kernel& k : p.kernels) {
    if (k.kind == KernelKind::Transfer) continue;
    std::set<BufferId> touched = buffers_written(k);
    if (is_template(k)) touched.merge(buffers_read(k));
    for (const Expr& e : k.exprs)
      if (e.kind == ExprKind::Load && !is_scalar_argument(p, k, e)) touched.insert(e.buffer);
    for (BufferId b : touched)
      AOTC_CHECK(p.buffers[static_cast<size_t>(b)].device == k.device,
                 "kernel {} runs on '{}' and touches {}, which is on '{}'", k.name, k.device.type,
                 p.buffers[static_cast<size_t>(b)].name,
                 p.buffers[static_cast<size_t>(b)].device.type);
  }
}

}  // namespace aotc
