// Batch and instance normalisation, in inference and in training, where the running statistics
// advance.
#include "ir/ops/tensor_expr.h"

namespace aotc {
namespace {

using Index = std::vector<Sym>;
using Values = std::vector<Value*>;

TensorExpr per_channel(TensorExpr v, int64_t rank) {
  Index sizes(static_cast<size_t>(rank), Sym(1));
  if (rank > 1)
    sizes[1] = v.size(0);
  else
    sizes[0] = v.size(0);
  return v.reshape(sizes);
}

// All dimensions but the channels (dimension 1).
std::vector<int64_t> statistics_dims(TensorExpr x) {
  std::vector<int64_t> dims;
  for (int64_t d = 0; d < x.rank(); ++d)
    if (d != 1) dims.push_back(d);
  return dims;
}

struct Normalized {
  TensorExpr out, mean, invstd;          // the result; what it was normalised by, per channel
  TensorExpr running_mean, running_var;  // advanced by this batch; empty in inference
};

// input * alpha + beta with alpha = invstd * weight, as eager's kernel.
TensorExpr scale_and_shift(TensorExpr x, TensorExpr mean, TensorExpr invstd, TensorExpr weight,
                           TensorExpr bias) {
  TensorExpr alpha = weight ? invstd * widened(weight) : invstd;
  TensorExpr beta = bias ? widened(bias) - mean * alpha : -(mean * alpha);
  return x * per_channel(alpha, x.rank()) + per_channel(beta, x.rank());
}

Normalized normalize(Rewriter& r, TensorExpr input, bool training, double momentum, double eps) {
  TensorExpr x = widened(input), weight = in(r, "weight"), bias = in(r, "bias"), mean, invstd;
  bool has_running = r.node.op->schema.index_of("running_mean") >= 0 && r.tensor("running_mean");
  TensorExpr running_mean, running_var;
  if (has_running) {
    running_mean = in(r, "running_mean");
    running_var = in(r, "running_var");
  }
  Normalized n;
  if (!training) {
    mean = widened(running_mean);
    invstd = rsqrt(widened(running_var) + eps);
  } else {
    std::vector<int64_t> dims = statistics_dims(x);
    Sym count = count_of(x, dims);
    TensorExpr kept = x.mean(dims), squares = square(x - kept).sum(dims, false);
    mean = kept.reshape({x.size(1)});
    TensorExpr variance = squares.apply("aten.div.Tensor", {count});
    invstd = rsqrt(variance + eps);
    if (has_running) {
      TensorExpr unbiased = squares.apply("aten.div.Tensor", {sym_max(count - 1, 0)});
      n.running_mean =
          (mean * momentum + widened(running_mean) * (1 - momentum)).cast(running_mean.dtype());
      n.running_var =
          (unbiased * momentum + widened(running_var) * (1 - momentum)).cast(running_var.dtype());
    }
  }
  n.out = scale_and_shift(x, mean, invstd, weight, bias).cast(input.dtype());
  n.mean = mean;
  n.invstd = invstd;
  return n;
}

double momentum_of(const Node& n) { return double_arg(n, "momentum"); }
double eps_of(const Node& n) { return double_arg(n, "eps"); }

// A statistic that inference does not save.
TensorExpr nothing(Rewriter& r, DType t) { return {&r, r.full({Sym(0)}, 0, t)}; }

// Half inputs beside float32 parameters have float32 statistics.
DType statistics_type(Rewriter& r) {
  DType input = in(r, "input").dtype();
  if (!is_half(input)) return input;
  for (const char* name : {"weight", "bias", "running_mean", "running_var"})
    if (r.node.op->schema.index_of(name) >= 0 && r.tensor(name) &&
        in(r, name).dtype() == DType::Float32)
      return DType::Float32;
  return input;
}

// (out, save_mean, save_invstd); in inference the saved ones are empty.
Values with_saved(Rewriter& r, bool training, const Normalized& n) {
  DType t = statistics_type(r);
  if (!training) return {n.out, nothing(r, t), nothing(r, t)};
  return {n.out, n.mean.cast(t), n.invstd.cast(t)};
}

Values batch_norm_no_training(Rewriter& r) {
  return with_saved(r, false, normalize(r, in(r, "input"), false, 0, eps_of(r.node)));
}

Values batch_norm_no_stats(Rewriter& r) {
  return with_saved(r, true,
                    normalize(r, in(r, "input"), true, momentum_of(r.node), eps_of(r.node)));
}

Values batch_norm_functional(Rewriter& r) {
  bool training = bool_arg(r.node, "training");
  Normalized n = normalize(r, in(r, "input"), training, momentum_of(r.node), eps_of(r.node));
  Values results = with_saved(r, training, n);
  results.push_back(training ? n.running_mean.v : r.tensor("running_mean"));
  results.push_back(training ? n.running_var.v : r.tensor("running_var"));
  return results;
}

Values batch_norm_with_update_functional(Rewriter& r) {
  Normalized n = normalize(r, in(r, "input"), true, momentum_of(r.node), eps_of(r.node));
  Values results = with_saved(r, true, n);
  TensorExpr reserve{&r, r.full({Sym(0)}, 0, DType::UInt8)};
  results.push_back(reserve);
  results.push_back(n.running_mean);
  results.push_back(n.running_var);
  return results;
}

// The running statistics are written in place, which later stages turn into values.
void advance(Rewriter& r, const Normalized& n) {
  if (n.running_mean.v == nullptr) return;
  r.emit("aten.copy_.default", {r.tensor("running_mean"), n.running_mean.v});
  r.emit("aten.copy_.default", {r.tensor("running_var"), n.running_var.v});
}

Values batch_norm_in_place(Rewriter& r, bool training) {
  Normalized n = normalize(r, in(r, "input"), training, momentum_of(r.node), eps_of(r.node));
  advance(r, n);
  return with_saved(r, training, n);
}

Values batch_norm(Rewriter& r) { return {batch_norm_in_place(r, bool_arg(r.node, "training"))[0]}; }
Values native_batch_norm(Rewriter& r) {
  return batch_norm_in_place(r, bool_arg(r.node, "training"));
}

Values batch_norm_with_update(Rewriter& r) {
  Values results = batch_norm_in_place(r, true);
  results.push_back(r.full({Sym(0)}, 0, DType::UInt8));
  return results;
}

// Every sample has statistics of its own: channels and batch together are the channels of one
// sample. The running statistics advance by the average over the batch.
Values instance_norm(Rewriter& r) {
  TensorExpr input = in(r, "input"), weight = in(r, "weight"), bias = in(r, "bias");
  TensorExpr running_mean = in(r, "running_mean"), running_var = in(r, "running_var"),
             x = widened(input);
  if (!bool_arg(r.node, "use_input_stats"))
    return {normalize(r, input, false, 0, eps_of(r.node)).out};
  std::vector<int64_t> dims;
  for (int64_t d = 2; d < x.rank(); ++d) dims.push_back(d);
  Sym count = count_of(x, dims);
  TensorExpr mean = x.mean(dims), centered = x - mean, squares = square(centered).sum(dims);
  TensorExpr out = centered * rsqrt(squares.apply("aten.div.Tensor", {count}) + eps_of(r.node));
  if (weight) out = out * per_channel(widened(weight), x.rank());
  if (bias) out = out + per_channel(widened(bias), x.rank());
  if (running_mean) {
    double m = momentum_of(r.node);
    Index samples{x.size(0), x.size(1)};
    TensorExpr batch_mean = mean.reshape(samples).mean({0}, false);
    TensorExpr batch_var =
        squares.apply("aten.div.Tensor", {sym_max(count - 1, 0)}).reshape(samples).mean({0}, false);
    advance(r, {{},
                {},
                {},
                (batch_mean * m + widened(running_mean) * (1 - m)).cast(running_mean.dtype()),
                (batch_var * m + widened(running_var) * (1 - m)).cast(running_var.dtype())});
  }
  return {out.cast(input.dtype())};
}

// A row that may write its running statistics.
OpDef updating_op(std::string_view schema, Values (*fn)(Rewriter&)) {
  OpDef op = rewrite_op(schema, fn);
  std::get<RewriteMeaning>(op.meaning).writes_arguments = true;
  return op;
}

}  // namespace

Rows batch_norm_ops() {
  return {
      rewrite_op("aten._native_batch_norm_legit_no_training.default(Tensor input, Tensor? weight, "
                 "Tensor? bias, Tensor running_mean, Tensor running_var, float momentum, float "
                 "eps) -> (Tensor, Tensor, Tensor)",
                 batch_norm_no_training),
      rewrite_op("aten._native_batch_norm_legit.no_stats(Tensor input, Tensor? weight, Tensor? "
                 "bias, bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor)",
                 batch_norm_no_stats),
      rewrite_op(
          "aten._native_batch_norm_legit_functional.default(Tensor input, Tensor? weight, Tensor? "
          "bias, Tensor running_mean, Tensor running_var, bool training, float momentum, float "
          "eps) -> (Tensor, Tensor, Tensor, Tensor running_mean_out, Tensor running_var_out)",
          batch_norm_functional),
      rewrite_op(
          "aten._batch_norm_with_update_functional.default(Tensor input, Tensor? weight, Tensor? "
          "bias, Tensor running_mean, Tensor running_var, float momentum, float eps) -> (Tensor, "
          "Tensor, Tensor, Tensor, Tensor running_mean_out, Tensor running_var_out)",
          batch_norm_with_update_functional),
      updating_op("aten.batch_norm.default(Tensor input, Tensor? weight, Tensor? bias, Tensor? "
                  "running_mean, Tensor? running_var, bool training, float momentum, float eps, "
                  "bool cudnn_enabled) -> Tensor",
                  batch_norm),
      updating_op("aten.native_batch_norm.default(Tensor input, Tensor? weight, Tensor? bias, "
                  "Tensor? running_mean, Tensor? running_var, bool training, float momentum, float "
                  "eps) -> (Tensor, Tensor, Tensor)",
                  native_batch_norm),
      updating_op("aten._native_batch_norm_legit.default(Tensor input, Tensor? weight, Tensor? "
                  "bias, Tensor(a!) running_mean, Tensor(b!) running_var, bool training, float "
                  "momentum, float eps) -> (Tensor, Tensor, Tensor)",
                  native_batch_norm),
      updating_op("aten._batch_norm_with_update.default(Tensor input, Tensor? weight, Tensor? "
                  "bias, Tensor(a!) running_mean, Tensor(b!) running_var, float momentum, float "
                  "eps) -> (Tensor, Tensor, Tensor, Tensor)",
                  batch_norm_with_update),
      updating_op("aten.instance_norm.default(Tensor input, Tensor? weight, Tensor? bias, Tensor? "
                  "running_mean, Tensor? running_var, bool use_input_stats, float momentum, float "
                  "eps, bool cudnn_enabled) -> Tensor",
                  instance_norm),
  };
}

}  // namespace aotc
