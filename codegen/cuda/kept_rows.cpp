#include "codegen/cuda/kept_rows.h"

#include <algorithm>

#include "codegen/kernel_edit.h"
#include "codegen/passes.h"

// What threads keep of a row.
namespace aotc {

using namespace loops;

namespace {

// Bytes of registers that one thread spends on what it keeps; fewer where it may have less to keep.
constexpr int64_t kMostKept = 256, kUsuallyKept = 128;
constexpr int64_t kMostRounds = 16;  // loops are written out

int64_t bytes_of_element(const LoopProgram& p, BufferId b) {
  return element_size(p.buffers[static_cast<size_t>(b)].dtype);
}

bool is_scratch(const LoopProgram& p, BufferId b) {
  return p.buffers[static_cast<size_t>(b)].home == Home::Temp;
}

bool read_elsewhere(const LoopProgram& p, const Kernel& k, BufferId b) {
  return std::ranges::any_of(p.kernels, [&](const Kernel& other) {
    return other.name != k.name && reads_memory_of(p, other, b);
  });
}

// ---- numbers

// The only store of the kernel to that memory, in a phase without loops.
bool leaves_number(const LoopProgram& p, const Kernel& k, const Phase& ph, const Store& s) {
  if (!ph.axes.empty() || ph.ordered || s.guard >= 0 || s.accumulate) return false;
  int stores = 0;
  for (const Phase& other : k.phases)
    for (const Store& o : other.stores) stores += same_memory(p, o.buffer, s.buffer);
  return stores == 1;
}

// Evaluated later, the expression still has the value that it has now.
bool is_lasting(const LoopProgram& p, const Kernel& k, ExprId value) {
  Phase alone;
  alone.stores.push_back({-1, {}, value, -1, false});
  return std::ranges::none_of(expressions_of(k, alone), [&](ExprId id) {
    const Expr& e = k.exprs[static_cast<size_t>(id)];
    return e.kind == ExprKind::Load && writes_memory_of(p, k, e.buffer);
  });
}

void replace_value(Kernel& k, ExprId from, ExprId to) {
  const auto value = [&](ExprId& id) { id = id == from ? to : id; };
  const std::map<std::string, Sym> renamed = {
      {fmt::format("%{}", from), Sym::symbol(fmt::format("%{}", to))}};
  const auto index = [&](Sym& s) { s = s.substitute(renamed); };
  for (Expr& e : k.exprs) {
    for (ExprId& a : e.args) value(a);
    value(e.guard);
    value(e.otherwise);
    index(e.index);
    for (Sym& s : e.at) index(s);
  }
  for (Accumulator& a : k.accumulators) value(a.value);
  for (Phase& ph : k.phases)
    for (Store& s : ph.stores) {
      value(s.value);
      value(s.guard);
      for (Sym& at : s.at) index(at);
    }
}

// Expressions that are evaluated up to the phase.
std::set<ExprId> evaluated_until(const Kernel& k, size_t phase) {
  std::set<ExprId> all;
  for (size_t f = 0; f <= phase; ++f) all.merge(expressions_of(k, k.phases[f]));
  return all;
}

bool forward_number(const LoopProgram& p, Kernel& k, size_t phase, const Store& s) {
  if (!is_lasting(p, k, s.value)) return false;
  const std::set<ExprId> before = evaluated_until(k, phase);
  bool any = false;
  for (ExprId id = s.value + 1; id < static_cast<ExprId>(k.exprs.size()); ++id) {
    const Expr& e = k.exprs[static_cast<size_t>(id)];
    if (e.kind != ExprKind::Load || e.buffer != s.buffer || e.guard >= 0 || !(e.at == s.at) ||
        e.dtype != k.exprs[static_cast<size_t>(s.value)].dtype || before.contains(id))
      continue;
    replace_value(k, id, s.value);
    any = true;
  }
  return any;
}

void drop_unread_stores(const LoopProgram& p, Kernel& k) {
  remove_dead_expressions(k);
  for (Phase& ph : k.phases)
    std::erase_if(ph.stores, [&](const Store& s) {
      return is_scratch(p, s.buffer) && !reads_memory_of(p, k, s.buffer) &&
             !read_elsewhere(p, k, s.buffer);
    });
  remove_empty_phases(k);
  remove_dead_expressions(k);
}

// ---- rows

// One version of the elements at a place of a row: from what fills it to the next store there.
struct Candidate {
  KeptRow row;
  std::optional<StoreId> store;  // that fills it
  std::string place;
  std::vector<ExprId> loads;
  bool open = true;
};

class Keeper {
 public:
  Keeper(const LoopProgram& p, const Kernel& k, GpuLaunch& launch)
      : p_(p), k_(k), launch_(launch) {}

  void run() {
    for (size_t f = 0; f < k_.phases.size(); ++f) {
      if (!k_.phases[f].axes.empty()) add_loads(k_.phases[f]);
      add_stores(static_cast<int>(f));
    }
    std::erase_if(candidates_,
                  [](const Candidate& c) { return c.loads.size() < (c.store ? 1u : 2u); });
    choose_rounds();
    if (launch_.rounds == 0) return;
    for (const Candidate& c : candidates_) keep(c);
    for (const Candidate& c : candidates_)
      if (c.store && only_kept(c.row.buffer)) launch_.chip_stores.insert(*c.store);
    find_chip_buffers();
  }

 private:
  Candidate* open_at(const std::string& place) {
    const auto it = std::ranges::find_if(
        candidates_, [&](const Candidate& c) { return c.open && c.place == place; });
    return it == candidates_.end() ? nullptr : &*it;
  }

  void add_loads(const Phase& ph) {
    for (ExprId id : expressions_of(k_, ph)) {
      const Expr& e = k_.exprs[static_cast<size_t>(id)];
      if (e.kind != ExprKind::Load || e.guard >= 0 || is_scalar_argument(p_, k_, e)) continue;
      const auto place = own_place(k_, ph, e.buffer, e.at[0], launch_.width);
      if (!place) continue;
      if (Candidate* c = open_at(*place))
        c->loads.push_back(id);
      else
        candidates_.push_back({{e.buffer, id}, {}, *place, {id}});
    }
  }

  void add_stores(int f) {
    const Phase& ph = k_.phases[static_cast<size_t>(f)];
    for (const Store& s : ph.stores)
      for (Candidate& c : candidates_) c.open &= !same_memory(p_, c.row.buffer, s.buffer);
    for (size_t i = 0; i < ph.stores.size() && !ph.axes.empty(); ++i) {
      const Store& s = ph.stores[i];
      const auto place = own_place(k_, ph, s.buffer, s.at[0], launch_.width);
      const auto same = [&](const Store& o) { return same_memory(p_, o.buffer, s.buffer); };
      if (place && s.guard < 0 && !s.accumulate && std::ranges::count_if(ph.stores, same) == 1)
        candidates_.push_back({{s.buffer, -1}, StoreId{f, static_cast<int>(i)}, *place, {}});
    }
  }

  // As many as the registers hold.
  void choose_rounds() {
    int64_t needed = 0;  // 0: not known
    bool known = true;
    for (const Phase& ph : k_.phases) {
      const auto packs = PackedAxes(ph.axes, launch_.width).count.constant();
      known &= packs.has_value();
      if (packs) needed = std::max(needed, (*packs + launch_.threads - 1) / launch_.threads);
    }
    const int64_t budget = known ? kMostKept : kUsuallyKept;
    int64_t bytes = 0;
    for (size_t i = 0; i < candidates_.size(); ++i) {
      const int64_t more = bytes_of_element(p_, candidates_[i].row.buffer) * launch_.width;
      if (bytes + more > budget)
        candidates_.resize(i);
      else
        bytes += more;
    }
    if (bytes == 0) return;
    const int64_t rounds = std::min(budget / bytes, kMostRounds);
    launch_.rounds = static_cast<int>(known ? std::min(rounds, needed) : rounds);
  }

  void keep(const Candidate& c) {
    const int number = static_cast<int>(launch_.kept.size());
    launch_.kept.push_back(c.row);
    for (ExprId id : c.loads) launch_.kept_loads[id] = number;
    if (c.store) launch_.kept_stores[*c.store] = number;
  }

  // A temporary that is loaded only after it was kept.
  bool only_kept(BufferId b) const {
    if (!is_scratch(p_, b) || read_elsewhere(p_, k_, b)) return false;
    for (ExprId id = 0; id < static_cast<ExprId>(k_.exprs.size()); ++id) {
      const Expr& e = k_.exprs[static_cast<size_t>(id)];
      if (e.kind != ExprKind::Load || e.buffer != b) continue;
      const auto it = launch_.kept_loads.find(id);
      if (it == launch_.kept_loads.end()) return false;
      if (launch_.kept[static_cast<size_t>(it->second)].load >= 0) return false;
    }
    return true;
  }

  void find_chip_buffers() {
    std::set<BufferId> stored;  // in memory
    for (size_t f = 0; f < k_.phases.size(); ++f) {
      const auto packs = PackedAxes(k_.phases[f].axes, launch_.width).count.constant();
      const bool fits = packs && *packs <= int64_t{launch_.rounds} * launch_.threads;
      for (size_t i = 0; i < k_.phases[f].stores.size(); ++i)
        if (!fits || !launch_.chip_stores.contains({static_cast<int>(f), static_cast<int>(i)}))
          stored.insert(k_.phases[f].stores[i].buffer);
    }
    for (const StoreId& id : launch_.chip_stores) {
      const BufferId b =
          k_.phases[static_cast<size_t>(id.first)].stores[static_cast<size_t>(id.second)].buffer;
      if (!stored.contains(b)) launch_.chip_buffers.insert(b);
    }
  }

  const LoopProgram& p_;
  const Kernel& k_;
  GpuLaunch& launch_;
  std::vector<Candidate> candidates_;
};

}  // namespace

void forward_row_numbers(const LoopProgram& p, Kernel& k) {
  bool any = false;
  for (size_t f = 0; f < k.phases.size(); ++f)
    for (size_t i = 0; i < k.phases[f].stores.size(); ++i) {
      const Store s = k.phases[f].stores[i];
      any |= leaves_number(p, k, k.phases[f], s) && forward_number(p, k, f, s);
    }
  if (any) drop_unread_stores(p, k);
}

std::optional<std::string> own_place(const Kernel& k, const Phase& ph, BufferId b, const Sym& at,
                                     int width) {
  if (ph.axes.empty()) return std::nullopt;
  for (const std::string& n : at.symbols())
    if (n[0] == '%')
      for (const std::string& used : axes_of(k, std::stoi(n.substr(1))))
        for (const Axis& a : ph.axes)
          if (a.name == used) return std::nullopt;
  const PackedAxes packed(ph.axes, width);
  std::map<std::string, Sym> axes;
  Sym rest = Sym::symbol("pack");
  for (size_t i = ph.axes.size(); i-- > 0;) {
    const bool last = i + 1 == ph.axes.size();
    const Sym& n = last ? packed.in_last : ph.axes[i].extent;
    const Sym here = i == 0 ? rest : mod(rest, n);
    axes[ph.axes[i].name] = last ? here * Sym(width) + Sym::symbol("element") : here;
    if (i > 0) rest = floordiv(rest, n);
  }
  // Of a pack that is not full, the elements that there are count too.
  return fmt::format("{}[{}] {} {}", b, at.substitute(axes).str(), packed.count.str(),
                     packed.full ? "" : ph.axes.back().extent.str());
}

void keep_rows(const LoopProgram& p, const Kernel& k, GpuLaunch& launch) {
  Keeper(p, k, launch).run();
}

}  // namespace aotc
