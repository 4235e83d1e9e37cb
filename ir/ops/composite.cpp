// Composite ops of neural networks: softmax and the normalisations. Half types are computed in
// float32 and rounded once, as eager's kernels do.
#include <cmath>

#include "ir/ops/tensor_expr.h"

namespace aotc {
Rows complex_ops();
Rows solve_ops();
Rows antialias_ops();
Rows fourier_ops();
Rows gamma_ops();
Rows segment_ops();
Rows histogram_ops();
Rows fractional_pool_ops();
Rows softmax_part_ops();
namespace {

// ---- softmax

bool is_empty(TensorExpr x) { return product(x.sizes()).is(0); }

// exp(x - max) / sum along dim; x is in its compute type.
TensorExpr softmax(TensorExpr x, int64_t dim) {
  if (x.rank() == 0)
    return x.reshape({Sym(1)}).apply("aten._softmax.default", {Sym(0), false}).reshape({});
  if (is_empty(x)) return x.apply("aten.clone.default");
  TensorExpr e = exp(x - x.amax({dim}));
  return e / e.sum({dim});
}

TensorExpr log_softmax(TensorExpr x, int64_t dim) {
  if (x.rank() == 0)
    return x.reshape({Sym(1)}).apply("aten._log_softmax.default", {Sym(0), false}).reshape({});
  if (is_empty(x)) return x.apply("aten.clone.default");
  TensorExpr shifted = x - x.amax({dim});
  return shifted - log(exp(shifted).sum({dim}));
}

using Softmax = TensorExpr (*)(TensorExpr, int64_t);

// The core spelling: the result has the input's type, or float32 with half_to_float.
OpDef core_softmax(std::string_view schema, Softmax fn) {
  return rewrite_op(schema, [fn](Rewriter& r) {
    TensorExpr x = in(r, "self");
    int64_t dim = wrap_dim(int_arg(r.node, "dim"), x.rank(), r.node);
    DType result = bool_arg(r.node, "half_to_float") ? DType::Float32 : x.dtype();
    return Values{fn(widened(x), dim).cast(result)};
  });
}

// The composite one converts to `dtype` first; integers without one become float32.
OpDef converting_softmax(std::string_view schema, Softmax fn) {
  return rewrite_op(schema, [fn](Rewriter& r) {
    TensorExpr x = in(r, "self");
    int64_t dim = wrap_dim(int_arg(r.node, "dim"), x.rank(), r.node);
    DType result =
        dtype_arg(r.node, "dtype").value_or(is_floating(x.dtype()) ? x.dtype() : DType::Float32);
    return Values{fn(widened(x.cast(result)), dim).cast(result)};
  });
}

// Rows that are -inf throughout give zeros.
TensorExpr safe_softmax(TensorExpr x, int64_t dim) {
  if (x.rank() == 0 || is_empty(x)) return softmax(x, dim);
  TensorExpr masked = (x == -INFINITY).apply("aten.all.dim", {Sym(dim), true});
  return where(masked, 0.0, softmax(x, dim).v);
}

// ---- normalisation

struct Moments {
  TensorExpr mean, rstd, centered;
};

// Mean and reciprocal standard deviation over dims, kept; biased variance.
Moments moments(TensorExpr x, const std::vector<int64_t>& dims, double eps) {
  TensorExpr mean = x.mean(dims), centered = x - mean;
  TensorExpr variance = square(centered).mean(dims);
  return {mean, rsqrt(variance + eps), centered};
}

TensorExpr affine(TensorExpr x, TensorExpr weight, TensorExpr bias) {
  if (weight) x = x * widened(weight);
  if (bias) x = x + widened(bias);
  return x;
}

// Mean and rstd of half inputs are float32 beside float32 parameters, else of the input's type.
DType statistics_type(TensorExpr input, TensorExpr weight, TensorExpr bias) {
  bool mixed =
      (weight && weight.dtype() == DType::Float32) || (bias && bias.dtype() == DType::Float32);
  return is_half(input.dtype()) && mixed ? DType::Float32 : input.dtype();
}

// (out, mean, rstd)
Values native_layer_norm(Rewriter& r) {
  TensorExpr input = in(r, "input"), weight = in(r, "weight"), bias = in(r, "bias");
  std::vector<int64_t> dims;
  auto normalized = static_cast<int64_t>(syms_arg(r.node, "normalized_shape").size());
  for (int64_t d = input.rank() - normalized; d < input.rank(); ++d) dims.push_back(d);
  Moments m = moments(widened(input), dims, double_arg(r.node, "eps"));
  TensorExpr out = affine(m.centered * m.rstd, weight, bias);
  DType statistics = statistics_type(input, weight, bias);
  return {out.cast(input.dtype()), m.mean.cast(statistics), m.rstd.cast(statistics)};
}

Values layer_norm(Rewriter& r) {
  TensorExpr input = in(r, "input");
  return {r("aten.native_layer_norm.default",
            {input.v, arg(r.node, "normalized_shape"), arg(r.node, "weight"), arg(r.node, "bias"),
             arg(r.node, "eps")})};
}

// x / sqrt(mean(x^2) + eps), in float32 for half types; eps None is the type's epsilon. The second
// result is the reciprocal root.
Values fused_rms_norm(Rewriter& r) {
  TensorExpr input = in(r, "input"), x = widened(input);
  std::vector<int64_t> dims;
  auto normalized = static_cast<int64_t>(syms_arg(r.node, "normalized_shape").size());
  for (int64_t d = input.rank() - normalized; d < input.rank(); ++d) dims.push_back(d);
  double epsilon = input.dtype() == DType::Float64 ? 0x1p-52 : 0x1p-23;
  double eps = arg_is_none(r.node, "eps") ? epsilon : double_arg(r.node, "eps");
  TensorExpr rstd = rsqrt((x * x).mean(dims) + eps);
  return {affine(x * rstd, in(r, "weight"), {}).cast(input.dtype()), rstd};
}

// v * g / |v|, the norm over all dimensions but `dim`; with the norm as second result.
Values weight_norm(Rewriter& r) {
  TensorExpr v = in(r, "v"), g = in(r, "g"), x = widened(v);
  int64_t dim = wrap_dim(int_arg(r.node, "dim"), v.rank(), r.node);
  Index others;
  for (int64_t d = 0; d < v.rank(); ++d)
    if (d != dim) others.push_back(Sym(d));
  TensorExpr norm = x.apply("aten.linalg_vector_norm.default", {Sym(2), others, true});
  return {(x * (widened(g) / norm)).cast(v.dtype()), norm};
}

// Per-channel parameters as [1, C, 1, ...] for a tensor of this rank.
TensorExpr per_channel(TensorExpr v, int64_t rank) {
  if (v.v == nullptr) return v;
  Index sizes(static_cast<size_t>(rank), Sym(1));
  sizes[1] = v.size(0);
  return v.reshape(sizes);
}

// (out, mean, rstd) with statistics of shape [N, groups].
Values group_norm_of(Rewriter& r, TensorExpr input, const Sym& groups) {
  TensorExpr weight = in(r, "weight"), bias = in(r, "bias");
  Sym n = input.size(0), per_group = floordiv(product(input.sizes()), n * groups);
  if (is_empty(input)) per_group = 0;
  Moments m =
      moments(widened(input).reshape({n, groups, per_group}), {2}, double_arg(r.node, "eps"));
  TensorExpr out = (m.centered * m.rstd).reshape(input.sizes());
  out = affine(out, per_channel(weight, input.rank()), per_channel(bias, input.rank()));
  DType statistics = statistics_type(input, weight, bias);
  return {out.cast(input.dtype()), m.mean.reshape({n, groups}).cast(statistics),
          m.rstd.reshape({n, groups}).cast(statistics)};
}

Values native_group_norm(Rewriter& r) {
  return group_norm_of(r, in(r, "input"), sym_arg(r.node, "group"));
}
Values group_norm(Rewriter& r) {
  return {group_norm_of(r, in(r, "input"), sym_arg(r.node, "num_groups"))[0]};
}

}  // namespace

Rows composite_ops() {
  Rows rows = {
      core_softmax("aten._softmax.default(Tensor self, int dim, bool half_to_float) -> Tensor",
                   softmax),
      core_softmax("aten._log_softmax.default(Tensor self, int dim, bool half_to_float) -> Tensor",
                   log_softmax),
      converting_softmax("aten.softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
                         softmax),
      converting_softmax(
          "aten.special_softmax.default(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
          softmax),
      converting_softmax(
          "aten.log_softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
          log_softmax),
      converting_softmax("aten.special_log_softmax.default(Tensor self, int dim, *, ScalarType? "
                         "dtype=None) -> Tensor",
                         log_softmax),
      converting_softmax(
          "aten._safe_softmax.default(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
          safe_softmax),
      rewrite_op("aten.native_layer_norm.default(Tensor input, SymInt[] normalized_shape, Tensor? "
                 "weight, Tensor? bias, float eps) -> (Tensor, Tensor, Tensor)",
                 native_layer_norm),
      rewrite_op(
          "aten.layer_norm.default(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, "
          "Tensor? bias=None, float eps=1.0000000000000001e-05, bool cudnn_enable=True) -> Tensor",
          layer_norm),
      rewrite_op("aten._fused_rms_norm.default(Tensor input, int[] normalized_shape, Tensor? "
                 "weight, float? eps) -> (Tensor, Tensor)",
                 fused_rms_norm),
      rewrite_op(
          "aten._weight_norm_interface.default(Tensor v, Tensor g, int dim=0) -> (Tensor, Tensor)",
          weight_norm),
      rewrite_op("aten._weight_norm.default(Tensor v, Tensor g, int dim=0) -> Tensor",
                 [](Rewriter& r) { return Values{weight_norm(r)[0]}; }),
      rewrite_op("aten.rms_norm.default(Tensor input, SymInt[] normalized_shape, Tensor? "
                 "weight=None, float? eps=None) -> Tensor",
                 [](Rewriter& r) { return Values{fused_rms_norm(r)[0]}; }),
      rewrite_op(
          "aten.native_group_norm.default(Tensor input, Tensor? weight, Tensor? bias, SymInt N, "
          "SymInt C, SymInt HxW, int group, float eps) -> (Tensor, Tensor, Tensor)",
          native_group_norm),
      rewrite_op(
          "aten.group_norm.default(Tensor input, int num_groups, Tensor? weight=None, Tensor? "
          "bias=None, float eps=1.0000000000000001e-05, bool cudnn_enabled=True) -> Tensor",
          group_norm),
  };
  for (Rows (*part)() :
       {batch_norm_ops, attention_ops, recurrent_ops, pool_ops, complex_ops, fourier_ops, solve_ops,
        antialias_ops, gamma_ops, segment_ops, histogram_ops, fractional_pool_ops, softmax_part_ops,
        pool_backward_ops, norm_backward_ops, resample_ops, loss_ops, distance_ops})
    append(rows, part());
  return rows;
}

}  // namespace aotc
