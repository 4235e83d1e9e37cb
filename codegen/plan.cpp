// The memory plan: temporaries that are not alive at the same time share arena slots. A slot's size
// is an expression; a temporary may reuse a free slot that is provably at least as large.
#include "codegen/plan.h"

#include <algorithm>
#include <set>

#include "codegen/kernel_edit.h"
#include "codegen/passes.h"
#include "codegen/schedule.h"
#include "ir/template_kernel.h"
#include "ir/text/text.h"

namespace aotc {

using namespace loops;

namespace {

constexpr int64_t kHostAlignment = 64, kDeviceAlignment = 256;

struct Lifetime {
  BufferId buffer;
  size_t first, last;  // kernels
  Sym bytes;
};

struct Slot {
  Sym bytes;
  Device device = {};
  size_t free_from = 0;  // the first kernel that may reuse it
  std::vector<BufferId> users;
};

Sym rounded_bytes(const Buffer& b) {
  const Sym alignment(b.device == Device{} ? kHostAlignment : kDeviceAlignment);
  return ceildiv(product(b.sizes) * Sym(element_size(b.dtype)), alignment) * alignment;
}

// What a GPU kernel keeps in registers needs no memory.
std::set<BufferId> touched_in_memory(const LoopProgram& p, const Kernel& kernel) {
  const bool on_gpu = !(kernel.device == Device{}) && !is_template(kernel);
  const ScheduledKernel s = on_gpu ? schedule(p, kernel) : ScheduledKernel{};
  const Kernel& k = s.launch ? s.kernel : kernel;
  std::set<BufferId> touched = buffers_read(k);
  touched.merge(buffers_written(k));
  if (s.launch)
    for (BufferId b : s.launch->chip_buffers) touched.erase(b);
  return touched;
}

std::vector<Lifetime> lifetimes(const Plan& plan) {
  const LoopProgram& p = plan.program;
  const Blocks blocks(controls_of(p));
  std::map<BufferId, Lifetime> live;
  for (size_t k = 0; k < p.kernels.size(); ++k) {
    // Kernels of a group run at the same time.
    const LaunchGroup* const group = plan.group_of(k);
    const size_t begins = group ? group->first : k, ends = group ? group->end() - 1 : k;
    for (BufferId b : touched_in_memory(p, p.kernels[k])) {
      if (p.buffers[static_cast<size_t>(b)].home != Home::Temp) continue;
      auto [it, added] = live.emplace(
          b, Lifetime{b, begins, ends, rounded_bytes(p.buffers[static_cast<size_t>(b)])});
      // What comes from before a loop is there for all its iterations.
      const auto loop = blocks.outermost_loop(k);
      it->second.last =
          loop && it->second.first < loop->begin ? loop->end : std::max(ends, it->second.last);
    }
  }
  std::vector<Lifetime> ordered;
  for (auto& [_, l] : live) ordered.push_back(l);
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const Lifetime& a, const Lifetime& b) { return a.first < b.first; });
  return ordered;
}

bool depends_on_data(const Graph& g, const Sym& s) {
  const std::set<std::string> names = s.symbols();
  return std::any_of(names.begin(), names.end(), [&](const std::string& n) {
    auto it = g.symbols.find(n);
    return it != g.symbols.end() && it->second.unbacked;
  });
}

// The smallest free slot that is provably large enough; constants compare exactly.
Slot* find_slot(std::vector<Slot>& slots, const Lifetime& l, const Device& device,
                const Assumptions& a) {
  Slot* best = nullptr;
  for (Slot& s : slots) {
    if (!(s.device == device) || s.free_from > l.first || !a.proves_le(l.bytes, s.bytes)) continue;
    if (!best || a.proves_le(s.bytes, best->bytes)) best = &s;
  }
  return best;
}

}  // namespace

namespace {

void place_in_arena(Plan& plan) {
  const Assumptions a = plan.program.graph->assumptions();
  std::vector<Slot> slots;
  for (const Lifetime& l : lifetimes(plan)) {
    const Device& device = plan.program.buffers[static_cast<size_t>(l.buffer)].device;
    if (depends_on_data(*plan.program.graph, l.bytes)) {
      plan.scratch_bytes[l.buffer] = l.bytes;
      plan.scratch_slot[l.buffer] = plan.memory(device).scratch_slots++;
      continue;
    }
    Slot* s = find_slot(slots, l, device, a);
    if (!s) {
      slots.push_back({l.bytes, device, 0, {}});
      s = &slots.back();
    }
    s->free_from = l.last + 1;
    s->users.push_back(l.buffer);
  }
  for (const Slot& s : slots) {
    Memory& memory = plan.memory(s.device);
    for (BufferId b : s.users) plan.arena_offset[b] = memory.arena_bytes;
    memory.arena_bytes = memory.arena_bytes + s.bytes;
  }
}

}  // namespace

Device Plan::gpu_device() const {
  for (const Buffer& b : program.buffers)
    if (!(b.device == Device{})) return b.device;
  return {};
}

const LaunchGroup* Plan::group_of(size_t kernel) const {
  for (const LaunchGroup& g : groups)
    if (g.first <= kernel && kernel < g.end()) return &g;
  return nullptr;
}

Plan make_plan(LoopProgram program) {
  Plan plan;
  plan.program = std::move(program);
  remove_write_back_copies(plan.program);
  find_cache_updates(plan.program);
  forward_stores(plan.program);
  insert_waits(plan.program);
  plan.groups = group_launches(plan.program);
  place_in_arena(plan);
  return plan;
}

std::string print(const Plan& plan) {
  std::string text = print(plan.program);
  text += fmt::format("arena {} bytes\n", plan.host.arena_bytes.str());
  if (!(plan.gpu_device() == Device{}))
    text += fmt::format("arena on the GPU {} bytes\n", plan.gpu.arena_bytes.str());
  for (const auto& [b, offset] : plan.arena_offset)
    text += fmt::format("  {} at {}\n", plan.program.buffers[static_cast<size_t>(b)].name,
                        offset.str());
  for (const auto& [b, slot] : plan.scratch_slot)
    text += fmt::format("  {} in segment {} of {} bytes\n",
                        plan.program.buffers[static_cast<size_t>(b)].name, slot,
                        plan.scratch_bytes.at(b).str());
  for (const LaunchGroup& g : plan.groups)
    text += fmt::format("one launch for {} and {}\n", plan.program.kernels[g.first].name,
                        plan.program.kernels[g.first + 1].name);
  for (const WriteBackInfo& w : plan.program.write_backs) {
    const WriteBack& wb = plan.program.graph->write_backs[static_cast<size_t>(w.write_back)];
    text += fmt::format("write-back {} {}: {}\n",
                        plan.program.graph->inputs[static_cast<size_t>(wb.input)].name,
                        w.direct ? "direct" : "copy", w.reason);
  }
  return text;
}

}  // namespace aotc
