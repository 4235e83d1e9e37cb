// Reductions: sums, products, extremes, truth, positions; variance and norms as formulas of them.
#include <cmath>

#include "ir/ops/require.h"
#include "ir/ops/scalar_math.h"
#include "ir/ops/tensor_expr.h"

namespace aotc {
namespace {

using R = ReduceMeaning::Result;

E divide_by_count(E total, const Sym& count, const Node&) {
  return total / cast(total.k->index(count), total.dtype());
}

// An empty list of dimensions reduces nothing; None reduces all.
std::vector<Value*> truth_over_dims(Rewriter& r, const char* op) {
  TensorExpr self = in(r, "self");
  if (!arg_is_none(r.node, "dim") && syms_arg(r.node, "dim").empty())
    return {(self != 0.0).cast(self.dtype() == DType::UInt8 ? DType::UInt8 : DType::Bool)};
  return {self.apply(op, {arg(r.node, "dim"), arg(r.node, "keepdim")})};
}

Rows plain_reductions() {
  ReduceMeaning sum{.combine = Prim::add, .result = R::Sum};
  ReduceMeaning nansum{.combine = Prim::add, .result = R::Sum, .before = [](E v) {
                         return is_floating(v.dtype()) ? where(isnan(v), 0.0, v) : v;
                       }};
  ReduceMeaning mean{.combine = Prim::add, .result = R::Float, .after = divide_by_count};
  ReduceMeaning prod{.combine = Prim::mul, .result = R::Sum};
  ReduceMeaning any{.combine = Prim::bitwise_or, .result = R::Bool};
  ReduceMeaning all{.combine = Prim::bitwise_and, .result = R::Bool};
  return {
      reduce_op("aten.sum.default(Tensor self, *, ScalarType? dtype=None) -> Tensor", sum),
      reduce_op("aten.sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? "
                "dtype=None) -> Tensor",
                sum),
      reduce_op("aten.nansum.default(Tensor self, int[1]? dim=None, bool keepdim=False, *, "
                "ScalarType? dtype=None) -> Tensor",
                nansum),
      reduce_op("aten.mean.default(Tensor self, *, ScalarType? dtype=None) -> Tensor", mean),
      reduce_op("aten.mean.dim(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? "
                "dtype=None) -> Tensor",
                mean),
      reduce_op("aten.prod.default(Tensor self, *, ScalarType? dtype=None) -> Tensor", prod),
      reduce_op("aten.prod.dim_int(Tensor self, int dim, bool keepdim=False, *, ScalarType? "
                "dtype=None) -> Tensor",
                prod),
      reduce_op("aten.any.default(Tensor self) -> Tensor", any),
      reduce_op("aten.any.dim(Tensor self, int dim, bool keepdim=False) -> Tensor", any),
      reduce_op("aotc.any(Tensor self, int[]? dim, bool keepdim) -> Tensor", any),
      rewrite_op("aten.any.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor",
                 [](Rewriter& r) { return truth_over_dims(r, "aotc.any"); }),
      reduce_op("aten.all.default(Tensor self) -> Tensor", all),
      reduce_op("aten.all.dim(Tensor self, int dim, bool keepdim=False) -> Tensor", all),
      reduce_op("aotc.all(Tensor self, int[]? dim, bool keepdim) -> Tensor", all),
      rewrite_op("aten.all.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor",
                 [](Rewriter& r) { return truth_over_dims(r, "aotc.all"); }),
  };
}

Rows extremes() {
  ReduceMeaning maximum{.combine = Prim::maximum, .refuses_empty = true};
  ReduceMeaning minimum{.combine = Prim::minimum, .refuses_empty = true};
  ReduceMeaning argmax{.combine = Prim::maximum, .result = R::Index, .refuses_empty = true};
  ReduceMeaning argmin{.combine = Prim::minimum, .result = R::Index, .refuses_empty = true};
  const ReduceMeaning of_any{.combine = Prim::maximum}, least_of_any{.combine = Prim::minimum};
  ReduceMeaning max_at = maximum, min_at = minimum;
  max_at.with_index = min_at.with_index = true;
  return {
      reduce_op("aten.amax.default(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor",
                maximum),
      reduce_op("aten.amin.default(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor",
                minimum),
      reduce_op("aotc.amax(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor", of_any),
      reduce_op("aotc.amin(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor",
                least_of_any),
      reduce_op("aten.max.default(Tensor self) -> Tensor", maximum),
      reduce_op("aten.min.default(Tensor self) -> Tensor", minimum),
      reduce_op("aten.max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor "
                "indices)",
                max_at),
      reduce_op("aten.min.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor "
                "indices)",
                min_at),
      reduce_op("aten.argmax.default(Tensor self, int? dim=None, bool keepdim=False) -> Tensor",
                argmax),
      reduce_op("aten.argmin.default(Tensor self, int? dim=None, bool keepdim=False) -> Tensor",
                argmin),
  };
}

std::vector<Value*> aminmax(Rewriter& r) {
  std::vector<Sym> dim = syms_arg(r.node, "dim");
  bool keep = bool_arg(r.node, "keepdim");
  Value* self = r.tensor("self");
  return {r("aten.amin.default", {self, dim, keep}), r("aten.amax.default", {self, dim, keep})};
}

std::vector<Value*> count_nonzero(Rewriter& r) {
  TensorExpr flags = in(r, "self") != 0.0;
  return {flags.apply("aten.sum.dim_IntList", {syms_arg(r.node, "dim"), false, DType::Int64})};
}

std::vector<Value*> nanmean(Rewriter& r) {
  TensorExpr self = in(r, "self");
  Arg dim = syms_arg(r.node, "dim");
  bool keep = bool_arg(r.node, "keepdim");
  TensorExpr total = self.apply("aten.nansum.default", {dim, keep, arg(r.node, "dtype")});
  TensorExpr count = logical_not(isnan(self)).apply("aten.sum.dim_IntList", {dim, keep});
  return {total / count};
}

// ---- variance: two passes, as float32 for half types

struct Variance {
  TensorExpr variance, mean;
};

// `correction` is subtracted from the count; at most the count.
Arg degrees_of_freedom(const Sym& count, const Arg& correction, const Node& n) {
  if (auto* c = std::get_if<Sym>(&correction)) return sym_max(count - *c, 0);
  double c = std::holds_alternative<None>(correction) ? 1.0 : std::get<double>(correction);
  if (c == std::floor(c)) return sym_max(count - static_cast<int64_t>(c), 0);
  if (auto n_elements = count.constant())
    return std::max(static_cast<double>(*n_elements) - c, 0.0);
  unsupported(n, "a fractional correction over a dynamic dimension", "use an integer correction");
}

Variance variance_of(Rewriter& r, const Arg& correction) {
  TensorExpr x = widened(in(r, "self"));
  bool keep = r.node.op->schema.index_of("keepdim") >= 0 && bool_arg(r.node, "keepdim");
  std::vector<int64_t> dims = reduced_dims(r.node);
  TensorExpr mean = x.mean(dims);
  TensorExpr squares = square(x - mean).sum(dims, keep);
  Arg degrees = degrees_of_freedom(count_of(x, dims), correction, r.node);
  TensorExpr variance = squares.apply("aten.div.Tensor", {degrees});
  if (!keep) mean = x.mean(dims, false);
  return {variance, mean};
}

Arg correction_of(const Node& n) {
  if (n.op->schema.index_of("correction") < 0) return Sym(bool_arg(n, "unbiased") ? 1 : 0);
  const Arg& c = arg(n, "correction");
  return std::holds_alternative<None>(c) ? Arg(Sym(1)) : c;
}

OpDef variance_op(std::string_view schema, bool root, bool with_mean) {
  return rewrite_op(schema, [root, with_mean](Rewriter& r) {
    DType dtype = in(r, "self").dtype();
    Variance v = variance_of(r, correction_of(r.node));
    if (root) v.variance = sqrt(v.variance);
    std::vector<Value*> results{v.variance.cast(dtype)};
    if (with_mean) results.push_back(v.mean.cast(dtype));
    return results;
  });
}

Rows variances() {
  return {
      variance_op("aten.var.default(Tensor self, bool unbiased=True) -> Tensor", false, false),
      variance_op("aten.var.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) "
                  "-> Tensor",
                  false, false),
      variance_op("aten.var.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, "
                  "bool keepdim=False) -> Tensor",
                  false, false),
      variance_op("aten.std.default(Tensor self, bool unbiased=True) -> Tensor", true, false),
      variance_op("aten.std.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) "
                  "-> Tensor",
                  true, false),
      variance_op("aten.std.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, "
                  "bool keepdim=False) -> Tensor",
                  true, false),
      variance_op("aten.var_mean.default(Tensor self, bool unbiased=True) -> (Tensor, Tensor)",
                  false, true),
      variance_op("aten.var_mean.dim(Tensor self, int[1]? dim, bool unbiased=True, bool "
                  "keepdim=False) -> (Tensor, Tensor)",
                  false, true),
      variance_op("aten.var_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? "
                  "correction=None, bool keepdim=False) -> (Tensor, Tensor)",
                  false, true),
      variance_op("aten.std_mean.default(Tensor self, bool unbiased=True) -> (Tensor, Tensor)",
                  true, true),
      variance_op("aten.std_mean.dim(Tensor self, int[1]? dim, bool unbiased=True, bool "
                  "keepdim=False) -> (Tensor, Tensor)",
                  true, true),
      variance_op("aten.std_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? "
                  "correction=None, bool keepdim=False) -> (Tensor, Tensor)",
                  true, true),
  };
}

void require_sum_of(const Node& n, const Index& sizes, const Index& to) {
  bool fits = to.size() <= sizes.size();
  for (size_t d = 0; fits && d < to.size(); ++d)
    fits = to[d].is(1) || can_be_equal(to[d], sizes[sizes.size() - to.size() + d]);
  require(n, fits, "a tensor of sizes {} cannot be summed to {}", sizes_text(sizes),
          sizes_text(to));
}

// Sums what broadcasting to the tensor's sizes would repeat. Where nothing is summed, the result is
// the tensor itself.
Values sum_to_size(Rewriter& r) {
  TensorExpr self = in(r, "self");
  Index to = syms_arg(r.node, "size");
  require_sum_of(r.node, self.sizes(), to);
  if (to.empty()) return {self.apply("aten.sum.default")};
  auto leading = static_cast<size_t>(self.rank()) - to.size();
  std::vector<int64_t> dims;
  for (size_t d = 0; d < self.sizes().size(); ++d) {
    const Sym& size = self.sizes()[d];
    if (d < leading || (to[d - leading].is(1) && !size.is(1)))
      dims.push_back(static_cast<int64_t>(d));
  }
  return {dims.empty() ? self : self.sum(dims).reshape(to)};
}

// The bits of all elements, as 64-bit numbers, exclusive-or'ed.
Values hash_tensor(Rewriter& r) {
  TensorExpr x = in(r, "self");
  if (!sym_arg(r.node, "mode").is(0)) unsupported(r.node, "this hash", "use mode 0");
  if (is_complex(x.dtype())) unsupported(r.node, "a hash of complex numbers", "use view_as_real");
  x = is_floating(x.dtype()) ? x.cast(DType::Float64).apply("aten.view.dtype", {DType::Int64})
                             : x.cast(DType::Int64);
  return {x.apply("aotc.xor", {arg(r.node, "dim"), arg(r.node, "keepdim")}).cast(DType::UInt64)};
}

}  // namespace

Rows reduce_ops() {
  Rows rows = plain_reductions();
  append(rows, extremes());
  append(rows, variances());
  append(rows, norm_reductions());
  append(rows,
         {
             rewrite_op("aten.aminmax.default(Tensor self, *, int? dim=None, bool "
                        "keepdim=False) -> (Tensor min, Tensor max)",
                        aminmax),
             reduce_op("aotc.xor(Tensor self, int[1]? dim=None, bool keepdim=False) -> Tensor",
                       {.combine = Prim::bitwise_xor}),
             rewrite_op("aten.hash_tensor.default(Tensor self, int[1] dim=[], *, bool "
                        "keepdim=False, int mode=0) -> Tensor",
                        hash_tensor),
             rewrite_op("aten.native_dropout_backward.default(Tensor grad_output, Tensor mask, "
                        "float scale) -> Tensor",
                        [](Rewriter& r) {
                          return Values{in(r, "grad_output") * in(r, "mask") *
                                        double_arg(r.node, "scale")};
                        }),
             rewrite_op("aten._aminmax.default(Tensor self) -> (Tensor, Tensor)",
                        [](Rewriter& r) {
                          return r.emit("aten.aminmax.default", {r.tensor("self")})->outputs;
                        }),
             rewrite_op(
                 "aten._aminmax.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor, "
                 "Tensor)",
                 [](Rewriter& r) { return r.emit("aten.aminmax.default", r.node.args)->outputs; }),
             rewrite_op("aten.count_nonzero.default(Tensor self, int? dim=None) -> Tensor",
                        count_nonzero),
             rewrite_op("aten.count_nonzero.dim_IntList(Tensor self, int[] dim) -> Tensor",
                        count_nonzero),
             rewrite_op("aten.nanmean.default(Tensor self, int[1]? dim=None, bool "
                        "keepdim=False, *, ScalarType? dtype=None) -> Tensor",
                        nanmean),
             rewrite_op("aten.sum_to_size.default(Tensor(a) self, SymInt[] size) -> Tensor(a)",
                        sum_to_size),
         });
  return rows;
}

}  // namespace aotc
