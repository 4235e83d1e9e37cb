// Orthogonal factors of matrices by Householder reflections, with LAPACK's signs: QR, products of
// reflectors; and the permutations of LU. Batches are independent.
#include "ir/ops/loop_marker.h"
#include "ir/ops/matrix_cell.h"
#include "ir/ops/tensor_expr.h"

namespace aotc {
Rows householder_ops();
namespace {

Sym rows_of(const TensorType& t) { return t.sizes[t.rank() - 2]; }

// ---- A = H_0 H_1 ... R with H_c = 1 - tau_c v v^T: (R over the v below the diagonal, tau)

Types geqrf_types(const Node& n) {
  require_matrix(n, "A");
  const TensorType& t = input_type(n);
  Index tau = batch_sizes(t);
  tau.push_back(sym_min(rows_of(t), t.sizes.back()));
  return {contiguous_type(t.dtype, t.sizes, t.device), contiguous_type(t.dtype, tau, t.device)};
}

// What the kernels of one column c share. Sums are in float64.
struct Column {
  Lowering& l;
  const Node& n;
  loops::BufferId a, tau, scale, product;  // `scale`: a number per matrix; `product`: per column
  Sym rows, columns, c;

  Index batch() const { return batch_sizes(input_type(n)); }
  E load(KernelBuilder& k, const Index& at) const { return cast(k.load(a, at), DType::Float64); }
  void store(KernelBuilder& k, const Index& at, E v) const {
    k.store(a, at, cast(v, input_type(n).dtype));
  }
};

// The diagonal element becomes that of R; `scale` takes what is below it to v.
void find_reflector(const Column& m) {
  KernelBuilder k(m.l, m.l.unique_kernel_name("reflector"));
  Index b = k.axes(m.batch());
  E x = m.load(k, with(b, {m.c + 1 + k.inner_axis(m.rows - 1 - m.c), m.c}));
  int squares = k.accumulate(Prim::add, x * x);
  k.begin_phase();
  E alpha = m.load(k, with(b, {m.c, m.c})), below = k.result(squares), none = below == 0.0;
  E beta = sqrt(alpha * alpha + below);
  beta = where(alpha < 0.0, beta, -beta);
  E tau = where(none, 0.0, (beta - alpha) / where(none, 1.0, beta));
  k.store(m.tau, with(b, {m.c}), cast(tau, input_type(m.n).dtype));
  k.store(m.scale, b, where(none, 0.0, 1.0 / where(none, 1.0, alpha - beta)));
  m.store(k, with(b, {m.c, m.c}), where(none, alpha, beta));
  m.l.finish(k, m.n);
}

void scale_reflector(const Column& m) {
  KernelBuilder k(m.l, m.l.unique_kernel_name("scale"));
  Index b = k.axes(m.batch()), at = with(b, {m.c + 1 + k.axis(m.rows - 1 - m.c), m.c});
  m.store(k, at, m.load(k, at) * k.load(m.scale, b));
  m.l.finish(k, m.n);
}

// The columns after c become H_c times themselves.
void apply_reflector(const Column& m) {
  KernelBuilder k(m.l, m.l.unique_kernel_name("project"));
  Index b = k.axes(m.batch());
  Sym j = m.c + 1 + k.axis(m.columns - 1 - m.c), i = m.c + 1 + k.inner_axis(m.rows - 1 - m.c);
  E v = m.load(k, with(b, {i, m.c})), x = m.load(k, with(b, {i, j}));
  int sum = k.accumulate(Prim::add, v * x);
  k.begin_phase();
  E top = m.load(k, with(b, {m.c, j}));
  E tau = cast(k.load(m.tau, with(b, {m.c})), DType::Float64);
  E product = tau * (top + k.result(sum));
  k.store(m.product, with(b, {j}), product);
  m.store(k, with(b, {m.c, j}), top - product);
  m.l.finish(k, m.n);

  KernelBuilder update(m.l, m.l.unique_kernel_name("reflect"));
  Index d = update.axes(m.batch());
  Sym row = m.c + 1 + update.axis(m.rows - 1 - m.c),
      column = m.c + 1 + update.axis(m.columns - 1 - m.c);
  E taken = m.load(update, with(d, {row, m.c})) * update.load(m.product, with(d, {column}));
  Index at = with(d, {row, column});
  m.store(update, at, m.load(update, at) - taken);
  m.l.finish(update, m.n);
}

void lower_geqrf(Lowering& l, const Node& n) {
  const TensorType& t = input_type(n);
  Index per_column = batch_sizes(t);
  per_column.push_back(t.sizes.back());
  Column m{l,
           n,
           l.output(n, 0),
           l.output(n, 1),
           l.temp(temp_name(l, n, "scale"), DType::Float64, batch_sizes(t)),
           l.temp(temp_name(l, n, "product"), DType::Float64, per_column),
           rows_of(t),
           t.sizes.back(),
           new_symbol(l, temp_name(l, n, "column"))};
  KernelBuilder k(l, l.unique_kernel_name("copy"));
  Index at = k.axes(t.sizes);
  k.store(m.a, at, l.load(k, self_of(n), at));
  l.finish(k, n);
  repeat_kernels(l, n, m.c, sym_min(m.rows, m.columns), [&] {
    find_reflector(m);
    scale_reflector(m);
    apply_reflector(m);
  });
}

// ---- the leading columns of H_0 H_1 ...

Types product_types(const Node& n) {
  require_matrix(n, "A");
  TensorType t = input_type(n);
  Index sizes = t.sizes;
  sizes.back() = sym_arg(n, "columns");
  return {contiguous_type(t.dtype, sizes, t.device)};
}

// One reflection of all columns of q: those of rows c and below change.
void reflect_columns(Lowering& l, const Node& n, loops::BufferId q, loops::BufferId product,
                     const Sym& c) {
  Value *self = self_of(n), *tau = tensor_arg(n, "tau");
  const TensorType& t = self->type;
  const Sym rows = rows_of(t), &columns = n.output()->type.sizes.back();
  auto wide = [](E v) { return cast(v, DType::Float64); };
  KernelBuilder k(l, l.unique_kernel_name("project"));
  Index b = k.axes(batch_sizes(t));
  Sym column = k.axis(columns), i = c + 1 + k.inner_axis(rows - 1 - c);
  E v = wide(l.load(k, self, with(b, {i, c})));
  int sum = k.accumulate(Prim::add, v * wide(k.load(q, with(b, {i, column}))));
  k.begin_phase();
  E top = wide(k.load(q, with(b, {c, column})));
  E along = wide(l.load(k, tau, with(b, {c}))) * (top + k.result(sum));
  k.store(product, with(b, {column}), along);
  k.store(q, with(b, {c, column}), cast(top - along, t.dtype));
  l.finish(k, n);

  KernelBuilder update(l, l.unique_kernel_name("reflect"));
  Index d = update.axes(batch_sizes(t));
  Sym row = c + 1 + update.axis(rows - 1 - c), j = update.axis(columns);
  E factor = wide(l.load(update, self, with(d, {row, c})));
  E taken = factor * update.load(product, with(d, {j}));
  Index at = with(d, {row, j});
  update.store(q, at, cast(wide(update.load(q, at)) - taken, t.dtype));
  l.finish(update, n);
}

// Applies the reflections to the identity, from the last on.
void lower_product(Lowering& l, const Node& n) {
  const TensorType& t = input_type(n);
  const Sym &columns = n.output()->type.sizes.back(),
            &count = tensor_arg(n, "tau")->type.sizes.back();
  loops::BufferId q = l.output(n);
  Index per_column = batch_sizes(t);
  per_column.push_back(columns);
  loops::BufferId product = l.temp(temp_name(l, n, "product"), DType::Float64, per_column);
  KernelBuilder k(l, l.unique_kernel_name("identity"));
  Index b = k.axes(batch_sizes(t));
  Sym i = k.axis(rows_of(t)), j = k.axis(columns);
  k.store(q, with(b, {i, j}), cast(equals(k, i, j), t.dtype));
  l.finish(k, n);
  Sym back = new_symbol(l, temp_name(l, n, "back"));
  repeat_kernels(l, n, back, count, [&] { reflect_columns(l, n, q, product, count - 1 - back); });
}

// ---- the row that each row of P^T A is, from the swaps of LU

Types permutation_types(const Node& n) {
  const TensorType& t = input_type(n);
  Index sizes = t.sizes;
  sizes.back() = sym_arg(n, "rows");
  return {contiguous_type(DType::Int64, sizes, t.device)};
}

void lower_permutation(Lowering& l, const Node& n) {
  Value* pivots = self_of(n);
  Index batch(pivots->type.sizes.begin(), pivots->type.sizes.end() - 1);
  const Sym& rows = n.output()->type.sizes.back();
  loops::BufferId out = l.output(n);
  KernelBuilder k(l, l.unique_kernel_name("permutation"));
  Index b = k.axes(batch);
  k.begin_phase();
  Sym i0 = k.inner_axis(rows);
  k.store(out, with(b, {i0}), k.index(i0));
  k.begin_phase(true);
  Sym i = k.inner_axis(pivots->type.sizes.back());
  E pivot = cast(l.load(k, pivots, with(b, {i})), DType::Int64) - 1.0;
  Sym p = k.value_of(maximum(minimum(pivot, k.index(rows - 1)), like(pivot, 0)));
  E always = k.boolean(true);
  Cell here{k, out, with(b, {i})}, there{k, out, with(b, {p})};
  E mine = here.value(always), theirs = there.value(always);
  here.set(theirs, {});
  there.set(mine, {});
  l.finish(k, n);
}

// ---- by name

struct Reflectors {
  TensorExpr a, tau;
};

Reflectors geqrf(TensorExpr a) {
  Node* n = a.r->emit("aotc.geqrf", {a.v});
  return {{a.r, n->output(0)}, {a.r, n->output(1)}};
}

TensorExpr reflector_product(TensorExpr a, TensorExpr tau, const Sym& columns) {
  return a.apply("aotc.reflector_product", {tau.v, columns});
}

Values qr(Rewriter& r) {
  TensorExpr a = in(r, "A");
  require_matrix(r.node, "A");
  require_word(r.node, "mode", {"reduced", "complete", "r"});
  const std::string& mode = std::get<std::string>(arg(r.node, "mode"));
  Reflectors f = geqrf(a);
  Sym rank = sym_min(a.size(-2), a.size(-1));
  Sym columns = mode == "complete" ? a.size(-2) : rank;
  TensorExpr upper = f.a.apply("aten.triu.default").slice(-2, 0, columns);
  upper = upper.apply("aten.clone.default");
  if (mode == "r") return {r.full({Sym(0)}, 0, a.dtype()), upper};
  return {reflector_product(f.a, f.tau, columns), upper};
}

Values old_qr(Rewriter& r) { return r.emit("aotc.geqrf", {r.tensor("self")})->outputs; }

// A number for each of the leading columns of a.
void require_reflectors(TensorExpr a, TensorExpr tau) {
  const Node& n = a.r->node;
  Index batch = batch_sizes(a.v->type), sizes = tau.sizes();
  Sym count = sizes.empty() ? Sym(0) : sizes.back();
  if (!sizes.empty()) sizes.pop_back();
  bool fits = tau.rank() == a.rank() - 1 && tau.dtype() == a.dtype() &&
              can_be_equal(sizes, batch) && can_be_within(a.size(-1) - count, 0) &&
              can_be_within(a.size(-2) - count, 0);
  require(n, fits, "matrices of the sizes {} do not go with reflectors' numbers of the sizes {}",
          sizes_text(a.sizes()), sizes_text(tau.sizes()));
}

Values reflector_product_row(Rewriter& r, const char* input, const char* tau) {
  require_matrix(r.node, input);
  TensorExpr a = in(r, input), t = in(r, tau);
  require_reflectors(a, t);
  require(r.node, can_be_within(a.size(-2) - a.size(-1), 0),
          "'{}' has the sizes {}, expected at least as many rows as columns", input,
          sizes_text(a.sizes()));
  return {reflector_product(a, t, a.size(-1))};
}

// The product of all reflectors, or its transpose, with another matrix on one of its sides.
Values ormqr(Rewriter& r) {
  require_matrix(r.node, "self");
  TensorExpr a = in(r, "self"), other = in(r, "input3");
  require_rank(r.node, "input3", 2);
  require_reflectors(a, in(r, "input2"));
  Sym inner = bool_arg(r.node, "left") ? other.size(-2) : other.size(-1);
  bool fits = other.rank() == a.rank() && other.dtype() == a.dtype() &&
              can_be_equal(batch_sizes(other.v->type), batch_sizes(a.v->type)) &&
              can_be_equal(inner, a.size(-2));
  require(r.node, fits, "'input3' has the sizes {}, which do not go with those of 'self', {}",
          sizes_text(other.sizes()), sizes_text(a.sizes()));
  TensorExpr q = reflector_product(a, in(r, "input2"), a.size(-2));
  if (bool_arg(r.node, "transpose")) q = q.transpose(-2, -1);
  if (bool_arg(r.node, "left")) return {q.apply("aten.matmul.default", {other.v})};
  return {other.apply("aten.matmul.default", {q.v})};
}

// ---- P, L, U

TensorExpr permutation_matrix(TensorExpr pivots, const Sym& rows, DType t) {
  Rewriter& r = *pivots.r;
  TensorExpr at = pivots.apply("aotc.pivot_permutation", {rows});
  TensorExpr row{&r, r("aten.arange.default", {rows})};
  return (row.unsqueeze(1) == at.unsqueeze(-2)).cast(t);
}

// The two triangles of factors in one matrix.
Values triangles(TensorExpr lu) {
  Rewriter& r = *lu.r;
  Sym rank = sym_min(lu.size(-2), lu.size(-1));
  TensorExpr lower = lu.slice(-1, 0, rank).apply("aten.tril.default", {Sym(-1)});
  TensorExpr unit{&r, r("aten.eye.m", {lu.size(-2), rank, lu.dtype()})};
  TensorExpr upper = lu.slice(-2, 0, rank).apply("aten.triu.default");
  return {lower + unit, upper};
}

Values lu(Rewriter& r) {
  require_matrix(r.node, "A");
  TensorExpr a = in(r, "A");
  bool pivot = bool_arg(r.node, "pivot");
  Node* n = r.emit("aotc.lu", {a.v, pivot});
  Values both = triangles({&r, n->output(0)});
  TensorExpr p{&r, pivot ? nullptr : r.full({Sym(0)}, 0, a.dtype())};
  if (pivot) p = permutation_matrix({&r, n->output(1)}, a.size(-2), a.dtype());
  return {p, both[0], both[1]};
}

// Pivots that the program made up may name rows that do not exist.
void require_pivots(TensorExpr data, TensorExpr pivots) {
  const Node& n = data.r->node;
  require(n, pivots.dtype() == DType::Int32, "'LU_pivots' is {}, expected int32",
          name(pivots.dtype()));
  Index sizes = batch_sizes(data.v->type);
  sizes.push_back(sym_min(data.size(-2), data.size(-1)));
  require_sizes(n, "LU_pivots", sizes);
  if (!bool_arg(n, "unpack_pivots")) return;
  TensorExpr good =
      (pivots >= Sym(1)).apply("aten.logical_and.default", {(pivots <= data.size(-2)).v});
  data.r->emit("aten._assert_async.msg",
               {good.apply("aten.all.default").v, std::string("a pivot is no row of the matrix")});
}

Values lu_unpack(Rewriter& r) {
  TensorExpr data = in(r, "LU_data"), pivots = in(r, "LU_pivots");
  require_matrix(r.node, "LU_data");
  TensorExpr none{&r, r.full({Sym(0)}, 0, data.dtype())};
  Values results{none, none, none};
  require_pivots(data, pivots);
  if (bool_arg(r.node, "unpack_pivots"))
    results[0] = permutation_matrix(pivots, data.size(-2), data.dtype());
  if (bool_arg(r.node, "unpack_data")) {
    Values both = triangles(data);
    results[1] = both[0];
    results[2] = both[1];
  }
  return results;
}

}  // namespace

Rows householder_ops() {
  return {
      loops_op("aotc.geqrf(Tensor A) -> (Tensor, Tensor)", LoopsKind::Scan, geqrf_types,
               lower_geqrf),
      loops_op("aotc.reflector_product(Tensor A, Tensor tau, SymInt columns) -> Tensor",
               LoopsKind::Scan, product_types, lower_product),
      loops_op("aotc.pivot_permutation(Tensor pivots, SymInt rows) -> Tensor", LoopsKind::Scan,
               permutation_types, lower_permutation),
      rewrite_op("aten.linalg_qr.default(Tensor A, str mode=\"reduced\") -> (Tensor Q, Tensor R)",
                 qr),
      rewrite_op("aten.geqrf.default(Tensor self) -> (Tensor a, Tensor tau)", old_qr),
      rewrite_op("aten.linalg_householder_product.default(Tensor input, Tensor tau) -> Tensor",
                 [](Rewriter& r) { return reflector_product_row(r, "input", "tau"); }),
      rewrite_op("aten.orgqr.default(Tensor self, Tensor input2) -> Tensor",
                 [](Rewriter& r) { return reflector_product_row(r, "self", "input2"); }),
      rewrite_op("aten.ormqr.default(Tensor self, Tensor input2, Tensor input3, bool left=True, "
                 "bool transpose=False) -> Tensor",
                 ormqr),
      rewrite_op(
          "aten.linalg_lu.default(Tensor A, *, bool pivot=True) -> (Tensor P, Tensor L, Tensor U)",
          lu),
      rewrite_op("aten.lu_unpack.default(Tensor LU_data, Tensor LU_pivots, bool unpack_data=True, "
                 "bool unpack_pivots=True) -> (Tensor P, Tensor L, Tensor U)",
                 lu_unpack),
  };
}

}  // namespace aotc
