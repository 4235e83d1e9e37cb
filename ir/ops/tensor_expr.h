// Tensor formulas for `rewrite` rows: a TensorExpr is a graph value, its operators emit nodes. Half
// types are not widened here: a row that eager computes in float32 widens first (`widened`) and
// narrows at its end.
#pragma once
#include "ir/ops/row_helpers.h"

namespace aotc {

struct TensorExpr {
  Rewriter* r = nullptr;
  Value* v = nullptr;

  DType dtype() const { return v->type.dtype; }
  int64_t rank() const { return r->rank(v); }
  const Sym& size(int64_t dim) const { return r->size(v, dim); }
  const std::vector<Sym>& sizes() const { return v->type.sizes; }
  operator Value*() const { return v; }  // NOLINT: an expression is its value
  explicit operator bool() const { return v != nullptr; }

  TensorExpr apply(std::string_view op, std::vector<Arg> more = {}) const {
    more.insert(more.begin(), Arg(v));
    return {r, (*r)(op, std::move(more))};
  }
  TensorExpr cast(DType to) const { return {r, r->cast(v, to)}; }
  TensorExpr reshape(std::vector<Sym> to) const { return {r, r->reshape(v, std::move(to))}; }
  TensorExpr permute(std::vector<int64_t> dims) const {
    return {r, r->permute(v, std::move(dims))};
  }
  TensorExpr transpose(int64_t a, int64_t b) const { return {r, r->transpose(v, a, b)}; }
  TensorExpr expand(std::vector<Sym> to) const { return {r, r->expand(v, std::move(to))}; }
  TensorExpr unsqueeze(int64_t dim) const { return {r, r->unsqueeze(v, dim)}; }
  TensorExpr slice(int64_t dim, Sym start, Sym end, Sym step = 1) const {
    return {r, r->slice(v, dim, std::move(start), std::move(end), std::move(step))};
  }
  TensorExpr select(int64_t dim, Sym index) const {
    return apply("aten.select.int", {Sym(dim), std::move(index)});
  }
  TensorExpr squeeze(int64_t dim) const { return apply("aten.squeeze.dim", {Sym(dim)}); }

  // Reductions over `dims`, kept as dimensions of size 1 by default. The extremes of nothing are
  // the type's: what eager refuses of them is the row's to say.
  TensorExpr sum(std::vector<int64_t> dims, bool keep = true) const;
  TensorExpr mean(std::vector<int64_t> dims, bool keep = true) const;
  TensorExpr amax(std::vector<int64_t> dims, bool keep = true) const;
  TensorExpr amin(std::vector<int64_t> dims, bool keep = true) const;
};

// The tensor argument of this name; empty where it is None.
inline TensorExpr in(Rewriter& r, std::string_view arg) { return {&r, r.tensor(arg)}; }

inline std::vector<Sym> as_syms(const std::vector<int64_t>& v) { return {v.begin(), v.end()}; }

inline TensorExpr TensorExpr::sum(std::vector<int64_t> dims, bool keep) const {
  return apply("aten.sum.dim_IntList", {as_syms(dims), keep});
}
inline TensorExpr TensorExpr::mean(std::vector<int64_t> dims, bool keep) const {
  return apply("aten.mean.dim", {as_syms(dims), keep});
}
inline TensorExpr TensorExpr::amax(std::vector<int64_t> dims, bool keep) const {
  return apply("aotc.amax", {as_syms(dims), keep});
}
inline TensorExpr TensorExpr::amin(std::vector<int64_t> dims, bool keep) const {
  return apply("aotc.amin", {as_syms(dims), keep});
}

#define AOTC_TENSOR_OPERATOR(symbol, name)                                                       \
  inline TensorExpr operator symbol(TensorExpr a, TensorExpr b) { return a.apply(name, {b.v}); } \
  inline TensorExpr operator symbol(TensorExpr a, double b) { return a.apply(name, {b}); }       \
  inline TensorExpr operator symbol(TensorExpr a, const Sym& b) { return a.apply(name, {b}); }
AOTC_TENSOR_OPERATOR(+, "aten.add.Tensor")
AOTC_TENSOR_OPERATOR(-, "aten.sub.Tensor")
AOTC_TENSOR_OPERATOR(*, "aten.mul.Tensor")
AOTC_TENSOR_OPERATOR(/, "aten.div.Tensor")
AOTC_TENSOR_OPERATOR(==, "aten.eq.Tensor")
AOTC_TENSOR_OPERATOR(!=, "aten.ne.Tensor")
AOTC_TENSOR_OPERATOR(<, "aten.lt.Tensor")
AOTC_TENSOR_OPERATOR(<=, "aten.le.Tensor")
AOTC_TENSOR_OPERATOR(>, "aten.gt.Tensor")
AOTC_TENSOR_OPERATOR(>=, "aten.ge.Tensor")
#undef AOTC_TENSOR_OPERATOR
inline TensorExpr operator-(TensorExpr a) { return a.apply("aten.neg.default"); }
inline TensorExpr operator-(double a, TensorExpr b) { return b.apply("aten.rsub.Scalar", {a}); }
inline TensorExpr logical_not(TensorExpr a) { return a.apply("aten.logical_not.default"); }

#define AOTC_TENSOR_FUNCTION(name) \
  inline TensorExpr name(TensorExpr a) { return a.apply("aten." #name ".default"); }
AOTC_TENSOR_FUNCTION(abs)
AOTC_TENSOR_FUNCTION(exp)
AOTC_TENSOR_FUNCTION(log)
AOTC_TENSOR_FUNCTION(log1p)
AOTC_TENSOR_FUNCTION(sqrt)
AOTC_TENSOR_FUNCTION(rsqrt)
AOTC_TENSOR_FUNCTION(sigmoid)
AOTC_TENSOR_FUNCTION(tanh)
AOTC_TENSOR_FUNCTION(relu)
AOTC_TENSOR_FUNCTION(square)
AOTC_TENSOR_FUNCTION(isnan)
AOTC_TENSOR_FUNCTION(sin)
AOTC_TENSOR_FUNCTION(cos)
#undef AOTC_TENSOR_FUNCTION

// Where condition holds a, else b; a number may stand for either.
inline TensorExpr where(TensorExpr condition, Arg a, Arg b) {
  return condition.apply("aten.where.self", {std::move(a), std::move(b)});
}

// An extreme of a vector, `otherwise` where a call makes it empty.
inline TensorExpr or_if_empty(TensorExpr extreme, const Sym& count, double otherwise) {
  Rewriter& r = *extreme.r;
  if (r.graph.assumptions().proves_le(1, count)) return extreme;
  TensorExpr none{&r, r("aten.scalar_tensor.default", {sym_eq(count, 0), DType::Bool})};
  return where(none, otherwise, extreme.v);
}

// A whole number as an argument that does not change the type of a tensor of type t when they meet.
inline Arg whole(int64_t value, DType t) {
  if (is_bool(t)) return value != 0;
  if (is_floating(t) || is_complex(t)) return static_cast<double>(value);
  return Sym(value);
}

// The value in the type in which eager's kernels compute it.
inline TensorExpr widened(TensorExpr a) { return a.cast(compute_type(a.dtype())); }

// The number of elements along `dims`.
inline Sym count_of(TensorExpr a, const std::vector<int64_t>& dims) {
  Sym n = 1;
  for (int64_t d : dims) n = n * a.size(d);
  return n;
}

}  // namespace aotc
