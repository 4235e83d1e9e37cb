// Factors of matrices and what is solved with them, as loops over the matrix in place: LU with
// partial pivoting, Cholesky, triangular systems. Batches are independent.
#include "ir/ops/matrix_cell.h"

namespace aotc {
Rows factor_ops();
namespace {

TensorType matrix_type(const TensorType& t, Index sizes) {
  return contiguous_type(t.dtype, std::move(sizes), t.device);
}

E less(KernelBuilder& k, const Sym& a, const Sym& b) { return k.index(a) < k.index(b); }

// ---- LU: (factors in one matrix, rows swapped with (from 1), first zero pivot (from 1) or 0)

Types lu_types(const Node& n) {
  require_matrix(n, "A");
  const TensorType& t = input_type(n);
  Index batch = batch_sizes(t), pivots = batch;
  pivots.push_back(sym_min(t.sizes[t.rank() - 2], t.sizes.back()));
  return {matrix_type(t, t.sizes), contiguous_type(DType::Int32, pivots, t.device),
          contiguous_type(DType::Int32, batch, t.device)};
}

// For each column: find the pivot, swap rows, scale the column, take its multiples off the rest.
void lower_lu(Lowering& l, const Node& n) {
  Value* self = self_of(n);
  const Index& sizes = self->type.sizes;
  const Sym &rows = sizes[sizes.size() - 2], &columns = sizes.back();
  loops::BufferId lu = l.output(n, 0), pivots = l.output(n, 1), info = l.output(n, 2),
                  best = l.temp(temp_name(l, n, "best"), self->type.dtype, batch_sizes(self->type));
  KernelBuilder k(l, l.unique_kernel_name("lu"));
  Index b = k.axes(batch_sizes(self->type));
  k.store(info, b, k.constant(int64_t{0}, DType::Int32));
  k.begin_phase();
  Sym i0 = k.inner_axis(rows), j0 = k.inner_axis(columns);
  k.store(lu, with(b, {i0, j0}), l.load(k, self, with(b, {i0, j0})));
  k.begin_phase(true);
  Sym c = k.inner_axis(sym_min(rows, columns)), step = k.inner_axis(rows + 3),
      j = k.inner_axis(sym_max(rows, columns));
  auto cell = [&](const Sym& row, const Sym& column) {
    return Cell{k, lu, with(b, {row, column})};
  };
  E in_rows = less(k, j, rows), in_columns = less(k, j, columns), below = less(k, c, j) && in_rows;
  // Step 0: j is a row.
  E searching = equals(k, step, 0) && in_rows && !less(k, j, c);
  E size = abs(cell(j, c).value(searching)), first = equals(k, j, c);
  E better = searching && (first || size > Cell{k, best, b}.value(searching && !first));
  if (!bool_arg(n, "pivot")) better = searching && first;
  // Step 1: j is a column.
  Cell chosen{k, pivots, with(b, {c})};
  E swapping = equals(k, step, 1) && in_columns;
  E row = cast(chosen.value(swapping), DType::Int64) - 1.0;
  row = where(swapping, row, k.index(c));
  Sym p = k.value_of(row);
  E upper = cell(c, j).value(swapping), lower = cell(p, j).value(swapping);
  // Step 2: j is a row.
  E scaling = equals(k, step, 2), pivot = cell(c, c).value(k.boolean(true));
  E zero = scaling && first && (pivot == 0.0) && (Cell{k, info, b}.value(scaling) == 0.0);
  E divides = scaling && below && (pivot != 0.0);
  E scaled = cell(j, c).value(divides) / where(divides, pivot, 1.0);
  // From step 3 on: row and column of the rest.
  Sym i = step - 3;
  E rest = less(k, c, i) && less(k, c, j) && in_columns;
  E reduced = cell(i, j).value(rest) - cell(i, c).value(rest) * cell(c, j).value(rest);
  Cell{k, best, b}.set(size, better);
  chosen.set(cast(k.index(j + 1), DType::Int32), better);
  cell(c, j).set(lower, swapping);
  cell(p, j).set(upper, swapping);
  Cell{k, info, b}.set(cast(k.index(c + 1), DType::Int32), zero);
  cell(j, c).set(scaled, divides);
  cell(i, j).set(reduced, rest);
  l.finish(k, n);
}

// ---- Cholesky: (lower factor, first leading minor that is not positive (from 1) or 0)

Types cholesky_types(const Node& n) {
  require_matrix(n, "A");
  Shapes(n).match("A", "*nn");
  const TensorType& t = input_type(n);
  return {matrix_type(t, t.sizes), contiguous_type(DType::Int32, batch_sizes(t), t.device)};
}

// Columns stay unscaled (the factor of L D L^T times D) until all are found.
void lower_cholesky(Lowering& l, const Node& n) {
  Value* self = self_of(n);
  Sym size = self->type.sizes.back();
  loops::BufferId factor = l.output(n, 0), info = l.output(n, 1);
  KernelBuilder k(l, l.unique_kernel_name("cholesky"));
  Index b = k.axes(batch_sizes(self->type));
  auto cell = [&](const Sym& row, const Sym& column) {
    return Cell{k, factor, with(b, {row, column})};
  };
  k.store(info, b, k.constant(int64_t{0}, DType::Int32));
  k.begin_phase();
  Sym i0 = k.inner_axis(size), j0 = k.inner_axis(size);
  E kept = l.load(k, self, with(b, {i0, j0}));
  k.store(factor, with(b, {i0, j0}), where(less(k, i0, j0), like(kept, 0), kept));
  k.begin_phase(true);
  Sym c = k.inner_axis(size), i = k.inner_axis(size), j = k.inner_axis(size);
  E always = k.boolean(true), pivot = cell(c, c).value(always);
  E bad = !(pivot > 0.0) && (Cell{k, info, b}.value(always) == 0.0);
  E rest = less(k, c, j) && !less(k, i, j);
  E reduced = cell(i, j).value(rest) - cell(i, c).value(rest) * cell(j, c).value(rest) / pivot;
  Cell{k, info, b}.set(cast(k.index(c + 1), DType::Int32), bad);
  cell(i, j).set(reduced, rest);
  k.begin_phase(true);
  Sym column = k.inner_axis(size), row = size - 1 - k.inner_axis(size);
  E root = sqrt(cell(column, column).value(k.boolean(true)));
  E inside = less(k, column, row);
  cell(row, column)
      .set(where(inside, cell(row, column).value(inside) / root, root), !less(k, row, column));
  l.finish(k, n);
}

// ---- A X = B for triangular A

Types solution_types(const Node& n) {
  require_matrix(n, "A");
  Shapes(n).match("A", "*nn").match("B", "*nk");
  require_same_dtype(n, {"A", "B"});
  const TensorType& t = tensor_arg(n, "B")->type;
  return {matrix_type(t, t.sizes)};
}

// Takes the multiples of solved elements off element after element; from the end where A is upper.
void solve_phase(KernelBuilder& k, loops::BufferId x, const Index& b, const Sym& column,
                 const Sym& size, bool upper, bool unit,
                 const std::function<E(const Index&, E)>& a) {
  k.begin_phase(true);
  Sym i = k.inner_axis(size), j = k.inner_axis(size);
  if (upper) {
    i = size - 1 - i;
    j = size - 1 - j;
  }
  E solved = upper ? less(k, i, j) : less(k, j, i), itself = equals(k, i, j);
  Cell mine{k, x, with(b, {i, column})}, other{k, x, with(b, {j, column})};
  E used = unit ? solved : solved || itself, factor = a(with(b, {i, j}), used);
  E value = mine.value(used), less_by = value - factor * other.value(solved);
  if (!unit) less_by = where(itself, value / where(itself, factor, 1.0), less_by);
  mine.set(less_by, used);
}

void lower_triangular(Lowering& l, const Node& n) {
  Value *matrix = tensor_arg(n, "A"), *right = tensor_arg(n, "B");
  Sym size = matrix->type.sizes.back();
  loops::BufferId x = l.output(n);
  KernelBuilder k(l, l.unique_kernel_name("solve_triangular"));
  Index b = k.axes(batch_sizes(right->type));
  Sym column = k.axis(right->type.sizes.back()), i = k.inner_axis(size);
  k.store(x, with(b, {i, column}), l.load(k, right, with(b, {i, column})));
  auto a = [&](const Index& at, E when) {
    return l.load(k, matrix, at, when, k.constant(0.0, matrix->type.dtype));
  };
  solve_phase(k, x, b, column, size, bool_arg(n, "upper"), bool_arg(n, "unit"), a);
  l.finish(k, n);
}

// ---- A X = B from A's LU

// Pivots that the program made up may name rows that do not exist.
void check_rows(Lowering& l, const Node& n, Value* pivots, const Sym& size) {
  l.check(n, pivots->type.sizes, "a pivot is no row of the matrix",
          [&](KernelBuilder& k, const Index& at, E& report) {
            report = cast(l.load(k, pivots, at), DType::Int64);
            return (report >= 1.0) && (report <= k.index(size));
          });
}

void lower_lu_solve(Lowering& l, const Node& n) {
  Value *lu = tensor_arg(n, "A"), *pivots = tensor_arg(n, "pivots"), *right = tensor_arg(n, "B");
  Sym size = lu->type.sizes.back();
  check_rows(l, n, pivots, size);
  loops::BufferId x = l.output(n);
  KernelBuilder k(l, l.unique_kernel_name("lu_solve"));
  Index b = k.axes(batch_sizes(right->type));
  Sym column = k.axis(right->type.sizes.back()), i0 = k.inner_axis(size);
  k.store(x, with(b, {i0, column}), l.load(k, right, with(b, {i0, column})));
  k.begin_phase(true);
  Sym i = k.inner_axis(size);
  Sym p = k.value_of(cast(l.load(k, pivots, with(b, {i})), DType::Int64) - 1.0);
  Cell here{k, x, with(b, {i, column})}, there{k, x, with(b, {p, column})};
  E always = k.boolean(true), mine = here.value(always), theirs = there.value(always);
  here.set(theirs, {});
  there.set(mine, {});
  auto a = [&](const Index& at, E when) {
    return l.load(k, lu, at, when, k.constant(0.0, lu->type.dtype));
  };
  solve_phase(k, x, b, column, size, false, true, a);
  solve_phase(k, x, b, column, size, true, false, a);
  l.finish(k, n);
}

}  // namespace

Rows factor_ops() {
  return {
      loops_op("aotc.lu(Tensor A, bool pivot) -> (Tensor, Tensor, Tensor)", LoopsKind::Scan,
               lu_types, lower_lu),
      loops_op("aotc.cholesky(Tensor A) -> (Tensor, Tensor)", LoopsKind::Scan, cholesky_types,
               lower_cholesky),
      loops_op("aotc.solve_triangular(Tensor A, Tensor B, bool upper, bool unit) -> Tensor",
               LoopsKind::Scan, solution_types, lower_triangular),
      loops_op("aotc.lu_solve(Tensor A, Tensor pivots, Tensor B) -> Tensor", LoopsKind::Scan,
               solution_types, lower_lu_solve),
  };
}

}  // namespace aotc
