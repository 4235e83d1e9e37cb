// KernelBuilder: one loop kernel under construction, expressions shared; E: formulas over its
// expressions.
#include <cmath>

#include "ir/lowering.h"
#include "ir/sym_float.h"

namespace aotc {

using namespace loops;

DType E::dtype() const { return k->expr(*this).dtype; }

KernelBuilder::KernelBuilder(Lowering& lowering, std::string name) : lowering_(lowering) {
  kernel_.name = std::move(name);
  kernel_.phases.emplace_back();
}

Sym KernelBuilder::axis(const Sym& extent) {
  std::string name = "i" + std::to_string(kernel_.axes.size());
  kernel_.axes.push_back({name, extent});
  return Sym::symbol(name);
}

std::vector<Sym> KernelBuilder::axes(const std::vector<Sym>& extents) {
  std::vector<Sym> vars;
  for (const Sym& e : extents) vars.push_back(axis(e));
  return vars;
}

void KernelBuilder::begin_phase(bool ordered) {
  if (kernel_.phases.size() > 1 || !kernel_.phases[0].axes.empty() ||
      !kernel_.phases[0].stores.empty() || !kernel_.phases[0].accumulators.empty())
    kernel_.phases.emplace_back();
  kernel_.phases.back().ordered = ordered;
}

Sym KernelBuilder::inner_axis(const Sym& extent) {
  size_t n = 0;
  for (const Phase& p : kernel_.phases) n += p.axes.size();
  std::string name = "r" + std::to_string(n);
  kernel_.phases.back().axes.push_back({name, extent});
  return Sym::symbol(name);
}

std::vector<Sym> KernelBuilder::inner_axes(const std::vector<Sym>& extents) {
  std::vector<Sym> vars;
  for (const Sym& e : extents) vars.push_back(inner_axis(e));
  return vars;
}

// Equal expressions are one expression.
E KernelBuilder::intern(Expr e) {
  std::string key =
      fmt::format("{}|{}|{}|{}|{}|{}|{}|{}|{}|", static_cast<int>(e.kind), name(e.dtype),
                  e.kind == ExprKind::Constant ? to_text(e.constant) : "", e.index.str(), e.buffer,
                  e.guard, e.otherwise, static_cast<int>(e.prim), e.accumulator);
  for (const Sym& s : e.at) key += s.str() + ";";
  for (ExprId a : e.args) key += std::to_string(a) + ",";
  auto [it, added] = interned_.emplace(key, 0);
  if (added) it->second = kernel_.add(std::move(e));
  return {this, it->second};
}

E KernelBuilder::constant(double v, DType dtype) {
  Expr e;
  e.dtype = dtype;
  e.constant = cast(ScalarValue::of(v), dtype);
  return intern(std::move(e));
}

E KernelBuilder::constant(int64_t v, DType dtype) {
  Expr e;
  e.dtype = dtype;
  e.constant = cast(ScalarValue::of(v), dtype);
  return intern(std::move(e));
}

E KernelBuilder::boolean(bool v) { return constant(int64_t{v}, DType::Bool); }

E KernelBuilder::index(const Sym& s) {
  if (auto c = s.constant()) return constant(*c, DType::Int64);
  if (auto c = float_constant(s)) return constant(*c, DType::Float64);
  Expr e;
  e.kind = ExprKind::Index;
  e.dtype = DType::Int64;
  e.index = s;
  const E value = intern(std::move(e));
  return is_float(s) ? apply(Prim::bitcast, {value}, DType::Float64) : value;
}

Sym KernelBuilder::value_of(E integer) {
  const Expr& e = expr(integer);
  AOTC_CHECK(e.dtype == DType::Int64, "an index must be int64, found {}", name(e.dtype));
  if (e.kind == ExprKind::Index) return e.index;
  return Sym::symbol("%" + std::to_string(integer.id));
}

// `t`: the operands' type, of `where` that of its choices. The real parts of complex numbers have
// no place in a formula of one type.
static void require_function(Prim p, DType t, DType result) {
  if (p == Prim::cast || p == Prim::bitcast) return;
  bool leaves_type = is_complex(result) && prim_info(p).result == PrimResult::Real;
  if (!prim_supports(p, t) || leaves_type)
    throw UnsupportedType(fmt::format("{} is not defined for {}", prim_name(p), name(t)));
}

E KernelBuilder::apply(Prim p, std::vector<E> args, DType result) {
  Expr e;
  e.kind = ExprKind::Apply;
  e.dtype = result;
  e.prim = p;
  require_function(p, args.back().dtype(), result);
  for (E a : args) {
    AOTC_CHECK(a.k == this, "an expression of another kernel");
    e.args.push_back(a.id);
  }
  return intern(std::move(e));
}

E KernelBuilder::load(BufferId buffer, std::vector<Sym> at, E guard, E otherwise) {
  Expr e;
  e.kind = ExprKind::Load;
  const Buffer& b = lowering_.program().buffers[static_cast<size_t>(buffer)];
  AOTC_CHECK(at.size() == b.sizes.size(), "load of {} with {} indices, rank {}", b.name, at.size(),
             b.sizes.size());
  e.dtype = b.dtype;
  e.buffer = buffer;
  e.at = std::move(at);
  e.guard = guard.id;
  e.otherwise = otherwise.id;
  return intern(std::move(e));
}

int KernelBuilder::accumulate(Prim combine, E value, bool ordered) {
  require_function(combine, value.dtype(), value.dtype());
  Accumulator a;
  a.combine = combine;
  a.dtype = value.dtype();
  a.identity = reduction_identity(combine, a.dtype);
  a.phase = static_cast<int>(kernel_.phases.size()) - 1;
  a.value = value.id;
  a.ordered = ordered;
  kernel_.accumulators.push_back(a);
  int id = static_cast<int>(kernel_.accumulators.size()) - 1;
  kernel_.phases.back().accumulators.push_back(id);
  return id;
}

std::pair<int, int> KernelBuilder::accumulate_best(Prim combine, E value, E position) {
  int best = accumulate(combine, value);
  int where = accumulate(combine, position);
  kernel_.accumulators[static_cast<size_t>(best)].companion = where;
  return {best, where};
}

E KernelBuilder::result(int accumulator) {
  Expr e;
  e.kind = ExprKind::Accumulator;
  e.dtype = kernel_.accumulators[static_cast<size_t>(accumulator)].dtype;
  e.accumulator = accumulator;
  return intern(std::move(e));
}

void KernelBuilder::store(BufferId buffer, std::vector<Sym> at, E value, E guard, bool accumulate) {
  const Buffer& b = lowering_.program().buffers[static_cast<size_t>(buffer)];
  AOTC_CHECK(at.size() == b.sizes.size(), "store to {} with {} indices, rank {}", b.name, at.size(),
             b.sizes.size());
  E converted = cast(value, b.dtype);
  kernel_.phases.back().stores.push_back(
      {buffer, std::move(at), converted.id, guard.id, accumulate});
}

// ---- formulas

E binary(Prim p, E a, E b) {
  AOTC_CHECK(a.dtype() == b.dtype(), "{} of {} and {}", prim_name(p), name(a.dtype()),
             name(b.dtype()));
  return a.k->apply(p, {a, b}, prim_yields_bool(p) ? DType::Bool : a.dtype());
}

E unary(Prim p, E a) { return a.k->apply(p, {a}, prim_yields_bool(p) ? DType::Bool : a.dtype()); }
E like(E a, double value) { return a.k->constant(value, a.dtype()); }

E operator+(E a, E b) { return binary(Prim::add, a, b); }
E operator-(E a, E b) { return binary(Prim::sub, a, b); }
E operator*(E a, E b) { return binary(Prim::mul, a, b); }
E operator/(E a, E b) { return binary(Prim::div, a, b); }
E operator-(E a) { return unary(Prim::neg, a); }
E operator+(E a, double b) { return a + like(a, b); }
E operator-(E a, double b) { return a - like(a, b); }
E operator*(E a, double b) { return a * like(a, b); }
E operator/(E a, double b) { return a / like(a, b); }
E operator-(double a, E b) { return like(b, a) - b; }
E operator/(double a, E b) { return like(b, a) / b; }
E operator<(E a, E b) { return binary(Prim::lt, a, b); }
E operator<=(E a, E b) { return binary(Prim::le, a, b); }
E operator>(E a, E b) { return binary(Prim::gt, a, b); }
E operator>=(E a, E b) { return binary(Prim::ge, a, b); }
E operator==(E a, E b) { return binary(Prim::eq, a, b); }
E operator!=(E a, E b) { return binary(Prim::ne, a, b); }
namespace {
bool is_true(E a) {
  const Expr& e = a.k->expr(a);
  return e.kind == ExprKind::Constant && as_int64(e.constant) != 0;
}
}  // namespace

E operator&&(E a, E b) {
  if (is_true(a)) return cast(b, DType::Bool);
  if (is_true(b)) return cast(a, DType::Bool);
  return binary(Prim::bitwise_and, cast(a, DType::Bool), cast(b, DType::Bool));
}
E operator||(E a, E b) {
  return binary(Prim::bitwise_or, cast(a, DType::Bool), cast(b, DType::Bool));
}
E operator!(E a) { return unary(Prim::logical_not, cast(a, DType::Bool)); }

E where(E condition, E a, E b) {
  AOTC_CHECK(condition.dtype() == DType::Bool, "where needs a bool condition");
  AOTC_CHECK(a.dtype() == b.dtype(), "where of {} and {}", name(a.dtype()), name(b.dtype()));
  return a.k->apply(Prim::where, {condition, a, b}, a.dtype());
}

E cast(E a, DType to) {
  if (a.dtype() == to) return a;
  const Expr& e = a.k->expr(a);
  if (e.kind == ExprKind::Constant) {
    Expr c;
    c.dtype = to;
    ScalarValue v = cast(e.constant, to);
    return a.k->intern_constant(v);
  }
  if (e.kind == ExprKind::Apply && e.prim == Prim::cast) {
    const E from{a.k, e.args[0]};
    if (from.dtype() == to && widens(to, e.dtype)) return from;
  }
  return a.k->apply(Prim::cast, {a}, to);
}

E KernelBuilder::intern_constant(const ScalarValue& v) {
  Expr e;
  e.dtype = v.dtype;
  e.constant = v;
  return intern(std::move(e));
}

// ---- Elements

std::vector<Sym> broadcast_index(const std::vector<Sym>& sizes, const std::vector<Sym>& index) {
  AOTC_CHECK(sizes.size() <= index.size(), "operand of rank {} in a result of rank {}",
             sizes.size(), index.size());
  std::vector<Sym> at(index.end() - static_cast<std::ptrdiff_t>(sizes.size()), index.end());
  for (size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i].is(1)) at[i] = Sym(0);
  return at;
}

E Elements::raw(int i) {
  Value* v = std::get<Value*>(node.args[static_cast<size_t>(i)]);
  if (v->kind == ValueKind::SymInt) return k.index(v->sym);
  return k.lowering().load(k, v, broadcast_index(v->type.sizes, index));
}

E Elements::operator[](int i) {
  const Arg& a = node.args[static_cast<size_t>(i)];
  bool compare = common != compute && node.op->as<ScalarMeaning>() &&
                 node.op->as<ScalarMeaning>()->rule == TypeRule::Compare;
  if (std::holds_alternative<Value*>(a)) return cast(cast(raw(i), common), compute);
  if (auto* s = std::get_if<Sym>(&a)) {
    if (auto c = s->constant())
      return compare ? cast(k.constant(*c, common), compute) : k.constant(*c, compute);
    return cast(k.index(*s), compute);
  }
  double v = 0;
  if (auto* d = std::get_if<double>(&a))
    v = *d;
  else if (auto* b = std::get_if<bool>(&a))
    v = *b ? 1 : 0;
  else if (auto* z = std::get_if<Complex>(&a))
    return k.complex_constant(z->real, z->imag, compute);
  else
    user_error("{}: node '{}' ({}): argument {} is no number", node.source.str(), node.name,
               node.op->name(), i);
  return compare ? cast(k.constant(v, common), compute) : k.constant(v, compute);
}

E KernelBuilder::complex_constant(double real, double imag, DType dtype) {
  return intern_constant(cast(ScalarValue::of(real, imag), dtype));
}

E Elements::operator[](std::string_view name) {
  int i = node.op->schema.index_of(name);
  AOTC_CHECK(i >= 0, "{} has no argument '{}'", node.op->name(), std::string(name));
  return (*this)[i];
}

bool Elements::is_one(std::string_view name) const {
  const Arg& a = arg(node, name);
  if (auto* s = std::get_if<Sym>(&a)) return s->is(1);
  if (auto* d = std::get_if<double>(&a)) return *d == 1.0;
  if (auto* b = std::get_if<bool>(&a)) return *b;
  return false;
}

E Elements::number(double v) { return k.constant(v, compute); }

}  // namespace aotc
