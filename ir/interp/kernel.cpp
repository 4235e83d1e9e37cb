// One kernel: expressions compiled to slots, then run over axes and phases.
#include "ir/interp/kernel.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "ir/interp/sym_program.h"
#include "ir/text/phase_steps.h"

namespace aotc::interp {

using namespace loops;

namespace {

struct Access {
  BufferMemory* buffer = nullptr;
  std::vector<SymProgram> at;
};

struct CompiledExpr {
  SymProgram index;
  Access load;
  int slot = -1;  // where index expressions find the value of "%n"
  // Depends on the independent axes only, and on no accumulator: evaluated once per outer
  // iteration, by the first phase that needs it.
  bool outer = false;
};

struct CompiledAxis {
  SymProgram extent;
  int slot;
};

struct CompiledPhase {
  std::vector<CompiledAxis> axes;
  std::vector<PhaseStep> steps;
  std::vector<Access> stores;
};

bool is_nan(const ScalarValue& v) { return is_floating(v.dtype) && std::isnan(as_double(v)); }

class KernelRun {
 public:
  KernelRun(const Kernel& k, Buffers& buffers, Symbols& symbols, const RunOptions& options)
      : k_(k), buffers_(buffers), symbols_(symbols), options_(options) {
    compile();
  }

  void run() {
    loop(axes_, 0, options_.reverse_axes, [&] {
      std::fill(evaluated_.begin(), evaluated_.end(), -1);
      for (size_t p = 0; p < phases_.size(); ++p) {
        for (int a : k_.phases[p].accumulators) start(a);
        loop(phases_[p].axes, 0, options_.reverse_reductions && may_reorder(p),
             [&] { iterate(p); });
      }
    });
    if (k_.kind == KernelKind::Host && !k_.symbol.empty())
      symbols_[k_.symbol] = as_int64(values_.at(0));
  }

 private:
  // ---- compiling

  void compile() {
    values_.resize(k_.exprs.size());
    exprs_.resize(k_.exprs.size());
    totals_.resize(k_.accumulators.size());
    fed_.resize(k_.accumulators.size());
    is_companion_.resize(k_.accumulators.size());
    for (const Accumulator& a : k_.accumulators)
      if (a.companion >= 0) is_companion_.at(static_cast<size_t>(a.companion)) = true;
    compile_axes(k_.axes, axes_);
    evaluated_.resize(k_.exprs.size());
    for (const Phase& p : k_.phases)
      for (const Axis& a : p.axes) inner_axes_.insert(a.name);
    for (size_t p = 0; p < k_.phases.size(); ++p) compile_phase(p);
  }

  void compile_axes(const std::vector<Axis>& axes, std::vector<CompiledAxis>& out) {
    for (const Axis& a : axes) {
      CompiledAxis c{program(a.extent), 0};
      c.slot = slots_of_names_.emplace(a.name, new_slot(0)).first->second;
      out.push_back(std::move(c));
    }
  }

  void compile_phase(size_t p) {
    CompiledPhase phase;
    compile_axes(k_.phases[p].axes, phase.axes);
    phase.steps = phase_steps(k_, p);
    for (const PhaseStep& s : phase.steps)
      if (!s.feeds) compile_expr(s.index);
    for (const Store& s : k_.phases[p].stores) phase.stores.push_back(access(s.buffer, s.at));
    phases_.push_back(std::move(phase));
  }

  void compile_expr(ExprId id) {
    const Expr& e = k_.exprs[static_cast<size_t>(id)];
    CompiledExpr& c = exprs_[static_cast<size_t>(id)];
    if (e.kind == ExprKind::Constant) values_[static_cast<size_t>(id)] = e.constant;
    if (e.kind == ExprKind::Index) c.index = program(e.index);
    if (e.kind == ExprKind::Load) c.load = access(e.buffer, e.at);
    c.outer = is_outer(e);
  }

  bool is_outer(const Expr& e) const {
    if (e.kind == ExprKind::Accumulator) return false;
    std::vector<Sym> indices = e.at;
    indices.push_back(e.index);
    for (const Sym& s : indices)
      for (const std::string& name : s.symbols())
        if (inner_axes_.contains(name)) return false;
    std::vector<ExprId> read = operands(e);
    return std::all_of(read.begin(), read.end(),
                       [&](ExprId o) { return exprs_.at(static_cast<size_t>(o)).outer; });
  }

  Access access(BufferId buffer, const std::vector<Sym>& at) {
    Access a;
    a.buffer = &buffers_[buffer];
    AOTC_CHECK(at.size() == a.buffer->tensor.sizes.size(), "kernel {}: {} indices for buffer '{}'",
               k_.name, at.size(), a.buffer->name);
    for (const Sym& s : at) a.at.push_back(program(s));
    return a;
  }

  SymProgram program(const Sym& s) {
    return SymProgram(s, [&](const std::string& name) { return slot_of(name); });
  }

  int new_slot(int64_t value) {
    slots_.push_back(value);
    return static_cast<int>(slots_.size()) - 1;
  }

  int slot_of(const std::string& name) {
    auto it = slots_of_names_.find(name);
    if (it != slots_of_names_.end()) return it->second;
    int64_t value = 0;
    int slot = -1;
    if (ExprId e = expr_of_symbol(name); e >= 0) {
      AOTC_CHECK(e < static_cast<int>(exprs_.size()), "kernel {}: {} does not exist", k_.name,
                 name);
      slot = exprs_[static_cast<size_t>(e)].slot = new_slot(0);
    } else {
      auto known = symbols_.find(name);
      if (known == symbols_.end())
        internal_error("kernel {}: symbol {} is used before it has a value", k_.name, name);
      value = known->second;
      slot = new_slot(value);
    }
    return slots_of_names_[name] = slot;
  }

  // ---- running

  template <typename F>
  void loop(const std::vector<CompiledAxis>& axes, size_t level, bool reverse, const F& body) {
    if (level == axes.size()) return body();
    const CompiledAxis& axis = axes[level];
    int64_t extent = axis.extent.run(slots_.data());
    if (extent < 0) internal_error("kernel {}: an axis has the extent {}", k_.name, extent);
    for (int64_t i = 0; i < extent; ++i) {
      slots_[static_cast<size_t>(axis.slot)] = reverse ? extent - 1 - i : i;
      loop(axes, level + 1, reverse, body);
    }
  }

  // Whether the phase may take its elements in any order.
  bool may_reorder(size_t p) const {
    const Phase& phase = k_.phases[p];
    return !phase.ordered && std::ranges::none_of(phase.accumulators, [&](int i) {
      const Accumulator& a = k_.accumulators[static_cast<size_t>(i)];
      return a.ordered || a.companion >= 0 || is_companion_[static_cast<size_t>(i)];
    });
  }

  void start(int accumulator) {
    totals_[static_cast<size_t>(accumulator)] =
        k_.accumulators[static_cast<size_t>(accumulator)].identity;
    fed_[static_cast<size_t>(accumulator)] = false;
  }

  void iterate(size_t p) {
    for (const PhaseStep& s : phases_[p].steps) {
      if (s.feeds)
        feed(s.index);
      else if (int& by = evaluated_[static_cast<size_t>(s.index)];
               by < 0 || by == static_cast<int>(p) || !exprs_[static_cast<size_t>(s.index)].outer) {
        by = static_cast<int>(p);
        evaluate(s.index);
      }
    }
    const std::vector<Store>& stores = k_.phases[p].stores;
    for (size_t i = 0; i < stores.size(); ++i) store(stores[i], phases_[p].stores[i]);
    if (p == 0 && k_.kind == KernelKind::Check) check();
  }

  void check() {
    if (k_.condition < 0 || truth(k_.condition)) return;
    std::string value =
        k_.report < 0
            ? ""
            : fmt::format(" (found {})", to_text(values_[static_cast<size_t>(k_.report)]));
    throw CheckFailed(k_.message + value);
  }

  bool truth(ExprId e) const { return as_int64(values_[static_cast<size_t>(e)]) != 0; }

  void evaluate(ExprId id) {
    const Expr& e = k_.exprs[static_cast<size_t>(id)];
    CompiledExpr& c = exprs_[static_cast<size_t>(id)];
    ScalarValue& v = values_[static_cast<size_t>(id)];
    switch (e.kind) {
      case ExprKind::Constant:
        break;
      case ExprKind::Index:
        v = ScalarValue::of(c.index.run(slots_.data()));
        break;
      case ExprKind::Accumulator:
        v = totals_.at(static_cast<size_t>(e.accumulator));
        break;
      case ExprKind::Load:
        v = load(e, c.load, id);
        break;
      case ExprKind::Apply:
        v = apply(e);
        break;
    }
    if (c.slot >= 0) slots_[static_cast<size_t>(c.slot)] = as_int64(v);
  }

  ScalarValue apply(const Expr& e) {
    operands_.clear();
    for (ExprId a : e.args) operands_.push_back(values_[static_cast<size_t>(a)]);
    return aotc::apply(e.prim, operands_, e.dtype);
  }

  ScalarValue load(const Expr& e, const Access& a, ExprId id) {
    if (e.guard >= 0 && !truth(e.guard)) return values_[static_cast<size_t>(e.otherwise)];
    int64_t p = position(a, "load", id);
    if (a.buffer->written && !(*a.buffer->written)[static_cast<size_t>(p)])
      require_written(*a.buffer, p, fmt::format("{}, load %{}", k_.name, id));
    return read(a.buffer->tensor, p);
  }

  int64_t position(const Access& a, const char* what, int id) {
    const Tensor& t = a.buffer->tensor;
    int64_t p = t.offset;
    for (size_t d = 0; d < a.at.size(); ++d) {
      int64_t i = a.at[d].run(slots_.data());
      if (i < 0 || i >= t.sizes[d])
        internal_error(
            "kernel {}: {} %{}: index {} in dimension {} of buffer '{}' is outside of its size {}",
            k_.name, what, id, i, d, a.buffer->name, t.sizes[d]);
      p += i * t.strides[d];
    }
    return p;
  }

  void store(const Store& s, const Access& a) {
    if (s.guard >= 0 && !truth(s.guard)) return;
    int64_t p = position(a, "store of", s.value);
    ScalarValue v = values_[static_cast<size_t>(s.value)];
    if (s.accumulate) v = sum(*a.buffer, p, v);
    write(a.buffer->tensor, p, v);
    if (a.buffer->written) (*a.buffer->written)[static_cast<size_t>(p)] = true;
  }

  // The element plus v, computed as eager does: types that only store are added in their compute
  // type.
  ScalarValue sum(const BufferMemory& b, int64_t position, const ScalarValue& v) {
    require_written(b, position, k_.name);
    DType t = compute_type(b.tensor.dtype);
    operands_.assign({cast(read(b.tensor, position), t), cast(v, t)});
    return cast(aotc::apply(Prim::add, operands_, t), b.tensor.dtype);
  }

  // ---- accumulators

  void feed(int id) {
    auto i = static_cast<size_t>(id);
    if (is_companion_[i]) return;  // fed with its value
    const Accumulator& a = k_.accumulators[i];
    const ScalarValue& v = values_.at(static_cast<size_t>(a.value));
    if (a.companion >= 0) return feed_best(a, i, v);
    operands_.assign({totals_[i], v});
    totals_[i] = aotc::apply(a.combine, operands_, a.dtype);
  }

  // The pair (value, position): NaN wins over numbers, of equals the first position wins.
  void feed_best(const Accumulator& a, size_t i, const ScalarValue& v) {
    auto where = static_cast<size_t>(a.companion);
    const ScalarValue& position = values_.at(static_cast<size_t>(k_.accumulators[where].value));
    if (fed_[i] && !is_better(a.combine, v, totals_[i]) &&
        !(is_same(v, totals_[i]) && as_int64(position) < as_int64(totals_[where])))
      return;
    fed_[i] = true;
    totals_[i] = v;
    totals_[where] = position;
  }

  static bool is_same(const ScalarValue& a, const ScalarValue& b) {
    if (is_nan(a) || is_nan(b)) return is_nan(a) && is_nan(b);
    return is_floating(a.dtype) ? as_double(a) == as_double(b) : as_int64(a) == as_int64(b);
  }

  bool is_better(Prim combine, const ScalarValue& v, const ScalarValue& best) {
    if (is_nan(best)) return false;
    if (is_nan(v)) return true;
    bool maximum = combine == Prim::maximum;
    operands_.assign({maximum ? best : v, maximum ? v : best});
    return as_int64(aotc::apply(Prim::lt, operands_, DType::Bool)) != 0;
  }

  const Kernel& k_;
  Buffers& buffers_;
  Symbols& symbols_;
  const RunOptions& options_;
  std::map<std::string, int> slots_of_names_;
  std::vector<int64_t> slots_;
  std::vector<CompiledAxis> axes_;
  std::vector<CompiledPhase> phases_;
  std::vector<CompiledExpr> exprs_;
  std::vector<ScalarValue> values_, totals_, operands_;
  std::vector<bool> fed_, is_companion_;
  std::vector<int> evaluated_;  // the phase that evaluated it in this outer iteration, or -1
  std::set<std::string> inner_axes_;
};

}  // namespace

void run_kernel(const Kernel& k, Buffers& buffers, Symbols& symbols, const RunOptions& options) {
  if (k.matmul) run_matmul(k, buffers, symbols, options.reverse_reductions);
  if (k.sort) run_sort(k, buffers, symbols);
  KernelRun(k, buffers, symbols, options).run();
}

}  // namespace aotc::interp
