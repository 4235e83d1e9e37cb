// Functions of matrices and fields that are sequences of products and differences: the matrix
// exponential, numerical gradients.
#include <cmath>

#include "ir/ops/tensor_expr.h"

namespace aotc {
namespace {

// ---- exp of a matrix: Taylor polynomial of the matrix scaled to norm 1/2, then repeated squaring

constexpr int kTaylorTerms = 18;
constexpr int kMostSquarings = 24;

TensorExpr product(TensorExpr a, TensorExpr b) { return a.apply("aten.matmul.default", {b.v}); }

// The sum of x^i / i! for i up to kTaylorTerms, by Horner's scheme.
TensorExpr taylor(TensorExpr x, TensorExpr identity) {
  TensorExpr sum = identity;
  for (int i = kTaylorTerms; i >= 1; --i) sum = product(x, sum) * (1.0 / i) + identity;
  return sum;
}

Values matrix_exp(Rewriter& r) {
  TensorExpr self = in(r, "self"), x = widened(self);
  if (aotc::product(x.sizes()).is(0)) return {self.apply("aten.clone.default")};
  if (is_half(self.dtype()) && !x.size(-1).is(1))  // eager's result is memory that it never wrote
    unsupported(r.node, "a matrix exponential of a half type", "cast to float32 first");
  TensorExpr norm = abs(x).sum({-2}).amax({-1});
  TensorExpr squarings = norm.apply("aten.log2.default").apply("aten.ceil.default") + 1.0;
  squarings = squarings.apply("aten.clamp.default", {0.0, static_cast<double>(kMostSquarings)});
  TensorExpr scale = (-squarings).apply("aten.exp2.default");
  TensorExpr identity{&r, r("aten.eye.default", {x.size(-1), x.dtype()})};
  TensorExpr result = taylor(x * scale, identity);
  for (int i = 0; i < kMostSquarings; ++i)
    result = where(squarings > static_cast<double>(i), product(result, result).v, result.v);
  return {result.cast(self.dtype())};
}

// ---- gradient: central differences inside, one-sided ones at both ends

struct Spacing {
  double step = 1;
  TensorExpr coordinates;  // or a step everywhere
};

// The slope at an end, from its two or three elements.
TensorExpr end_slope(TensorExpr x, const Spacing& s, int64_t dim, bool last, int64_t edge_order) {
  auto at = [&](TensorExpr v, int64_t d, int64_t i) {
    return last ? v.slice(d, v.size(d) - 1 - i, v.size(d) - i) : v.slice(d, i, i + 1);
  };
  double sign = last ? -1 : 1;
  TensorExpr x0 = at(x, dim, 0), x1 = at(x, dim, 1);
  if (!s.coordinates) {
    if (edge_order == 1) return (x1 - x0) * sign / s.step;
    return (x1 * 4.0 - x0 * 3.0 - at(x, dim, 2)) * sign / (2 * s.step);
  }
  Index shape(static_cast<size_t>(x.rank()), Sym(1));
  TensorExpr c0 = at(s.coordinates, 0, 0), c1 = at(s.coordinates, 0, 1);
  auto spread = [&](TensorExpr v) { return v.reshape(shape); };
  TensorExpr h1 = spread(c1 - c0);
  if (edge_order == 1) return (x1 - x0) / h1;
  TensorExpr h2 = spread(at(s.coordinates, 0, 2) - c1), x2 = at(x, dim, 2), h = h1 + h2;
  return x1 * (h / (h1 * h2)) - x0 * ((h1 * 2.0 + h2) / (h1 * h)) - x2 * (h1 / (h2 * h));
}

TensorExpr inner_slopes(TensorExpr x, const Spacing& s, int64_t dim) {
  Sym n = x.size(dim);
  TensorExpr after = x.slice(dim, 2, n), before = x.slice(dim, 0, n - 2);
  if (!s.coordinates) return (after - before) / (2 * s.step);
  Index shape(static_cast<size_t>(x.rank()), Sym(1));
  shape[static_cast<size_t>(dim)] = n - 2;
  TensorExpr c = s.coordinates, here = x.slice(dim, 1, n - 1);
  TensorExpr left = (c.slice(0, 1, n - 1) - c.slice(0, 0, n - 2)).reshape(shape);
  TensorExpr right = (c.slice(0, 2, n) - c.slice(0, 1, n - 1)).reshape(shape);
  TensorExpr total = left + right;
  return after * (left / (right * total)) + here * ((right - left) / (left * right)) -
         before * (right / (left * total));
}

TensorExpr slopes(Rewriter& r, TensorExpr x, const Spacing& s, int64_t dim, int64_t edge_order) {
  Values parts{end_slope(x, s, dim, false, edge_order), inner_slopes(x, s, dim),
               end_slope(x, s, dim, true, edge_order)};
  return {&r, r("aten.cat.default", {parts, Sym(dim)})};
}

// One spacing for all dimensions, one number each, or the coordinates of each.
Spacing spacing_of(Rewriter& r, size_t i) {
  if (r.node.op->schema.index_of("spacing") < 0) return {};
  const Arg& a = arg(r.node, "spacing");
  if (std::holds_alternative<None>(a)) return {};
  if (auto* tensors = std::get_if<Values>(&a)) return {1, {&r, tensors->at(i)}};
  if (auto* numbers = std::get_if<std::vector<double>>(&a))
    return {numbers->at(std::min(i, numbers->size() - 1)), {}};
  if (auto* whole = std::get_if<Index>(&a)) {
    auto step = whole->at(std::min(i, whole->size() - 1)).constant();
    if (!step) unsupported(r.node, "a dynamic spacing", "pass a number");
    return {static_cast<double>(*step), {}};
  }
  return {double_arg(r.node, "spacing"), {}};
}

Values gradient(Rewriter& r) {
  TensorExpr x = in(r, "self");
  std::vector<int64_t> dims;
  if (arg_is_none(r.node, "dim"))
    for (int64_t d = 0; d < x.rank(); ++d) dims.push_back(d);
  else
    for (int64_t d : ints_arg(r.node, "dim")) dims.push_back(wrap_dim(d, x.rank(), r.node));
  Values results;
  for (size_t i = 0; i < dims.size(); ++i)
    results.push_back(slopes(r, x, spacing_of(r, i), dims[i], int_arg(r.node, "edge_order")));
  return results;
}

}  // namespace

Rows linalg_ops() {
  Rows rows = {rewrite_op("aten.matrix_exp.default(Tensor self) -> Tensor", matrix_exp),
               rewrite_op("aten.linalg_matrix_exp.default(Tensor self) -> Tensor", matrix_exp)};
  for (std::string_view schema :
       {"aten.gradient.scalarint(Tensor self, *, Scalar? spacing=None, int? dim=None, int "
        "edge_order=1) -> Tensor[]",
        "aten.gradient.scalararray(Tensor self, *, Scalar spacing, int[] dim, int edge_order=1) -> "
        "Tensor[]",
        "aten.gradient.array(Tensor self, *, int[] dim, int edge_order=1) -> Tensor[]",
        "aten.gradient.scalarrayint(Tensor self, *, Scalar[] spacing, int? dim=None, int "
        "edge_order=1) -> Tensor[]",
        "aten.gradient.scalarrayarray(Tensor self, *, Scalar[] spacing, int[] dim, int "
        "edge_order=1) -> Tensor[]",
        "aten.gradient.tensorarray(Tensor self, *, Tensor[] spacing, int[] dim, int edge_order=1) "
        "-> Tensor[]",
        "aten.gradient.tensorarrayint(Tensor self, *, Tensor[] spacing, int? dim=None, int "
        "edge_order=1) -> Tensor[]"})
    rows.push_back(rewrite_op(schema, gradient));
  return rows;
}

}  // namespace aotc
