// Singular values, eigenvalues of symmetric matrices, and what follows from them: pseudo-inverses,
// ranks, condition numbers. Computed in float64 (jacobi.cpp), rounded once.
#include <cmath>

#include "ir/ops/require.h"
#include "ir/ops/tensor_expr.h"

namespace aotc {
Rows jacobi_ops();
Rows spectral_ops();
namespace {

void require_real_matrices(TensorExpr a) {
  const Node& n = a.r->node;
  require(n, a.rank() >= 2, "a matrix has {} dimensions, expected 2 or more", a.rank());
  require(n, a.dtype() == DType::Float32 || a.dtype() == DType::Float64,
          "a matrix is {}, expected float32 or float64; cast it first", name(a.dtype()));
}

TensorExpr turned(TensorExpr a) { return a.transpose(-2, -1); }

TensorExpr times(TensorExpr a, TensorExpr b) { return a.apply("aten.matmul.default", {b.v}); }

// The call fails where the matrix has infinities or NaN, as eager's does.
void check_finite(TensorExpr a) {
  TensorExpr good = a.apply("aten.isfinite.default").apply("aten.all.default");
  a.r->emit("aten._assert_async.msg", {good.v, std::string("the matrix has elements that are not "
                                                           "finite")});
}

// What products of columns may keep, relative to what they could be.
double rotation_limit(DType t) { return t == DType::Float64 ? 1e-15 : 1e-10; }

struct Sorted {
  TensorExpr values, order;
};

Sorted sorted(TensorExpr x, bool descending) {
  Node* n = x.r->emit("aten.sort.default", {x.v, Sym(-1), descending});
  return {{x.r, n->output(0)}, {x.r, n->output(1)}};
}

TensorExpr columns_in_order(TensorExpr a, TensorExpr order) {
  return a.apply("aten.gather.default", {Sym(-1), order.unsqueeze(-2).expand(a.sizes()).v});
}

TensorExpr diagonal_part(TensorExpr a) {
  return a.apply("aten.diagonal.default", {Sym(0), Sym(-2), Sym(-1)});
}

// ---- singular values

struct Svd {
  TensorExpr u, s, vh;  // of the input's type; u and vh only on demand
};

enum class Vectors : uint8_t { None, Reduced, Full };

Node* factored(TensorExpr a) { return a.r->emit("aotc.geqrf", {a.v}); }

TensorExpr reflected(Node* factors, const Sym& columns, Rewriter& r) {
  return {&r, r("aotc.reflector_product", {factors->output(0), factors->output(1), columns})};
}

// Orthonormal columns along those of b, which are orthogonal and fall in length; any orthonormal
// ones where b's are zero.
TensorExpr unit_columns(TensorExpr b) {
  Node* factors = factored(b);
  TensorExpr lengths = diagonal_part({b.r, factors->output(0)});
  TensorExpr one{b.r, b.r->full(lengths.sizes(), 1, DType::Float64)};
  TensorExpr signs = where(lengths < 0.0, (-one).v, one.v);
  return reflected(factors, b.size(-1), *b.r) * signs.unsqueeze(-2);
}

// Of x with at least as many rows as columns, in float64: x = Q R, then R V has orthogonal columns.
Svd tall_svd(TensorExpr x, double limit, Vectors vectors) {
  Rewriter& r = *x.r;
  const Sym columns = x.size(-1);
  TensorExpr largest = abs(x).amax({-2, -1});
  TensorExpr one{&r, r.full(largest.sizes(), 1, DType::Float64)};
  TensorExpr scale = where(largest > 0.0, largest.v, one.v);
  Node* factors = factored(x / scale);
  TensorExpr upper =
      TensorExpr{&r, factors->output(0)}.slice(-2, 0, columns).apply("aten.triu.default");
  Node* rotated = r.emit("aotc.orthogonal_rows", {turned(upper).v, limit});
  TensorExpr b = turned({&r, rotated->output(0)}), v = turned({&r, rotated->output(1)});
  Sorted s = sorted(sqrt((b * b).sum({-2}, false)), true);
  Svd result;
  result.s = s.values * scale.squeeze(-1);
  if (vectors == Vectors::None) return result;
  TensorExpr inner = unit_columns(columns_in_order(b, s.order));
  TensorExpr q = reflected(factors, vectors == Vectors::Full ? x.size(-2) : columns, r);
  result.u = times(q.slice(-1, 0, columns), inner);
  if (vectors == Vectors::Full && !(x.size(-2) == columns)) {
    Values parts{result.u, q.slice(-1, columns, x.size(-2))};
    result.u = {&r, r("aten.cat.default", {parts, Sym(-1)})};
  }
  result.vh = turned(columns_in_order(v, s.order));
  return result;
}

// Of matrices without elements.
Svd empty_svd(TensorExpr a, Vectors vectors) {
  Rewriter& r = *a.r;
  Index batch(a.sizes().begin(), a.sizes().end() - 2);
  auto matrix = [&](const Sym& rows, const Sym& columns) {
    Index sizes = batch;
    sizes.insert(sizes.end(), {rows, columns});
    TensorExpr eye{&r, r("aten.eye.m", {rows, columns, a.dtype()})};
    return TensorExpr{&r, r.clone(eye.expand(sizes))};
  };
  bool full = vectors == Vectors::Full;
  Index values = batch;
  Sym least = sym_min(a.size(-2), a.size(-1));
  values.push_back(least);
  return {matrix(a.size(-2), full ? a.size(-2) : least),
          {&r, r.full(values, 0, a.dtype())},
          matrix(full ? a.size(-1) : least, a.size(-1))};
}

Svd svd_of(TensorExpr a, Vectors vectors) {
  require_real_matrices(a);
  if (product(a.sizes()).is(0)) return empty_svd(a, vectors);
  auto more_rows = (a.size(-2) - a.size(-1)).constant();
  if (!more_rows)
    unsupported(a.r->node, "the singular values of matrices of unknown shape",
                "make the number of rows and columns static, or pad them");
  check_finite(a);
  bool wide = *more_rows < 0;
  DType t = a.dtype();
  TensorExpr x = a.cast(DType::Float64);
  Svd s = tall_svd(wide ? turned(x) : x, rotation_limit(t), vectors);
  s.s = s.s.cast(t);
  if (vectors == Vectors::None) return s;
  TensorExpr left = s.u, right = s.vh;
  s.u = (wide ? turned(right) : left).cast(t);
  s.vh = (wide ? turned(left) : right).cast(t);
  return s;
}

TensorExpr nothing_of(TensorExpr a) { return {a.r, a.r->full({Sym(0)}, 0, a.dtype())}; }

Values svd(Rewriter& r) {
  TensorExpr a = in(r, "A");
  bool wanted = r.node.op->schema.index_of("compute_uv") < 0 || bool_arg(r.node, "compute_uv");
  Vectors vectors = bool_arg(r.node, "full_matrices") ? Vectors::Full : Vectors::Reduced;
  Svd s = svd_of(a, wanted ? vectors : Vectors::None);
  if (!wanted) return {nothing_of(a), s.s, nothing_of(a)};
  return {s.u, s.s, s.vh};
}

Values svdvals(Rewriter& r) { return {svd_of(in(r, "A"), Vectors::None).s}; }

// (U, S, V); zeros for U and V that are not asked for.
Values old_svd(Rewriter& r) {
  TensorExpr a = in(r, "self");
  bool some = bool_arg(r.node, "some"), wanted = bool_arg(r.node, "compute_uv");
  Svd s = svd_of(a, !wanted ? Vectors::None : some ? Vectors::Reduced : Vectors::Full);
  if (wanted) return {s.u, s.s, turned(s.vh)};
  Index left = a.sizes(), right = a.sizes();
  left.back() = a.size(-2);
  right[right.size() - 2] = a.size(-1);
  return {r.full(left, 0, a.dtype()), s.s, r.full(right, 0, a.dtype())};
}

// ---- eigenvalues of symmetric matrices

struct Eigen {
  TensorExpr values, vectors;  // ascending; vectors only on demand
};

Eigen eigen_of(TensorExpr a, bool upper, bool vectors) {
  require_real_matrices(a);
  Rewriter& r = *a.r;
  require(r.node, can_be_equal(a.size(-1), a.size(-2)),
          "a matrix has the sizes {}, expected a square", sizes_text(a.sizes()));
  Index values(a.sizes().begin(), a.sizes().end() - 1);
  if (product(a.sizes()).is(0)) return {{&r, r.full(values, 0, a.dtype())}, {&r, r.clone(a)}};
  check_finite(a);
  TensorExpr x = a.cast(DType::Float64);
  const char* triangle = upper ? "aten.triu.default" : "aten.tril.default";
  TensorExpr whole = x.apply(triangle) + turned(x.apply(triangle, {Sym(upper ? 1 : -1)}));
  double limit = a.dtype() == DType::Float64 ? 1e-17 : 1e-11;
  Node* n = r.emit("aotc.symmetric_eigen", {whole.v, limit});
  Sorted s = sorted(diagonal_part({&r, n->output(0)}), false);
  Eigen result{s.values.cast(a.dtype()), {}};
  if (vectors)
    result.vectors = columns_in_order(turned({&r, n->output(1)}), s.order).cast(a.dtype());
  return result;
}

bool takes_upper(const Node& n) {
  require_word(n, "UPLO", {"L", "U", "l", "u"});
  const std::string& word = std::get<std::string>(arg(n, "UPLO"));
  return word == "U" || word == "u";
}

Values eigh(Rewriter& r) {
  TensorExpr a = in(r, r.node.op->schema.args[0].name);
  bool vectors = r.node.op->schema.index_of("compute_v") < 0 || bool_arg(r.node, "compute_v");
  Eigen e = eigen_of(a, takes_upper(r.node), vectors);
  return {e.values, vectors ? e.vectors : nothing_of(a)};
}

Values eigvalsh(Rewriter& r) {
  return {eigen_of(in(r, "self"), takes_upper(r.node), false).values};
}

// ---- with tolerances

TensorExpr scalar_of(Rewriter& r, const Arg& a, DType t) {
  if (auto* v = std::get_if<Value*>(&a)) return TensorExpr{&r, *v}.cast(t);
  return {&r, r("aten.scalar_tensor.default", {a, t})};
}

struct Tolerances {
  TensorExpr absolute, relative;
};

// Without a relative one: the type's epsilon times the larger size, or 0 beside an absolute one.
Tolerances tolerances(Rewriter& r, TensorExpr a, const Arg& absolute, const Arg& relative) {
  DType t = a.dtype();
  bool given = !std::holds_alternative<None>(absolute);
  Tolerances result;
  result.absolute = scalar_of(r, given ? absolute : Arg(0.0), t);
  if (!std::holds_alternative<None>(relative)) {
    result.relative = scalar_of(r, relative, t);
    return result;
  }
  TensorExpr size = scalar_of(r, Arg(sym_max(a.size(-1), a.size(-2))), t);
  TensorExpr usual = size * (t == DType::Float64 ? 0x1p-52 : 0x1p-23);
  result.relative = given ? where(result.absolute > 0.0, 0.0, usual.v) : usual;
  return result;
}

Arg named(const Node& n, std::string_view name) {
  return n.op->schema.index_of(name) < 0 ? Arg(None{}) : arg(n, name);
}

// What a singular value must exceed, from the largest of them: one number per matrix, kept as a
// dimension.
TensorExpr threshold(const Tolerances& t, TensorExpr magnitudes) {
  TensorExpr largest = magnitudes.amax({-1});
  auto per_matrix = [](TensorExpr x) { return x.rank() == 0 ? x : x.unsqueeze(-1); };
  return per_matrix(t.absolute)
      .apply("aten.maximum.default", {(per_matrix(t.relative) * largest).v});
}

Values matrix_rank(Rewriter& r, const char* input, const Arg& absolute, const Arg& relative) {
  TensorExpr a = in(r, input);
  require_real_matrices(a);
  Index batch(a.sizes().begin(), a.sizes().end() - 2);
  if (product(a.sizes()).is(0)) return {r.full(batch, 0, DType::Int64)};
  Tolerances t = tolerances(r, a, absolute, relative);
  TensorExpr s = bool_arg(r.node, "hermitian") ? abs(eigen_of(a, false, false).values)
                                               : svd_of(a, Vectors::None).s;
  return {(s > threshold(t, s)).sum({-1}, false)};
}

Values pseudo_inverse(Rewriter& r, bool hermitian, const Arg& absolute, const Arg& relative) {
  TensorExpr a = in(r, "self");
  require_real_matrices(a);
  if (product(a.sizes()).is(0)) return {r.clone(turned(a))};
  Tolerances t = tolerances(r, a, absolute, relative);
  TensorExpr left, values, right, size;
  if (hermitian) {
    Eigen e = eigen_of(a, false, true);
    values = e.values;
    size = abs(values);
    left = e.vectors;
    right = turned(e.vectors);
  } else {
    Svd s = svd_of(a, Vectors::Reduced);
    values = size = s.s;
    left = turned(s.vh);
    right = turned(s.u);
  }
  TensorExpr inverse =
      where(size > threshold(t, size), values.apply("aten.reciprocal.default").v, 0.0);
  return {times(left * inverse.unsqueeze(-2), right)};
}

// ---- condition numbers

TensorExpr norm_of(TensorExpr a, const Arg& order) {
  const char* op = std::holds_alternative<std::string>(order) ? "aten.linalg_matrix_norm.str_ord"
                                                              : "aten.linalg_matrix_norm.default";
  return a.apply(op, {order});
}

// |A| |A^-1|; infinite for matrices without an inverse.
Values condition_from_inverse(TensorExpr a, const Arg& order) {
  Rewriter& r = *a.r;
  Node* n = r.emit("aten.linalg_inv_ex.default", {a.v, false});
  TensorExpr singular = TensorExpr{&r, n->output(1)} != Sym(0);
  TensorExpr size = norm_of(a, order), inverse = norm_of({&r, n->output(0)}, order);
  TensorExpr condition = size * where(singular, INFINITY, inverse.v);
  TensorExpr undefined =
      isnan(condition).apply("aten.logical_and.default", {logical_not(isnan(size)).v});
  return {where(undefined, INFINITY, condition.v)};
}

Values condition(Rewriter& r) {
  TensorExpr a = in(r, "self");
  require_real_matrices(a);
  const Arg order = arg(r.node, "p");
  Index batch(a.sizes().begin(), a.sizes().end() - 2);
  if (product(a.sizes()).is(0)) return {r.full(batch, 0, a.dtype())};
  bool named_order = std::holds_alternative<std::string>(order);
  double p = std::holds_alternative<None>(order) ? 2 : named_order ? 0 : double_arg(r.node, "p");
  if (std::abs(p) != 2) return condition_from_inverse(a, order);
  TensorExpr s = svd_of(a, Vectors::None).s;
  TensorExpr largest = s.select(-1, 0), least = s.select(-1, s.size(-1) - 1);
  return {p > 0 ? largest / least : least / largest};
}

using WithTolerances = Values (*)(Rewriter&);

Rows tolerant_ops() {
  WithTolerances rank = [](Rewriter& r) {
    return matrix_rank(r, r.node.op->schema.args[0].name.c_str(), arg(r.node, "atol"),
                       arg(r.node, "rtol"));
  };
  WithTolerances rank_above = [](Rewriter& r) {
    return matrix_rank(r, r.node.op->schema.args[0].name.c_str(), arg(r.node, "tol"), Arg(0.0));
  };
  WithTolerances inverse = [](Rewriter& r) {
    return pseudo_inverse(r, bool_arg(r.node, "hermitian"), named(r.node, "atol"),
                          named(r.node, "rtol"));
  };
  WithTolerances inverse_above = [](Rewriter& r) {
    bool hermitian = r.node.op->schema.index_of("hermitian") >= 0 && bool_arg(r.node, "hermitian");
    return pseudo_inverse(r, hermitian, Arg(0.0), arg(r.node, "rcond"));
  };
  return {
      rewrite_op("aten.linalg_matrix_rank.atol_rtol_tensor(Tensor input, *, Tensor? atol=None, "
                 "Tensor? rtol=None, bool hermitian=False) -> Tensor",
                 rank),
      rewrite_op("aten.linalg_matrix_rank.atol_rtol_float(Tensor self, *, float? atol=None, "
                 "float? rtol=None, bool hermitian=False) -> Tensor",
                 rank),
      rewrite_op("aten.linalg_matrix_rank.default(Tensor self, float tol, bool hermitian=False) -> "
                 "Tensor",
                 rank_above),
      rewrite_op("aten.linalg_matrix_rank.tol_tensor(Tensor input, Tensor tol, bool "
                 "hermitian=False) -> Tensor",
                 rank_above),
      rewrite_op("aten.linalg_pinv.atol_rtol_tensor(Tensor self, *, Tensor? atol=None, Tensor? "
                 "rtol=None, bool hermitian=False) -> Tensor",
                 inverse),
      rewrite_op("aten.linalg_pinv.atol_rtol_float(Tensor self, *, float? atol=None, float? "
                 "rtol=None, bool hermitian=False) -> Tensor",
                 inverse),
      rewrite_op("aten.linalg_pinv.default(Tensor self, float rcond, bool hermitian=False) -> "
                 "Tensor",
                 inverse_above),
      rewrite_op("aten.linalg_pinv.rcond_tensor(Tensor self, Tensor rcond, bool hermitian=False) "
                 "-> Tensor",
                 inverse_above),
      rewrite_op("aten.pinverse.default(Tensor self, float rcond=1.0000000000000001e-15) -> Tensor",
                 inverse_above),
  };
}

}  // namespace

Rows spectral_ops() {
  Rows rows = {
      rewrite_op("aten._linalg_svd.default(Tensor A, bool full_matrices=False, bool "
                 "compute_uv=True, *, str? driver=None) -> (Tensor U, Tensor S, Tensor Vh)",
                 svd),
      rewrite_op("aten.linalg_svd.default(Tensor A, bool full_matrices=True, *, str? driver=None) "
                 "-> (Tensor U, Tensor S, Tensor Vh)",
                 svd),
      rewrite_op("aten.linalg_svdvals.default(Tensor A, *, str? driver=None) -> Tensor", svdvals),
      rewrite_op("aten.svd.default(Tensor self, bool some=True, bool compute_uv=True) -> (Tensor "
                 "U, Tensor S, Tensor V)",
                 old_svd),
      rewrite_op("aten._linalg_eigh.default(Tensor A, str UPLO=\"L\", bool compute_v=True) -> "
                 "(Tensor eigenvalues, Tensor eigenvectors)",
                 eigh),
      rewrite_op("aten.linalg_eigh.default(Tensor self, str UPLO=\"L\") -> (Tensor eigenvalues, "
                 "Tensor eigenvectors)",
                 eigh),
      rewrite_op("aten.linalg_eigvalsh.default(Tensor self, str UPLO=\"L\") -> Tensor", eigvalsh),
      rewrite_op("aten.linalg_cond.default(Tensor self, Scalar? p=None) -> Tensor", condition),
      rewrite_op("aten.linalg_cond.p_str(Tensor self, str p) -> Tensor", condition),
  };
  append(rows, jacobi_ops());
  append(rows, tolerant_ops());
  return rows;
}

}  // namespace aotc
