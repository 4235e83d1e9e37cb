// Selections and powers of the elements of vectors, and sequences of different lengths as one
// tensor.
#include "ir/ops/require.h"
#include "ir/ops/tensor_expr.h"

namespace aotc {
namespace {

// ---- combinations

// The number of choices of `picked` among n, where they may repeat or may not.
Sym choices(const Sym& n, int64_t picked, bool repeat) {
  Sym ordered = 1;
  int64_t orders = 1;
  for (int64_t i = 0; i < picked; ++i) {
    ordered = ordered * (repeat ? n + i : sym_max(n - i, 0));
    orders *= i + 1;
  }
  return floordiv(ordered, orders);
}

// Where each of the `picked` positions comes after the one before it.
TensorExpr increasing_positions(Rewriter& r, const Sym& n, int64_t picked, bool repeat) {
  TensorExpr i{&r, r("aten.arange.default", {n})};
  auto along = [&](int64_t d) {
    Index sizes(static_cast<size_t>(picked), Sym(1));
    sizes[static_cast<size_t>(d)] = n;
    return i.reshape(sizes);
  };
  TensorExpr all;
  for (int64_t d = 0; d + 1 < picked; ++d) {
    TensorExpr pair = repeat ? along(d) <= along(d + 1) : along(d) < along(d + 1);
    all = all ? all.apply("aten.logical_and.default", {pair.v}) : pair;
  }
  return all;
}

Values combinations(Rewriter& r) {
  TensorExpr x = in(r, "self");
  require_rank(r.node, "self", 1, 1);
  int64_t picked = int_arg(r.node, "r");
  require(r.node, picked >= 0 && picked <= 12, "'r' is {}, expected 0 to 12", picked);
  if (picked == 0) return {r.full({Sym(0)}, 0, x.dtype())};
  if (picked == 1) return {x.unsqueeze(1).apply("aten.clone.default")};
  Sym n = x.size(0);
  bool repeat = bool_arg(r.node, "with_replacement");
  Sym count = choices(n, picked, repeat);
  if (count.is(0)) return {r.full({Sym(0), Sym(picked)}, 0, x.dtype())};
  TensorExpr at = increasing_positions(r, n, picked, repeat)
                      .apply("aten.nonzero_static.default", {count, Sym(0)});
  TensorExpr flat = at.reshape({count * picked});
  return {x.apply("aten.index_select.default", {Sym(0), flat.v}).reshape({count, Sym(picked)})};
}

// ---- powers

// The powers 0, 1, ... count - 1 along a new last dimension; of integers in int64.
TensorExpr powers(TensorExpr x, const Sym& count) {
  Rewriter& r = *x.r;
  if (!is_floating(x.dtype()) && !is_complex(x.dtype())) x = x.cast(DType::Int64);
  Index first = x.sizes(), rest = first;
  first.push_back(sym_min(count, 1));
  rest.push_back(sym_max(count - 1, 0));
  TensorExpr ones{&r, r.full(first, 1, x.dtype())};
  if (count.is(0) || count.is(1)) return ones;
  TensorExpr higher = x.unsqueeze(-1).expand(rest).apply("aten.cumprod.default", {Sym(x.rank())});
  return {&r, r("aten.cat.default", {Values{ones, higher}, Sym(x.rank())})};
}

Sym power_count(Rewriter& r, TensorExpr x) {
  return arg_is_none(r.node, "N") ? x.size(-1) : sym_arg(r.node, "N");
}

Values vander(Rewriter& r) {
  require_rank(r.node, "x", 1, 1);
  TensorExpr x = in(r, "x");
  Sym count = power_count(r, x);
  require(r.node, can_be_within(count, 0), "'N' is {}, expected 0 or more", count.str());
  TensorExpr result = powers(x, count);
  if (bool_arg(r.node, "increasing")) return {result};
  return {result.apply("aten.flip.default", {Index{Sym(1)}})};
}

Values linalg_vander(Rewriter& r) {
  require_rank(r.node, "x", 1);
  require_not_bool(r.node, "x");
  TensorExpr x = in(r, "x");
  Sym count = power_count(r, x);
  require(r.node, arg_is_none(r.node, "N") || can_be_within(count, 2),
          "'N' is {}, expected 2 or more", count.str());
  return {powers(x, count)};
}

// ---- sequences

std::vector<TensorExpr> list_arg(Rewriter& r) {
  std::vector<TensorExpr> list;
  for (Value* v : std::get<Values>(r.node.args[0])) list.push_back({&r, v});
  require(r.node, !list.empty(), "the list of tensors is empty");
  return list;
}

// Each tensor with `more` elements before or after it along a dimension.
TensorExpr padded(TensorExpr x, int64_t dim, const Sym& more, double value, bool before = false) {
  if (more.is(0)) return x;
  Index pad(static_cast<size_t>(2 * (x.rank() - dim)), Sym(0));
  pad[pad.size() - (before ? 2 : 1)] = more;
  return x.apply("aten.constant_pad_nd.default", {pad, value});
}

// The sequences, filled up to the longest, along a new dimension.
Values pad_sequence(Rewriter& r) {
  std::vector<TensorExpr> list = list_arg(r);
  require_word(r.node, "padding_side", {"left", "right"});
  bool left = std::get<std::string>(arg(r.node, "padding_side")) == "left";
  double value = double_arg(r.node, "padding_value");
  Index trailing(list[0].sizes().begin() + (list[0].rank() > 0), list[0].sizes().end());
  Sym longest = 0;
  for (TensorExpr x : list) {
    require(r.node,
            x.rank() > 0 && x.rank() == list[0].rank() &&
                can_be_equal(Index(x.sizes().begin() + 1, x.sizes().end()), trailing),
            "a sequence has the sizes {}, expected those of the first, {}, after its length",
            sizes_text(x.sizes()), sizes_text(list[0].sizes()));
    longest = sym_max(longest, x.size(0));
  }
  Values rows;
  for (TensorExpr x : list)
    rows.push_back(padded(x.cast(list[0].dtype()), 0, longest - x.size(0), value, left));
  return {r("aten.stack.default", {rows, Sym(bool_arg(r.node, "batch_first") ? 0 : 1)})};
}

// Each tensor is cut into num_chunks along dim, filled up with zeros; the chunks are joined.
Values chunk_cat(Rewriter& r) {
  std::vector<TensorExpr> list = list_arg(r);
  int64_t dim = wrap_dim(int_arg(r.node, "dim"), list[0].rank(), r.node);
  int64_t chunks = int_arg(r.node, "num_chunks");
  require(r.node, chunks >= 1, "'num_chunks' is {}, expected 1 or more", chunks);
  Values parts;
  for (TensorExpr x : list) {
    require(r.node, x.rank() > dim, "a tensor has {} dimensions, expected more than {}", x.rank(),
            dim);
    Sym each = ceildiv(x.size(dim), Sym(chunks));
    x = padded(x, dim, each * chunks - x.size(dim), 0);
    Index sizes(x.sizes().begin(), x.sizes().begin() + dim);
    Sym rest = each;
    for (int64_t d = dim + 1; d < x.rank(); ++d) rest = rest * x.size(d);
    sizes.insert(sizes.end(), {Sym(chunks), rest});
    parts.push_back(x.reshape(sizes));
  }
  return {r("aten.cat.default", {parts, Sym(dim + 1)})};
}

}  // namespace

Rows sequence_ops() {
  return {
      rewrite_op("aten.combinations.default(Tensor self, int r=2, bool with_replacement=False) -> "
                 "Tensor",
                 combinations),
      rewrite_op("aten.vander.default(Tensor x, int? N=None, bool increasing=False) -> Tensor",
                 vander),
      rewrite_op("aten.linalg_vander.default(Tensor x, *, SymInt? N=None) -> Tensor",
                 linalg_vander),
      rewrite_op("aten.pad_sequence.default(Tensor[] sequences, bool batch_first=False, float "
                 "padding_value=0., str padding_side=\"right\") -> Tensor",
                 pad_sequence),
      rewrite_op("aten._chunk_cat.default(Tensor[] tensors, int dim, int num_chunks) -> Tensor",
                 chunk_cat),
  };
}

}  // namespace aotc
