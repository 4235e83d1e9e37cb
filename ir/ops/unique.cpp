// Distinct elements and the most frequent one, over sorted or given order.
#include "ir/ops/tensor_expr.h"

namespace aotc {
namespace {

// Whether each element of a vector differs from the one before; the first does.
TensorExpr starts_of_runs(TensorExpr x) {
  Rewriter& r = *x.r;
  Sym n = x.size(0);
  TensorExpr first{&r, r.full({sym_min(n, 1)}, 1, DType::Bool)};
  if (n.is(0)) return first;
  Values parts{first, x.slice(0, 1, n) != x.slice(0, 0, n - 1)};
  return {&r, r("aten.cat.default", {parts, Sym(0)})};
}

struct Runs {
  TensorExpr values;   // one per run
  TensorExpr numbers;  // the run of each element
};

// The number of runs is the size that the program gives output 0.
Runs runs_of(TensorExpr x) {
  Rewriter& r = *x.r;
  TensorExpr starts = starts_of_runs(x);
  TensorExpr places = starts.apply("aten.nonzero.default");
  if (!r.node.outputs.empty()) places.v->type.sizes[0] = r.node.output()->type.sizes[0];
  TensorExpr values = x.apply("aten.index_select.default", {Sym(0), places.select(1, 0).v});
  return {values, starts.apply("aten.cumsum.default", {Sym(0)}) - Sym(1)};
}

TensorExpr run_lengths(const Runs& runs) {
  Rewriter& r = *runs.values.r;
  TensorExpr zeros{&r, r.full(runs.values.sizes(), 0, DType::Int64)};
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

Values unique_consecutive(Rewriter& r) {
  TensorExpr self = in(r, "self");
  if (!arg_is_none(r.node, "dim") && self.rank() > 1)
    unsupported(r.node, "unique slices", "compare elements, or flatten the tensor");
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
      rewrite_op("aten.mode.default(Tensor self, int dim=-1, bool keepdim=False) -> (Tensor "
                 "values, Tensor indices)",
                 mode),
  };
}

}  // namespace aotc
