// torch.linalg by name: determinants, inverses, systems of equations, from the factors of
// factor.cpp.
#include <limits>

#include "ir/ops/tensor_expr.h"

namespace aotc {
Rows factor_ops();
Rows householder_ops();
Rows spectral_ops();
Rows solve_ops();
namespace {

void require_square(TensorExpr a, const Node& n) {
  if (a.rank() < 2 || !(a.size(-1) == a.size(-2)))
    unsupported(n, "a matrix that is not known to be square", "pass square matrices");
}

struct Lu {
  TensorExpr factors, pivots, info;
};

Lu lu_of(TensorExpr a, bool pivot = true) {
  Node* n = a.r->emit("aotc.lu", {a.v, pivot});
  return {{a.r, n->output(0)}, {a.r, n->output(1)}, {a.r, n->output(2)}};
}

// The call fails where `info` is not 0, if `check` asks for that.
void check_info(TensorExpr info, bool check, const char* what) {
  if (!check) return;
  TensorExpr good = info == Sym(0);
  info.r->emit("aten._assert_async.msg", {good.v, std::string(what)});
}
constexpr const char* kSingular = "the matrix is singular";
constexpr const char* kNotPositive = "the matrix is not positive definite";

// `check`: 1 always, 0 never, -1 as the argument check_errors says.
bool checks(const Rewriter& r, int check) {
  return check < 0 ? bool_arg(r.node, "check_errors") : check == 1;
}

TensorExpr identity_like(TensorExpr a) {
  TensorExpr eye{a.r, (*a.r)("aten.eye.default", {a.size(-1), a.dtype()})};
  return eye.expand(a.sizes());
}

TensorExpr transposed(TensorExpr a) { return a.transpose(-2, -1); }

TensorExpr triangular(TensorExpr a, TensorExpr b, bool upper, bool unit = false) {
  return a.apply("aotc.solve_triangular", {b.v, upper, unit});
}

// Both with the leading dimensions that they broadcast to.
void broadcast_batches(TensorExpr& a, TensorExpr& b) {
  auto batch = [](TensorExpr x) { return Index(x.sizes().begin(), x.sizes().end() - 2); };
  Index common = broadcast_sizes({batch(a), batch(b)}, a.r->node);
  auto expand = [&](TensorExpr& x) {
    Index sizes = common;
    sizes.insert(sizes.end(), {x.size(-2), x.size(-1)});
    x = x.expand(sizes);
  };
  expand(a);
  expand(b);
}

// ---- determinants

// 1 or -1 for each matrix, as the number of rows that were swapped is even or odd.
TensorExpr swap_sign(TensorExpr pivots, DType type) {
  TensorExpr rows{pivots.r, (*pivots.r)("aten.arange.start", {Sym(1), pivots.size(-1) + 1})};
  TensorExpr odd = (pivots != rows).sum({-1}, false).apply("aten.remainder.Scalar", {Sym(2)});
  return (odd.cast(type) * -2.0) + 1.0;
}

TensorExpr diagonal_of(TensorExpr a) {
  return a.apply("aten.diagonal.default", {Sym(0), Sym(-2), Sym(-1)});
}

TensorExpr product_along_last(TensorExpr x) {
  return x.apply("aten.prod.dim_int", {Sym(-1), false});
}

// (determinant, LU, pivots)
Values determinant(Rewriter& r, const char* name) {
  TensorExpr a = in(r, name);
  require_square(a, r.node);
  Lu lu = lu_of(a);
  TensorExpr det = product_along_last(diagonal_of(lu.factors)) * swap_sign(lu.pivots, a.dtype());
  return {det, lu.factors, lu.pivots};
}

// (sign, log |determinant|, LU, pivots)
Values log_determinant(Rewriter& r, const char* name) {
  TensorExpr a = in(r, name);
  require_square(a, r.node);
  Lu lu = lu_of(a);
  TensorExpr d = diagonal_of(lu.factors);
  TensorExpr sign =
      product_along_last(d.apply("aten.sign.default")) * swap_sign(lu.pivots, a.dtype());
  return {sign, log(abs(d)).sum({-1}, false), lu.factors, lu.pivots};
}

Values logdet(Rewriter& r) {
  Values parts = log_determinant(r, "self");
  TensorExpr sign{&r, parts[0]};
  return {where(sign < 0.0, std::numeric_limits<double>::quiet_NaN(), parts[1])};
}

OpDef leading_results(std::string_view schema, Values (*fn)(Rewriter&, const char*),
                      const char* name, size_t count) {
  return rewrite_op(schema, [fn, name, count](Rewriter& r) {
    Values all = fn(r, name);
    all.resize(count);
    return all;
  });
}

// ---- inverses and systems

Values inverse(Rewriter& r, const char* name, int check) {
  TensorExpr a = in(r, name);
  require_square(a, r.node);
  Lu lu = lu_of(a);
  check_info(lu.info, checks(r, check), kSingular);
  TensorExpr x = lu.factors.apply("aotc.lu_solve", {lu.pivots.v, identity_like(a).v});
  return {x, lu.info};
}

OpDef inverse_op(std::string_view schema, const char* name, int check) {
  return rewrite_op(schema, [name, check](Rewriter& r) {
    Values results = inverse(r, name, check);
    if (check == 1) results.resize(1);
    return results;
  });
}

bool is_vector(TensorExpr a, TensorExpr b) {
  if (b.rank() == 1) return true;
  return b.rank() == a.rank() - 1 && b.sizes() == Index(a.sizes().begin(), a.sizes().end() - 1);
}

// (solution, LU, pivots, info)
Values solve(Rewriter& r, int check) {
  TensorExpr a = in(r, "A"), b = in(r, "B");
  require_square(a, r.node);
  bool left = bool_arg(r.node, "left"), vector = is_vector(a, b);
  if (vector && !left) unsupported(r.node, "a vector on the left", "pass a matrix");
  if (vector) b = b.unsqueeze(-1);
  broadcast_batches(a, b);
  Lu lu = lu_of(left ? a : transposed(a));
  check_info(lu.info, checks(r, check), kSingular);
  TensorExpr x = lu.factors.apply("aotc.lu_solve", {lu.pivots.v, (left ? b : transposed(b)).v});
  if (!left) x = transposed(x);
  return {vector ? x.squeeze(-1) : x, lu.factors, lu.pivots, lu.info};
}

Values lu_factor(Rewriter& r, int check) {
  Lu lu = lu_of(in(r, r.node.op->schema.args[0].name), bool_arg(r.node, "pivot"));
  check_info(lu.info, checks(r, check), kSingular);
  return {lu.factors, lu.pivots, lu.info};
}

TensorExpr oriented(TensorExpr x, bool left) { return left ? x : transposed(x); }

Values solve_from_lu(Rewriter& r, const char* lu, const char* pivots, const char* right) {
  TensorExpr a = in(r, lu), b = in(r, right);
  const bool options = r.node.op->schema.index_of("left") >= 0;
  const bool left = !options || bool_arg(r.node, "left");
  const bool adjoint = options && bool_arg(r.node, "adjoint");
  if (adjoint && is_complex(a.dtype()))
    unsupported(r.node, "the adjoint of a complex matrix", "factor the adjoint matrix");
  TensorExpr p = in(r, pivots);
  broadcast_batches(a, b);
  Index places(a.sizes().begin(), a.sizes().end() - 1);
  places.back() = p.size(-1);
  p = p.expand(places);
  if (!left) b = transposed(b);
  if (left != adjoint) return {oriented(a.apply("aotc.lu_solve", {p.v, b.v}), left)};
  // A^T = U^T L^T P^T: forwards, backwards, and the rows put where they were.
  TensorExpr x = triangular(transposed(a), b, false);
  x = triangular(transposed(a), x, true, true);
  TensorExpr identity = identity_like(a), swaps = identity.apply("aotc.lu_solve", {p.v, identity.v});
  return {oriented({&r, r("aten.matmul.default", {transposed(swaps).v, x.v})}, left)};
}

Values cholesky(Rewriter& r, int check) {
  TensorExpr a = in(r, "self");
  bool upper = bool_arg(r.node, "upper");
  require_square(a, r.node);
  Node* n = r.emit("aotc.cholesky", {(upper ? transposed(a) : a).v});
  TensorExpr factor{&r, n->output(0)}, info{&r, n->output(1)};
  check_info(info, checks(r, check), kNotPositive);
  return {upper ? transposed(factor) : factor, info};
}

Values solve_triangular(Rewriter& r) {
  TensorExpr a = in(r, "self"), b = in(r, "B");
  require_square(a, r.node);
  bool upper = bool_arg(r.node, "upper"), unit = bool_arg(r.node, "unitriangular");
  broadcast_batches(a, b);
  if (bool_arg(r.node, "left")) return {triangular(a, b, upper, unit)};
  return {transposed(triangular(transposed(a), transposed(b), !upper, unit))};
}

Values old_triangular_solve(Rewriter& r) {
  TensorExpr a = in(r, "A"), b = in(r, "self");
  require_square(a, r.node);
  bool upper = bool_arg(r.node, "upper"), turned = bool_arg(r.node, "transpose");
  broadcast_batches(a, b);
  Value* copy = r.clone(a);
  if (turned) a = transposed(a);
  return {triangular(a, b, upper != turned, bool_arg(r.node, "unitriangular")), copy};
}

// From a factor L of L L^T, or of U^T U.
TensorExpr solve_from_cholesky(TensorExpr factor, TensorExpr b, bool upper) {
  TensorExpr lower = upper ? transposed(factor) : factor;
  return triangular(transposed(lower), triangular(lower, b, false), true);
}

Values cholesky_solve(Rewriter& r) {
  TensorExpr factor = in(r, "input2"), b = in(r, "self");
  require_square(factor, r.node);
  broadcast_batches(factor, b);
  return {solve_from_cholesky(factor, b, bool_arg(r.node, "upper"))};
}

Values cholesky_inverse(Rewriter& r) {
  TensorExpr factor = in(r, "self");
  require_square(factor, r.node);
  return {solve_from_cholesky(factor, identity_like(factor), bool_arg(r.node, "upper"))};
}

// ---- tensors as matrices

Sym elements(TensorExpr a, int64_t begin, int64_t end) {
  Sym n = 1;
  for (int64_t d = begin; d < end; ++d) n = n * a.size(d);
  return n;
}

// The inverse of the map from the last dimensions to the first `ind` ones.
Values tensor_inverse(Rewriter& r) {
  TensorExpr a = in(r, "self");
  int64_t ind = int_arg(r.node, "ind");
  if (ind < 1 || ind > a.rank()) unsupported(r.node, "this 'ind'", "choose 1 to the rank");
  TensorExpr matrix = a.reshape({elements(a, 0, ind), elements(a, ind, a.rank())});
  Index sizes(a.sizes().begin() + ind, a.sizes().end());
  sizes.insert(sizes.end(), a.sizes().begin(), a.sizes().begin() + ind);
  return {matrix.apply("aten.linalg_inv.default").reshape(sizes)};
}

// x with tensordot(a, x, x.rank()) = b; the dimensions `dims` of a are moved to its end first.
Values tensor_solve(Rewriter& r) {
  TensorExpr a = in(r, "self"), b = in(r, "other");
  if (!arg_is_none(r.node, "dims")) {
    Index from = syms_arg(r.node, "dims"), to;
    for (size_t i = 0; i < from.size(); ++i)
      to.push_back(Sym(static_cast<int64_t>(i) - static_cast<int64_t>(from.size())));
    a = a.apply("aten.movedim.intlist", {from, to});
  }
  Index sizes(a.sizes().begin() + b.rank(), a.sizes().end());
  Sym rows = product(b.sizes());
  TensorExpr matrix = a.reshape({rows, product(sizes)});
  return {matrix.apply("aten.linalg_solve.default", {b.reshape({rows}).v}).reshape(sizes)};
}

template <Values (*fn)(Rewriter&, int), int check, size_t count>
Values leading(Rewriter& r) {
  Values all = fn(r, check);
  all.resize(count);
  return all;
}

Values solve_with_info(Rewriter& r) {
  Values all = solve(r, -1);
  return {all[0], all[3]};
}

}  // namespace

Rows solve_ops() {
  Rows rows = factor_ops();
  append(rows, householder_ops());
  append(rows, spectral_ops());
  append(
      rows,
      {
          leading_results("aten._linalg_det.default(Tensor A) -> (Tensor result, Tensor LU, Tensor "
                          "pivots)",
                          determinant, "A", 3),
          leading_results("aten.linalg_det.default(Tensor A) -> Tensor", determinant, "A", 1),
          leading_results("aten.det.default(Tensor self) -> Tensor", determinant, "self", 1),
          leading_results("aten._linalg_slogdet.default(Tensor A) -> (Tensor sign, Tensor "
                          "logabsdet, Tensor LU, Tensor pivots)",
                          log_determinant, "A", 4),
          leading_results(
              "aten.linalg_slogdet.default(Tensor A) -> (Tensor sign, Tensor logabsdet)",
              log_determinant, "A", 2),
          leading_results("aten.slogdet.default(Tensor self) -> (Tensor sign, Tensor logabsdet)",
                          log_determinant, "self", 2),
          rewrite_op("aten.logdet.default(Tensor self) -> Tensor", logdet),
          inverse_op("aten.linalg_inv_ex.default(Tensor A, *, bool check_errors=False) -> (Tensor "
                     "inverse, Tensor info)",
                     "A", -1),
          inverse_op("aten.linalg_inv.default(Tensor A) -> Tensor", "A", 1),
          inverse_op("aten.inverse.default(Tensor self) -> Tensor", "self", 1),
          rewrite_op(
              "aten._linalg_solve_ex.default(Tensor A, Tensor B, *, bool left=True, bool "
              "check_errors=False) -> (Tensor result, Tensor LU, Tensor pivots, Tensor info)",
              leading<solve, -1, 4>),
          rewrite_op("aten.linalg_solve_ex.default(Tensor A, Tensor B, *, bool left=True, bool "
                     "check_errors=False) -> (Tensor result, Tensor info)",
                     solve_with_info),
          rewrite_op("aten.linalg_tensorinv.default(Tensor self, int ind=2) -> Tensor",
                     tensor_inverse),
          rewrite_op("aten.linalg_tensorsolve.default(Tensor self, Tensor other, int[]? dims=None) "
                     "-> Tensor",
                     tensor_solve),
          rewrite_op("aten._lu_with_info.default(Tensor self, bool pivot=True, bool "
                     "check_errors=True) -> (Tensor LU, Tensor pivots, Tensor info)",
                     leading<lu_factor, -1, 3>),
          rewrite_op("aten.linalg_solve.default(Tensor A, Tensor B, *, bool left=True) -> Tensor",
                     leading<solve, 1, 1>),
          rewrite_op("aten.linalg_lu_factor_ex.default(Tensor A, *, bool pivot=True, bool "
                     "check_errors=False) -> (Tensor LU, Tensor pivots, Tensor info)",
                     leading<lu_factor, -1, 3>),
          rewrite_op("aten.linalg_lu_factor.default(Tensor A, *, bool pivot=True) -> (Tensor LU, "
                     "Tensor pivots)",
                     leading<lu_factor, 1, 2>),
          rewrite_op("aten.linalg_lu_solve.default(Tensor LU, Tensor pivots, Tensor B, *, bool "
                     "left=True, bool adjoint=False) -> Tensor",
                     [](Rewriter& r) { return solve_from_lu(r, "LU", "pivots", "B"); }),
          rewrite_op(
              "aten.lu_solve.default(Tensor self, Tensor LU_data, Tensor LU_pivots) -> Tensor",
              [](Rewriter& r) { return solve_from_lu(r, "LU_data", "LU_pivots", "self"); }),
          rewrite_op("aten.linalg_cholesky_ex.default(Tensor self, *, bool upper=False, bool "
                     "check_errors=False) -> (Tensor L, Tensor info)",
                     leading<cholesky, -1, 2>),
          rewrite_op("aten.linalg_cholesky.default(Tensor self, *, bool upper=False) -> Tensor",
                     leading<cholesky, 1, 1>),
          rewrite_op("aten.linalg_solve_triangular.default(Tensor self, Tensor B, *, bool upper, "
                     "bool left=True, bool unitriangular=False) -> Tensor",
                     solve_triangular),
          rewrite_op("aten.triangular_solve.default(Tensor self, Tensor A, bool upper=True, bool "
                     "transpose=False, bool unitriangular=False) -> (Tensor solution, Tensor "
                     "cloned_coefficient)",
                     old_triangular_solve),
          rewrite_op("aten.cholesky_solve.default(Tensor self, Tensor input2, bool upper=False) -> "
                     "Tensor",
                     cholesky_solve),
          rewrite_op("aten.cholesky_inverse.default(Tensor self, bool upper=False) -> Tensor",
                     cholesky_inverse),
      });
  return rows;
}

}  // namespace aotc
