// Distances and other short formulas over tensors: cosine similarity, cross products,
// renormalisation, quantiles, gradients.
#include <cmath>

#include "ir/ops/tensor_expr.h"

namespace aotc {
namespace {

Values pairwise_distance(Rewriter& r) {
  TensorExpr difference = in(r, "x1") - in(r, "x2") + double_arg(r.node, "eps");
  return {difference.apply("aten.norm.ScalarOpt_dim",
                           {arg(r.node, "p"), Index{Sym(-1)}, arg(r.node, "keepdim")})};
}

// Each vector is divided by its norm, at least eps.
Values cosine_similarity(Rewriter& r) {
  TensorExpr a = in(r, "x1"), b = in(r, "x2");
  DType t = promote(a.dtype(), b.dtype());
  Index common = broadcast_sizes({a.sizes(), b.sizes()}, r.node);
  int64_t dim = wrap_dim(int_arg(r.node, "dim"), static_cast<int64_t>(common.size()), r.node);
  double eps = double_arg(r.node, "eps");
  auto unit = [&](TensorExpr x) {
    x = x.cast(t).expand(common);
    TensorExpr norm = x.apply("aten.linalg_vector_norm.default", {Sym(2), Index{Sym(dim)}, true});
    return x / norm.apply("aten.clamp_min.default", {eps});
  };
  return {(unit(a) * unit(b)).sum({dim}, false)};
}

// Distances between all rows of x1 and all rows of x2.
Values cdist(Rewriter& r) {
  TensorExpr a = in(r, "x1"), b = in(r, "x2");
  TensorExpr difference = a.unsqueeze(-2) - b.unsqueeze(-3);
  return {difference.apply("aten.linalg_vector_norm.default", {arg(r.node, "p"), Index{Sym(-1)}})};
}

// The same from one matrix product, |a|^2 + |b|^2 - 2 a b, as eager computes it.
Values euclidean(Rewriter& r) {
  TensorExpr a = in(r, "x1"), b = in(r, "x2");
  TensorExpr a_norm = (a * a).sum({-1}), b_norm = (b * b).sum({-1});
  auto ones = [&](TensorExpr like) { return r.full(like.sizes(), 1, like.dtype()); };
  auto joined = [&](Values parts) {
    return TensorExpr{&r, r("aten.cat.default", {parts, Sym(-1)})};
  };
  TensorExpr left = joined({a * -2.0, a_norm, ones(a_norm)}),
             right = joined({b, ones(b_norm), b_norm});
  TensorExpr squares = left.apply("aten.matmul.default", {right.transpose(-2, -1).v});
  return {sqrt(squares.apply("aten.clamp_min.default", {0.0}))};
}

// Distances of the pairs of rows i < j.
Values pdist(Rewriter& r) {
  TensorExpr x = in(r, "self");
  auto n = x.size(0).constant();
  if (!n)
    unsupported(r.node, "pdist over a dynamic number of rows", "make the number of rows static");
  if (*n < 2) return {r.full({Sym(0)}, 0, x.dtype())};
  Values parts;
  for (int64_t i = 0; i + 1 < *n; ++i) {
    TensorExpr difference = x.slice(0, i, i + 1) - x.slice(0, i + 1, *n);
    parts.push_back(
        difference.apply("aten.linalg_vector_norm.default", {arg(r.node, "p"), Index{Sym(-1)}}));
  }
  return {r("aten.cat.default", {parts, Sym(0)})};
}

// ---- cross products of vectors of three elements along a dimension

Values cross_along(TensorExpr a, TensorExpr b, int64_t dim) {
  Rewriter& r = *a.r;
  Index common = broadcast_sizes({a.sizes(), b.sizes()}, r.node);
  DType t = promote(a.dtype(), b.dtype());
  a = a.cast(t).expand(common);
  b = b.cast(t).expand(common);
  auto rolled = [&](TensorExpr x, int64_t by) {
    return x.apply("aotc.roll", {Index{Sym(-by)}, Index{Sym(dim)}});
  };
  return {rolled(a, 1) * rolled(b, 2) - rolled(a, 2) * rolled(b, 1)};
}

Values linalg_cross(Rewriter& r) {
  TensorExpr a = in(r, "self"), b = in(r, "other");
  int64_t rank = std::max(a.rank(), b.rank());
  return cross_along(a, b, wrap_dim(int_arg(r.node, "dim"), rank, r.node));
}

// Without a dimension: the first of size 3.
Values cross(Rewriter& r) {
  TensorExpr a = in(r, "self"), b = in(r, "other");
  if (!arg_is_none(r.node, "dim"))
    return cross_along(a, b, wrap_dim(int_arg(r.node, "dim"), a.rank(), r.node));
  for (int64_t d = 0; d < a.rank(); ++d)
    if (a.size(d).is(3)) return cross_along(a, b, d);
  user_error("{}: node '{}' ({}): no dimension has size 3", r.node.source.str(), r.node.name,
             r.node.op->name());
}

// ---- renormalisation

// The factor that brings `norm` down to `limit` where it is larger.
TensorExpr shrink(TensorExpr norm, double limit) {
  return where(norm > limit, ((norm + 1e-7).apply("aten.reciprocal.default") * limit).v, 1.0);
}

// Slices along `dim` whose p-norm is above maxnorm are scaled down to it.
Values renorm(Rewriter& r) {
  TensorExpr self = in(r, "self"), x = widened(self);
  int64_t dim = wrap_dim(int_arg(r.node, "dim"), x.rank(), r.node);
  Index others;
  for (int64_t d = 0; d < x.rank(); ++d)
    if (d != dim) others.push_back(Sym(d));
  TensorExpr norm = x.apply("aten.linalg_vector_norm.default", {arg(r.node, "p"), others, true});
  TensorExpr factor = shrink(norm, double_arg(r.node, "maxnorm"));
  return {(self * factor.cast(self.dtype()))};
}

// The rows that the indices name are scaled down to max_norm.
Values embedding_renorm(Rewriter& r) {
  TensorExpr self = in(r, "self"), indices = in(r, "indices");
  Index flat{product(indices.sizes())};
  TensorExpr rows = indices.reshape(flat),
             picked = self.apply("aten.index_select.default", {Sym(0), rows.v});
  TensorExpr norm = picked.apply("aten.linalg_vector_norm.default",
                                 {double_arg(r.node, "norm_type"), Index{Sym(1)}, true});
  TensorExpr scaled = picked * shrink(norm, double_arg(r.node, "max_norm"));
  return {self.apply("aten.index_copy.default", {Sym(0), rows.v, scaled.cast(self.dtype()).v})};
}

// ---- quantiles

TensorExpr pick(TensorExpr sorted, TensorExpr positions, int64_t dim) {
  return sorted.apply("aten.gather.default", {Sym(dim), positions.v});
}

// Positions q (n - 1) in the sorted elements, interpolated as asked. A NaN makes its slice NaN.
// or, where NaNs are left out, counts for nothing.
TensorExpr quantiles(Rewriter& r, TensorExpr x, TensorExpr q, int64_t dim, bool leave_out_nan) {
  const std::string& mode = std::get<std::string>(arg(r.node, "interpolation"));
  Node* node = r.emit("aten.sort.default", {x.v, Sym(dim)});
  TensorExpr sorted{&r, node->output(0)};  // NaNs come last
  Index sizes = x.sizes();
  sizes[static_cast<size_t>(dim)] = q.size(0);
  Index along(sizes.size(), Sym(1));
  along[static_cast<size_t>(dim)] = q.size(0);
  TensorExpr rank = q.reshape(along);
  if (leave_out_nan) {
    TensorExpr last = logical_not(isnan(x)).sum({dim}).cast(q.dtype()) - 1.0;
    rank = rank * last.apply("aten.clamp_min.default", {0.0});
  } else {
    rank = rank * (x.size(dim) - 1);
  }
  rank = rank.expand(sizes);
  TensorExpr low = rank.apply("aten.floor.default"), high = rank.apply("aten.ceil.default"), result;
  auto at = [&](TensorExpr p) { return pick(sorted, p.cast(DType::Int64), dim); };
  if (mode == "lower")
    result = at(low);
  else if (mode == "higher")
    result = at(high);
  else if (mode == "nearest")
    result = at(rank.apply("aten.round.default"));
  else if (mode == "midpoint")
    result = at(low).apply("aten.lerp.Scalar", {at(high).v, 0.5});
  else
    result = at(low).apply("aten.lerp.Tensor", {at(high).v, (rank - low).v});
  if (leave_out_nan) return result;
  TensorExpr has_nan = isnan(x).apply("aten.any.dim", {Sym(dim), true});
  return where(has_nan, std::nan(""), result.v);
}

// q's dimensions come first; without a dimension all elements are one slice.
template <bool leave_out_nan>
Values quantile(Rewriter& r) {
  TensorExpr x = in(r, "self"), q;
  Index original = x.sizes();
  bool keep = bool_arg(r.node, "keepdim"), scalar = true;
  if (auto* v = std::get_if<Value*>(&arg(r.node, "q"))) {
    q = {&r, *v};
    scalar = q.rank() == 0;
    q = q.reshape({product(q.sizes())});
  } else {
    q = {&r, r.full({Sym(1)}, double_arg(r.node, "q"), x.dtype())};
  }
  bool whole = arg_is_none(r.node, "dim") || x.rank() == 0;
  int64_t dim = whole ? 0 : wrap_dim(int_arg(r.node, "dim"), x.rank(), r.node);
  if (whole) x = x.reshape({product(original)});
  TensorExpr result = quantiles(r, x, q, dim, leave_out_nan);
  Index reduced = x.sizes();
  if (whole)
    reduced = keep ? Index(original.size(), Sym(1)) : Index{};
  else if (keep)
    reduced[static_cast<size_t>(dim)] = 1;
  else
    reduced.erase(reduced.begin() + dim);
  if (scalar) return {result.reshape(reduced)};
  Index sizes{q.size(0)};
  sizes.insert(sizes.end(), reduced.begin(), reduced.end());
  std::vector<int64_t> order{dim};
  for (int64_t d = 0; d < x.rank(); ++d)
    if (d != dim) order.push_back(d);
  return {result.permute(order).reshape(sizes)};
}

}  // namespace

Rows distance_ops() {
  return {
      rewrite_op("aten._euclidean_dist.default(Tensor x1, Tensor x2) -> Tensor", euclidean),
      rewrite_op("aten.pairwise_distance.default(Tensor x1, Tensor x2, float p=2., float "
                 "eps=9.9999999999999995e-07, bool keepdim=False) -> Tensor",
                 pairwise_distance),
      rewrite_op("aten.cosine_similarity.default(Tensor x1, Tensor x2, int dim=1, float eps=1e-08) "
                 "-> Tensor",
                 cosine_similarity),
      rewrite_op(
          "aten.cdist.default(Tensor x1, Tensor x2, float p=2., int? compute_mode=None) -> Tensor",
          cdist),
      rewrite_op(
          "aten._cdist_forward.default(Tensor x1, Tensor x2, float p, int? compute_mode) -> Tensor",
          cdist),
      rewrite_op("aten.pdist.default(Tensor self, float p=2.) -> Tensor", pdist),
      rewrite_op("aten._pdist_forward.default(Tensor self, float p=2.) -> Tensor", pdist),
      rewrite_op("aten.linalg_cross.default(Tensor self, Tensor other, *, int dim=-1) -> Tensor",
                 linalg_cross),
      rewrite_op("aten.cross.default(Tensor self, Tensor other, int? dim=None) -> Tensor", cross),
      rewrite_op("aten.renorm.default(Tensor self, Scalar p, int dim, Scalar maxnorm) -> Tensor",
                 renorm),
      rewrite_op("aten.embedding_renorm.default(Tensor self, Tensor indices, float max_norm, float "
                 "norm_type) -> Tensor",
                 embedding_renorm),
      rewrite_op("aten.quantile.default(Tensor self, Tensor q, int? dim=None, bool keepdim=False, "
                 "*, str interpolation=\"linear\") -> Tensor",
                 quantile<false>),
      rewrite_op("aten.quantile.scalar(Tensor self, float q, int? dim=None, bool keepdim=False, *, "
                 "str interpolation=\"linear\") -> Tensor",
                 quantile<false>),
      rewrite_op(
          "aten.nanquantile.default(Tensor self, Tensor q, int? dim=None, bool keepdim=False, "
          "*, str interpolation=\"linear\") -> Tensor",
          quantile<true>),
      rewrite_op(
          "aten.nanquantile.scalar(Tensor self, float q, int? dim=None, bool keepdim=False, *, "
          "str interpolation=\"linear\") -> Tensor",
          quantile<true>),
  };
}

}  // namespace aotc
