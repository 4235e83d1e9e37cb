// Distinct elements and the most frequent one, over sorted or given order.
#include "ir/ops/require.h"
#include "ir/ops/scalar_math.h"
#include "ir/ops/tensor_expr.h"

namespace aotc {
namespace {

// Whether each element of a vector, or row of a matrix, differs from the one before; the first
// does.
TensorExpr starts_of_runs(TensorExpr x) {
  Rewriter& r = *x.r;
  Sym n = x.size(0);
  TensorExpr first{&r, r.full({sym_min(n, 1)}, 1, DType::Bool)};
  if (n.is(0)) return first;
  TensorExpr differs = x.slice(0, 1, n) != x.slice(0, 0, n - 1);
  if (x.rank() == 2) differs = differs.apply("aten.any.dim", {Sym(1)});
  Values parts{first, differs};
  return {&r, r("aten.cat.default", {parts, Sym(0)})};
}

struct Runs {
  TensorExpr values;   // one per run
  TensorExpr numbers;  // the run of each element
};

// The number of runs is the size that the program gives dimension `dim` of output 0.
Runs runs_of(TensorExpr x, size_t dim = 0) {
  Rewriter& r = *x.r;
  TensorExpr starts = starts_of_runs(x);
  TensorExpr places = starts.apply("aten.nonzero.default");
  if (!r.node.outputs.empty()) places.v->type.sizes[0] = r.node.output()->type.sizes[dim];
  TensorExpr values = x.apply("aten.index_select.default", {Sym(0), places.select(1, 0).v});
  return {values, starts.apply("aten.cumsum.default", {Sym(0)}) - Sym(1)};
}

TensorExpr run_lengths(const Runs& runs) {
  Rewriter& r = *runs.values.r;
  TensorExpr zeros{&r, r.full({runs.values.size(0)}, 0, DType::Int64)};
  TensorExpr ones{&r, r.full(runs.numbers.sizes(), 1, DType::Int64)};
  return zeros.apply("aten.scatter_add.default", {Sym(0), runs.numbers.v, ones.v});
}

TensorExpr nothing(Rewriter& r) { return {&r, r.full({Sym(0)}, 0, DType::Int64)}; }

bool asks(const Node& n, const char* what) { return bool_arg(n, what); }

// (values, inverse, counts) of the sorted elements.
Values unique(Rewriter& r) {
  TensorExpr self = in(r, "self"), flat = self.reshape({product(self.sizes())});
  Node* sorted = r.emit("aten.sort.default", {flat.v, Sym(0)});
  TensorExpr values{&r, sorted->output(0)}, order{&r, sorted->output(1)};
  Runs runs = runs_of(values);
  TensorExpr inverse = nothing(r), counts = nothing(r);
  bool has_counts = r.node.op->schema.index_of("return_counts") >= 0;
  if (asks(r.node, "return_inverse")) {
    TensorExpr unset{&r, r.full(flat.sizes(), 0, DType::Int64)};
    inverse =
        unset.apply("aten.scatter.src", {Sym(0), order.v, runs.numbers.v}).reshape(self.sizes());
  }
  if (has_counts && asks(r.node, "return_counts")) counts = run_lengths(runs);
  Values results{runs.values, inverse};
  if (has_counts) results.push_back(counts);
  return results;
}

// ---- slices

// The place of each row among all rows in lexicographic order; equal rows keep theirs.
Types row_place_types(const Node& n) {
  const TensorType& t = input_type(n);
  return {contiguous_type(DType::Int64, {t.sizes[0]}, t.device)};
}

// For each row, one row after the other: the first column that differs decides which comes first.
void lower_row_places(Lowering& l, const Node& n) {
  Value* self = self_of(n);
  const Sym &rows = self->type.sizes[0], &columns = self->type.sizes[1];
  loops::BufferId out = l.output(n), order = l.temp(temp_name(l, n, "order"), DType::Int64, {rows});
  KernelBuilder k(l, l.unique_kernel_name("row_places"));
  Sym i = k.axis(rows);
  E zero = k.constant(int64_t{0}, DType::Int64), one = k.constant(int64_t{1}, DType::Int64);
  k.store(out, {i}, zero);
  k.begin_phase(true);
  Sym j = k.inner_axis(rows), c = k.inner_axis(columns);
  E mine = l.load(k, self, {i, c}), other = l.load(k, self, {j, c});
  E so_far = k.load(order, {i}, k.index(c) > 0.0, zero);
  E here = where(other < mine, one, where(other > mine, -one, zero));
  E decided = where(so_far == 0.0, here, so_far);
  k.store(order, {i}, decided);
  E before = (decided > 0.0) || ((decided == 0.0) && (k.index(j) < k.index(i)));
  E last = k.index(c) == k.index(columns - 1);
  E place = k.load(out, {i}, last && before, zero);
  k.store(out, {i}, place + one, last && before);
  l.finish(k, n);
}

// The values in a type that has an order, with equal values for equal ones.
TensorExpr ordered_type(TensorExpr x) {
  if (is_complex(x.dtype()))
    unsupported(x.r->node, "an order of complex numbers", "use view_as_real");
  return is_bool(x.dtype()) ? x.cast(DType::Int64) : widened(x);
}

// (distinct slices along `dim`, the number of each slice, how often each occurs)
Values unique_slices(Rewriter& r, bool sorts) {
  TensorExpr self = in(r, "self");
  int64_t dim = wrap_dim(int_arg(r.node, "dim"), self.rank(), r.node);
  TensorExpr first = self.apply("aten.movedim.int", {Sym(dim), Sym(0)});
  Sym count = first.size(0), width = 1;
  for (int64_t d = 1; d < first.rank(); ++d) width = width * first.size(d);
  require(r.node, !width.is(0) || count.is(0), "slices without elements cannot be compared");
  TensorExpr rows = first.reshape({count, width}), places;
  if (sorts) {
    places = {&r, r("aotc.row_places", {ordered_type(rows).v})};
    TensorExpr at{&r, r("aten.arange.default", {count})},
        unset{&r, r.full({count}, 0, DType::Int64)};
    TensorExpr order = unset.apply("aten.scatter.src", {Sym(0), places.v, at.v});
    rows = rows.apply("aten.index_select.default", {Sym(0), order.v});
  }
  Runs runs = runs_of(rows, static_cast<size_t>(dim));
  Index sizes = first.sizes();
  sizes[0] = runs.values.size(0);
  TensorExpr values = runs.values.reshape(sizes).apply("aten.movedim.int", {Sym(0), Sym(dim)});
  values = values.apply("aten.clone.default");
  TensorExpr inverse = nothing(r), counts = nothing(r);
  if (asks(r.node, "return_inverse"))
    inverse =
        sorts ? runs.numbers.apply("aten.index_select.default", {Sym(0), places.v}) : runs.numbers;
  if (asks(r.node, "return_counts")) counts = run_lengths(runs);
  return {values, inverse, counts};
}

Values unique_consecutive(Rewriter& r) {
  TensorExpr self = in(r, "self");
  if (!arg_is_none(r.node, "dim") && self.rank() > 0) return unique_slices(r, false);
  Runs runs = runs_of(self.reshape({product(self.sizes())}));
  TensorExpr inverse =
      asks(r.node, "return_inverse") ? runs.numbers.reshape(self.sizes()) : nothing(r);
  TensorExpr counts = asks(r.node, "return_counts") ? run_lengths(runs) : nothing(r);
  return {runs.values, inverse, counts};
}

// The most frequent element, the smallest of equally frequent ones, and the last of its places in
// the order of a stable sort.
Values mode(Rewriter& r) {
  TensorExpr x = in(r, "self");
  if (x.rank() == 0) return {x.apply("aten.clone.default"), r.full({}, 0, DType::Int64)};
  int64_t dim = wrap_dim(int_arg(r.node, "dim"), x.rank(), r.node);
  Node* sorted = r.emit("aten.sort.default", {x.transpose(dim, -1).v, Sym(-1)});
  TensorExpr values{&r, sorted->output(0)}, order{&r, sorted->output(1)};
  TensorExpr equal = values.unsqueeze(-1) == values.unsqueeze(-2);
  TensorExpr counts = equal.sum({equal.rank() - 1}, false);
  TensorExpr most = counts.amax({counts.rank() - 1});
  TensorExpr first = counts.apply("aten.argmax.default", {Sym(-1), true});
  TensorExpr last = (first + most - Sym(1)).apply("aten.clamp_min.default", {Sym(0)});
  bool keep = bool_arg(r.node, "keepdim");
  auto pick = [&](TensorExpr v) {
    TensorExpr picked = v.apply("aten.gather.default", {Sym(-1), last.v}).transpose(dim, -1);
    return keep ? picked : picked.squeeze(dim);
  };
  return {pick(values), pick(order)};
}

}  // namespace

Rows unique_ops() {
  return {
      rewrite_op("aten._unique.default(Tensor self, bool sorted=True, bool return_inverse=False) "
                 "-> (Tensor, Tensor)",
                 unique),
      rewrite_op("aten._unique2.default(Tensor self, bool sorted=True, bool return_inverse=False, "
                 "bool return_counts=False) -> (Tensor, Tensor, Tensor)",
                 unique),
      rewrite_op("aten.unique_consecutive.default(Tensor self, bool return_inverse=False, bool "
                 "return_counts=False, int? dim=None) -> (Tensor, Tensor, Tensor)",
                 unique_consecutive),
      loops_op("aotc.row_places(Tensor self) -> Tensor", LoopsKind::Sort, row_place_types,
               lower_row_places),
      rewrite_op("aten.unique_dim.default(Tensor self, int dim, bool sorted=True, bool "
                 "return_inverse=False, bool return_counts=False) -> (Tensor, Tensor, Tensor)",
                 [](Rewriter& r) { return unique_slices(r, true); }),
      rewrite_op("aten.unique_dim_consecutive.default(Tensor self, int dim, bool "
                 "return_inverse=False, bool return_counts=False) -> (Tensor, Tensor, Tensor)",
                 [](Rewriter& r) { return unique_slices(r, false); }),
      rewrite_op("aten.mode.default(Tensor self, int dim=-1, bool keepdim=False) -> (Tensor "
                 "values, Tensor indices)",
                 mode),
  };
}

}  // namespace aotc
