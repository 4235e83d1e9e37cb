// Scaled dot product attention, as the sum of its parts. Half types are computed in float32
// throughout.
#include <cmath>

#include "ir/ops/tensor_expr.h"

namespace aotc {
namespace {

struct Attention {
  TensorExpr query, key, value, mask;
  bool causal;
  double scale_or_nan;
};

Attention attention_of(Rewriter& r, std::string_view mask) {
  if (double_arg(r.node, "dropout_p") != 0)
    unsupported(r.node, "attention with dropout", "export the model in eval mode");
  double scale = arg_is_none(r.node, "scale") ? std::nan("") : double_arg(r.node, "scale");
  return {in(r, "query"), in(r, "key"), in(r, "value"), in(r, mask), bool_arg(r.node, "is_causal"),
          scale};
}

// True on and below the diagonal that starts at the upper left corner.
TensorExpr causal_mask(Rewriter& r, const Sym& rows, const Sym& columns) {
  TensorExpr i{&r, r("aten.arange.default", {rows})}, j{&r, r("aten.arange.default", {columns})};
  return j <= i.unsqueeze(1);
}

// Heads of key and value are repeated where the query has more (grouped-query attention).
TensorExpr repeat_heads(TensorExpr x, TensorExpr query) {
  if (x.size(-3) == query.size(-3)) return x;
  Sym times = floordiv(query.size(-3), x.size(-3));
  return x.apply("aotc.interleave", {times, Sym(x.rank() - 3)});
}

TensorExpr scores_of(Rewriter& r, const Attention& a, TensorExpr query, TensorExpr key) {
  double scale = a.scale_or_nan;
  if (std::isnan(scale)) {
    auto depth = query.size(-1).constant();
    if (!depth) unsupported(r.node, "attention over a dynamic head size", "pass scale");
    scale = 1 / std::sqrt(static_cast<double>(*depth));
  }
  TensorExpr keys = key.transpose(-2, -1);
  TensorExpr scores = query.apply("aten.matmul.default", {keys.v}) * scale;
  TensorExpr mask = a.mask;
  if (a.causal) mask = causal_mask(r, query.size(-2), key.size(-2));
  if (mask.v == nullptr) return scores;
  if (is_bool(mask.dtype())) return where(mask, scores.v, -INFINITY);
  return scores + mask.cast(scores.dtype());
}

struct Attended {
  TensorExpr output, weights, scores;
};

Attended attend(Rewriter& r, const Attention& a, bool grouped) {
  TensorExpr query = widened(a.query), key = widened(a.key), value = widened(a.value);
  if (grouped) {
    key = repeat_heads(key, query);
    value = repeat_heads(value, query);
  }
  TensorExpr scores = scores_of(r, a, query, key);
  TensorExpr weights = scores.apply("aten._safe_softmax.default", {Sym(-1)});
  TensorExpr output = weights.apply("aten.matmul.default", {value.v});
  return {output.cast(a.query.dtype()), weights, scores};
}

Values scaled_dot_product_attention(Rewriter& r) {
  return {attend(r, attention_of(r, "attn_mask"), bool_arg(r.node, "enable_gqa")).output};
}

Values attention_math(Rewriter& r) {
  Attended a = attend(r, attention_of(r, "attn_mask"), bool_arg(r.node, "enable_gqa"));
  return {a.output, a.weights.cast(in(r, "query").dtype())};
}

// (output, logsumexp of the scores); the latter has float32 for half types.
Values flash_attention(Rewriter& r) {
  Attended a = attend(r, attention_of(r, "attn_mask"), false);
  return {a.output, a.scores.apply("aten.logsumexp.default", {Index{Sym(-1)}})};
}

}  // namespace

Rows attention_ops() {
  return {
      rewrite_op("aten.scaled_dot_product_attention.default(Tensor query, Tensor key, Tensor "
                 "value, Tensor? attn_mask=None, float dropout_p=0., bool is_causal=False, *, "
                 "float? scale=None, bool enable_gqa=False) -> Tensor",
                 scaled_dot_product_attention),
      rewrite_op(
          "aten._scaled_dot_product_attention_math.default(Tensor query, Tensor key, Tensor value, "
          "Tensor? attn_mask=None, float dropout_p=0., bool is_causal=False, Tensor? "
          "dropout_mask=None, *, float? scale=None, bool enable_gqa=False) -> (Tensor, Tensor)",
          attention_math),
      rewrite_op("aten._scaled_dot_product_flash_attention_for_cpu.default(Tensor query, Tensor "
                 "key, Tensor value, float dropout_p=0., bool is_causal=False, *, Tensor? "
                 "attn_mask=None, float? scale=None) -> (Tensor output, Tensor logsumexp)",
                 flash_attention),
  };
}

}  // namespace aotc
