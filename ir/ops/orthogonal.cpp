// Orthogonal polynomials whose degree is data: each element runs its three-term recurrence up to
// its own degree, all elements as many steps as the largest degree asks for.
#include <cmath>
#include <numbers>

#include "ir/ops/index_math.h"
#include "ir/ops/scalar_math.h"
#include "ir/ops/tensor_expr.h"

namespace aotc {
namespace {

enum class Family : uint8_t { T, U, V, W, H, He, L, P };

// p_1(x); p_0 is 1.
E first(Family f, E x) {
  switch (f) {
    case Family::T:
    case Family::He:
    case Family::P:
      return x;
    case Family::U:
    case Family::H:
      return x + x;
    case Family::V:
      return x + x - 1.0;
    case Family::W:
      return x + x + 1.0;
    case Family::L:
      return 1.0 - x;
  }
  internal_error("unknown family");
}

// p_{k+1} from p_k and p_{k-1}; k is in x's type.
E next(Family f, E x, E k, E p, E before) {
  switch (f) {
    case Family::T:
    case Family::U:
    case Family::V:
    case Family::W:
      return (x + x) * p - before;
    case Family::H:
      return (x + x) * p - (k + k) * before;
    case Family::He:
      return x * p - k * before;
    case Family::L:
      return ((k + k + 1.0 - x) * p - k * before) / (k + 1.0);
    case Family::P:
      return ((k + k + 1.0) * x * p - k * before) / (k + 1.0);
  }
  internal_error("unknown family");
}

// Chebyshev polynomials of degree 7 and more inside (-1, 1) are trigonometric, as in eager.
std::optional<E> trigonometric(Family f, E x, E n) {
  E angle = unary(Prim::acos, x);
  switch (f) {
    case Family::T:
      return cos(n * angle);
    case Family::U:
      return sin((n + 1.0) * angle) / sin(angle);
    case Family::V:
      return cos((n + 0.5) * angle) / cos(angle / 2.0);
    case Family::W:
      return sin((n + 0.5) * angle) / sin(angle / 2.0);
    default:
      return std::nullopt;
  }
}

bool is_chebyshev(Family f) {
  return f == Family::T || f == Family::U || f == Family::V || f == Family::W;
}

// At 1 and -1, where the recurrence would add up rounding errors. `sign` is (-1)^n.
E at_one(Family f, E x, E n, E sign) {
  const bool grows_up = f == Family::U || f == Family::W,
             grows_down = f == Family::U || f == Family::V;
  E many = f == Family::U ? n + 1.0 : n + n + 1.0;
  E up = grows_up ? many : like(n, 1), down = sign * (grows_down ? many : like(n, 1));
  return where(x > 0.0, up, down);
}

// More steps than this are not taken. Outside of [-1, 1] Chebyshev polynomials of this degree are
// beyond float32 (the least growth is exp(4.8e-4) a step), and eager's recurrence has become NaN.
constexpr int64_t kMostSteps = 1 << 18;

// Degrees from which Hermite polynomials overflow and eager gives NaN.
double highest_degree(Family f, DType t) {
  if (f != Family::H && f != Family::He) return INFINITY;
  return t == DType::Float64 ? 512 : 128;
}

bool is_shifted(const Node& n) { return n.op->name().find("shifted") != std::string::npos; }

Types polynomial_type(const Node& n) {
  const TensorType &x = tensor_arg(n, "x")->type, &degree = tensor_arg(n, "n")->type;
  return {contiguous_type(x.dtype, broadcast_sizes({x.sizes, degree.sizes}, n), x.device)};
}

E degree_at(KernelBuilder& k, const Node& n, const Index& at) {
  return cast(k.lowering().load(k, tensor_arg(n, "n"), at), DType::Int64);
}

E argument_at(KernelBuilder& k, const Node& n, const Index& at) {
  const DType t = compute_type(tensor_arg(n, "x")->type.dtype);
  E x = cast(k.lowering().load(k, tensor_arg(n, "x"), at), t);
  return is_shifted(n) ? x + x - 1.0 : x;
}

// The degree up to which the recurrence has to go.
E steps_at(KernelBuilder& k, const Node& n, Family f, const Index& at) {
  E degree = degree_at(k, n, at);
  if (!is_chebyshev(f)) return degree;
  E inside = minimum(degree, like(degree, 6));
  return where(abs(argument_at(k, n, at)) > 1.0, degree, inside);
}

void check_degrees(Lowering& l, const Node& n, Family f) {
  const DType t = compute_type(tensor_arg(n, "x")->type.dtype);
  if (std::isfinite(highest_degree(f, t)) || (is_chebyshev(f) && t == DType::Float32)) return;
  l.check(n, n.output()->type.sizes, fmt::format("a degree above {} is not supported", kMostSteps),
          [&](KernelBuilder& k, const Index& at, E& report) {
            report = degree_at(k, n, at);
            return steps_at(k, n, f, at) <= static_cast<double>(kMostSteps);
          });
}

// The largest degree of the call, at least 1 and at most what is worth computing, as a symbol.
Sym largest_degree(Lowering& l, const Node& n, Family f) {
  loops::BufferId buffer = l.temp(temp_name(l, n, "degree"), DType::Int64, {});
  KernelBuilder k(l, l.unique_kernel_name("largest_degree"));
  Index at = k.inner_axes(n.output()->type.sizes);
  int top = k.accumulate(Prim::maximum, steps_at(k, n, f, at));
  k.begin_phase();
  E degree = maximum(k.result(top), k.constant(int64_t{1}, DType::Int64));
  const double limit = highest_degree(f, tensor_arg(n, "x")->type.dtype);
  degree = minimum(degree, like(degree, std::min<double>(limit, kMostSteps)));
  k.store(buffer, {}, degree);
  l.finish(k, n);
  Sym symbol = Sym::symbol("degree_" + n.name);
  l.graph().symbols["degree_" + n.name] = {.min = 1, .max = std::nullopt, .unbacked = true};
  define_size(l, n, symbol, buffer);
  return symbol;
}

// Steps k = 1 .. top - 1; the last two values of each element lie in `pair` by the parity of their
// degree.
loops::BufferId run_recurrence(Lowering& l, const Node& n, Family f, DType t, const Sym& top) {
  Index sizes = n.output()->type.sizes, with_pair = sizes;
  with_pair.push_back(2);
  loops::BufferId pair = l.temp(temp_name(l, n, "pair"), t, with_pair);
  KernelBuilder k(l, l.unique_kernel_name("recurrence"));
  Index index = k.axes(sizes), even = index, odd = index, here = index, before = index;
  E x = argument_at(k, n, index);
  even.push_back(0);
  odd.push_back(1);
  k.store(pair, even, like(x, 1));
  k.store(pair, odd, first(f, x));
  k.begin_phase(true);
  Sym step = k.inner_axis(top - 1) + 1;
  here.push_back(mod(step, 2));
  before.push_back(mod(step + 1, 2));
  E p = k.load(pair, here), older = k.load(pair, before);
  E runs = k.index(step) < degree_at(k, n, index);
  k.store(pair, before, next(f, x, cast(k.index(step), t), p, older), runs);
  l.finish(k, n);
  return pair;
}

void lower_polynomial(Lowering& l, const Node& n, Family f) {
  DType type = tensor_arg(n, "x")->type.dtype, t = compute_type(type);
  check_degrees(l, n, f);
  loops::BufferId pair = run_recurrence(l, n, f, t, largest_degree(l, n, f));
  KernelBuilder k(l, l.unique_kernel_name("polynomial"));
  Index index = k.axes(n.output()->type.sizes), at = index;
  E degree = degree_at(k, n, index), x = argument_at(k, n, index);
  E parity = binary(Prim::remainder, degree, like(degree, 2));
  at.push_back(k.value_of(parity));
  E value = k.load(pair, at);
  if (auto closed = trigonometric(f, where(abs(x) < 1.0, x, 0.0), cast(degree, t)))
    value = where((degree > 6.0) && (abs(x) < 1.0), *closed, value);
  if (is_chebyshev(f)) {
    E sign = 1.0 - 2.0 * cast(parity, t);
    value = where(abs(x) == 1.0, at_one(f, x, cast(degree, t), sign), value);
  }
  double limit = highest_degree(f, type);
  if (std::isfinite(limit)) value = where(degree > limit, like(value, NAN), value);
  k.store(l.output(n), index, where(degree < 0.0, 0.0, value));
  l.finish(k, n);
}

// Both operands in one floating-point type and of one shape, numbers as tensors.
Values polynomial_of(Rewriter& r, const char* core) {
  std::vector<TensorExpr> operands;
  DType t = result_type(r.node, {0, 1});
  if (!is_floating(t)) t = DType::Float32;
  std::vector<Index> shapes;
  for (int i = 0; i < 2; ++i) {
    const Arg& a = r.node.args[static_cast<size_t>(i)];
    auto* v = std::get_if<Value*>(&a);
    TensorExpr x{&r, v ? *v : r("aten.scalar_tensor.default", {a, t})};
    operands.push_back(x.cast(t));
    shapes.push_back(x.sizes());
  }
  Index common = broadcast_sizes(shapes, r.node);
  return {operands[0].expand(common).apply(core, {operands[1].expand(common).v})};
}

void add_family(Rows& rows, const std::string& core, Family f,
                std::initializer_list<std::string_view> spellings) {
  rows.push_back(loops_op(core + "(Tensor x, Tensor n) -> Tensor", LoopsKind::Scan, polynomial_type,
                          [f](Lowering& l, const Node& n) { lower_polynomial(l, n, f); }));
  for (std::string_view schema : spellings)
    rows.push_back(
        rewrite_op(schema, [core](Rewriter& r) { return polynomial_of(r, core.c_str()); }));
}

}  // namespace

Rows orthogonal_ops() {
  Rows rows;
  add_family(rows, "aotc.chebyshev_t", Family::T,
             {"aten.special_chebyshev_polynomial_t.default(Tensor x, Tensor n) -> Tensor",
              "aten.special_chebyshev_polynomial_t.n_scalar(Tensor x, Scalar n) -> Tensor",
              "aten.special_chebyshev_polynomial_t.x_scalar(Scalar x, Tensor n) -> Tensor"});
  add_family(rows, "aotc.chebyshev_u", Family::U,
             {"aten.special_chebyshev_polynomial_u.default(Tensor x, Tensor n) -> Tensor",
              "aten.special_chebyshev_polynomial_u.n_scalar(Tensor x, Scalar n) -> Tensor",
              "aten.special_chebyshev_polynomial_u.x_scalar(Scalar x, Tensor n) -> Tensor"});
  add_family(rows, "aotc.chebyshev_v", Family::V,
             {"aten.special_chebyshev_polynomial_v.default(Tensor x, Tensor n) -> Tensor",
              "aten.special_chebyshev_polynomial_v.n_scalar(Tensor x, Scalar n) -> Tensor",
              "aten.special_chebyshev_polynomial_v.x_scalar(Scalar x, Tensor n) -> Tensor"});
  add_family(rows, "aotc.chebyshev_w", Family::W,
             {"aten.special_chebyshev_polynomial_w.default(Tensor x, Tensor n) -> Tensor",
              "aten.special_chebyshev_polynomial_w.n_scalar(Tensor x, Scalar n) -> Tensor",
              "aten.special_chebyshev_polynomial_w.x_scalar(Scalar x, Tensor n) -> Tensor"});
  add_family(
      rows, "aotc.shifted_chebyshev_t", Family::T,
      {"aten.special_shifted_chebyshev_polynomial_t.default(Tensor x, Tensor n) -> Tensor",
       "aten.special_shifted_chebyshev_polynomial_t.n_scalar(Tensor x, Scalar n) -> Tensor",
       "aten.special_shifted_chebyshev_polynomial_t.x_scalar(Scalar x, Tensor n) -> Tensor"});
  add_family(
      rows, "aotc.shifted_chebyshev_u", Family::U,
      {"aten.special_shifted_chebyshev_polynomial_u.default(Tensor x, Tensor n) -> Tensor",
       "aten.special_shifted_chebyshev_polynomial_u.n_scalar(Tensor x, Scalar n) -> Tensor",
       "aten.special_shifted_chebyshev_polynomial_u.x_scalar(Scalar x, Tensor n) -> Tensor"});
  add_family(
      rows, "aotc.shifted_chebyshev_v", Family::V,
      {"aten.special_shifted_chebyshev_polynomial_v.default(Tensor x, Tensor n) -> Tensor",
       "aten.special_shifted_chebyshev_polynomial_v.n_scalar(Tensor x, Scalar n) -> Tensor",
       "aten.special_shifted_chebyshev_polynomial_v.x_scalar(Scalar x, Tensor n) -> Tensor"});
  add_family(
      rows, "aotc.shifted_chebyshev_w", Family::W,
      {"aten.special_shifted_chebyshev_polynomial_w.default(Tensor x, Tensor n) -> Tensor",
       "aten.special_shifted_chebyshev_polynomial_w.n_scalar(Tensor x, Scalar n) -> Tensor",
       "aten.special_shifted_chebyshev_polynomial_w.x_scalar(Scalar x, Tensor n) -> Tensor"});
  add_family(rows, "aotc.hermite_h", Family::H,
             {"aten.special_hermite_polynomial_h.default(Tensor x, Tensor n) -> Tensor",
              "aten.special_hermite_polynomial_h.n_scalar(Tensor x, Scalar n) -> Tensor",
              "aten.special_hermite_polynomial_h.x_scalar(Scalar x, Tensor n) -> Tensor"});
  add_family(rows, "aotc.hermite_he", Family::He,
             {"aten.special_hermite_polynomial_he.default(Tensor x, Tensor n) -> Tensor",
              "aten.special_hermite_polynomial_he.n_scalar(Tensor x, Scalar n) -> Tensor",
              "aten.special_hermite_polynomial_he.x_scalar(Scalar x, Tensor n) -> Tensor"});
  add_family(rows, "aotc.laguerre_l", Family::L,
             {"aten.special_laguerre_polynomial_l.default(Tensor x, Tensor n) -> Tensor",
              "aten.special_laguerre_polynomial_l.n_scalar(Tensor x, Scalar n) -> Tensor",
              "aten.special_laguerre_polynomial_l.x_scalar(Scalar x, Tensor n) -> Tensor"});
  add_family(rows, "aotc.legendre_p", Family::P,
             {"aten.special_legendre_polynomial_p.default(Tensor x, Tensor n) -> Tensor",
              "aten.special_legendre_polynomial_p.n_scalar(Tensor x, Scalar n) -> Tensor",
              "aten.special_legendre_polynomial_p.x_scalar(Scalar x, Tensor n) -> Tensor"});
  return rows;
}

}  // namespace aotc
