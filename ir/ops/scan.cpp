// Running results along a dimension: sums, products, extremes, log-sum-exp. Each walks its
// dimension in order.
#include <cmath>

#include "ir/ops/scalar_math.h"
#include "ir/ops/tensor_expr.h"

namespace aotc {
namespace {

// Integers and bool add up in int64, unless a type is given.
Types total_type(const Node& n) {
  const TensorType& t = input_type(n);
  bool fractions = is_floating(t.dtype) || is_complex(t.dtype);
  DType result = dtype_arg(n, "dtype").value_or(fractions ? t.dtype : DType::Int64);
  return {contiguous_type(result, t.sizes, t.device)};
}

// Eager adds float32 in float64, half types in float32.
DType running_type(DType t) { return t == DType::Float32 ? DType::Float64 : compute_type(t); }

// A kernel whose other dimensions are independent and whose `dim` runs in order.
struct Walk {
  Walk(Lowering& l, const Node& n, const std::string& name) : k(l, l.unique_kernel_name(name)) {
    const Index& sizes = input_type(n).sizes;
    index.resize(sizes.size());
    size_t dim = sizes.empty() ? 0 : dim_arg(n);
    for (size_t d = 0; d < sizes.size(); ++d)
      if (d != dim) index[d] = k.axis(sizes[d]);
    k.begin_phase(true);
    if (!sizes.empty()) position = index[dim] = k.inner_axis(sizes[dim]);
    before = index;
    if (!sizes.empty()) before[dim] = position - 1;
  }
  KernelBuilder k;
  Index index, before;  // this element, the one before it along the dimension
  Sym position;
  E has_before() { return k.index(position) > 0.0; }
};

OpDef running_op(std::string_view schema, Prim combine) {
  return loops_op(schema, LoopsKind::Scan, total_type, [combine](Lowering& l, const Node& n) {
    Walk w(l, n, "running");
    DType t = running_type(n.output()->type.dtype);
    E element =
        cast(cast(l.load(w.k, std::get<Value*>(n.args[0]), w.index), n.output()->type.dtype), t);
    E so_far = w.k.result(w.k.accumulate(combine, element, true));
    w.k.store(l.output(n), w.index, so_far);
    l.finish(w.k, n);
  });
}

// The largest (smallest) element so far and the last position where it was found; NaN stays once
// met.
Types extreme_types(const Node& n) {
  const TensorType& t = input_type(n);
  return {contiguous_type(t.dtype, t.sizes, t.device),
          contiguous_type(DType::Int64, t.sizes, t.device)};
}

OpDef running_extreme_op(std::string_view schema, Prim at_least_as_good) {
  return loops_op(
      schema, LoopsKind::Scan, extreme_types, [at_least_as_good](Lowering& l, const Node& n) {
        Walk w(l, n, "running_extreme");
        loops::BufferId values = l.output(n, 0), positions = l.output(n, 1);
        DType t = compute_type(input_type(n).dtype);
        E element = cast(l.load(w.k, std::get<Value*>(n.args[0]), w.index), t);
        E zero = w.k.constant(0.0, input_type(n).dtype), here = w.k.index(w.position);
        E first = !w.has_before();
        E best = cast(w.k.load(values, w.before, w.has_before(), zero), t);
        E where_best =
            w.k.load(positions, w.before, w.has_before(), w.k.constant(int64_t{0}, DType::Int64));
        E better = binary(at_least_as_good, element, best);
        if (is_floating(t)) better = isnan(element) || (!isnan(best) && better);
        E take = first || better;
        w.k.store(values, w.index, where(take, element, best));
        w.k.store(positions, w.index, where(take, here, where_best));
        l.finish(w.k, n);
      });
}

Types floating_type_of(const Node& n) {
  const TensorType& t = input_type(n);
  return {contiguous_type(is_floating(t.dtype) ? t.dtype : DType::Float32, t.sizes, t.device)};
}

E log_add_exp(E a, E b) {
  E top = maximum(a, b), bottom = minimum(a, b);
  E sum = log1p(exp(bottom - top)) + top;
  return where((top != bottom) || !isinf(top), sum, a);
}

// The running value is kept unrounded beside the result for half types.
void lower_logcumsumexp(Lowering& l, const Node& n) {
  DType t = compute_type(n.output()->type.dtype);
  Walk w(l, n, "logcumsumexp");
  loops::BufferId out = l.output(n);
  loops::BufferId running = t == n.output()->type.dtype
                                ? out
                                : l.temp(temp_name(l, n, "running"), t, n.output()->type.sizes);
  E element = cast(l.load(w.k, std::get<Value*>(n.args[0]), w.index), t);
  E so_far = w.k.load(running, w.before, w.has_before(), w.k.constant(-INFINITY, t));
  E next = where(w.has_before(), log_add_exp(so_far, element), element);
  w.k.store(running, w.index, next);
  if (running != out) w.k.store(out, w.index, next);
  l.finish(w.k, n);
}

// ---- differences and areas

Values diff(Rewriter& r) {
  TensorExpr x = in(r, "self");
  int64_t dim = wrap_dim(int_arg(r.node, "dim"), x.rank(), r.node);
  Values parts{x};
  if (!arg_is_none(r.node, "prepend")) parts.insert(parts.begin(), r.tensor("prepend"));
  if (!arg_is_none(r.node, "append")) parts.push_back(r.tensor("append"));
  if (parts.size() > 1) x = {&r, r("aten.cat.default", {parts, Sym(dim)})};
  for (int64_t i = 0; i < int_arg(r.node, "n") && !x.size(dim).is(0); ++i) {
    TensorExpr later = x.slice(dim, 1, x.size(dim)), earlier = x.slice(dim, 0, x.size(dim) - 1);
    x = is_bool(x.dtype()) ? later.apply("aten.logical_xor.default", {earlier.v}) : later - earlier;
  }
  return {x};
}

// The mean of neighbours along `dim`, times their distance.
TensorExpr trapezoids(Rewriter& r, TensorExpr y, int64_t dim) {
  Sym n = y.size(dim);
  TensorExpr sums = y.slice(dim, 1, n) + y.slice(dim, 0, n - 1);
  if (r.node.op->schema.index_of("x") < 0) {
    double dx = r.node.op->schema.index_of("dx") < 0 ? 1 : double_arg(r.node, "dx");
    return sums * (dx / 2);
  }
  TensorExpr x = in(r, "x");
  if (x.rank() == 1 && y.rank() > 1) {
    Index sizes(static_cast<size_t>(y.rank()), Sym(1));
    sizes[static_cast<size_t>(dim)] = x.size(0);
    x = x.reshape(sizes);
  }
  int64_t x_dim = dim - y.rank() + x.rank();
  Sym m = x.size(x_dim);
  return (x.slice(x_dim, 1, m) - x.slice(x_dim, 0, m - 1)) * sums / 2.0;
}

Values trapezoid(Rewriter& r) {
  TensorExpr y = in(r, "y");
  int64_t dim = wrap_dim(int_arg(r.node, "dim"), y.rank(), r.node);
  return {trapezoids(r, y, dim).sum({dim}, false)};
}

Values cumulative_trapezoid(Rewriter& r) {
  TensorExpr y = in(r, "y");
  int64_t dim = wrap_dim(int_arg(r.node, "dim"), y.rank(), r.node);
  return {trapezoids(r, y, dim).apply("aten.cumsum.default", {Sym(dim)})};
}

}  // namespace

Rows scan_ops() {
  return {
      running_op("aten.cumsum.default(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor",
                 Prim::add),
      running_op("aten.cumprod.default(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor",
                 Prim::mul),
      running_extreme_op(
          "aten.cummax.default(Tensor self, int dim) -> (Tensor values, Tensor indices)", Prim::ge),
      running_extreme_op(
          "aten.cummin.default(Tensor self, int dim) -> (Tensor values, Tensor indices)", Prim::le),
      loops_op("aten.logcumsumexp.default(Tensor self, int dim) -> Tensor", LoopsKind::Scan,
               floating_type_of, lower_logcumsumexp),
      loops_op("aten._logcumsumexp.default(Tensor self, int dim) -> Tensor", LoopsKind::Scan,
               floating_type_of, lower_logcumsumexp),
      rewrite_op("aten.diff.default(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, "
                 "Tensor? append=None) -> Tensor",
                 diff),
      rewrite_op("aten.trapezoid.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor", trapezoid),
      rewrite_op("aten.trapz.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor", trapezoid),
      rewrite_op("aten.trapz.dx(Tensor y, *, float dx=1., int dim=-1) -> Tensor", trapezoid),
      rewrite_op("aten.trapezoid.dx(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor", trapezoid),
      rewrite_op("aten.cumulative_trapezoid.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor",
                 cumulative_trapezoid),
      rewrite_op("aten.cumulative_trapezoid.dx(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor",
                 cumulative_trapezoid),
  };
}

}  // namespace aotc
