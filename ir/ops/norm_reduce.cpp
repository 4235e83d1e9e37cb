// Vector and matrix norms, distances, log-sum-exp: formulas of reductions.
#include <algorithm>
#include <cmath>

#include "ir/ops/require.h"
#include "ir/ops/tensor_expr.h"

namespace aotc {
namespace {

// An extreme of nothing does not exist.
void require_some(TensorExpr x, const std::vector<int64_t>& dims) {
  for (int64_t d : dims)
    require(x.r->node, can_hold(sym_ne(x.size(d), 0)), "dimension {} is empty: it has no such norm",
            d);
}

// The p-norm of x over dims; +-inf are extremes of |x|, 0 counts.
TensorExpr p_norm(TensorExpr x, double p, const std::vector<int64_t>& dims, bool keep) {
  if (p < 0 || p == INFINITY) require_some(x, dims);
  TensorExpr magnitude = abs(x);
  if (p == INFINITY) return magnitude.amax(dims, keep);
  if (p == -INFINITY) return magnitude.amin(dims, keep);
  if (p == 0) return (x != 0.0).cast(x.dtype()).sum(dims, keep);
  if (p == 1) return magnitude.sum(dims, keep);
  if (p == 2) return sqrt((x * x).sum(dims, keep));
  TensorExpr total = magnitude.apply("aten.pow.Tensor_Scalar", {p}).sum(dims, keep);
  return total.apply("aten.pow.Tensor_Scalar", {1 / p});
}

double order_arg(const Node& n, std::string_view name, double when_none) {
  return arg_is_none(n, name) ? when_none : double_arg(n, name);
}

std::optional<DType> given_dtype(const Node& n) {
  if (n.op->schema.index_of("dtype") < 0) return std::nullopt;
  return dtype_arg(n, "dtype");
}

// Computes in the given dtype, or in self's own; half types in float32.
std::vector<Value*> vector_norm(Rewriter& r, double p) {
  TensorExpr self = in(r, "self");
  DType result = given_dtype(r.node).value_or(self.dtype());
  bool keep = r.node.op->schema.index_of("keepdim") >= 0 && bool_arg(r.node, "keepdim");
  TensorExpr x = self.cast(compute_type(result));
  return {p_norm(x, p, reduced_dims(r.node), keep).cast(result)};
}

// The norms of the slices along `dim`, kept as dimensions of size 1; dim -1: one norm of all.
std::vector<Value*> norm_except_dim(Rewriter& r) {
  TensorExpr v = in(r, "v");
  int64_t kept = int_arg(r.node, "dim");
  std::vector<int64_t> dims;
  for (int64_t d = 0; d < v.rank(); ++d)
    if (d != kept) dims.push_back(d);
  auto power = static_cast<double>(int_arg(r.node, "pow"));
  return {p_norm(widened(v), power, dims, kept != -1).cast(v.dtype())};
}

// The singular values of the matrices in dimensions `rows` and `columns`, along a last dimension.
TensorExpr singular_values(TensorExpr x, int64_t rows, int64_t columns) {
  std::vector<int64_t> order;
  for (int64_t d = 0; d < x.rank(); ++d)
    if (d != rows && d != columns) order.push_back(d);
  order.insert(order.end(), {rows, columns});
  return x.permute(order).apply("aten.linalg_svdvals.default");
}

// The value of each matrix, with the matrices' dimensions as 1 where they are kept.
TensorExpr per_matrix(TensorExpr value, std::vector<int64_t> dims, bool keep) {
  std::sort(dims.begin(), dims.end());
  if (keep)
    for (int64_t d : dims) value = value.unsqueeze(d);
  return value;
}

TensorExpr nuclear_norm(TensorExpr x, const std::vector<int64_t>& dims, bool keep) {
  return per_matrix(singular_values(x, dims[0], dims[1]).sum({-1}, false), dims, keep);
}

// The norm of a matrix without elements is 0, its maximum is not.
TensorExpr or_zero_if_empty(TensorExpr norm) { return norm.apply("aten.clamp_min.default", {0.0}); }

TensorExpr matrix_norm(TensorExpr x, double order, int64_t rows, int64_t columns, bool keep,
                       const Node& n) {
  double magnitude = std::abs(order);
  std::vector<int64_t> both{rows, columns};
  if (magnitude == 2) {
    TensorExpr s = singular_values(x, rows, columns);
    if (order < 0) require_some(x, both);
    return per_matrix(order > 0 ? or_zero_if_empty(s.amax({-1}, false)) : s.amin({-1}, false), both,
                      keep);
  }
  if (magnitude != 1 && magnitude != INFINITY)
    unsupported(n, fmt::format("a matrix norm of order {}", order),
                "use the orders fro, nuc, 1, -1, 2, -2, inf, -inf");
  int64_t summed = magnitude == 1 ? rows : columns;
  if (order < 0) require_some(x, {magnitude == 1 ? columns : rows});
  TensorExpr sums = abs(x).sum({summed});
  return order > 0 ? or_zero_if_empty(sums.amax(both, keep)) : sums.amin(both, keep);
}

TensorExpr named_norm(TensorExpr x, const std::string& name, const std::vector<int64_t>& dims,
                      bool keep, const Node& n) {
  if (name == "nuc") return nuclear_norm(x, dims, keep);
  if (name != "fro") unsupported(n, "the matrix norm '" + name + "'", "use 'fro' or 'nuc'");
  return p_norm(x, 2, dims, keep);
}

std::vector<Value*> nuclear_norm_row(Rewriter& r) {
  TensorExpr self = in(r, "self");
  std::vector<int64_t> dims{0, 1};
  if (r.node.op->schema.index_of("dim") >= 0) dims = ints_arg(r.node, "dim");
  if (dims.size() != 2 || self.rank() < 2)
    unsupported(r.node, "the nuclear norm of no matrix", "name two dimensions");
  for (int64_t& d : dims) d = wrap_dim(d, self.rank(), r.node);
  return {nuclear_norm(self, dims, bool_arg(r.node, "keepdim"))};
}

std::vector<Value*> matrix_norm_row(Rewriter& r) {
  TensorExpr self = in(r, "self");
  std::vector<int64_t> dims = ints_arg(r.node, "dim");
  for (int64_t& d : dims) d = wrap_dim(d, self.rank(), r.node);
  bool keep = bool_arg(r.node, "keepdim");
  DType result = given_dtype(r.node).value_or(self.dtype());
  TensorExpr x = self.cast(compute_type(result));
  const Arg& order = arg(r.node, "ord");
  if (auto* name = std::get_if<std::string>(&order))
    return {named_norm(x, *name, dims, keep, r.node).cast(result)};
  return {matrix_norm(x, double_arg(r.node, "ord"), dims[0], dims[1], keep, r.node).cast(result)};
}

// linalg.norm: a vector norm, or a matrix norm where two dimensions (or a matrix) meet an order.
std::vector<Value*> linalg_norm(Rewriter& r) {
  const Arg& order = arg(r.node, "ord");
  TensorExpr self = in(r, "self");
  if (std::holds_alternative<None>(order)) return vector_norm(r, 2);
  bool all = arg_is_none(r.node, "dim");
  std::vector<int64_t> dims = reduced_dims(r.node);
  if (!all) {
    dims = ints_arg(r.node, "dim");
    for (int64_t& d : dims) d = wrap_dim(d, self.rank(), r.node);
  }
  if (dims.size() != 2) return vector_norm(r, double_arg(r.node, "ord"));
  bool keep = bool_arg(r.node, "keepdim");
  DType result = given_dtype(r.node).value_or(self.dtype());
  TensorExpr x = self.cast(compute_type(result));
  auto* name = std::get_if<std::string>(&order);
  if (name) return {named_norm(x, *name, dims, keep, r.node).cast(result)};
  return {matrix_norm(x, double_arg(r.node, "ord"), dims[0], dims[1], keep, r.node).cast(result)};
}

std::vector<Value*> dist(Rewriter& r) {
  TensorExpr self = in(r, "self");
  TensorExpr difference = self - in(r, "other");
  DType result = difference.dtype();
  std::vector<int64_t> dims;
  for (int64_t d = 0; d < difference.rank(); ++d) dims.push_back(d);
  return {p_norm(widened(difference), double_arg(r.node, "p"), dims, false).cast(result)};
}

// log(sum(exp(x))) around the maximum; an infinite maximum is taken as 0 so that it does not turn
// into NaN.
std::vector<Value*> logsumexp(Rewriter& r) {
  TensorExpr self = in(r, "self");
  DType result = is_floating(self.dtype()) ? self.dtype() : DType::Float32;
  TensorExpr x = widened(self.cast(result));
  bool keep = bool_arg(r.node, "keepdim");
  std::vector<int64_t> dims = reduced_dims(r.node);
  bool empty = false;
  for (int64_t d : dims) empty |= x.size(d).is(0);
  if (empty) return {log(exp(x).sum(dims, keep)).cast(result)};
  TensorExpr top = x.amax(dims);
  top = where(abs(top) == INFINITY, 0.0, top.v);
  TensorExpr total = log(exp(x - top).sum(dims, keep));
  if (!keep) top = top.apply("aten.squeeze.dims", {as_syms(dims)});
  return {(total + top).cast(result)};
}

std::vector<Value*> trace(Rewriter& r) {
  TensorExpr diagonal = in(r, "self").apply("aten.diagonal.default", {});
  return {diagonal.apply("aten.sum.default")};
}

}  // namespace

Rows norm_reductions() {
  auto vector_order = [](const char* name) {
    return [name](Rewriter& r) { return vector_norm(r, order_arg(r.node, name, 2)); };
  };
  return {
      rewrite_op("aten.norm.Scalar(Tensor self, Scalar p=2) -> Tensor", vector_order("p")),
      rewrite_op("aten.norm.ScalarOpt_dim(Tensor self, Scalar? p, int[1] dim, bool keepdim=False) "
                 "-> Tensor",
                 vector_order("p")),
      rewrite_op("aten.norm.ScalarOpt_dim_dtype(Tensor self, Scalar? p, int[1] dim, bool keepdim, "
                 "*, ScalarType dtype) -> Tensor",
                 vector_order("p")),
      rewrite_op("aten.norm.ScalarOpt_dtype(Tensor self, Scalar? p, *, ScalarType dtype) -> Tensor",
                 vector_order("p")),
      rewrite_op("aten.frobenius_norm.dim(Tensor self, int[1] dim, bool keepdim=False) -> Tensor",
                 [](Rewriter& r) { return vector_norm(r, 2); }),
      rewrite_op("aten.nuclear_norm.default(Tensor self, bool keepdim=False) -> Tensor",
                 nuclear_norm_row),
      rewrite_op("aten.nuclear_norm.dim(Tensor self, int[2] dim, bool keepdim=False) -> Tensor",
                 nuclear_norm_row),
      rewrite_op("aten.norm_except_dim.default(Tensor v, int pow=2, int dim=0) -> Tensor",
                 norm_except_dim),
      rewrite_op("aten.linalg_vector_norm.default(Tensor self, Scalar ord=2, int[1]? dim=None, "
                 "bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
                 vector_order("ord")),
      rewrite_op("aten.linalg_matrix_norm.default(Tensor self, Scalar ord, int[] dim=[-2, -1], "
                 "bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
                 matrix_norm_row),
      rewrite_op("aten.linalg_matrix_norm.str_ord(Tensor self, str ord=\"fro\", int[] dim=[-2, "
                 "-1], bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
                 matrix_norm_row),
      rewrite_op("aten.linalg_norm.default(Tensor self, Scalar? ord=None, int[1]? dim=None, bool "
                 "keepdim=False, *, ScalarType? dtype=None) -> Tensor",
                 linalg_norm),
      rewrite_op("aten.linalg_norm.ord_str(Tensor self, str ord, int[1]? dim=None, bool "
                 "keepdim=False, *, ScalarType? dtype=None) -> Tensor",
                 linalg_norm),
      rewrite_op("aten.dist.default(Tensor self, Tensor other, Scalar p=2) -> Tensor", dist),
      rewrite_op("aten.logsumexp.default(Tensor self, int[1] dim, bool keepdim=False) -> Tensor",
                 logsumexp),
      rewrite_op(
          "aten.special_logsumexp.default(Tensor self, int[1] dim, bool keepdim=False) -> Tensor",
          logsumexp),
      rewrite_op("aten.trace.default(Tensor self) -> Tensor", trace),
  };
}

}  // namespace aotc
