// Pointwise activations. Half types arrive as float32 and round once, at the end, as eager's
// kernels do.
#include <cmath>

#include "ir/ops/number_fit.h"
#include "ir/ops/row_helpers.h"
#include "ir/ops/scalar_math.h"

namespace aotc {
namespace {

using enum TypeRule;

E relu(Elements& x) { return maximum(x[0], x.number(0)); }

// Between 0 and 1, linear from -3 to 3.
E hard_sigmoid(Elements& x) { return minimum(maximum(x[0] + 3.0, x.number(0)), x.number(6)) / 6.0; }

E gelu(Elements& x) {
  E v = x[0];
  if (std::get<std::string>(arg(x.node, "approximate")) == "none")
    return v * 0.5 * (1.0 + erf(v * M_SQRT1_2));
  E inner = (v + v * v * v * 0.044715) * (M_SQRT2 * M_2_SQRTPI * 0.5);
  return v * 0.5 * (1.0 + tanh(inner));
}

E elu(Elements& x) {
  E v = x[0], alpha = x["alpha"], scale = x["scale"];
  return where(v < 0.0, expm1(v * x["input_scale"]) * (alpha * scale), v * scale);
}

E softplus(E v) { return log1p(exp(v)); }

E scaled_softplus(Elements& x) {
  E scaled = x[0] * x["beta"];
  return where(scaled > x["threshold"], x[0], softplus(scaled) / x["beta"]);
}

// -log(1 + exp(-v)) without overflow.
E log_sigmoid(Elements& x) { return minimum(x[0], x.number(0)) - log1p(exp(-abs(x[0]))); }

E logit(Elements& x) {
  E v = x[0];
  if (!x.is_none("eps")) {
    E low = rounded(x["eps"], x.common).e, high = rounded(1.0 - x["eps"], x.common).e;
    v = where(v < low, low, where(v > high, high, v));
  }
  Rounded p{v, x.common};
  return log((p / (1.0 - p)).e);
}

constexpr double kSeluAlpha = 1.6732632423543772848170429916717;
constexpr double kSeluScale = 1.0507009873554804934193349852946;

E selu(Elements& x) {
  return where(x[0] < 0.0, expm1(x[0]) * (kSeluAlpha * kSeluScale), x[0] * kSeluScale);
}

E leaky(Elements& x) { return where(x[0] > 0.0, x[0], x[0] * x[1]); }

Rows smooth() {
  return {
      scalar_op("aten.gelu.default(Tensor self, *, str approximate=\"none\") -> Tensor", Promote,
                gelu),
      scalar_op("aten.silu.default(Tensor self) -> Tensor", Float,
                [](Elements& x) { return x[0] / (1.0 + exp(-x[0])); }),
      scalar_op("aten.mish.default(Tensor self) -> Tensor", Promote,
                [](Elements& x) { return x[0] * tanh(softplus(x[0])); }),
      scalar_op("aten.elu.default(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar "
                "input_scale=1) -> Tensor",
                Promote, elu, {"self"}),
      scalar_op("aten.selu.default(Tensor self) -> Tensor", Promote, selu),
      scalar_op("aten.celu.default(Tensor self, Scalar alpha=1.) -> Tensor", Promote,
                [](Elements& x) { return where(x[0] < 0.0, expm1(x[0] / x[1]) * x[1], x[0]); }),
      scalar_op("aten.softplus.default(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor",
                Promote, scaled_softplus, {"self"}),
      scalar_op("aten.log_sigmoid.default(Tensor self) -> Tensor", Promote, log_sigmoid),
      scalar_op("aten.logit.default(Tensor self, float? eps=None) -> Tensor", Float, logit,
                {"self"}),
      scalar_op("aten.special_logit.default(Tensor self, float? eps=None) -> Tensor", Float, logit,
                {"self"}),
  };
}

Rows piecewise() {
  return {
      scalar_op("aten.relu.default(Tensor self) -> Tensor", Promote, relu),
      scalar_op("aten.relu6.default(Tensor self) -> Tensor", Promote,
                [](Elements& x) { return minimum(relu(x), x.number(6)); }),
      scalar_op("aten.leaky_relu.default(Tensor self, Scalar negative_slope=0.01) -> Tensor",
                Promote, leaky),
      scalar_op("aten._prelu_kernel.default(Tensor self, Tensor weight) -> Tensor", Promote, leaky),
      scalar_op("aten.hardtanh.default(Tensor self, Scalar min_val=-1, Scalar max_val=1) -> Tensor",
                SameAs0,
                [](Elements& x) {
                  E low = bound_element(x, "min_val"), high = bound_element(x, "max_val");
                  return minimum(maximum(x[0], low), high);
                }),
      scalar_op("aten.hardsigmoid.default(Tensor self) -> Tensor", Promote, hard_sigmoid),
      scalar_op("aten.hardswish.default(Tensor self) -> Tensor", Promote,
                [](Elements& x) {
                  return x[0] * minimum(maximum(x[0] + 3.0, x.number(0)), x.number(6)) / 6.0;
                }),
      scalar_op("aten.softshrink.default(Tensor self, Scalar lambd=0.5) -> Tensor", Promote,
                [](Elements& x) {
                  E inside = where(isnan(x[0]), x[0], x.number(0));
                  return where(x[0] > x[1], x[0] - x[1], where(x[0] < -x[1], x[0] + x[1], inside));
                }),
      scalar_op("aten.hardshrink.default(Tensor self, Scalar lambd=0.5) -> Tensor", Promote,
                [](Elements& x) { return where((x[0] >= -x[1]) && (x[0] <= x[1]), 0.0, x[0]); }),
      scalar_op("aten.threshold.default(Tensor self, Scalar threshold, Scalar value) -> Tensor",
                SameAs0, [](Elements& x) { return where(x[0] <= x[1], x[2], x[0]); }),
  };
}

// One weight, or one per channel (dimension 1).
std::vector<Value*> prelu(Rewriter& r) {
  Value* self = r.tensor("self");
  Value* weight = r.tensor("weight");
  if (r.rank(weight) == 1) {
    std::vector<Sym> sizes(static_cast<size_t>(std::max<int64_t>(r.rank(self), 1)), Sym(1));
    if (sizes.size() > 1)
      sizes[1] = r.size(weight, 0);
    else
      sizes[0] = r.size(weight, 0);
    weight = r.reshape(weight, sizes);
  }
  if (r.rank(self) == 0) weight = r.reshape(weight, {});
  return {r("aten._prelu_kernel.default", {self, weight})};
}

// The first half of `dim` times the sigmoid of the second.
std::vector<Value*> glu(Rewriter& r) {
  Value* self = r.tensor("self");
  int64_t dim = wrap_dim(int_arg(r.node, "dim"), r.rank(self), r.node);
  Sym half = floordiv(r.size(self, dim), 2);
  Value* gate = r("aten.sigmoid.default", {r.slice(self, dim, half, half * 2)});
  return {r.mul(r.slice(self, dim, 0, half), gate)};
}

// In inference rrelu is a leaky relu whose slope is the middle of its range.
std::vector<Value*> rrelu(Rewriter& r) {
  if (bool_arg(r.node, "training"))
    unsupported(r.node, "training=True", "export the model in eval mode");
  double slope = (double_arg(r.node, "lower") + double_arg(r.node, "upper")) / 2;
  return {r("aten.leaky_relu.default", {r.tensor("self"), slope})};
}

std::vector<Value*> log_sigmoid_forward(Rewriter& r) {
  Value* self = r.tensor("self");
  Value* buffer = r("aten.exp.default", {r("aten.neg.default", {r("aten.abs.default", {self})})});
  return {r("aten.log_sigmoid.default", {self}), buffer};
}

}  // namespace

Rows activation_ops() {
  Rows rows = smooth();
  append(rows, piecewise());
  append(rows,
         {
             rewrite_op("aten.prelu.default(Tensor self, Tensor weight) -> Tensor", prelu),
             rewrite_op("aten.glu.default(Tensor self, int dim=-1) -> Tensor", glu),
             rewrite_op("aten.rrelu.default(Tensor self, Scalar lower=0.125, Scalar "
                        "upper=0.33333333333333331, bool training=False, Generator? "
                        "generator=None) -> Tensor",
                        rrelu),
             rewrite_op(
                 "aten.log_sigmoid_forward.default(Tensor self) -> (Tensor output, Tensor buffer)",
                 log_sigmoid_forward),
         });
  return rows;
}

}  // namespace aotc
