// Losses: a value per element, then none, the mean, or the sum of them.
#include <cmath>

#include "ir/ops/tensor_expr.h"

namespace aotc {
namespace {

enum Reduction : int64_t { kNone = 0, kMean = 1, kSum = 2 };

Values reduced(Rewriter& r, TensorExpr losses) {
  switch (int_arg(r.node, "reduction")) {
    case kNone:
      return {losses};
    case kMean:
      return {losses.apply("aten.mean.default")};
    default:
      return {losses.apply("aten.sum.default")};
  }
}

// ---- pointwise

Values mse(Rewriter& r) { return reduced(r, square(in(r, "self") - in(r, "target"))); }
Values l1(Rewriter& r) { return reduced(r, abs(in(r, "self") - in(r, "target"))); }

Values smooth_l1(Rewriter& r) {
  double beta = double_arg(r.node, "beta");
  TensorExpr d = abs(in(r, "self") - in(r, "target"));
  if (beta == 0) return reduced(r, d);
  return reduced(r, where(d < beta, (d * d * 0.5 / beta).v, (d - 0.5 * beta).v));
}

Values huber(Rewriter& r) {
  double delta = double_arg(r.node, "delta");
  TensorExpr d = abs(in(r, "self") - in(r, "target"));
  return reduced(r, where(d <= delta, (d * d * 0.5).v, ((d - 0.5 * delta) * delta).v));
}

Values soft_margin(Rewriter& r) { return reduced(r, log1p(exp(-in(r, "target") * in(r, "self")))); }

Values poisson_nll(Rewriter& r) {
  TensorExpr input = in(r, "input"), target = in(r, "target");
  bool log_input = bool_arg(r.node, "log_input");
  TensorExpr loss = log_input ? exp(input) - target * input
                              : input - target * log(input + double_arg(r.node, "eps"));
  if (bool_arg(r.node, "full")) {
    TensorExpr stirling = target * log(target) - target + log(target * (2 * M_PI)) * 0.5;
    loss = loss + where(target <= 1.0, 0.0, stirling.v);
  }
  return reduced(r, loss);
}

// Terms at target 0 vanish.
Values kl_div(Rewriter& r) {
  TensorExpr self = in(r, "self"), target = in(r, "target");
  if (bool_arg(r.node, "log_target")) return reduced(r, exp(target) * (target - self));
  return reduced(r, target.apply("aten.xlogy.Tensor", {target.v}) - target * self);
}

// Logarithms are bounded below by -100.
Values binary_cross_entropy(Rewriter& r) {
  TensorExpr self = widened(in(r, "self")), target = widened(in(r, "target")),
             weight = in(r, "weight");
  auto bounded_log = [](TensorExpr x) { return x.apply("aten.clamp.default", {-100.0}); };
  TensorExpr loss = (target - 1.0) * bounded_log(log1p(-self)) - target * bounded_log(log(self));
  if (weight) loss = loss * widened(weight);
  return reduced(r, loss.cast(in(r, "self").dtype()));
}

Values binary_cross_entropy_with_logits(Rewriter& r) {
  TensorExpr x = in(r, "self"), target = in(r, "target"), weight = in(r, "weight"),
             positive = in(r, "pos_weight");
  TensorExpr log_sigmoid = x.apply("aten.log_sigmoid.default");
  if (positive) log_sigmoid = ((positive - 1.0) * target + 1.0) * log_sigmoid;
  TensorExpr loss = (1.0 - target) * x - log_sigmoid;
  if (weight) loss = loss * weight;
  return reduced(r, loss);
}

TensorExpr at_least_zero(TensorExpr x) { return x.apply("aten.clamp_min.default", {Sym(0)}); }

Values margin_ranking(Rewriter& r) {
  TensorExpr difference = in(r, "input1") - in(r, "input2");
  return reduced(r, at_least_zero(-in(r, "target") * difference + double_arg(r.node, "margin")));
}

Values hinge_embedding(Rewriter& r) {
  TensorExpr self = in(r, "self"), target = in(r, "target");
  TensorExpr margin = at_least_zero(double_arg(r.node, "margin") - self);
  TensorExpr negatives = where(target != 1.0, margin.v, 0.0),
             positives = where(target != -1.0, self.v, 0.0);
  return reduced(r, negatives + positives);
}

Values cosine_embedding(Rewriter& r) {
  TensorExpr a = in(r, "input1"), b = in(r, "input2"), target = in(r, "target");
  constexpr double kEpsilon = 1e-12;
  int64_t dim = a.rank() - 1;
  TensorExpr dots = (a * b).sum({dim}, false);
  TensorExpr norms =
      sqrt(((a * a).sum({dim}, false) + kEpsilon) * ((b * b).sum({dim}, false) + kEpsilon));
  TensorExpr cosine = dots / norms;
  TensorExpr apart = at_least_zero(cosine - double_arg(r.node, "margin"));
  TensorExpr loss =
      where(target == 1.0, (1.0 - cosine).v, 0.0) + where(target == -1.0, apart.v, 0.0);
  return reduced(r, loss);
}

TensorExpr distance(Rewriter& r, TensorExpr a, TensorExpr b) {
  Arg p = arg(r.node, "p"), eps = arg(r.node, "eps");
  return a.apply("aten.pairwise_distance.default", {b.v, p, eps, false});
}

Values triplet_margin(Rewriter& r) {
  TensorExpr anchor = in(r, "anchor"), positive = in(r, "positive"), negative = in(r, "negative");
  TensorExpr near = distance(r, anchor, positive), far = distance(r, anchor, negative);
  if (bool_arg(r.node, "swap"))
    far = far.apply("aten.minimum.default", {distance(r, positive, negative).v});
  return reduced(r, at_least_zero((near + double_arg(r.node, "margin")) - far));
}

// ---- classification: the class is dimension 1 (0 for a single sample)

int64_t class_dim(TensorExpr x) { return x.rank() == 1 ? 0 : 1; }

struct Picked {
  TensorExpr losses;   // -weight * log probability; 0 where ignored
  TensorExpr weights;  // of each target, 0 where ignored
};

Picked pick_classes(Rewriter& r, TensorExpr log_probabilities, TensorExpr target) {
  int64_t dim = class_dim(log_probabilities);
  TensorExpr weight = in(r, "weight");
  Sym ignore = sym_arg(r.node, "ignore_index");
  TensorExpr counts = target.apply("aten.ne.Scalar", {ignore});
  TensorExpr classes = where(counts, target.v, Sym(0)).unsqueeze(dim);
  TensorExpr picked =
      -log_probabilities.apply("aten.gather.default", {Sym(dim), classes.v}).squeeze(dim);
  TensorExpr weights{&r, r.full({}, 1, log_probabilities.dtype())};
  if (weight) weights = weight.apply("aten.take.default", {classes.squeeze(dim).v});
  weights = where(counts, weights.v, 0.0).cast(log_probabilities.dtype());
  return {where(counts, (weight ? picked * weights : picked).v, 0.0), weights};
}

TensorExpr total(TensorExpr x) { return x.apply("aten.sum.default"); }

// (loss, total weight); the mean is weighted.
Values nll(Rewriter& r, TensorExpr log_probabilities) {
  Picked p = pick_classes(r, widened(log_probabilities), in(r, "target"));
  DType t = log_probabilities.dtype();
  TensorExpr weight = total(p.weights).cast(t);
  switch (int_arg(r.node, "reduction")) {
    case kNone: {
      TensorExpr none{&r, r.full({}, 0, t)};
      return {p.losses.cast(t), none};
    }
    case kMean:
      return {(total(p.losses) / total(p.weights)).cast(t), weight};
    default:
      return {total(p.losses).cast(t), weight};
  }
}

// The targets are checked even where only the total weight is used.
Values nll_forward(Rewriter& r) {
  TensorExpr self = in(r, "self"), target = in(r, "target");
  TensorExpr counts = target.apply("aten.ne.Scalar", {sym_arg(r.node, "ignore_index")});
  TensorExpr classes = where(counts, target.v, Sym(0));
  r.emit("aotc.check_below", {classes.v, self.size(class_dim(self))});
  return nll(r, self);
}
Values nll_loss(Rewriter& r) { return {nll(r, in(r, "self"))[0]}; }

// Targets that are probabilities.
TensorExpr soft_target_loss(Rewriter& r, TensorExpr log_p, TensorExpr target, double smoothing) {
  int64_t dim = class_dim(log_p);
  TensorExpr weight = in(r, "weight");
  if (smoothing > 0) {
    auto classes = log_p.size(dim).constant();
    if (!classes)
      unsupported(r.node, "label smoothing over a dynamic number of classes", "make it static");
    target = target * (1 - smoothing) + smoothing / static_cast<double>(*classes);
  }
  TensorExpr products = log_p * target;
  if (weight) {
    Index sizes(static_cast<size_t>(log_p.rank()), Sym(1));
    sizes[static_cast<size_t>(dim)] = weight.size(0);
    products = products * weight.reshape(sizes);
  }
  return -products.sum({dim}, false);
}

Values cross_entropy_with_probabilities(Rewriter& r, TensorExpr log_p, double smoothing) {
  TensorExpr losses = soft_target_loss(r, log_p, in(r, "target"), smoothing);
  int64_t mode = int_arg(r.node, "reduction");
  if (mode == kNone) return {losses};
  if (mode == kSum) return {total(losses)};
  Sym samples = floordiv(product(log_p.sizes()), log_p.size(class_dim(log_p)));
  return {total(losses).apply("aten.div.Tensor", {samples})};
}

// (1 - s) nll + s / C times the sum of all classes' negative log probabilities.
Values smoothed_cross_entropy(Rewriter& r, TensorExpr log_p, double smoothing) {
  int64_t dim = class_dim(log_p);
  TensorExpr weight = in(r, "weight"), target = in(r, "target");
  TensorExpr negative = -log_p;
  if (weight) {
    Index sizes(static_cast<size_t>(log_p.rank()), Sym(1));
    sizes[static_cast<size_t>(dim)] = weight.size(0);
    negative = negative * weight.reshape(sizes);
  }
  TensorExpr counts = target.apply("aten.ne.Scalar", {sym_arg(r.node, "ignore_index")});
  TensorExpr smooth = where(counts, negative.sum({dim}, false).v, 0.0);
  Picked p = pick_classes(r, log_p, target);
  Values main = nll(r, log_p);
  TensorExpr nll_part{&r, main[0]}, smooth_part = smooth;
  int64_t mode = int_arg(r.node, "reduction");
  if (mode == kSum) smooth_part = total(smooth);
  if (mode == kMean)
    smooth_part = total(smooth) / (weight ? total(p.weights) : total(counts.cast(log_p.dtype())));
  auto classes = log_p.size(dim).constant();
  if (!classes)
    unsupported(r.node, "label smoothing over a dynamic number of classes", "make it static");
  return {nll_part * (1 - smoothing) + smooth_part * (smoothing / static_cast<double>(*classes))};
}

Values cross_entropy(Rewriter& r) {
  TensorExpr self = in(r, "self");
  double smoothing = double_arg(r.node, "label_smoothing");
  TensorExpr log_p = self.apply("aten._log_softmax.default", {Sym(class_dim(self)), false});
  if (is_floating(in(r, "target").dtype()))
    return cross_entropy_with_probabilities(r, log_p, smoothing);
  if (smoothing > 0) return smoothed_cross_entropy(r, log_p, smoothing);
  return {nll(r, log_p)[0]};
}

// Per sample: the mean over the other classes of max(0, margin - x[target] + x[class])^p.
Values multi_margin(Rewriter& r) {
  TensorExpr self = in(r, "self"), target = in(r, "target"), weight = in(r, "weight");
  bool single = self.rank() <= 1;
  if (single) {
    self = self.reshape({Sym(1), product(self.sizes())});
    target = target.reshape({Sym(1)});
  }
  TensorExpr classes = target.unsqueeze(1);
  TensorExpr right = self.apply("aten.gather.default", {Sym(1), classes.v});
  TensorExpr z = at_least_zero(self - right + double_arg(r.node, "margin"));
  if (int_arg(r.node, "p") == 2) z = z * z;
  if (weight) z = z * weight.apply("aten.take.default", {classes.v});
  TensorExpr number{&r, r("aten.arange.default", {self.size(1)})};
  TensorExpr others = where(number != classes, z.v, 0.0);
  TensorExpr losses = others.sum({1}, false).apply("aten.div.Tensor", {self.size(1)});
  if (single && int_arg(r.node, "reduction") == kNone) losses = losses.reshape({});
  return reduced(r, losses);
}

}  // namespace

Rows loss_ops() {
  return {
      rewrite_op("aten.mse_loss.default(Tensor self, Tensor target, int reduction=1) -> Tensor",
                 mse),
      rewrite_op("aten.l1_loss.default(Tensor self, Tensor target, int reduction=1) -> Tensor", l1),
      rewrite_op("aten.smooth_l1_loss.default(Tensor self, Tensor target, int reduction=1, float "
                 "beta=1.) -> Tensor",
                 smooth_l1),
      rewrite_op("aten.huber_loss.default(Tensor self, Tensor target, int reduction=1, float "
                 "delta=1.) -> Tensor",
                 huber),
      rewrite_op(
          "aten.soft_margin_loss.default(Tensor self, Tensor target, int reduction=1) -> Tensor",
          soft_margin),
      rewrite_op("aten.poisson_nll_loss.default(Tensor input, Tensor target, bool log_input, bool "
                 "full, float eps, int reduction) -> Tensor",
                 poisson_nll),
      rewrite_op("aten.kl_div.default(Tensor self, Tensor target, int reduction=1, *, bool "
                 "log_target=False) -> Tensor",
                 kl_div),
      rewrite_op("aten.binary_cross_entropy.default(Tensor self, Tensor target, Tensor? "
                 "weight=None, int reduction=1) -> Tensor",
                 binary_cross_entropy),
      rewrite_op("aten.binary_cross_entropy_with_logits.default(Tensor self, Tensor target, "
                 "Tensor? weight=None, Tensor? pos_weight=None, int reduction=1) -> Tensor",
                 binary_cross_entropy_with_logits),
      rewrite_op("aten.margin_ranking_loss.default(Tensor input1, Tensor input2, Tensor target, "
                 "float margin=0., int reduction=1) -> Tensor",
                 margin_ranking),
      rewrite_op("aten.hinge_embedding_loss.default(Tensor self, Tensor target, float margin=1., "
                 "int reduction=1) -> Tensor",
                 hinge_embedding),
      rewrite_op("aten.cosine_embedding_loss.default(Tensor input1, Tensor input2, Tensor target, "
                 "float margin=0., int reduction=1) -> Tensor",
                 cosine_embedding),
      rewrite_op("aten.triplet_margin_loss.default(Tensor anchor, Tensor positive, Tensor "
                 "negative, float margin=1., float p=2., float eps=9.9999999999999995e-07, bool "
                 "swap=False, int reduction=1) -> Tensor",
                 triplet_margin),
      rewrite_op("aten.nll_loss.default(Tensor self, Tensor target, Tensor? weight=None, int "
                 "reduction=1, SymInt ignore_index=-100) -> Tensor",
                 nll_loss),
      rewrite_op("aten.nll_loss2d.default(Tensor self, Tensor target, Tensor? weight=None, int "
                 "reduction=1, SymInt ignore_index=-100) -> Tensor",
                 nll_loss),
      rewrite_op("aten.nll_loss_nd.default(Tensor self, Tensor target, Tensor? weight=None, int "
                 "reduction=1, SymInt ignore_index=-100) -> Tensor",
                 nll_loss),
      rewrite_op("aten.nll_loss_forward.default(Tensor self, Tensor target, Tensor? weight, int "
                 "reduction, SymInt ignore_index) -> (Tensor output, Tensor total_weight)",
                 nll_forward),
      rewrite_op("aten.nll_loss2d_forward.default(Tensor self, Tensor target, Tensor? weight, int "
                 "reduction, SymInt ignore_index) -> (Tensor output, Tensor total_weight)",
                 nll_forward),
      rewrite_op("aten.cross_entropy_loss.default(Tensor self, Tensor target, Tensor? weight=None, "
                 "int reduction=1, SymInt ignore_index=-100, float label_smoothing=0.) -> Tensor",
                 cross_entropy),
      rewrite_op("aten.multi_margin_loss.default(Tensor self, Tensor target, Scalar p=1, Scalar "
                 "margin=1, Tensor? weight=None, int reduction=1) -> Tensor",
                 multi_margin),
  };
}

}  // namespace aotc
