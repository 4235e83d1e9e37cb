// Ops that read through an index map but whose result eager copies: the *_copy forms of views,
// flips, rolls, repetitions. They are rewritten to views of values (aotc.*), which need no kernel
// of their own.
#include <algorithm>

#include "ir/ops/shape_math.h"
#include "ir/ops/tensor_expr.h"

namespace aotc {
namespace {

// A fresh contiguous copy of every result of `target`.
OpDef copying_op(std::string_view schema, std::string_view target) {
  return rewrite_op(schema, [target = std::string(target)](Rewriter& r) {
    std::vector<Value*> results;
    for (Value* v : r.emit(target, r.node.args)->outputs)
      results.push_back(r("aten.clone.default", {v}));
    return results;
  });
}

Rows copies() {
  const std::pair<std::string_view, const char*> table[] = {
      {"aten._conj_copy.default(Tensor self) -> Tensor", "aten._conj.default"},
      {"aten._neg_view_copy.default(Tensor self) -> Tensor", "aten._neg_view.default"},
      {"aten.view_as_real_copy.default(Tensor self) -> Tensor", "aten.view_as_real.default"},
      {"aten.view_as_complex_copy.default(Tensor self) -> Tensor", "aten.view_as_complex.default"},
      {"aten.alias_copy.default(Tensor self) -> Tensor", "aten.alias.default"},
      {"aten.as_strided_copy.default(Tensor self, SymInt[] size, SymInt[] stride, SymInt? "
       "storage_offset=None) -> Tensor",
       "aten.as_strided.default"},
      {"aten._reshape_alias_copy.default(Tensor self, SymInt[] size, SymInt[] stride) -> Tensor",
       "aten.as_strided.default"},
      {"aten.detach_copy.default(Tensor self) -> Tensor", "aten.detach.default"},
      {"aten.diagonal_copy.default(Tensor self, int offset=0, int dim1=0, int dim2=1) -> Tensor",
       "aten.diagonal.default"},
      {"aten.expand_copy.default(Tensor self, SymInt[] size, *, bool implicit=False) -> Tensor",
       "aten.expand.default"},
      {"aten.view_copy.dtype(Tensor self, ScalarType dtype) -> Tensor", "aten.view.dtype"},
      {"aten.lift_fresh_copy.default(Tensor self) -> Tensor", "aten.lift_fresh.default"},
      {"aten.narrow_copy.default(Tensor self, int dim, SymInt start, SymInt length) -> Tensor",
       "aten.narrow.default"},
      {"aten.permute_copy.default(Tensor self, int[] dims) -> Tensor", "aten.permute.default"},
      {"aten._reshape_copy.default(Tensor self, SymInt[] size) -> Tensor", "aten.view.default"},
      {"aten.select_copy.int(Tensor self, int dim, SymInt index) -> Tensor", "aten.select.int"},
      {"aten.slice_copy.Tensor(Tensor self, int dim=0, SymInt? start=None, SymInt? end=None, "
       "SymInt step=1) -> Tensor",
       "aten.slice.Tensor"},
      {"aten.split_copy.Tensor(Tensor self, SymInt split_size, int dim=0) -> Tensor[]",
       "aten.split.Tensor"},
      {"aten.split_with_sizes_copy.default(Tensor self, SymInt[] split_sizes, int dim=0) -> "
       "Tensor[]",
       "aten.split_with_sizes.default"},
      {"aten.squeeze_copy.default(Tensor self) -> Tensor", "aten.squeeze.default"},
      {"aten.squeeze_copy.dim(Tensor self, int dim) -> Tensor", "aten.squeeze.dim"},
      {"aten.squeeze_copy.dims(Tensor self, int[] dim) -> Tensor", "aten.squeeze.dims"},
      {"aten.t_copy.default(Tensor self) -> Tensor", "aten.t.default"},
      {"aten.transpose_copy.int(Tensor self, int dim0, int dim1) -> Tensor", "aten.transpose.int"},
      {"aten.unbind_copy.int(Tensor self, int dim=0) -> Tensor[]", "aten.unbind.int"},
      {"aten.unfold_copy.default(Tensor self, int dimension, int size, int step) -> Tensor",
       "aten.unfold.default"},
      {"aten.unsqueeze_copy.default(Tensor self, int dim) -> Tensor", "aten.unsqueeze.default"},
      {"aten.view_copy.default(Tensor self, SymInt[] size) -> Tensor", "aten.view.default"},
  };
  Rows rows;
  for (auto [schema, target] : table) rows.push_back(copying_op(schema, target));
  return rows;
}

// ---- index maps on values

// Same sizes as argument 0, contiguous.
Types same_sizes(const Node& n) {
  const TensorType& t = input_type(n);
  return {contiguous_type(t.dtype, t.sizes, t.device)};
}

Index flip_map(const Node& n, int, const Index& index) {
  Index at = index;
  for (int64_t d : ints_arg(n, "dims")) {
    const Sym& size = input_type(n).sizes[static_cast<size_t>(d)];
    at[static_cast<size_t>(d)] = size - 1 - index[static_cast<size_t>(d)];
  }
  return at;
}

Index roll_map(const Node& n, int, const Index& index) {
  Index at = index, shifts = syms_arg(n, "shifts");
  std::vector<int64_t> dims = ints_arg(n, "dims");
  for (size_t i = 0; i < dims.size(); ++i) {
    auto d = static_cast<size_t>(dims[i]);
    at[d] = mod(at[d] - shifts[i], input_type(n).sizes[d]);
  }
  return at;
}

Types repeat_types(const Node& n) {
  const TensorType& t = input_type(n);
  Index sizes = syms_arg(n, "repeats");
  size_t added = sizes.size() - t.rank();
  for (size_t d = 0; d < t.rank(); ++d) sizes[added + d] = sizes[added + d] * t.sizes[d];
  return {contiguous_type(t.dtype, sizes, t.device)};
}

Index repeat_map(const Node& n, int, const Index& index) {
  const Index& sizes = input_type(n).sizes;
  Index at(index.end() - static_cast<std::ptrdiff_t>(sizes.size()), index.end());
  Index repeats = syms_arg(n, "repeats");
  for (size_t d = 0; d < at.size(); ++d) {
    bool once = repeats[repeats.size() - at.size() + d].is(1);
    if (!once) at[d] = mod(at[d], sizes[d]);
  }
  return at;
}

Types interleave_types(const Node& n) {
  TensorType t = input_type(n);
  Sym& size = t.sizes[static_cast<size_t>(int_arg(n, "dim"))];
  size = size * sym_arg(n, "repeats");
  return {contiguous_type(t.dtype, t.sizes, t.device)};
}

Index interleave_map(const Node& n, int, const Index& index) {
  Index at = index;
  Sym& i = at[static_cast<size_t>(int_arg(n, "dim"))];
  i = floordiv(i, sym_arg(n, "repeats"));
  return at;
}

Rows value_views() {
  return {
      view_op("aotc.flip(Tensor self, int[] dims) -> Tensor", same_sizes, flip_map),
      view_op("aotc.roll(Tensor self, SymInt[] shifts, int[] dims) -> Tensor", same_sizes,
              roll_map),
      view_op("aotc.repeat(Tensor self, SymInt[] repeats) -> Tensor", repeat_types, repeat_map),
      view_op("aotc.interleave(Tensor self, SymInt repeats, int dim) -> Tensor", interleave_types,
              interleave_map),
  };
}

// ---- their torch spellings

TensorExpr flip(TensorExpr x, std::vector<int64_t> dims) {
  for (int64_t& d : dims) d = wrap_dim(d, x.rank(), x.r->node);
  if (x.rank() == 0) dims.clear();
  return x.apply("aotc.flip", {as_syms(dims)});
}

// Without dims, eager rolls the flattened tensor.
std::vector<Value*> roll(Rewriter& r) {
  TensorExpr x = in(r, "self");
  Index shifts = syms_arg(r.node, "shifts");
  std::vector<int64_t> dims = ints_arg(r.node, "dims");
  if (product(x.sizes()).is(0)) return {x.apply("aten.clone.default")};
  if (dims.empty()) {
    Index sizes = x.sizes();
    return {x.reshape({product(sizes)}).apply("aotc.roll", {shifts, Index{Sym(0)}}).reshape(sizes)};
  }
  for (int64_t& d : dims) d = wrap_dim(d, x.rank(), r.node);
  return {x.apply("aotc.roll", {shifts, as_syms(dims)})};
}

std::vector<Value*> rotate(Rewriter& r) {
  TensorExpr x = in(r, "self");
  std::vector<int64_t> dims = ints_arg(r.node, "dims");
  int64_t quarter_turns = ((int_arg(r.node, "k") % 4) + 4) % 4;
  if (quarter_turns == 0) return {x.apply("aten.clone.default")};
  if (quarter_turns == 2) return {flip(x, dims)};
  TensorExpr turned = flip(x, {dims[quarter_turns == 1 ? 1 : 0]});
  return {turned.transpose(dims[0], dims[1])};
}

// Missing leading entries of `dims` are 1.
std::vector<Value*> tile(Rewriter& r) {
  TensorExpr x = in(r, "self");
  Index repeats = syms_arg(r.node, "dims");
  while (static_cast<int64_t>(repeats.size()) < x.rank()) repeats.insert(repeats.begin(), Sym(1));
  return {x.apply("aotc.repeat", {repeats})};
}

std::vector<Value*> repeat_interleave(Rewriter& r) {
  TensorExpr x = in(r, "self");
  Sym repeats = sym_arg(r.node, "repeats");
  if (arg_is_none(r.node, "dim"))
    return {x.reshape({product(x.sizes())}).apply("aotc.interleave", {repeats, Sym(0)})};
  int64_t dim = wrap_dim(int_arg(r.node, "dim"), x.rank(), r.node);
  return {x.apply("aotc.interleave", {repeats, Sym(dim)})};
}

// (N*, C r r, H, W) to (N*, C, H r, W r), and back.
std::vector<Value*> pixel_shuffle(Rewriter& r) {
  TensorExpr x = in(r, "self");
  Sym f = sym_arg(r.node, "upscale_factor");
  size_t batch = static_cast<size_t>(x.rank()) - 3;
  Index split(x.sizes().begin(), x.sizes().begin() + static_cast<std::ptrdiff_t>(batch)),
      merged = split;
  Sym channels = floordiv(x.size(-3), f * f);
  for (const Sym& s : Index{channels, f, f, x.size(-2), x.size(-1)}) split.push_back(s);
  for (const Sym& s : Index{channels, x.size(-2) * f, x.size(-1) * f}) merged.push_back(s);
  std::vector<int64_t> order;
  auto b = static_cast<int64_t>(batch);
  for (int64_t d = 0; d < b; ++d) order.push_back(d);
  for (int64_t d : {0, 3, 1, 4, 2}) order.push_back(b + d);
  return {x.reshape(split).permute(order).reshape(merged).apply("aten.clone.default")};
}

std::vector<Value*> pixel_unshuffle(Rewriter& r) {
  TensorExpr x = in(r, "self");
  Sym f = sym_arg(r.node, "downscale_factor");
  size_t batch = static_cast<size_t>(x.rank()) - 3;
  Index split(x.sizes().begin(), x.sizes().begin() + static_cast<std::ptrdiff_t>(batch)),
      merged = split;
  Sym height = floordiv(x.size(-2), f), width = floordiv(x.size(-1), f);
  for (const Sym& s : Index{x.size(-3), height, f, width, f}) split.push_back(s);
  for (const Sym& s : Index{x.size(-3) * f * f, height, width}) merged.push_back(s);
  std::vector<int64_t> order;
  auto b = static_cast<int64_t>(batch);
  for (int64_t d = 0; d < b; ++d) order.push_back(d);
  for (int64_t d : {0, 2, 4, 1, 3}) order.push_back(b + d);
  return {x.reshape(split).permute(order).reshape(merged).apply("aten.clone.default")};
}

std::vector<Value*> channel_shuffle(Rewriter& r) {
  TensorExpr x = in(r, "self");
  Index sizes = x.sizes(), split = sizes;
  Sym groups = sym_arg(r.node, "groups");
  split[1] = groups;
  split.insert(split.begin() + 2, floordiv(sizes[1], groups));
  return {x.reshape(split).transpose(1, 2).reshape(sizes).apply("aten.clone.default")};
}

Rows rewrites() {
  return {
      rewrite_op("aten.flip.default(Tensor self, int[] dims) -> Tensor",
                 [](Rewriter& r) {
                   return std::vector<Value*>{flip(in(r, "self"), ints_arg(r.node, "dims"))};
                 }),
      rewrite_op("aten.fliplr.default(Tensor self) -> Tensor",
                 [](Rewriter& r) { return std::vector<Value*>{flip(in(r, "self"), {1})}; }),
      rewrite_op("aten.flipud.default(Tensor self) -> Tensor",
                 [](Rewriter& r) { return std::vector<Value*>{flip(in(r, "self"), {0})}; }),
      rewrite_op("aten.roll.default(Tensor self, SymInt[1] shifts, int[1] dims=[]) -> Tensor",
                 roll),
      rewrite_op("aten.rot90.default(Tensor self, int k=1, int[] dims=[0, 1]) -> Tensor", rotate),
      rewrite_op("aten.repeat.default(Tensor self, SymInt[] repeats) -> Tensor",
                 [](Rewriter& r) {
                   return std::vector<Value*>{
                       in(r, "self").apply("aotc.repeat", {syms_arg(r.node, "repeats")})};
                 }),
      rewrite_op("aten.tile.default(Tensor self, SymInt[] dims) -> Tensor", tile),
      rewrite_op("aten.repeat_interleave.self_int(Tensor self, SymInt repeats, int? dim=None, *, "
                 "SymInt? output_size=None) -> Tensor",
                 repeat_interleave),
      rewrite_op("aten.pixel_shuffle.default(Tensor self, int upscale_factor) -> Tensor",
                 pixel_shuffle),
      rewrite_op("aten.pixel_unshuffle.default(Tensor self, int downscale_factor) -> Tensor",
                 pixel_unshuffle),
      rewrite_op("aten.channel_shuffle.default(Tensor self, SymInt groups) -> Tensor",
                 channel_shuffle),
      rewrite_op("aten.native_channel_shuffle.default(Tensor self, SymInt groups) -> Tensor",
                 channel_shuffle),
  };
}

}  // namespace

Rows copied_views() {
  Rows rows = copies();
  append(rows, value_views());
  append(rows, rewrites());
  return rows;
}

}  // namespace aotc
