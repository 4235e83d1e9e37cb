// Text of a kernel's statements. Unordered sums run in lanes, so that the order of additions is the
// same on every CPU and vector units have independent work.
#include "codegen/emit_body.h"

#include <algorithm>

#include "codegen/emit_expr.h"
#include "codegen/kernel_edit.h"
#include "codegen/passes.h"

namespace aotc {

using namespace loops;

namespace {

constexpr int64_t kLanes = 32;  // logical lanes of an unordered accumulator, on every CPU

// An operand with a longer text is a variable of its own: readable, compilers bound the nesting of
// parentheses, and the time to break a statement into lines grows without bound in both.
constexpr size_t kLongestOperand = 80;
constexpr size_t kLongestRepeatedIndex = 24;

}  // namespace

KernelBody::KernelBody(const LoopProgram& p, const ScheduledKernel& s, bool canonical)
    : p_(p), s_(s), k_(s.kernel), assumptions_(p.assumptions(k_)) {
  const KernelParameters parameters = parameters_of(p, s);
  for (const std::vector<BufferId>* list : {&parameters.buffers, &parameters.values})
    for (BufferId b : *list)
      pointers_[b] = canonical ? fmt::format("p{}", pointers_.size()) : pointer_name(p, b);
  count_uses();
}

std::string KernelBody::phases() {
  std::string text;
  for (const Phase& ph : k_.phases) text += phase(ph);
  return text;
}

void KernelBody::count_uses() {
  uses_.assign(k_.exprs.size(), 0);
  auto use = [&](ExprId id) {
    if (id >= 0) ++uses_[static_cast<size_t>(id)];
  };
  auto use_sym = [&](const Sym& s) {
    for (const std::string& n : s.symbols())
      if (n[0] == '%') indices_.insert(std::stoi(n.substr(1)));
  };
  for (const Expr& e : k_.exprs) {
    for (ExprId a : e.args) use(a);
    use(e.guard);
    use(e.otherwise);
    use_sym(e.index);
    for (const Sym& s : e.at) use_sym(s);
  }
  for (const Phase& ph : k_.phases) has_several_stores_ |= ph.stores.size() > 1;
  for (const Phase& ph : k_.phases)
    for (const Store& st : ph.stores) {
      use(st.value);
      use(st.guard);
      for (const Sym& s : st.at) use_sym(s);
    }
  for (const Accumulator& a : k_.accumulators) use(a.value);
  use(k_.condition);
  use(k_.report);
}

std::string KernelBody::value(ExprId id) const {
  const Expr& e = k_.exprs[static_cast<size_t>(id)];
  if (named_.contains(id)) return "v" + std::to_string(id);
  switch (e.kind) {
    case ExprKind::Constant:
      return cpp_constant(e.constant);
    case ExprKind::Index:
      return fmt::format("int64_t({})", index(e.index));
    case ExprKind::Accumulator:
      return accumulator_name(e.accumulator) + (in_lanes_.contains(e.accumulator) ? "[0]" : "");
    case ExprKind::Load: {
      if (is_scalar_argument(p_, k_, e)) return pointer(e.buffer);
      return e.guard < 0
                 ? load(id)
                 : fmt::format("({} ? {} : {})", value(e.guard), load(id), value(e.otherwise));
    }
    case ExprKind::Apply: {
      std::vector<std::string> args;
      std::vector<DType> types;
      for (ExprId a : e.args) {
        args.push_back(value(a));
        types.push_back(k_.exprs[static_cast<size_t>(a)].dtype);
      }
      return apply_text(e.prim, e.dtype, args, types);
    }
  }
  internal_error("unknown expression kind");
}

std::string KernelBody::load(ExprId id) const {
  const Expr& e = k_.exprs[static_cast<size_t>(id)];
  return fmt::format("{}[{}]", pointer(e.buffer), index(e.at.at(0)));
}

std::string KernelBody::accumulator_name(int a) { return "acc" + std::to_string(a); }

void KernelBody::need(ExprId id, std::set<ExprId>& out) const {
  if (id < 0 || !out.insert(id).second) return;
  const Expr& e = k_.exprs[static_cast<size_t>(id)];
  for (ExprId a : e.args) need(a, out);
  need(e.guard, out);
  need(e.otherwise, out);
  need_sym(e.index, out);
  for (const Sym& s : e.at) need_sym(s, out);
}

void KernelBody::need_sym(const Sym& s, std::set<ExprId>& out) const {
  for (const std::string& n : s.symbols())
    if (n[0] == '%') need(std::stoi(n.substr(1)), out);
}

// Whether an ordered phase that loops over one of these axes stores to memory that `e` loads: then
// every iteration loads it anew.
bool KernelBody::changes_while(const Expr& e, const std::vector<Axis>& axes) const {
  if (e.kind != ExprKind::Load) return false;
  for (const Phase& ph : k_.phases) {
    bool loops = std::any_of(ph.axes.begin(), ph.axes.end(), [&](const Axis& a) {
      return std::any_of(axes.begin(), axes.end(), [&](const Axis& b) { return a.name == b.name; });
    });
    if (!ph.ordered || !loops) continue;
    for (const Store& st : ph.stores)
      if (same_memory(p_, st.buffer, e.buffer)) return true;
  }
  return false;
}

bool KernelBody::depends_on(ExprId id, const std::vector<Axis>& axes,
                            const std::vector<int>& running) const {
  std::set<ExprId> needed;
  need(id, needed);
  for (ExprId n : needed) {
    const Expr& e = k_.exprs[static_cast<size_t>(n)];
    if (e.kind == ExprKind::Accumulator &&
        std::find(running.begin(), running.end(), e.accumulator) != running.end())
      return true;
    if (changes_while(e, axes)) return true;
  }
  std::set<std::string> names = axes_of(k_, id);
  return std::any_of(axes.begin(), axes.end(),
                     [&](const Axis& a) { return names.contains(a.name); });
}

bool KernelBody::deserves_name(ExprId id, bool crosses_loop) const {
  const Expr& e = k_.exprs[static_cast<size_t>(id)];
  if (indices_.contains(id)) return true;
  if (e.kind == ExprKind::Constant) return false;
  const size_t length = value(id).size();
  if (length > kLongestOperand) return true;
  if (e.kind == ExprKind::Index)
    return uses_[static_cast<size_t>(id)] > 1 && length > kLongestRepeatedIndex;
  if (e.kind == ExprKind::Load && has_several_stores_ && writes_memory_of(p_, k_, e.buffer))
    return true;  // one store may change what another one's value reads
  if (e.kind == ExprKind::Accumulator) return crosses_loop;
  return crosses_loop || uses_[static_cast<size_t>(id)] > 1;
}

std::string KernelBody::declaration(ExprId id, const std::string& when) {
  const Expr& e = k_.exprs[static_cast<size_t>(id)];
  std::string initial = value(id), type = cpp_type(e.dtype);
  if (!when.empty() && e.kind == ExprKind::Load)
    initial = fmt::format("{} ? {} : {}{{}}", when, initial, type);
  named_.insert(id);
  return fmt::format("const {} v{} = {};\n", type, id, initial);
}

std::string KernelBody::declarations(const std::set<ExprId>& ids, bool cross,
                                     const std::string& when) {
  std::string text;
  for (ExprId id : ids)
    if (!named_.contains(id) && deserves_name(id, cross)) text += declaration(id, when);
  return text;
}

std::string KernelBody::runs_at_all(const std::vector<Axis>& axes) const {
  std::vector<std::string> conditions;
  for (const Axis& a : axes)
    if (!assumptions_.proves_lt(Sym(0), a.extent))
      conditions.push_back(fmt::format("{} > 0", index(a.extent)));
  if (conditions.empty()) return "";
  return fmt::format("({})", fmt::join(conditions, " && "));
}

std::string KernelBody::store(const Store& s) {
  std::string target = fmt::format("{}[{}]", pointer(s.buffer), index(s.at.at(0)));
  DType t = p_.buffers[static_cast<size_t>(s.buffer)].dtype;
  std::string v = value(s.value);
  if (s.accumulate) {
    DType c = compute_type(t);
    v = c == t ? apply_text(is_bool(t) ? Prim::bitwise_or : Prim::add, t, {target, v}, {t, t})
               : apply_text(Prim::cast, t,
                            {apply_text(Prim::add, c,
                                        {fmt::format("cast<{}>({})", cpp_type(c), target),
                                         fmt::format("cast<{}>({})", cpp_type(c), v)},
                                        {c, c})},
                            {c});
  }
  std::string text = fmt::format("{} = {};\n", target, v);
  return s.guard < 0 ? text : fmt::format("if ({}) {}", value(s.guard), text);
}

std::string KernelBody::combine(const Accumulator& a, const std::string& acc,
                                const std::string& v) const {
  return apply_text(a.combine, a.dtype, {acc, v}, {a.dtype, a.dtype});
}

std::string KernelBody::updates(const Phase& ph, const std::string& lane) {
  std::string text;
  std::set<int> companions;
  for (int id : ph.accumulators) {
    const Accumulator& a = k_.accumulators[static_cast<size_t>(id)];
    if (companions.contains(id)) continue;
    std::string acc = accumulator_name(id) + lane;
    if (a.companion < 0) {
      text += fmt::format("{} = {};\n", acc, combine(a, acc, value(a.value)));
      continue;
    }
    companions.insert(a.companion);
    const Accumulator& where = k_.accumulators[static_cast<size_t>(a.companion)];
    const std::string place = accumulator_name(a.companion) + lane;
    // Positions that are plain indices ascend: the first of equals is the lowest.
    const bool ascends = k_.exprs[static_cast<size_t>(where.value)].kind == ExprKind::Index;
    const std::string condition =
        ascends ? fmt::format("takes_over_{}({}, {}, {} == -1)", prim_name(a.combine),
                              value(a.value), acc, place)
                : fmt::format("takes_over_{}_at({}, {}, {}, {})", prim_name(a.combine),
                              value(a.value), acc, value(where.value), place);
    text += fmt::format("if ({}) {{ {} = {}; {} = {}; }}\n", condition, acc, value(a.value), place,
                        value(where.value));
  }
  return text;
}

bool KernelBody::vectorizes(const Phase& ph) const {
  if (ph.ordered || ph.accumulators.empty() || ph.axes.empty()) return false;
  for (int id : ph.accumulators) {
    const Accumulator& a = k_.accumulators[static_cast<size_t>(id)];
    if (a.ordered || a.companion >= 0) return false;
    for (const Accumulator& other : k_.accumulators)
      if (other.companion == id) return false;
  }
  auto n = ph.axes.back().extent.constant();
  return !n || *n >= kLanes;
}

std::string KernelBody::initial_accumulators(const Phase& ph, bool lanes) {
  std::string text;
  for (int id : ph.accumulators) {
    const Accumulator& a = k_.accumulators[static_cast<size_t>(id)];
    bool companion = std::any_of(k_.accumulators.begin(), k_.accumulators.end(),
                                 [&](const Accumulator& o) { return o.companion == id; });
    std::string identity = companion ? "-1" : cpp_constant(a.identity);
    if (lanes) {
      in_lanes_.insert(id);
      text += fmt::format("{} {}[{}];\nfor (int64_t lane = 0; lane < {}; ++lane) {}[lane] = {};\n",
                          cpp_type(a.dtype), accumulator_name(id), kLanes, kLanes,
                          accumulator_name(id), identity);
    } else {
      text += fmt::format("{} {} = {};\n", cpp_type(a.dtype), accumulator_name(id), identity);
    }
  }
  return text;
}

std::string KernelBody::fold_lanes(const Phase& ph) const {
  std::string text;
  for (int id : ph.accumulators) {
    std::string acc = accumulator_name(id);
    text += fmt::format(
        "for (int64_t width = {}; width > 0; width /= 2)\nfor (int64_t lane = 0; lane < width; "
        "++lane) {}[lane] = {};\n",
        kLanes / 2, acc,
        combine(k_.accumulators[static_cast<size_t>(id)], acc + "[lane]", acc + "[lane + width]"));
  }
  return text;
}

std::string KernelBody::axes_from(const std::vector<Axis>& axes,
                                  const std::string& position) const {
  std::string text, rest = position;
  for (size_t i = axes.size(); i-- > 0;) {
    const Axis& a = axes[i];
    if (i == 0) {
      text += fmt::format("const {} {} = {};\n", index_type(), a.name, rest);
      continue;
    }
    const std::string n = index(a.extent);
    text += fmt::format("const {} {} = {} % ({});\n", index_type(), a.name, rest, n);
    text += fmt::format("const {} {}_rest = {} / ({});\n", index_type(), a.name, rest, n);
    rest = a.name + "_rest";
  }
  return text;
}

std::string KernelBody::loop_head(const Axis& a, const std::string& begin,
                                  const std::string& end) const {
  return fmt::format("for (int64_t {} = {}; {} < {}; ++{}) ", a.name, begin, a.name, end, a.name);
}

std::string KernelBody::body(const Phase& ph, const std::set<ExprId>& inner,
                             const std::string& lane) {
  std::set<ExprId> before = named_;
  std::string text;
  // Values that read a running accumulator come after its update.
  std::set<ExprId> early, late;
  for (ExprId id : inner) (reads_accumulator_of(ph, id) ? late : early).insert(id);
  text += declarations(early, false);
  text += updates(ph, lane);
  text += declarations(late, false);
  for (const Store& s : ph.stores) text += store(s);
  named_ = before;
  return text;
}

bool KernelBody::reads_accumulator_of(const Phase& ph, ExprId id) const {
  return depends_on(id, {}, ph.accumulators);
}

void KernelBody::split(const Phase& ph, std::set<ExprId>& outer, std::set<ExprId>& inner) const {
  std::set<ExprId> needed;
  for (int id : ph.accumulators) need(k_.accumulators[static_cast<size_t>(id)].value, needed);
  for (const Store& s : ph.stores) {
    need(s.value, needed);
    need(s.guard, needed);
    for (const Sym& at : s.at) need_sym(at, needed);
  }
  for (ExprId id : needed) (depends_on(id, ph.axes, ph.accumulators) ? inner : outer).insert(id);
}

std::string KernelBody::phase(const Phase& ph) {
  std::set<ExprId> outer, inner;
  split(ph, outer, inner);
  std::string text = declarations(outer, !ph.axes.empty(), runs_at_all(ph.axes));
  if (ph.axes.empty()) {
    text += initial_accumulators(ph, false) + updates(ph, "");
    std::string rest = declarations(inner, false);
    for (const Store& s : ph.stores) rest += store(s);
    return text + rest;
  }
  bool lanes = vectorizes(ph);
  text += initial_accumulators(ph, lanes);
  for (size_t i = 0; i + 1 < ph.axes.size(); ++i)
    text += loop_head(ph.axes[i], "0", index(ph.axes[i].extent));
  if (ph.axes.size() > 1) text += "{\n";
  text += lanes ? lane_loop(ph, inner) : plain_loop(ph, inner);
  if (ph.axes.size() > 1) text += "}\n";
  if (lanes) text += fold_lanes(ph);
  return text;
}

std::string KernelBody::plain_loop(const Phase& ph, const std::set<ExprId>& inner) {
  const Axis& a = ph.axes.back();
  bool range = s_.range_is_inner;
  const std::string in_front = ph.ordered || !ph.accumulators.empty() ? "" : independent();
  return in_front + loop_head(a, range ? "begin" : "0", range ? "end" : index(a.extent)) + "{\n" +
         body(ph, inner, "") + "}\n";
}

std::string KernelBody::lane_loop(const Phase& ph, const std::set<ExprId>& inner) {
  const Axis& a = ph.axes.back();
  std::string n = index(a.extent), block = a.name + "_block";
  std::string text =
      fmt::format("int64_t {} = 0;\nfor (; {} + {} <= {}; {} += {}) {{\nAOTC_INDEPENDENT\n", block,
                  block, kLanes, n, block, kLanes);
  text +=
      fmt::format("for (int64_t lane = 0; lane < {}; ++lane) {{\nconst int64_t {} = {} + lane;\n",
                  kLanes, a.name, block);
  text += body(ph, inner, "[lane]") + "}\n}\n";
  auto constant = a.extent.constant();
  if (constant && *constant % kLanes == 0) return text;
  text += fmt::format("for (int64_t {} = {}, lane = 0; {} < {}; ++{}, ++lane) {{\n", a.name, block,
                      a.name, n, a.name);
  return text + body(ph, inner, "[lane]") + "}\n";
}
}  // namespace aotc
