// Gradients of softmax, softmax under a mask, directional derivatives of gated units.
#include <cmath>

#include "ir/ops/require.h"
#include "ir/ops/tensor_expr.h"

namespace aotc {
Rows softmax_part_ops();
namespace {

// Computed in float32 for half types; the result has the type of softmax's input.
Values softmax_backward(Rewriter& r, bool of_log) {
  TensorExpr g = widened(in(r, "grad_output")), y = widened(in(r, "output"));
  int64_t dim = wrap_dim(int_arg(r.node, "dim"), g.rank(), r.node);
  DType result = std::get<DType>(arg(r.node, "input_dtype"));
  if (g.rank() == 0) return {(of_log ? g - exp(y) * g : y * g - y * (g * y)).cast(result)};
  if (of_log) return {(g - exp(y) * g.sum({dim})).cast(result)};
  TensorExpr product_of = g * y;
  return {(product_of - y * product_of.sum({dim})).cast(result)};
}

// Masked elements count as -infinity. Kinds of masks: 0 [L, L] for all matrices, 1 [B, L] for all
// rows of a sample, 2 one for each element.
Values masked_softmax(Rewriter& r) {
  TensorExpr x = in(r, "self"), mask = in(r, "mask");
  require_bool(r.node, "mask");
  int64_t kind = arg_is_none(r.node, "mask_type") ? 2 : int_arg(r.node, "mask_type");
  require(r.node, kind >= 0 && kind <= 2, "'mask_type' is {}, expected 0, 1 or 2", kind);
  if (kind == 1) mask = mask.unsqueeze(1).unsqueeze(1);
  if (kind == 2) require_same_sizes(r.node, "mask", "self");
  int64_t dim = arg_is_none(r.node, "dim") ? x.rank() - 1 : int_arg(r.node, "dim");
  TensorExpr masked = x.apply("aten.masked_fill.Scalar", {mask.v, -INFINITY});
  return {masked.apply("aten._softmax.default", {Sym(dim), false})};
}

// The derivative of glu at x along dx, given its value.
Values glu_jvp(Rewriter& r) {
  TensorExpr value = widened(in(r, "glu")), x = widened(in(r, "x")), dx = widened(in(r, "dx"));
  require_rank(r.node, "x", 1);
  const auto dim = static_cast<int64_t>(require_dim(r.node, "dim", x.rank()));
  require_same_sizes(r.node, "dx", "x");
  require(r.node, can_be_equal(mod(x.size(dim), 2), 0),
          "dimension {} of 'x' has {} elements, expected an even number", dim, x.size(dim).str());
  Sym half = floordiv(x.size(dim), 2);
  Index halved = x.sizes();
  halved[static_cast<size_t>(dim)] = half;
  require_sizes(r.node, "glu", halved);
  TensorExpr gate = sigmoid(x.slice(dim, half, half * 2));
  TensorExpr first = dx.slice(dim, 0, half), second = dx.slice(dim, half, half * 2);
  TensorExpr result = first * gate + value * (second - gate * second);
  return {result.cast(in(r, "glu").dtype())};
}

// For each target of a sample (up to the first negative one), the hinge losses of all classes that
// are no targets. Yields them and which classes are targets.
Values multilabel_margin(Rewriter& r, bool with_targets) {
  TensorExpr self = in(r, "self"), target = in(r, "target"), x = widened(self);
  require_rank(r.node, "self", 0, 2);
  require_same_sizes(r.node, "target", "self");
  require_int64(r.node, "target");
  bool batched = self.rank() == 2;
  Sym classes = self.rank() == 0 ? Sym(1) : self.size(-1);
  Index rows{batched ? self.size(0) : Sym(1), classes};
  x = x.reshape(rows);
  TensorExpr t = target.reshape(rows);
  TensorExpr open = (t < Sym(0)).apply("aten.cumsum.default", {Sym(1)}) == Sym(0);
  TensorExpr at = where(open, t.v, Sym(0)), none{&r, r.full(rows, 0, DType::Int64)};
  TensorExpr named =
      none.apply("aten.scatter_add.default", {Sym(1), at.v, open.cast(DType::Int64).v}) > Sym(0);
  TensorExpr margin = 1.0 - x.apply("aten.gather.default", {Sym(1), at.v}).unsqueeze(2);
  TensorExpr counts =
      open.unsqueeze(2).apply("aten.logical_and.default", {logical_not(named).unsqueeze(1).v});
  TensorExpr losses = where(counts, relu(margin + x.unsqueeze(1)).v, 0.0);
  TensorExpr count{&r, r("aten.scalar_tensor.default", {classes, x.dtype()})};
  TensorExpr result = losses.sum({1, 2}, false) / count;
  int64_t reduction = int_arg(r.node, "reduction");
  if (reduction == 1) result = result.apply("aten.mean.default");
  if (reduction == 2) result = result.apply("aten.sum.default");
  if (reduction == 0 && !batched) result = result.reshape({});
  Values all{result.cast(self.dtype())};
  if (with_targets) all.push_back(named.cast(self.dtype()).reshape(target.sizes()));
  return all;
}

}  // namespace

Rows softmax_part_ops() {
  return {
      rewrite_op("aten._softmax_backward_data.default(Tensor grad_output, Tensor output, int dim, "
                 "ScalarType input_dtype) -> Tensor",
                 [](Rewriter& r) { return softmax_backward(r, false); }),
      rewrite_op("aten._log_softmax_backward_data.default(Tensor grad_output, Tensor output, int "
                 "dim, ScalarType input_dtype) -> Tensor",
                 [](Rewriter& r) { return softmax_backward(r, true); }),
      rewrite_op("aten._masked_softmax.default(Tensor self, Tensor mask, int? dim=None, int? "
                 "mask_type=None) -> Tensor",
                 masked_softmax),
      rewrite_op("aten.glu_jvp.default(Tensor glu, Tensor x, Tensor dx, int dim) -> Tensor",
                 glu_jvp),
      rewrite_op("aten.multilabel_margin_loss.default(Tensor self, Tensor target, int reduction=1) "
                 "-> Tensor",
                 [](Rewriter& r) { return multilabel_margin(r, false); }),
      rewrite_op("aten.multilabel_margin_loss_forward.default(Tensor self, Tensor target, int "
                 "reduction) -> (Tensor output, Tensor is_target)",
                 [](Rewriter& r) { return multilabel_margin(r, true); }),
  };
}

}  // namespace aotc
