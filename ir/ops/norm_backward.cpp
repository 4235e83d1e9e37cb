// Gradients of layer and group normalisation, and of embeddings. Half types are computed in
// float32.
#include "ir/ops/tensor_expr.h"

namespace aotc {
namespace {

std::vector<int64_t> dims_between(int64_t begin, int64_t end) {
  std::vector<int64_t> dims;
  for (int64_t d = begin; d < end; ++d) dims.push_back(d);
  return dims;
}

// From dx^ = gradient * weight: rstd (dx^ - mean(dx^) - x^ mean(dx^ x^)), means over `dims`.
TensorExpr normalized_gradient(TensorExpr g, TensorExpr x_hat, TensorExpr rstd,
                               const std::vector<int64_t>& dims) {
  if (dims.empty()) return (g - g) * rstd;
  return (g - g.mean(dims) - x_hat * (g * x_hat).mean(dims)) * rstd;
}

// A sum over leading dimensions; of none, the value itself.
TensorExpr summed(TensorExpr v, const std::vector<int64_t>& dims) {
  return dims.empty() ? v : v.sum(dims, false);
}

const std::vector<bool>& wanted_outputs(const Rewriter& r) {
  return std::get<std::vector<bool>>(arg(r.node, "output_mask"));
}

// The type of the gradient of a parameter that may be absent.
DType parameter_type(TensorExpr parameter, TensorExpr input) {
  return parameter ? parameter.dtype() : input.dtype();
}

Values layer_norm_backward(Rewriter& r) {
  TensorExpr gradient = in(r, "grad_out"), input = in(r, "input"), weight = in(r, "weight");
  auto normalized = static_cast<int64_t>(syms_arg(r.node, "normalized_shape").size());
  auto inner = dims_between(input.rank() - normalized, input.rank()),
       outer = dims_between(0, input.rank() - normalized);
  TensorExpr g = widened(gradient), rstd = widened(in(r, "rstd"));
  TensorExpr x_hat = (widened(input) - widened(in(r, "mean"))) * rstd;
  Values results(3, nullptr);
  const auto& wanted = wanted_outputs(r);
  TensorExpr scaled = weight ? g * widened(weight) : g;
  if (wanted[0]) results[0] = normalized_gradient(scaled, x_hat, rstd, inner).cast(input.dtype());
  if (wanted[1] && weight)
    results[1] = summed(g * x_hat, outer).cast(parameter_type(weight, input));
  if (wanted[2] && !arg_is_none(r.node, "bias"))
    results[2] = summed(g, outer).cast(parameter_type(in(r, "bias"), input));
  return results;
}

// Groups of channels as rows: [N, groups, channels of a group, positions].
Values group_norm_backward(Rewriter& r) {
  TensorExpr gradient = in(r, "grad_out"), input = in(r, "input"), weight = in(r, "weight");
  Sym n = sym_arg(r.node, "N"), channels = sym_arg(r.node, "C"), places = sym_arg(r.node, "HxW"),
      groups = sym_arg(r.node, "group");
  Index rows{n, groups, floordiv(channels, groups), places}, statistics{n, groups, Sym(1), Sym(1)};
  TensorExpr g = widened(gradient).reshape(rows);
  TensorExpr rstd = widened(in(r, "rstd")).reshape(statistics),
             mean = widened(in(r, "mean")).reshape(statistics);
  TensorExpr x_hat = (widened(input).reshape(rows) - mean) * rstd, scaled = g;
  if (weight) scaled = g * widened(weight).reshape({Sym(1), groups, rows[2], Sym(1)});
  Values results(3, nullptr);
  const auto& wanted = wanted_outputs(r);
  if (wanted[0]) {
    TensorExpr x = normalized_gradient(scaled, x_hat, rstd, {2, 3});
    results[0] = x.reshape(input.sizes()).cast(input.dtype());
  }
  DType parameters = parameter_type(weight, input);
  if (wanted[1]) results[1] = (g * x_hat).sum({0, 3}, false).reshape({channels}).cast(parameters);
  if (wanted[2]) results[2] = g.sum({0, 3}, false).reshape({channels}).cast(parameters);
  return results;
}

// Every row of the weight gets the sum of the gradients of its uses; indices outside of it, and
// the padding index, get none. With scale_grad_by_freq a row's sum is divided by its uses.
Values embedding_backward(Rewriter& r) {
  TensorExpr gradient = in(r, "grad_output"), indices = in(r, "indices");
  Sym rows = sym_arg(r.node, "num_weights"), uses = product(indices.sizes());
  Sym width = gradient.sizes().back();
  TensorExpr zeros{&r, r.full({rows, width}, 0, gradient.dtype())};
  if (rows.is(0) || uses.is(0)) return {zeros};
  TensorExpr at = indices.reshape({uses}), g = gradient.reshape({uses, width});
  TensorExpr valid = (at >= Sym(0)).apply("aten.logical_and.default", {(at < rows).v});
  valid = valid.apply("aten.logical_and.default", {(at != sym_arg(r.node, "padding_idx")).v});
  at = at.apply("aten.clamp.default", {Sym(0), rows - 1});
  g = where(valid.unsqueeze(1), g.v, 0.0);
  if (bool_arg(r.node, "scale_grad_by_freq")) {
    TensorExpr none{&r, r.full({rows}, 0, DType::Int64)};
    TensorExpr counts =
        none.apply("aten.index_add.default", {Sym(0), at.v, valid.cast(DType::Int64).v});
    TensorExpr mine = counts.apply("aten.index_select.default", {Sym(0), at.v});
    mine = mine.apply("aten.clamp.default", {Sym(1)}).cast(compute_type(g.dtype())).unsqueeze(1);
    g = (widened(g) / mine).cast(g.dtype());
  }
  return {zeros.apply("aten.index_add.default", {Sym(0), at.v, g.v})};
}

}  // namespace

Rows norm_backward_ops() {
  return {
      rewrite_op("aten.native_layer_norm_backward.default(Tensor grad_out, Tensor input, SymInt[] "
                 "normalized_shape, Tensor mean, Tensor rstd, Tensor? weight, Tensor? bias, "
                 "bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
                 layer_norm_backward),
      rewrite_op("aten.native_group_norm_backward.default(Tensor grad_out, Tensor input, Tensor "
                 "mean, Tensor rstd, Tensor? weight, SymInt N, SymInt C, SymInt HxW, int group, "
                 "bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
                 group_norm_backward),
      rewrite_op("aten.embedding_dense_backward.default(Tensor grad_output, Tensor indices, SymInt "
                 "num_weights, SymInt padding_idx, bool scale_grad_by_freq) -> Tensor",
                 embedding_backward),
  };
}

}  // namespace aotc
