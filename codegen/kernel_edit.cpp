#include "codegen/kernel_edit.h"

#include <algorithm>

#include "ir/template_kernel.h"

// Editing loop kernels. Every change of a body goes through BodyBuilder, which keeps operands
// before users.
namespace aotc::loops {

bool same_memory(const LoopProgram& p, BufferId a, BufferId b) {
  if (a == b) return true;
  const Buffer& x = p.buffers[static_cast<size_t>(a)];
  const Buffer& y = p.buffers[static_cast<size_t>(b)];
  return x.home == y.home && x.home != Home::Temp && x.index == y.index;
}

bool reads_memory_of(const LoopProgram& p, const Kernel& k, BufferId b) {
  for (BufferId r : buffers_read(k))
    if (same_memory(p, r, b)) return true;
  return false;
}

bool writes_memory_of(const LoopProgram& p, const Kernel& k, BufferId b) {
  for (BufferId w : buffers_written(k))
    if (same_memory(p, w, b)) return true;
  return false;
}

std::set<std::string> symbols_used(const LoopProgram& p, const Kernel& k) {
  std::set<std::string> names;
  auto collect = [&](const Sym& e) {
    for (const std::string& n : e.symbols())
      if (p.graph->symbols.contains(n)) names.insert(n);
  };
  auto collect_all = [&](const std::vector<Sym>& list) {
    for (const Sym& s : list) collect(s);
  };
  for (const Axis& a : k.axes) collect(a.extent);
  for (const Expr& e : k.exprs) {
    collect(e.index);
    collect_all(e.at);
  }
  for (const Phase& ph : k.phases) {
    for (const Axis& a : ph.axes) collect(a.extent);
    for (const Store& st : ph.stores) collect_all(st.at);
  }
  collect_all(template_expressions(k));
  return names;
}

// Whether a buffer that k touches has its memory only once the symbol is known.
static bool memory_needs(const LoopProgram& p, const Kernel& k, const std::string& symbol) {
  std::set<BufferId> touched = buffers_read(k);
  touched.merge(buffers_written(k));
  return std::any_of(touched.begin(), touched.end(), [&](BufferId b) {
    const Buffer& buffer = p.buffers[static_cast<size_t>(b)];
    if (buffer.home != Home::Temp && buffer.home != Home::Output) return false;
    return std::any_of(buffer.sizes.begin(), buffer.sizes.end(),
                       [&](const Sym& s) { return s.symbols().contains(symbol); });
  });
}

bool conflict(const LoopProgram& p, const Kernel& a, const Kernel& b) {
  if (a.kind == KernelKind::Control || b.kind == KernelKind::Control) return true;
  for (BufferId w : buffers_written(a))
    if (reads_memory_of(p, b, w) || writes_memory_of(p, b, w)) return true;
  for (BufferId w : buffers_written(b))
    if (reads_memory_of(p, a, w)) return true;
  auto defines_for = [&](const Kernel& host, const Kernel& user) {
    return host.kind == KernelKind::Host &&
           (symbols_used(p, user).contains(host.symbol) || memory_needs(p, user, host.symbol));
  };
  return defines_for(a, b) || defines_for(b, a);
}

std::vector<Axis> axes_around(const Kernel& k, const Phase& phase) {
  std::vector<Axis> axes = k.axes;
  axes.insert(axes.end(), phase.axes.begin(), phase.axes.end());
  return axes;
}

void add_origins(Kernel& k, const std::vector<Origin>& origins, bool in_front) {
  for (const Origin& o : origins) {
    auto same = [&](const Origin& x) { return x.node == o.node && x.op == o.op; };
    if (std::any_of(k.origins.begin(), k.origins.end(), same)) continue;
    k.origins.insert(in_front ? k.origins.begin() : k.origins.end(), o);
  }
}

bool is_whole_copy(const LoopProgram& p, const Kernel& k, BufferId from, BufferId to) {
  if (k.phases.size() != 1 || k.phases[0].stores.size() != 1 || is_template(k) ||
      k.kind == KernelKind::Check)
    return false;
  const Phase& ph = k.phases[0];
  const Store& s = ph.stores[0];
  if (!ph.axes.empty() || s.buffer != to || s.guard >= 0 || s.accumulate || s.value < 0)
    return false;
  const Expr& e = k.exprs[static_cast<size_t>(s.value)];
  if (e.kind != ExprKind::Load || e.buffer != from || e.guard >= 0 || !(e.at == s.at)) return false;
  const Buffer& b = p.buffers[static_cast<size_t>(to)];
  for (size_t i = 0; i < s.at.size(); ++i)
    if (!(b.sizes[i].is(1) && s.at[i].is(0)) &&
        (i >= k.axes.size() || !(s.at[i] == Sym::symbol(k.axes[i].name)) ||
         !(k.axes[i].extent == b.sizes[i])))
      return false;
  return true;
}

const Store* elementwise_store(const Kernel& k) {
  if (k.kind != KernelKind::Loops || k.phases.size() != 1) return nullptr;
  const Phase& ph = k.phases[0];
  if (!ph.axes.empty() || ph.ordered || ph.stores.size() != 1 || !ph.accumulators.empty())
    return nullptr;
  const Store& s = ph.stores[0];
  return s.guard < 0 && !s.accumulate ? &s : nullptr;
}

bool covers_buffer(const LoopProgram& p, const Kernel& k, const Store& s) {
  const std::vector<Sym>& sizes = p.buffers[static_cast<size_t>(s.buffer)].sizes;
  if (s.at.size() != k.axes.size()) return false;
  for (size_t d = 0; d < s.at.size(); ++d) {
    const Axis& a = k.axes[d];
    const bool follows = s.at[d] == Sym::symbol(a.name) || (s.at[d].is(0) && a.extent.is(1));
    if (!follows || !(a.extent == sizes[d])) return false;
  }
  return true;
}

std::string unique_kernel_name(const LoopProgram& p, const std::string& wanted) {
  std::string name = wanted;
  auto taken = [&](const Kernel& k) { return k.name == name; };
  for (int n = 1; std::any_of(p.kernels.begin(), p.kernels.end(), taken); ++n)
    name = wanted + std::to_string(n);
  return name;
}

void remove_empty_phases(Kernel& k) {
  std::vector<int> now(k.phases.size(), -1);
  std::vector<Phase> kept;
  for (size_t i = 0; i < k.phases.size(); ++i) {
    if (k.phases[i].stores.empty() && k.phases[i].accumulators.empty()) continue;
    now[i] = static_cast<int>(kept.size());
    kept.push_back(k.phases[i]);
  }
  if (kept.size() == k.phases.size() || kept.empty()) return;
  for (Accumulator& a : k.accumulators)
    if (a.phase >= 0) a.phase = now[static_cast<size_t>(a.phase)];
  k.phases = std::move(kept);
}

void replace_buffer(LoopProgram& p, BufferId from, BufferId to) {
  for (Kernel& k : p.kernels) {
    replace_template_buffer(k, from, to);
    for (Expr& e : k.exprs)
      if (e.kind == ExprKind::Load && e.buffer == from) e.buffer = to;
    for (Phase& ph : k.phases)
      for (Store& s : ph.stores)
        if (s.buffer == from) s.buffer = to;
  }
  for (WriteBackInfo& w : p.write_backs)
    if (w.value == from) w.value = to;
}

namespace {

void collect_needed(const Kernel& k, ExprId id, std::set<ExprId>& needed);

void collect_needed(const Kernel& k, const Sym& s, std::set<ExprId>& needed) {
  for (const std::string& n : s.symbols())
    if (n[0] == '%') collect_needed(k, std::stoi(n.substr(1)), needed);
}

void collect_needed(const Kernel& k, ExprId id, std::set<ExprId>& needed) {
  if (id < 0 || !needed.insert(id).second) return;
  const Expr& e = k.exprs[static_cast<size_t>(id)];
  for (ExprId a : e.args) collect_needed(k, a, needed);
  collect_needed(k, e.guard, needed);
  collect_needed(k, e.otherwise, needed);
  collect_needed(k, e.index, needed);
  for (const Sym& s : e.at) collect_needed(k, s, needed);
}

}  // namespace

std::set<ExprId> expressions_of(const Kernel& k, const Phase& phase) {
  std::set<ExprId> needed;
  for (int a : phase.accumulators)
    collect_needed(k, k.accumulators[static_cast<size_t>(a)].value, needed);
  for (const Store& s : phase.stores) {
    collect_needed(k, s.value, needed);
    collect_needed(k, s.guard, needed);
    for (const Sym& at : s.at) collect_needed(k, at, needed);
  }
  return needed;
}

namespace {

void collect_axes(const Kernel& k, ExprId id, std::set<std::string>& names,
                  std::set<ExprId>& seen) {
  if (id < 0 || !seen.insert(id).second) return;
  const Expr& e = k.exprs[static_cast<size_t>(id)];
  auto collect_sym = [&](const Sym& s) {
    for (const std::string& n : s.symbols()) {
      if (n[0] == '%')
        collect_axes(k, std::stoi(n.substr(1)), names, seen);
      else
        names.insert(n);
    }
  };
  collect_sym(e.index);
  for (const Sym& s : e.at) collect_sym(s);
  for (ExprId a : e.args) collect_axes(k, a, names, seen);
  collect_axes(k, e.guard, names, seen);
  collect_axes(k, e.otherwise, names, seen);
}

std::string key_of(const Expr& e) {
  std::string key =
      fmt::format("{}|{}|{}|{}|{}|{}|{}|{}|{}|", static_cast<int>(e.kind), name(e.dtype),
                  e.kind == ExprKind::Constant ? to_text(e.constant) : "", e.index.str(), e.buffer,
                  e.guard, e.otherwise, static_cast<int>(e.prim), e.accumulator);
  for (const Sym& s : e.at) key += s.str() + ";";
  for (ExprId a : e.args) key += std::to_string(a) + ",";
  return key;
}

}  // namespace

std::set<std::string> axes_of(const Kernel& k, ExprId e) {
  std::set<std::string> names;
  std::set<ExprId> seen;
  collect_axes(k, e, names, seen);
  return names;
}

bool never_meet(const LoopProgram& p, const Kernel& a, const std::vector<Sym>& at, const Kernel& b,
                const std::vector<Sym>& other) {
  Assumptions known = p.assumptions(a);
  const Assumptions others = p.assumptions(b);
  std::map<std::string, Sym> renamed;
  for (const auto& [name, range] : others.ranges()) {
    if (p.graph->symbols.contains(name)) continue;
    renamed[name] = Sym::symbol(name + "'");
    known.set_range(name + "'", range.lo, range.hi);
  }
  for (size_t d = 0; d < at.size(); ++d) {
    const std::set<std::string> names = other[d].symbols();
    if (std::any_of(names.begin(), names.end(), [](const std::string& n) { return n[0] == '%'; }))
      continue;
    const Sym distance = other[d].substitute(renamed) - at[d];
    if (known.proves_nonnegative(distance - 1) || known.proves_nonnegative(Sym(-1) - distance))
      return true;
  }
  return false;
}

namespace {

// Proves that `index` differs wherever one of the axes that it uses differs: mixed-radix digits,
// the last axis fastest. Adds those axes to `told`.
void tell_axes(const Sym& index, const std::vector<Axis>& axes, std::set<std::string>& told) {
  const std::set<std::string> names = index.symbols();
  std::set<std::string> digits;
  Sym weight(0);  // what the next digit must weigh; 0: anything
  for (size_t i = axes.size(); i-- > 0;) {
    if (!names.contains(axes[i].name) || axes[i].extent.is(1)) continue;
    auto linear = index.linear_in(axes[i].name);
    if (!linear) return;
    const Sym& c = linear->coefficient;
    const bool first = digits.empty();
    if (first ? !c.constant() || c.is(0) : !(c == weight)) return;
    weight = c * axes[i].extent;
    digits.insert(axes[i].name);
  }
  // Whatever else is in the index must be the same for all iterations.
  for (const std::string& n : names)
    if (n[0] == '%') return;
  told.merge(digits);
}

}  // namespace

bool visits_once(const std::vector<Sym>& at, const std::vector<Axis>& axes) {
  std::set<std::string> told;
  for (const Sym& index : at) tell_axes(index, axes, told);
  return std::all_of(axes.begin(), axes.end(),
                     [&](const Axis& a) { return a.extent.is(1) || told.contains(a.name); });
}

ExprId BodyBuilder::add(Expr e) {
  // A load of memory that this kernel writes may yield another value later: it is never shared.
  if (e.kind == ExprKind::Load && buffers_written(out_).contains(e.buffer))
    return out_.add(std::move(e));
  auto [it, added] = interned_.emplace(key_of(e), 0);
  if (added) it->second = out_.add(std::move(e));
  return it->second;
}

Sym BodyBuilder::rewrite(Context& c, const Sym& s) {
  return s.substitute([&](const std::string& n) -> std::optional<Sym> {
    if (n[0] == '%') {
      ExprId id = copy(c, std::stoi(n.substr(1)));
      const Expr& e = out_.exprs[static_cast<size_t>(id)];
      if (e.kind == ExprKind::Index) return e.index;
      if (e.kind == ExprKind::Constant) return Sym(as_int64(e.constant));
      return Sym::symbol("%" + std::to_string(id));
    }
    auto it = c.axes.find(n);
    return it == c.axes.end() ? std::nullopt : std::optional<Sym>(it->second);
  });
}

// What a conversion and back again starts from; -1 if `e` is no such thing.
ExprId BodyBuilder::converted_back(const Expr& e) const {
  if (e.kind != ExprKind::Apply || e.prim != Prim::cast) return -1;
  const Expr& wide = out_.exprs[static_cast<size_t>(e.args[0])];
  if (wide.kind != ExprKind::Apply || wide.prim != Prim::cast || !widens(e.dtype, wide.dtype))
    return -1;
  const ExprId from = wide.args[0];
  return out_.exprs[static_cast<size_t>(from)].dtype == e.dtype ? from : -1;
}

ExprId BodyBuilder::copy(Context& c, ExprId id) {
  if (id < 0) return id;
  auto it = c.done.find(id);
  if (it != c.done.end()) return it->second;
  Expr e = c.from->exprs[static_cast<size_t>(id)];
  for (ExprId& a : e.args) a = copy(c, a);
  e.guard = copy(c, e.guard);
  e.otherwise = copy(c, e.otherwise);
  e.index = rewrite(c, e.index);
  for (Sym& s : e.at) s = rewrite(c, s);
  if (e.kind == ExprKind::Accumulator && c.accumulators.contains(e.accumulator))
    e.accumulator = c.accumulators.at(e.accumulator);
  ExprId result = converted_back(e);
  if (e.kind == ExprKind::Load && c.load_hook) result = c.load_hook(e);
  if (result < 0) {
    if (e.kind == ExprKind::Load && c.guard >= 0) {
      if (e.guard < 0) {
        e.guard = c.guard;
        Expr zero;
        zero.dtype = e.dtype;
        zero.constant = cast(ScalarValue::of(int64_t{0}), e.dtype);
        e.otherwise = add(std::move(zero));
      } else {
        Expr both;
        both.kind = ExprKind::Apply;
        both.dtype = DType::Bool;
        both.prim = Prim::bitwise_and;
        both.args = {c.guard, e.guard};
        e.guard = add(std::move(both));
      }
    }
    result = add(std::move(e));
  }
  c.done[id] = result;
  return result;
}

void remove_dead_expressions(Kernel& k) {
  Kernel out = k;
  out.exprs.clear();
  BodyBuilder body(out);
  BodyBuilder::Context c;
  c.from = &k;
  // Accumulators keep their numbers; those that feed nothing were never added.
  for (size_t p = 0; p < k.phases.size(); ++p) {
    for (size_t a = 0; a < k.phases[p].accumulators.size(); ++a) {
      int id = k.phases[p].accumulators[a];
      out.accumulators[static_cast<size_t>(id)].value =
          body.copy(c, k.accumulators[static_cast<size_t>(id)].value);
    }
    for (size_t s = 0; s < k.phases[p].stores.size(); ++s) {
      Store& store = out.phases[p].stores[s];
      store.value = body.copy(c, k.phases[p].stores[s].value);
      store.guard = body.copy(c, k.phases[p].stores[s].guard);
      for (Sym& at : store.at) at = body.rewrite(c, at);
    }
  }
  out.condition = body.copy(c, k.condition);
  out.report = body.copy(c, k.report);
  if (k.kind == KernelKind::Host) body.copy(c, 0);
  k = std::move(out);
}

void substitute_axis(Kernel& k, const std::string& axis, const Sym& index) {
  const std::map<std::string, Sym> replaced = {{axis, index}};
  for (Expr& e : k.exprs) {
    e.index = e.index.substitute(replaced);
    for (Sym& s : e.at) s = s.substitute(replaced);
  }
  for (Phase& ph : k.phases)
    for (Store& s : ph.stores)
      for (Sym& at : s.at) at = at.substitute(replaced);
}

void simplify_indices(const LoopProgram& p, Kernel& k) {
  Assumptions a = p.assumptions(k);
  for (Expr& e : k.exprs) {
    e.index = a.simplify(e.index);
    for (Sym& s : e.at) s = a.simplify(s);
  }
  for (Phase& ph : k.phases)
    for (Store& s : ph.stores)
      for (Sym& at : s.at) at = a.simplify(at);
}

int count_readers(const LoopProgram& p, BufferId b) {
  int n = 0;
  for (const Kernel& k : p.kernels) n += reads_memory_of(p, k, b);
  return n;
}

namespace {

void drop_unread_results(const LoopProgram& p, Kernel& k, const std::set<BufferId>& needed) {
  k.sort = std::make_shared<Sort>(*k.sort);
  for (BufferId* b : {&k.sort->values, &k.sort->indices})
    if (*b >= 0 && p.buffers[static_cast<size_t>(*b)].home == Home::Temp && !needed.contains(*b))
      *b = -1;
}

}  // namespace

void remove_dead_kernels(LoopProgram& p) {
  const Blocks blocks(controls_of(p));
  std::set<BufferId> needed;
  for (size_t i = p.kernels.size(); i-- > 0;) {
    Kernel& k = p.kernels[i];
    if (k.control == Control::EndWhile || k.control == Control::EndFor)
      for (size_t j = blocks.partner(i); j < i; ++j)  // by the next iteration
        needed.merge(buffers_read(p.kernels[j]));
    if (k.sort) drop_unread_results(p, k, needed);
    bool live =
        k.kind == KernelKind::Check || k.kind == KernelKind::Host || k.kind == KernelKind::Control;
    for (BufferId w : buffers_written(k))
      live |= p.buffers[static_cast<size_t>(w)].home != Home::Temp || needed.contains(w);
    if (live)
      needed.merge(buffers_read(k));
    else
      p.kernels.erase(p.kernels.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

}  // namespace aotc::loops
