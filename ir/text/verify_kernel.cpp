// Checks of expressions, phases, accumulators and stores. Broken references are reported once and
// not followed.
#include "ir/text/verify_kernel.h"

#include <algorithm>

#include "ir/template_kernel.h"
#include "ir/text/bounds.h"
#include "ir/text/phase_steps.h"

namespace aotc::text {

using namespace loops;

namespace {

bool is_identifier(const std::string& s) {
  if (s.empty() || (s[0] >= '0' && s[0] <= '9')) return false;
  return std::all_of(s.begin(), s.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  });
}

class KernelVerifier {
 public:
  KernelVerifier(const Kernel& k, const KernelContext& context, Violations& found)
      : k_(k), context_(context), found_(found), written_(context.written) {}

  void run() {
    at("");
    found_.require(is_identifier(k_.name), "its name is no C identifier");
    axes(k_.axes);
    for (size_t e = 0; e < k_.exprs.size(); ++e) expr(static_cast<ExprId>(e));
    for (size_t a = 0; a < k_.accumulators.size(); ++a) accumulator(static_cast<int>(a));
    if (k_.matmul) matmul(*k_.matmul);
    if (k_.sort) sort(*k_.sort);
    for (size_t p = 0; p < k_.phases.size(); ++p) phase(p);
    kind();
  }

 private:
  void at(const std::string& where) {
    found_.at("kernel " + k_.name + (where.empty() ? "" : ", " + where));
  }

  // ---- references

  bool is_expr(ExprId e) const { return e >= 0 && e < static_cast<int>(k_.exprs.size()); }
  const Expr* get(ExprId e) const {
    return is_expr(e) ? &k_.exprs[static_cast<size_t>(e)] : nullptr;
  }

  const Buffer* buffer(BufferId b) {
    bool ok = b >= 0 && b < static_cast<int>(context_.program.buffers.size());
    return found_.require(ok, "buffer {} does not exist", b)
               ? &context_.program.buffers[static_cast<size_t>(b)]
               : nullptr;
  }

  const Expr* typed(ExprId e, DType expected, const char* what) {
    const Expr* x = get(e);
    if (!found_.require(x, "{} %{} does not exist", what, e)) return nullptr;
    found_.require(x->dtype == expected, "{} %{} is {}, expected {}", what, e, name(x->dtype),
                   name(expected));
    return x;
  }

  // ---- axes

  void axes(const std::vector<Axis>& list) {
    for (const Axis& a : list) {
      found_.require(is_identifier(a.name), "axis '{}' is no C identifier", a.name);
      found_.require(axes_.insert(a.name).second, "axis {} appears twice", a.name);
      found_.require(!context_.symbols.contains(a.name), "axis {} has the name of a symbol",
                     a.name);
      for (const std::string& s : a.extent.symbols())
        found_.require(context_.symbols.contains(s) || (axes_.contains(s) && s != a.name),
                       "the extent of axis {} uses {}, which has no value", a.name, s);
      auto c = a.extent.constant();
      found_.require(!c || *c >= 0, "axis {} has the extent {}", a.name, a.extent.str());
    }
  }

  // ---- expressions; which axes are in scope is checked per phase

  void expr(ExprId id) {
    const Expr& e = k_.exprs[static_cast<size_t>(id)];
    at(fmt::format("%{}", id));
    for (ExprId o : operands(e))
      found_.require(o >= 0 && o < id, "operand %{} does not come before it", o);
    switch (e.kind) {
      case ExprKind::Constant:
        found_.require(e.constant.dtype == e.dtype, "a {} constant of type {}",
                       name(e.constant.dtype), name(e.dtype));
        break;
      case ExprKind::Index:
        found_.require(e.dtype == DType::Int64, "an index of type {}", name(e.dtype));
        break;
      case ExprKind::Load:
        load(e);
        break;
      case ExprKind::Apply:
        apply(e);
        break;
      case ExprKind::Accumulator: {
        bool ok = e.accumulator >= 0 && e.accumulator < static_cast<int>(k_.accumulators.size());
        if (!found_.require(ok, "acc{} does not exist", e.accumulator)) break;
        DType t = k_.accumulators[static_cast<size_t>(e.accumulator)].dtype;
        found_.require(t == e.dtype, "acc{} is {}, expected {}", e.accumulator, name(t),
                       name(e.dtype));
        break;
      }
    }
    index_values(e.at);
    index_values({e.index});
  }

  void index_values(const std::vector<Sym>& at) {
    for (const Sym& s : at)
      for (const std::string& name : s.symbols())
        if (ExprId e = expr_of_symbol(name); e >= 0) typed(e, DType::Int64, "the index");
  }

  void load(const Expr& e) {
    const Buffer* b = buffer(e.buffer);
    if (!b) return;
    found_.require(b->dtype == e.dtype, "a {} load from the {} buffer '{}'", name(e.dtype),
                   name(b->dtype), b->name);
    found_.require(b->sizes.size() == e.at.size(), "{} indices for buffer '{}' of rank {}",
                   e.at.size(), b->name, b->sizes.size());
    found_.require((e.guard < 0) == (e.otherwise < 0),
                   "a guarded load needs a guard and an alternative");
    if (e.guard >= 0) typed(e.guard, DType::Bool, "the guard");
    if (e.otherwise >= 0) typed(e.otherwise, e.dtype, "the alternative");
  }

  void apply(const Expr& e) {
    const PrimInfo& prim = prim_info(e.prim);
    bool complete = static_cast<int>(e.args.size()) == prim.arity;
    if (!found_.require(complete, "{} has {} operands, expected {}", prim.name, e.args.size(),
                        prim.arity))
      return;
    size_t first = 0;
    if (e.prim == Prim::where) typed(e.args[first++], DType::Bool, "the condition");
    const Expr* operand = get(e.args[first]);
    if (!found_.require(operand, "%{} does not exist", e.args[first])) return;
    for (size_t i = first + 1; i < e.args.size(); ++i)
      typed(e.args[i], operand->dtype, "the operand");
    bool supported = prim_supports(e.prim, operand->dtype);
    found_.require(supported, "{} of {} does not exist", prim.name, name(operand->dtype));
    if (e.prim == Prim::bitcast)
      found_.require(element_size(e.dtype) == element_size(operand->dtype),
                     "bitcast of {} to {}, which has another size", name(operand->dtype),
                     name(e.dtype));
    if (prim.result == PrimResult::Target || !supported) return;
    DType result = prim_result(e.prim, operand->dtype);
    found_.require(e.dtype == result, "{} of {} yields {}, not {}", prim.name, name(operand->dtype),
                   name(result), name(e.dtype));
  }

  // ---- accumulators

  void accumulator(int id) {
    const Accumulator& a = k_.accumulators[static_cast<size_t>(id)];
    at(fmt::format("acc{}", id));
    int fed = 0;
    for (const Phase& p : k_.phases)
      fed += static_cast<int>(std::count(p.accumulators.begin(), p.accumulators.end(), id));
    found_.require(fed == 1, "it is fed in {} places, expected one", fed);
    bool here = a.phase >= 0 && a.phase < static_cast<int>(k_.phases.size());
    if (here) {
      const auto& list = k_.phases[static_cast<size_t>(a.phase)].accumulators;
      here = std::find(list.begin(), list.end(), id) != list.end();
    }
    found_.require(here, "phase {} does not feed it", a.phase);
    typed(a.value, a.dtype, "its value");
    found_.require(prim_info(a.combine).has(PrimInfo::Associative), "{} is not associative",
                   prim_name(a.combine));
    found_.require(a.identity.dtype == a.dtype, "its identity is {}, expected {}",
                   name(a.identity.dtype), name(a.dtype));
    if (a.companion < 0) return;
    bool ok = a.companion < static_cast<int>(k_.accumulators.size()) && a.companion != id;
    if (!found_.require(ok, "acc{}, its position, does not exist", a.companion)) return;
    const Accumulator& position = k_.accumulators[static_cast<size_t>(a.companion)];
    found_.require(position.dtype == DType::Int64 && position.phase == a.phase,
                   "acc{}, its position, must be int64 and of its phase", a.companion);
    found_.require(a.combine == Prim::maximum || a.combine == Prim::minimum, "{} has no position",
                   prim_name(a.combine));
  }

  // ---- phases

  void phase(size_t index) {
    const Phase& p = k_.phases[index];
    std::set<std::string> outer = axes_;
    at(fmt::format("phase {}", index));
    axes(p.axes);
    for (int a : p.accumulators)
      found_.require(a >= 0 && a < static_cast<int>(k_.accumulators.size()), "acc{} does not exist",
                     a);
    Bounds bounds(context_.program, k_, p);
    for (const PhaseStep& s : phase_steps(k_, index))
      if (!s.feeds) expr_in_phase(s.index, index, bounds);
    for (const Store& s : p.stores) store(s, index, bounds);
    for (const Store& s : p.stores) written_.insert(s.buffer);
    axes_ = outer;
  }

  void expr_in_phase(ExprId id, size_t phase, const Bounds& bounds) {
    const Expr& e = k_.exprs[static_cast<size_t>(id)];
    at(fmt::format("phase {}, %{}", phase, id));
    scope({e.index});
    scope(e.at);
    if (e.kind == ExprKind::Accumulator) running(e, id, phase);
    if (e.kind != ExprKind::Load) return;
    const Buffer* b = buffer(e.buffer);
    if (!b) return;
    bool ordered_with_store = k_.phases[phase].ordered && stores_to(k_.phases[phase], e.buffer);
    found_.require(is_written(e.buffer) || ordered_with_store,
                   "it reads buffer '{}', which nothing has written", b->name);
    if (e.guard < 0) in_bounds(*b, e.at, bounds);
  }

  // Final values are there in later phases, running ones in an ordered phase.
  void running(const Expr& e, ExprId id, size_t phase) {
    if (e.accumulator < 0 || e.accumulator >= static_cast<int>(k_.accumulators.size())) return;
    const Accumulator& a = k_.accumulators[static_cast<size_t>(e.accumulator)];
    if (a.phase < static_cast<int>(phase)) return;
    bool running = a.phase == static_cast<int>(phase) && k_.phases[phase].ordered && a.value < id;
    found_.require(running,
                   "it reads acc{}, which phase {} feeds; only later phases, or the same one if it "
                   "is ordered, may",
                   e.accumulator, a.phase);
  }

  void scope(const std::vector<Sym>& list) {
    for (const Sym& s : list)
      for (const std::string& name : s.symbols())
        if (expr_of_symbol(name) < 0)
          found_.require(axes_.contains(name) || context_.symbols.contains(name),
                         "{} is not in scope", name);
  }

  bool is_written(BufferId b) const {
    if (written_.contains(b)) return true;
    Home home = context_.program.buffers[static_cast<size_t>(b)].home;
    return home == Home::Input || home == Home::Storage;
  }
  static bool stores_to(const Phase& p, BufferId b) {
    return std::any_of(p.stores.begin(), p.stores.end(),
                       [&](const Store& s) { return s.buffer == b; });
  }

  void store(const Store& s, size_t phase, const Bounds& bounds) {
    at(fmt::format("phase {}, store of %{}", phase, s.value));
    const Buffer* b = buffer(s.buffer);
    if (!b) return;
    typed(s.value, b->dtype, "the value");
    if (s.guard >= 0) typed(s.guard, DType::Bool, "the guard");
    found_.require(s.at.size() == b->sizes.size(), "{} indices for buffer '{}' of rank {}",
                   s.at.size(), b->name, b->sizes.size());
    index_values(s.at);
    scope(s.at);
    if (s.accumulate)
      found_.require(is_written(s.buffer), "it adds to buffer '{}', which nothing has written",
                     b->name);
    if (s.guard < 0) in_bounds(*b, s.at, bounds);
    writable(s.buffer, *b);
  }

  // Inputs and storages are written only by write-backs.
  void writable(BufferId id, const Buffer& b) {
    if (b.home == Home::Temp || b.home == Home::Output) return;
    bool ok = std::any_of(
        context_.program.write_backs.begin(), context_.program.write_backs.end(),
        [&](const WriteBackInfo& w) {
          if (w.target == id) return true;
          if (w.target < 0 || w.target >= static_cast<int>(context_.program.buffers.size()))
            return false;
          const Buffer& t = context_.program.buffers[static_cast<size_t>(w.target)];
          return t.home == b.home && t.index == b.index;
        });
    found_.require(ok, "it writes buffer '{}', which no write-back names", b.name);
  }

  void in_bounds(const Buffer& b, const std::vector<Sym>& at, const Bounds& bounds) {
    for (size_t d = 0; d < at.size() && d < b.sizes.size(); ++d)
      found_.require(!bounds.reaches_outside(at[d], b.sizes[d]),
                     "index {} in dimension {} leaves buffer '{}' of size {}", at[d].str(), d,
                     b.name, b.sizes[d].str());
  }

  // ---- kinds

  void kind() {
    at("");
    bool stores = std::any_of(k_.phases.begin(), k_.phases.end(),
                              [](const Phase& p) { return !p.stores.empty(); });
    switch (k_.kind) {
      case KernelKind::Loops:
      case KernelKind::Copy:
        break;
      case KernelKind::Transfer:
        found_.require(k_.phases.size() == 1 && k_.phases[0].axes.empty() &&
                           k_.phases[0].stores.size() == 1 && k_.exprs.size() == 1 &&
                           k_.exprs[0].kind == ExprKind::Load,
                       "a transfer is no copy of one buffer");
        break;
      case KernelKind::Wait:
        found_.require(k_.exprs.empty() && !stores, "a wait computes something");
        break;
      case KernelKind::Check:
        found_.require(!stores, "a check has stores");
        typed(k_.condition, DType::Bool, "the condition");
        if (k_.report >= 0) typed(k_.report, DType::Int64, "the reported value");
        break;
      case KernelKind::Host:
        found_.require(k_.axes.empty() && !stores, "a host kernel has neither axes nor stores");
        found_.require(!k_.symbol.empty(), "a host kernel defines no symbol");
        typed(0, DType::Int64, "the symbol's value");
        break;
      case KernelKind::Control:
        found_.require(k_.control != Control::None && k_.exprs.empty() && !stores,
                       "a control flow marker computes something");
        scope({k_.bound});
        break;
      case KernelKind::Template:
        found_.require((k_.matmul != nullptr) != (k_.sort != nullptr),
                       "a template kernel has no template, or two");
        break;
    }
  }

  void matmul(const Matmul& m) {
    at("matmul");
    for (const std::vector<Sym>& list : {m.batch_sizes, std::vector<Sym>{m.m, m.n, m.k}})
      scope(list);
    operand(m, m.a, "a", true);
    operand(m, m.b, "b", true);
    if (m.d.buffer >= 0) operand(m, m.d, "d", m.beta != 0);
    operand(m, m.c, "c", false);
    written_.insert(m.c.buffer);
  }

  void operand(const Matmul& m, const MatmulOperand& o, const char* role, bool read) {
    const Buffer* b = buffer(o.buffer);
    if (!b) return;
    found_.require(b->dtype == m.dtype, "operand {} is {}, expected {}", role, name(b->dtype),
                   name(m.dtype));
    found_.require(o.batch.size() == m.batch_sizes.size(),
                   "operand {} has {} batch strides, expected {}", role, o.batch.size(),
                   m.batch_sizes.size());
    scope(o.batch);
    scope({o.offset, o.row, o.col});
    if (read)
      found_.require(is_written(o.buffer), "operand {} is buffer '{}', which nothing has written",
                     role, b->name);
    else if (o.buffer == m.c.buffer)
      writable(o.buffer, *b);
  }

  void sort(const Sort& s) {
    at("sort");
    scope(template_expressions(k_));
    const int rank = static_cast<int>(s.sizes.size());
    const bool dims = s.dim >= 0 && s.dim < rank && s.within >= -1 && s.within < rank &&
                      s.within != s.dim && s.strides.size() == s.sizes.size();
    if (!found_.require(dims, "its dimensions are wrong") || !buffer(s.x)) return;
    found_.require(is_written(s.x), "it reads buffer '{}', which nothing has written",
                   buffer(s.x)->name);
    found_.require(s.within < 0 || s.values < 0, "entries of several elements have no values");
    for (BufferId id : template_writes(k_)) {
      const Buffer* b = buffer(id);
      if (!b) return;
      const DType t = id == s.indices ? DType::Int64 : buffer(s.x)->dtype;
      found_.require(b->dtype == t, "'{}' is {}, expected {}", b->name, name(b->dtype), name(t));
      found_.require(b->sizes.size() == s.result_dims().size(),
                     "'{}' has {} dimensions, expected {}", b->name, b->sizes.size(),
                     s.result_dims().size());
      writable(id, *b);
      written_.insert(id);
    }
  }

  const Kernel& k_;
  const KernelContext& context_;
  Violations& found_;
  std::set<BufferId> written_;
  std::set<std::string> axes_;
};

}  // namespace

void verify_kernel(const Kernel& k, const KernelContext& context, Violations& found) {
  KernelVerifier(k, context, found).run();
}

std::set<BufferId> stored_buffers(const Kernel& k) {
  std::set<BufferId> ids;
  for (const Phase& p : k.phases)
    for (const Store& s : p.stores) ids.insert(s.buffer);
  for (BufferId b : template_writes(k)) ids.insert(b);
  return ids;
}

}  // namespace aotc::text
