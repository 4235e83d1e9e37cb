// Batch and instance normalisation, in inference and in training, where the running statistics
// advance.
#include "ir/ops/tensor_expr.h"

namespace aotc {
namespace {

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

struct Batch {
  TensorExpr input, weight, bias, running_mean, running_var;  // all but input may be empty
  double momentum, eps;
};

struct Normalized {
  TensorExpr out, mean, invstd;          // the result; what it was normalised by, per channel
  TensorExpr running_mean, running_var;  // advanced by this batch; empty in inference
};

// Half inputs beside float32 parameters have float32 statistics.
DType statistics_type(const Batch& b) {
  if (!is_half(b.input.dtype())) return b.input.dtype();
  for (TensorExpr p : {b.weight, b.bias, b.running_mean, b.running_var})
    if (p && p.dtype() == DType::Float32) return DType::Float32;
  return b.input.dtype();
}

// input * alpha + beta with alpha = invstd * weight, as eager's kernel.
TensorExpr scale_and_shift(const Batch& b, TensorExpr mean, TensorExpr invstd) {
  TensorExpr x = widened(b.input);
  TensorExpr alpha = b.weight ? invstd * widened(b.weight) : invstd;
  TensorExpr beta = b.bias ? widened(b.bias) - mean * alpha : -(mean * alpha);
  TensorExpr out = x * per_channel(alpha, x.rank()) + per_channel(beta, x.rank());
  return out.cast(b.input.dtype());
}

Normalized with_running_statistics(const Batch& b) {
  TensorExpr mean = widened(b.running_mean), invstd = rsqrt(widened(b.running_var) + b.eps);
  return {scale_and_shift(b, mean, invstd), mean, invstd, {}, {}};
}

// Statistics of the batch, rounded to the type in which eager keeps them.
Normalized with_batch_statistics(const Batch& b) {
  TensorExpr x = widened(b.input);
  std::vector<int64_t> dims = statistics_dims(x);
  Sym count = count_of(x, dims);
  TensorExpr kept = x.mean(dims), squares = square(x - kept).sum(dims, false);
  TensorExpr mean = kept.reshape({x.size(1)});
  TensorExpr invstd = rsqrt(squares.apply("aten.div.Tensor", {count}) + b.eps);
  Normalized n;
  if (b.running_mean) {
    TensorExpr unbiased = squares.apply("aten.div.Tensor", {sym_max(count - 1, 0)});
    auto advanced = [&](TensorExpr now, TensorExpr running) {
      return (now * b.momentum + widened(running) * (1 - b.momentum)).cast(running.dtype());
    };
    n.running_mean = advanced(mean, b.running_mean);
    n.running_var = advanced(unbiased, b.running_var);
  }
  DType t = statistics_type(b);
  n.mean = widened(mean.cast(t));
  n.invstd = widened(invstd.cast(t));
  n.out = scale_and_shift(b, n.mean, n.invstd);
  return n;
}

Normalized normalize(const Batch& b, bool training) {
  const Node& n = b.input.r->node;
  if (b.input.rank() < 2)
    unsupported(n, "an input without channels", "give it two dimensions or more");
  if (!training && !(b.running_mean && b.running_var))
    unsupported(n, "inference without running statistics", "normalize by the batch's (training)");
  return training ? with_batch_statistics(b) : with_running_statistics(b);
}

TensorExpr optional_in(Rewriter& r, const char* name) {
  return r.node.op->schema.index_of(name) < 0 ? TensorExpr{} : in(r, name);
}

Batch batch_of(Rewriter& r) {
  const Node& n = r.node;
  double momentum = n.op->schema.index_of("momentum") < 0 ? 0 : double_arg(n, "momentum");
  return {in(r, "input"),
          in(r, "weight"),
          in(r, "bias"),
          optional_in(r, "running_mean"),
          optional_in(r, "running_var"),
          momentum,
          double_arg(n, "eps")};
}

// A statistic that inference does not save.
TensorExpr nothing(Rewriter& r, DType t) { return {&r, r.full({Sym(0)}, 0, t)}; }

// (out, save_mean, save_invstd); in inference the saved ones are empty.
Values with_saved(Rewriter& r, bool training, const Normalized& n) {
  DType t = statistics_type(batch_of(r));
  if (!training) return {n.out, nothing(r, t), nothing(r, t)};
  return {n.out, n.mean.cast(t), n.invstd.cast(t)};
}

Values batch_norm_no_training(Rewriter& r) {
  return with_saved(r, false, normalize(batch_of(r), false));
}

Values batch_norm_no_stats(Rewriter& r) {
  return with_saved(r, true, normalize(batch_of(r), true));
}

Values batch_norm_functional(Rewriter& r) {
  bool training = bool_arg(r.node, "training");
  Normalized n = normalize(batch_of(r), training);
  Values results = with_saved(r, training, n);
  results.push_back(training ? n.running_mean.v : r.tensor("running_mean"));
  results.push_back(training ? n.running_var.v : r.tensor("running_var"));
  return results;
}

Values batch_norm_with_update_functional(Rewriter& r) {
  Normalized n = normalize(batch_of(r), true);
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
  Normalized n = normalize(batch_of(r), training);
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

// Every sample has statistics of its own: it is a batch norm of one sample whose channels are the
// channels of all samples. The running statistics advance by the average over the samples.
Values instance_norm(Rewriter& r) {
  Batch b = batch_of(r);
  if (!bool_arg(r.node, "use_input_stats")) return {normalize(b, false).out};
  Sym samples = b.input.size(0), channels = b.input.size(1);
  Index sizes = b.input.sizes(), merged = sizes;
  merged[0] = 1;
  merged[1] = samples * channels;
  auto repeated = [&](TensorExpr p) {
    return p ? p.apply("aotc.repeat", {Index{samples}}) : TensorExpr{};
  };
  Normalized n = normalize({b.input.reshape(merged), repeated(b.weight), repeated(b.bias),
                            repeated(b.running_mean), repeated(b.running_var), b.momentum, b.eps},
                           true);
  auto averaged = [&](TensorExpr p) {
    return p ? p.reshape({samples, channels}).mean({0}, false) : TensorExpr{};
  };
  advance(r, {{}, {}, {}, averaged(n.running_mean), averaged(n.running_var)});
  return {n.out.reshape(sizes)};
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
