// kernels.cpp of a program: one function per loop kernel. Each begins with the ops and Python lines that it
// computes, takes plain pointers and sizes, and hands ranges of its independent iterations to parallel_for.
#include <algorithm>
#include <set>

#include "codegen/emit.h"
#include "codegen/emit_expr.h"
#include "codegen/kernel_edit.h"
#include "codegen/source_library.h"

namespace aotc {

using namespace loops;

std::string pointer_name(const LoopProgram& p, BufferId b) {
  const Buffer& buffer = p.buffers[static_cast<size_t>(b)];
  std::string s;
  for (char c : buffer.name) s += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  // Suffixes keep user names apart from our own (axes, symbols, values, C++ keywords).
  return fmt::format("{}_{}", s, b);
}

KernelParameters parameters_of(const LoopProgram& p, const ScheduledKernel& s) {
  KernelParameters out;
  const Kernel& k = s.kernel;
  std::set<BufferId> buffers = buffers_read(k);
  buffers.merge(buffers_written(k));
  out.buffers.assign(buffers.begin(), buffers.end());
  std::set<std::string> symbols;
  auto collect = [&](const Sym& e) {
    for (const std::string& n : e.symbols())
      if (p.graph->symbols.contains(n)) symbols.insert(n);
  };
  for (const Expr& e : k.exprs) {
    collect(e.index);
    for (const Sym& at : e.at) collect(at);
  }
  for (const Axis& a : k.axes) collect(a.extent);
  for (const Phase& ph : k.phases) {
    for (const Axis& a : ph.axes) collect(a.extent);
    for (const Store& st : ph.stores)
      for (const Sym& at : st.at) collect(at);
  }
  collect(s.work);
  out.symbols.assign(symbols.begin(), symbols.end());
  out.parallel = k.kind != KernelKind::Check && k.kind != KernelKind::Host && !s.outer_count.is(1);
  return out;
}

namespace {

constexpr int64_t kLanes = 32;            // logical lanes of an unordered accumulator, on every CPU
constexpr int64_t kParallelWork = 60000;  // scalar operations that pay for waking a thread

std::string comment_for(const Kernel& k) {
  std::string text = fmt::format("// {}\n", k.name);
  std::set<std::string> seen;
  for (const Origin& o : k.origins) {
    std::string line = fmt::format("//   {}  {}  {}", o.op, o.source.str(), o.source.text);
    for (char& c : line)
      if (c == '\n' || c == '\r') c = ' ';
    while (line.ends_with("\\") || line.ends_with(" ")) line.pop_back();
    if (seen.insert(line).second) text += line + "\n";
  }
  return text;
}

class KernelEmitter {
 public:
  KernelEmitter(const LoopProgram& p, const ScheduledKernel& s) : p_(p), s_(s), k_(s.kernel), assumptions_(p.assumptions(k_)) {
    params_ = parameters_of(p, s);
    for (BufferId b : buffers_written(k_)) written_.insert(b);
    count_uses();
  }

  std::string text(StoreTable& stores) {
    if (k_.kind == KernelKind::Check) return check(stores);
    if (k_.kind == KernelKind::Host) return host();
    return loops(stores);
  }

 private:
  std::string index(const Sym& s) const { return cpp_index(s, assumptions_); }

  void count_uses() {
    uses_.assign(k_.exprs.size(), 0);
    auto use = [&](ExprId id) {
      if (id >= 0) ++uses_[static_cast<size_t>(id)];
    };
    auto use_sym = [&](const Sym& s) {
      for (const std::string& n : s.symbols())
        if (n[0] == '%') uses_[static_cast<size_t>(std::stoi(n.substr(1)))] += 2;  // needs a name
    };
    for (const Expr& e : k_.exprs) {
      for (ExprId a : e.args) use(a);
      use(e.guard);
      use(e.otherwise);
      use_sym(e.index);
      for (const Sym& s : e.at) use_sym(s);
    }
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

  // The text that yields expression `id`: its variable if it has one, else the formula.
  std::string value(ExprId id) const {
    const Expr& e = k_.exprs[static_cast<size_t>(id)];
    if (named_.contains(id)) return "v" + std::to_string(id);
    switch (e.kind) {
      case ExprKind::Constant: return cpp_constant(e.constant);
      case ExprKind::Index: return fmt::format("int64_t({})", index(e.index));
      case ExprKind::Accumulator: return accumulator_name(e.accumulator) + (in_lanes_.contains(e.accumulator) ? "[0]" : "");
      case ExprKind::Load: {
        std::string load = fmt::format("{}[{}]", pointer_name(p_, e.buffer), index(e.at.at(0)));
        return e.guard < 0 ? load : fmt::format("({} ? {} : {})", value(e.guard), load, value(e.otherwise));
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

  static std::string accumulator_name(int a) { return "acc" + std::to_string(a); }

  void need(ExprId id, std::set<ExprId>& out) const {
    if (id < 0 || !out.insert(id).second) return;
    const Expr& e = k_.exprs[static_cast<size_t>(id)];
    for (ExprId a : e.args) need(a, out);
    need(e.guard, out);
    need(e.otherwise, out);
    need_sym(e.index, out);
    for (const Sym& s : e.at) need_sym(s, out);
  }
  void need_sym(const Sym& s, std::set<ExprId>& out) const {
    for (const std::string& n : s.symbols())
      if (n[0] == '%') need(std::stoi(n.substr(1)), out);
  }

  bool depends_on(ExprId id, const std::vector<Axis>& axes, const std::vector<int>& running) const {
    std::set<ExprId> needed;
    need(id, needed);
    for (ExprId n : needed) {
      const Expr& e = k_.exprs[static_cast<size_t>(n)];
      if (e.kind == ExprKind::Accumulator && std::find(running.begin(), running.end(), e.accumulator) != running.end()) return true;
    }
    std::set<std::string> names = axes_of(k_, id);
    return std::any_of(axes.begin(), axes.end(), [&](const Axis& a) { return names.contains(a.name); });
  }

  bool deserves_name(ExprId id, bool crosses_loop) const {
    const Expr& e = k_.exprs[static_cast<size_t>(id)];
    if (e.kind == ExprKind::Constant || e.kind == ExprKind::Index) return false;
    if (e.kind == ExprKind::Accumulator) return crosses_loop;
    return crosses_loop || uses_[static_cast<size_t>(id)] > 1;
  }

  std::string declaration(ExprId id) {
    std::string text = fmt::format("const {} v{} = {};\n", cpp_type(k_.exprs[static_cast<size_t>(id)].dtype), id, value(id));
    named_.insert(id);
    return text;
  }

  // Declarations of the expressions of `ids` (in order) that deserve a name.
  std::string declarations(const std::set<ExprId>& ids, bool cross) {
    std::string text;
    for (ExprId id : ids)
      if (!named_.contains(id) && deserves_name(id, cross)) text += declaration(id);
    return text;
  }

  std::string store(const Store& s) {
    std::string target = fmt::format("{}[{}]", pointer_name(p_, s.buffer), index(s.at.at(0)));
    DType t = p_.buffers[static_cast<size_t>(s.buffer)].dtype;
    std::string v = value(s.value);
    if (s.accumulate) {
      DType c = compute_type(t);
      v = c == t ? apply_text(is_bool(t) ? Prim::bitwise_or : Prim::add, t, {target, v}, {t, t})
                 : apply_text(Prim::cast, t,
                              {apply_text(Prim::add, c, {fmt::format("cast<{}>({})", cpp_type(c), target), fmt::format("cast<{}>({})", cpp_type(c), v)}, {c, c})},
                              {c});
    }
    std::string text = fmt::format("{} = {};\n", target, v);
    return s.guard < 0 ? text : fmt::format("if ({}) {}", value(s.guard), text);
  }

  std::string combine(const Accumulator& a, const std::string& acc, const std::string& v) const {
    return apply_text(a.combine, a.dtype, {acc, v}, {a.dtype, a.dtype});
  }

  // One iteration's updates of the phase's accumulators; `lane` is "" or "[lane]".
  std::string updates(const Phase& ph, const std::string& lane) {
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
      text += fmt::format("if (takes_over_{}({}, {}, {} == -1)) {{ {} = {}; {} = {}; }}\n", prim_name(a.combine), value(a.value), acc,
                          accumulator_name(a.companion) + lane, acc, value(a.value), accumulator_name(a.companion) + lane,
                          value(where.value));
    }
    return text;
  }

  bool vectorizes(const Phase& ph) const {
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

  std::string initial_accumulators(const Phase& ph, bool lanes) {
    std::string text;
    for (int id : ph.accumulators) {
      const Accumulator& a = k_.accumulators[static_cast<size_t>(id)];
      bool companion = std::any_of(k_.accumulators.begin(), k_.accumulators.end(), [&](const Accumulator& o) { return o.companion == id; });
      std::string identity = companion ? "-1" : cpp_constant(a.identity);
      if (lanes) {
        in_lanes_.insert(id);
        text += fmt::format("{} {}[{}];\nfor (int64_t lane = 0; lane < {}; ++lane) {}[lane] = {};\n", cpp_type(a.dtype),
                            accumulator_name(id), kLanes, kLanes, accumulator_name(id), identity);
      } else {
        text += fmt::format("{} {} = {};\n", cpp_type(a.dtype), accumulator_name(id), identity);
      }
    }
    return text;
  }

  std::string fold_lanes(const Phase& ph) const {
    std::string text;
    for (int id : ph.accumulators) {
      std::string acc = accumulator_name(id);
      text += fmt::format("for (int64_t width = {}; width > 0; width /= 2)\nfor (int64_t lane = 0; lane < width; ++lane) {}[lane] = {};\n",
                          kLanes / 2, acc, combine(k_.accumulators[static_cast<size_t>(id)], acc + "[lane]", acc + "[lane + width]"));
    }
    return text;
  }

  std::string loop_head(const Axis& a, const std::string& begin, const std::string& end) const {
    return fmt::format("for (int64_t {} = {}; {} < {}; ++{}) ", a.name, begin, a.name, end, a.name);
  }

  // The body of one inner iteration.
  std::string body(const Phase& ph, const std::set<ExprId>& inner, const std::string& lane) {
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

  bool reads_accumulator_of(const Phase& ph, ExprId id) const {
    return depends_on(id, {}, ph.accumulators);
  }

  std::string phase(const Phase& ph) {
    std::set<ExprId> needed;
    for (int id : ph.accumulators) need(k_.accumulators[static_cast<size_t>(id)].value, needed);
    for (const Store& s : ph.stores) {
      need(s.value, needed);
      need(s.guard, needed);
      for (const Sym& at : s.at) need_sym(at, needed);
    }
    std::set<ExprId> outer, inner;
    for (ExprId id : needed) (depends_on(id, ph.axes, ph.accumulators) ? inner : outer).insert(id);
    std::string text = declarations(outer, !ph.axes.empty());
    if (ph.axes.empty()) {
      text += initial_accumulators(ph, false) + updates(ph, "");
      std::string rest = declarations(inner, false);
      for (const Store& s : ph.stores) rest += store(s);
      return text + rest;
    }
    bool lanes = vectorizes(ph);
    text += initial_accumulators(ph, lanes);
    for (size_t i = 0; i + 1 < ph.axes.size(); ++i) text += loop_head(ph.axes[i], "0", index(ph.axes[i].extent));
    if (ph.axes.size() > 1) text += "{\n";
    text += lanes ? lane_loop(ph, inner) : plain_loop(ph, inner);
    if (ph.axes.size() > 1) text += "}\n";
    if (lanes) text += fold_lanes(ph);
    return text;
  }

  std::string plain_loop(const Phase& ph, const std::set<ExprId>& inner) {
    const Axis& a = ph.axes.back();
    bool range = s_.range_is_inner;
    std::string independent = ph.ordered || !ph.accumulators.empty() ? "" : "AOTC_INDEPENDENT\n";
    return independent + loop_head(a, range ? "begin" : "0", range ? "end" : index(a.extent)) + "{\n" + body(ph, inner, "") + "}\n";
  }

  // Blocks of kLanes iterations, each lane with its own accumulators; then the rest, lane by lane.
  std::string lane_loop(const Phase& ph, const std::set<ExprId>& inner) {
    const Axis& a = ph.axes.back();
    std::string n = index(a.extent), block = a.name + "_block";
    std::string text = fmt::format("int64_t {} = 0;\nfor (; {} + {} <= {}; {} += {}) {{\nAOTC_INDEPENDENT\n", block, block, kLanes, n, block, kLanes);
    text += fmt::format("for (int64_t lane = 0; lane < {}; ++lane) {{\nconst int64_t {} = {} + lane;\n", kLanes, a.name, block);
    text += body(ph, inner, "[lane]") + "}\n}\n";
    auto constant = a.extent.constant();
    if (constant && *constant % kLanes == 0) return text;
    text += fmt::format("for (int64_t {} = {}, lane = 0; {} < {}; ++{}, ++lane) {{\n", a.name, block, a.name, n, a.name);
    return text + body(ph, inner, "[lane]") + "}\n";
  }

  // The outer axes from a position in the collapsed range.
  std::string outer_axes() const {
    std::string text, rest = "position";
    for (size_t i = k_.axes.size(); i-- > 0;) {
      const Axis& a = k_.axes[i];
      std::string n = index(a.extent);
      if (i == 0) {
        text += fmt::format("const int64_t {} = {};\n", a.name, rest);
      } else {
        text += fmt::format("const int64_t {} = {} % ({});\n", a.name, rest, n);
        text += fmt::format("const int64_t {}_rest = {} / ({});\n", a.name, rest, n);
        rest = a.name + "_rest";
      }
    }
    return text;
  }

  std::string parameter_list() const {
    std::vector<std::string> list;
    for (BufferId b : params_.buffers)
      list.push_back(fmt::format("{}{}* {}", written_.contains(b) ? "" : "const ", cpp_type(p_.buffers[static_cast<size_t>(b)].dtype), pointer_name(p_, b)));
    for (const std::string& s : params_.symbols) list.push_back("int64_t " + s);
    if (params_.parallel) {
      list.push_back("void* parallel_context");
      list.push_back("ParallelFor parallel_for");
    }
    return fmt::format("{}", fmt::join(list, ", "));
  }

  std::string phases_text() {
    std::string text;
    for (const Phase& ph : k_.phases) text += phase(ph);
    return text;
  }

  std::set<std::string> written_names() const {
    std::set<std::string> names;
    for (BufferId b : written_) names.insert(pointer_name(p_, b));
    return names;
  }

  std::string loops(StoreTable& stores) {
    stores[k_.name] = written_names();
    if (!params_.parallel) {
      std::string inner = s_.range_is_inner ? fmt::format("const int64_t begin = 0, end = {};\n", index(s_.outer_count)) : "";
      std::string axes;
      for (const Axis& a : k_.axes) axes += fmt::format("const int64_t {} = 0;\n", a.name);
      return fmt::format("{}extern \"C\" void {}({}) {{\n{}{}{}}}\n\n", comment_for(k_), k_.name, parameter_list(), inner, axes, phases_text());
    }
    stores[k_.name + "_range"] = written_names();
    std::string members, unpack, values;
    for (BufferId b : params_.buffers) {
      std::string type = fmt::format("{}{}*", written_.contains(b) ? "" : "const ", cpp_type(p_.buffers[static_cast<size_t>(b)].dtype));
      std::string n = pointer_name(p_, b);
      members += fmt::format("{} {};\n", type, n);
      unpack += fmt::format("{} {} = arguments->{};\n", type, n, n);
      values += n + ", ";
    }
    for (const std::string& s : params_.symbols) {
      members += fmt::format("int64_t {};\n", s);
      unpack += fmt::format("const int64_t {} = arguments->{};\n", s, s);
      values += s + ", ";
    }
    std::string text = fmt::format("struct {}_arguments {{\n{}}};\n\n", k_.name, members);
    std::string work = s_.range_is_inner ? phases_text()
                                         : fmt::format("for (int64_t position = begin; position < end; ++position) {{\n{}{}}}\n", outer_axes(), phases_text());
    text += fmt::format("{}static void {}_range(void* argument, int64_t begin, int64_t end) {{\nconst {}_arguments* arguments = (const {}_arguments*)argument;\n{}{}}}\n\n",
                        comment_for(k_), k_.name, k_.name, k_.name, unpack, work);
    text += fmt::format("extern \"C\" void {}({}) {{\n{}_arguments arguments = {{{}}};\n", k_.name, parameter_list(), k_.name, values);
    text += fmt::format("const int64_t count = {};\n", index(s_.outer_count));
    text += fmt::format("const int64_t work = {};\n", index(s_.work));
    text += fmt::format("if (work < {}) {{ {}_range(&arguments, 0, count); return; }}\n", 2 * kParallelWork, k_.name);
    text += fmt::format("const int64_t grain = 1 + count / (1 + work / {});\nparallel_for(parallel_context, count, grain, {}_range, &arguments);\n}}\n\n",
                        kParallelWork, k_.name);
    return text;
  }

  // Returns 1 and sets *report at the first iteration whose condition fails.
  std::string check(StoreTable& stores) {
    stores[k_.name] = {"report"};
    std::string params = parameter_list();
    std::string text = fmt::format("{}extern \"C\" int32_t {}({}{}int64_t* report) {{\n", comment_for(k_), k_.name, params, params.empty() ? "" : ", ");
    for (const Axis& a : k_.axes) text += loop_head(a, "0", index(a.extent)) + "{\n";
    std::set<ExprId> needed;
    need(k_.condition, needed);
    need(k_.report, needed);
    text += declarations(needed, false);
    text += fmt::format("if (!{}) {{\n*report = {};\nreturn 1;\n}}\n", value(k_.condition), k_.report < 0 ? "0" : value(k_.report));
    for (size_t i = 0; i < k_.axes.size(); ++i) text += "}\n";
    return text + "return 0;\n}\n\n";
  }

  std::string host() {
    std::set<ExprId> needed;
    ExprId root = static_cast<ExprId>(k_.exprs.size()) - 1;
    need(root, needed);
    std::string text = fmt::format("{}extern \"C\" int64_t {}({}) {{\n", comment_for(k_), k_.name, parameter_list());
    text += declarations(needed, false);
    return text + fmt::format("return {};\n}}\n\n", value(root));
  }

  const LoopProgram& p_;
  const ScheduledKernel& s_;
  const Kernel& k_;
  Assumptions assumptions_;
  KernelParameters params_;
  std::set<BufferId> written_;
  std::vector<int> uses_;
  std::set<ExprId> named_;
  std::set<int> in_lanes_;
};

}  // namespace

std::string kernels_file(const Plan& plan, const std::vector<ScheduledKernel>& kernels, const EmitOptions& options, StoreTable& stores) {
  std::string body;
  for (const ScheduledKernel& s : kernels)
    if (!s.kernel.matmul) body += KernelEmitter(plan.program, s).text(stores);
  std::string scalars = SourceLibrary(scalar_library_text()).needed_by(body);
  return fmt::format("// Kernels of {}, generated by aotc. Each names the ops and Python lines that it computes.\n"
                     "{}\nnamespace aotc {{\n\n{}\n{}}}  // namespace aotc\n",
                     options.name, kernel_prologue_text(), scalars, body);
}

}  // namespace aotc
