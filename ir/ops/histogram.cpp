// Histograms with weights over given edges, or over bins of equal width.
#include "ir/ops/require.h"
#include "ir/ops/tensor_expr.h"

namespace aotc {
Rows histogram_ops();
namespace {

struct Ends {
  TensorExpr low, high;
};

// The range that is given, or that of the data; one without width is widened.
Ends histogram_ends(Rewriter& r, TensorExpr x) {
  auto number = [&](double v) { return TensorExpr{&r, r.full({}, v, x.dtype())}; };
  Ends e;
  if (!arg_is_none(r.node, "range")) {
    const Arg& range = arg(r.node, "range");
    auto* values = std::get_if<std::vector<double>>(&range);
    std::vector<double> ends = values ? *values : std::vector<double>();
    if (!values)
      for (int64_t v : ints_arg(r.node, "range")) ends.push_back(static_cast<double>(v));
    require(r.node, ends.size() == 2 && ends[0] <= ends[1],
            "'range' must be two numbers, the lower one first");
    e = {number(ends[0]), number(ends[1])};
  } else if (x.size(0).is(0)) {
    e = {number(0), number(1)};
  } else {
    e = {or_if_empty(x.amin({0}, false), x.size(0), 0),
         or_if_empty(x.amax({0}, false), x.size(0), 1)};
    TensorExpr finite =
        (e.low - e.low == 0.0).apply("aten.logical_and.default", {(e.high - e.high == 0.0).v});
    r.emit("aten._assert_async.msg", {finite.v, std::string("histogram needs finite values")});
  }
  TensorExpr flat = e.low == e.high;
  return {where(flat, (e.low - 0.5).v, e.low.v), where(flat, (e.high + 0.5).v, e.high.v)};
}

// What lies on an edge counts above it, on the last one below it; the rest does not count.
Values counted_between(Rewriter& r, TensorExpr x, TensorExpr edges) {
  Sym bins = edges.size(0) - 1;
  TensorExpr above{&r, r("aten.searchsorted.Tensor", {edges.v, x.v, false, true})};
  TensorExpr low = edges.select(0, 0), high = edges.select(0, bins);
  TensorExpr inside = (x >= low).apply("aten.logical_and.default", {(x <= high).v});
  TensorExpr bin = (above - Sym(1)).apply("aten.clamp.default", {Sym(0), bins - 1});
  TensorExpr weight = in(r, "weight");
  TensorExpr amount = weight ? weight.reshape(x.sizes()).cast(x.dtype()) : inside.cast(x.dtype());
  if (weight) amount = where(inside, amount.v, 0.0);
  TensorExpr counts{&r, r.full({bins}, 0, x.dtype())};
  counts = counts.apply("aten.scatter_add.default", {Sym(0), bin.v, amount.v});
  if (bool_arg(r.node, "density")) {
    TensorExpr widths = edges.slice(0, 1, bins + 1) - edges.slice(0, 0, bins);
    counts = counts / counts.apply("aten.sum.default") / widths;
  }
  return {counts, edges};
}

TensorExpr elements_of(Rewriter& r) {
  TensorExpr self = in(r, "self");
  require(r.node, self.dtype() == DType::Float32 || self.dtype() == DType::Float64,
          "'self' is {}, expected float32 or float64; cast it first", name(self.dtype()));
  if (is_given(r.node, "weight")) {
    require_same_sizes(r.node, "weight", "self");
    require_same_dtype(r.node, {"self", "weight"});
  }
  return self.reshape({product(self.sizes())});
}

Values histogram_of_count(Rewriter& r) {
  TensorExpr x = elements_of(r);
  int64_t bins = int_arg(r.node, "bins");
  require(r.node, bins >= 1, "'bins' is {}, expected 1 or more", bins);
  Ends e = histogram_ends(r, x);
  TensorExpr edges{&r,
                   r("aten.linspace.Tensor_Tensor", {e.low.v, e.high.v, Sym(bins + 1), x.dtype()})};
  return counted_between(r, x, edges);
}

Values histogram_of_edges(Rewriter& r) {
  TensorExpr x = elements_of(r), edges = in(r, "bins");
  require_rank(r.node, "bins", 1, 1);
  require_same_dtype(r.node, {"self", "bins"});
  require(r.node, can_be_within(edges.size(0), 2), "'bins' has {} edges, expected 2 or more",
          edges.size(0).str());
  return counted_between(r, x, {&r, r.clone(edges)});
}

}  // namespace

Rows histogram_ops() {
  return {
      rewrite_op("aten.histogram.bins_tensor(Tensor self, Tensor bins, *, Tensor? weight=None, "
                 "bool density=False) -> (Tensor hist, Tensor bin_edges)",
                 histogram_of_edges),
      rewrite_op("aten.histogram.bin_ct(Tensor self, int bins=100, *, float[]? range=None, Tensor? "
                 "weight=None, bool density=False) -> (Tensor hist, Tensor bin_edges)",
                 histogram_of_count),
  };
}

}  // namespace aotc
