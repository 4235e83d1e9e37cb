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

// The rows of a matrix in lexicographic order, as their numbers; equal rows keep theirs.
Types row_order_types(const Node& n) {
  const TensorType& t = input_type(n);
  return {contiguous_type(DType::Int64, {t.sizes[0]}, t.device)};
}

void lower_row_order(Lowering& l, const Node& n) {
  Value* self = self_of(n);
  const Lowering::Strided from = l.strided(n, self);
  auto s = std::make_shared<loops::Sort>();
  s->sizes = self->type.sizes;
  s->within = 1;
  s->count = self->type.sizes[0];
  s->x = from.buffer;
  s->offset = from.offset;
  s->strides = from.strides;
  s->indices = l.output(n);
  KernelBuilder k(l, l.unique_kernel_name("row_order"));
  k.kernel().kind = loops::KernelKind::Template;
  k.kernel().sort = std::move(s);
  l.finish(k, n);
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
    if (is_complex(rows.dtype()))
      unsupported(r.node, "an order of complex numbers", "use view_as_real");
    TensorExpr order{&r, r("aotc.row_order", {rows.v})}, at{&r, r("aten.arange.default", {count})},
        unset{&r, r.full({count}, 0, DType::Int64)};
    places = unset.apply("aten.scatter.src", {Sym(0), order.v, at.v});
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

// How many elements before each one, along the last dimension, belong to its run of equal ones.
TensorExpr ages_in_runs(TensorExpr x) {
  Rewriter& r = *x.r;
  const int64_t dim = x.rank() - 1;
  const Sym n = x.size(-1);
  Index sizes = x.sizes();
  sizes.back() = sym_min(n, 1);
  TensorExpr differs = x.slice(dim, 1, n) != x.slice(dim, 0, n - 1);
  Values parts{r.full(sizes, 1, DType::Bool), differs};
  TensorExpr starts{&r, r("aten.cat.default", {parts, Sym(dim)})};
  TensorExpr places{&r, r("aten.arange.default", {n})};
  TensorExpr marks = places * starts.cast(DType::Int64);
  return places - TensorExpr{&r, r.emit("aten.cummax.default", {marks.v, Sym(dim)})->output(0)};
}

// The most frequent element, the smallest of equally frequent ones, and the last of its places in
// the order of a stable sort.
Values mode(Rewriter& r) {
  TensorExpr x = in(r, "self");
  if (x.rank() == 0) return {x.apply("aten.clone.default"), r.full({}, 0, DType::Int64)};
  int64_t dim = wrap_dim(int_arg(r.node, "dim"), x.rank(), r.node);
  Node* sorted = r.emit("aten.sort.default", {x.transpose(dim, -1).v, Sym(-1)});
  TensorExpr values{&r, sorted->output(0)}, order{&r, sorted->output(1)};
  TensorExpr last = ages_in_runs(values).apply("aten.argmax.default", {Sym(-1), true});
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
      loops_op("aotc.row_order(Tensor self) -> Tensor", LoopsKind::Sort, row_order_types,
               lower_row_order),
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
