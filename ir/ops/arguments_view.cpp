// Conditions of views, of their copying forms, and of what reads through an index map.
#include "ir/ops/arguments.h"
#include "ir/ops/self_overlap.h"
#include "ir/ops/shape_math.h"

namespace aotc {
namespace {

int64_t rank_of(const Node& n) { return input_rank(n); }
std::string_view first_tensor(const Node& n) { return n.op->schema.args[0].name; }

// The size along a dimension argument.
const Sym& size_along(const Node& n, std::string_view arg) {
  require_rank(n, first_tensor(n), 1);
  return input_type(n).sizes[require_dim(n, arg, rank_of(n))];
}

// ---- reshapes

// Sizes with at most one -1 whose product is `count`.
void require_product(const Node& n, const Index& sizes, const Index& of) {
  Sym known = 1;
  int open = 0;
  for (const Sym& s : sizes) {
    require(n, can_be_within(s, -1), "the sizes {} have a negative one", sizes_text(sizes));
    open += s.is(-1);
    if (!s.is(-1)) known = known * s;
  }
  require(n, open <= 1, "the sizes {} have more than one -1", sizes_text(sizes));
  Sym count = product(of);
  bool fits = open == 0     ? can_be_equal(known, count)
              : known.is(0) ? false
                            : can_be_equal(mod(count, known), 0);
  require(n, fits, "the sizes {} do not hold the {} elements of sizes {}", sizes_text(sizes),
          count.str(), sizes_text(of));
}

void check_view(const Node& n) { require_product(n, syms_arg(n, "size"), input_type(n).sizes); }
void check_reshape(const Node& n) { require_product(n, syms_arg(n, "shape"), input_type(n).sizes); }
void check_view_as(const Node& n) { require_product(n, sizes_of(n, "other"), input_type(n).sizes); }

void check_reshape_alias(const Node& n) {
  check_view(n);
  require_list(n, "stride", syms_arg(n, "size").size(), 0);
}

void check_flatten(const Node& n) {
  size_t start = require_dim(n, "start_dim", rank_of(n)),
         end = require_dim(n, "end_dim", rank_of(n));
  require(n, start <= end, "'start_dim' {} comes after 'end_dim' {}", start, end);
}

void check_unflatten(const Node& n) {
  const Sym& size = size_along(n, "dim");
  require(n, !syms_arg(n, "sizes").empty(), "'sizes' is empty");
  require_product(n, syms_arg(n, "sizes"), {size});
}

void check_squeeze(const Node& n) {
  if (n.op->schema.index_of("dim") >= 0) require_dims(n, "dim", rank_of(n));
}

// ---- permutations

void check_permute(const Node& n) {
  require_dims(n, "dims", rank_of(n));
  require_list(n, "dims", input_type(n).rank(), -rank_of(n));
}

void check_two_dims(const Node& n) {
  bool axes = n.op->schema.index_of("axis0") >= 0;
  require_dim(n, axes ? "axis0" : "dim0", rank_of(n));
  require_dim(n, axes ? "axis1" : "dim1", rank_of(n));
}

void check_movedim(const Node& n) {
  auto from = require_dims(n, "source", rank_of(n)),
       to = require_dims(n, "destination", rank_of(n));
  require(n, from.size() == to.size(), "'source' has {} dimensions, 'destination' {}", from.size(),
          to.size());
  require(n, from.empty() || rank_of(n) > 0, "'self' has no dimensions to move");
}

// Matrices, one only or any number; a tensor without dimensions is its own transpose.
template <bool one>
void check_matrices(const Node& n) {
  constexpr int64_t kMost = one ? 2 : std::numeric_limits<int64_t>::max();
  if (rank_of(n) > 0) require_rank(n, "self", 2, kMost);
}

// ---- broadcasts

void check_expand(const Node& n) {
  const Index& from = input_type(n).sizes;
  Index to = syms_arg(n, "size");
  require(n, to.size() >= from.size(), "'size' has {} sizes, 'self' has {} dimensions", to.size(),
          from.size());
  size_t added = to.size() - from.size();
  for (size_t d = 0; d < to.size(); ++d) {
    bool kept = d >= added && to[d].is(-1);
    require(n, kept || can_be_within(to[d], 0), "'size' is {}, a new dimension needs a size",
            sizes_text(to));
    if (kept) to[d] = from[d - added];
  }
  require_expandable(n, first_tensor(n), to);
}

void check_repeat(const Node& n) {
  Index repeats = syms_arg(n, "repeats");
  require(n, repeats.size() >= input_type(n).rank(), "'repeats' has {} numbers for {} dimensions",
          repeats.size(), rank_of(n));
  require_not_negative(n, "repeats");
}

void check_interleave(const Node& n) {
  require_not_negative(n, "repeats");
  if (!arg_is_none(n, "dim")) require_dim(n, "dim", rank_of(n));
  if (arg_is_none(n, "output_size")) return;
  Sym count = arg_is_none(n, "dim") || rank_of(n) == 0 ? product(input_type(n).sizes)
                                                       : size_along(n, "dim");
  require(n, can_be_equal(count * sym_arg(n, "repeats"), sym_arg(n, "output_size")),
          "'output_size' is {}, the result has {} elements along its dimension",
          sym_arg(n, "output_size").str(), (count * sym_arg(n, "repeats")).str());
}

// ---- parts

void check_slice(const Node& n) {
  size_along(n, "dim");
  require_within(n, "step", 1);
}

void check_narrow(const Node& n) {
  const Sym& size = size_along(n, "dim");
  Sym start = sym_arg(n, "start"), length = sym_arg(n, "length");
  require_not_negative(n, "length");
  require(n, can_hold(sym_le(Sym(0) - size, start)) && can_hold(sym_le(start, size)),
          "'start' is {}, the dimension has {} elements", start.str(), size.str());
  require(n, can_be_within(size - wrap_index(start, size) - length, 0),
          "'start' {} and 'length' {} end outside of {} elements", start.str(), length.str(),
          size.str());
}

void check_select(const Node& n) {
  const Sym& size = size_along(n, "dim");
  Sym at = sym_arg(n, "index");
  require(n, can_hold(sym_le(Sym(0) - size, at)) && can_hold(sym_lt(at, size)),
          "'index' is {}, the dimension has {} elements", sym_arg(n, "index").str(), size.str());
}

void check_diagonal(const Node& n) {
  require_rank(n, first_tensor(n), 2);
  size_t a = require_dim(n, "dim1", rank_of(n)), b = require_dim(n, "dim2", rank_of(n));
  require(n, a != b, "'dim1' and 'dim2' are the same dimension {}", a);
}

void check_diag_embed(const Node& n) {
  require_rank(n, "self", 1);
  size_t a = require_dim(n, "dim1", rank_of(n) + 1), b = require_dim(n, "dim2", rank_of(n) + 1);
  require(n, a != b, "'dim1' and 'dim2' are the same dimension {}", a);
}

void check_unfold(const Node& n) {
  require_dim(n, "dimension", rank_of(n));
  Sym limit = rank_of(n) == 0 ? Sym(1) : size_along(n, "dimension");
  require_within(n, "step", 1);
  require_not_negative(n, "size");
  require(n, can_be_within(limit - sym_arg(n, "size"), 0),
          "'size' is {}, the dimension has {} elements", sym_arg(n, "size").str(), limit.str());
}

// Eager reads the elements as they lie in memory where the sizes change.
void require_order_in_memory(const Node& n, const Index& to) {
  const TensorType& t = input_type(n);
  if (to == t.sizes) return;
  const Index strides = strides_of(t), rows = contiguous_strides(t.sizes);
  for (size_t d = 0; d < t.rank(); ++d)
    require(n, t.sizes[d].is(1) || strides[d] == rows[d],
            "'self' has the strides {}, expected the row-major ones {}; call contiguous() before",
            sizes_text(strides), sizes_text(rows));
}

void check_resize(const Node& n) {
  require_not_negative(n, "size");
  require_order_in_memory(n, syms_arg(n, "size"));
}

void check_resize_as(const Node& n) { require_order_in_memory(n, sizes_of(n, "the_template")); }

void check_resize_in_place(const Node& n) { require_not_negative(n, "size"); }

// The elements lie within the tensor, as far as all numbers are known.
void check_as_strided(const Node& n) {
  Index sizes = syms_arg(n, "size"), strides = syms_arg(n, "stride");
  require_not_negative(n, "size");
  require_list(n, "stride", sizes.size(), 0);
  Sym last = arg_is_none(n, "storage_offset") ? Sym(0) : sym_arg(n, "storage_offset");
  require(n, can_be_within(last, 0), "'storage_offset' is {}, expected no negative number",
          last.str());
  for (size_t d = 0; d < sizes.size(); ++d) last = last + (sizes[d] - 1) * strides[d];
  if (product(sizes).is(0)) return;
  Sym count = product(input_type(n).sizes);
  require(n, can_be_within(count - 1 - last, 0),
          "it reaches element {} of a tensor of {} elements; take the strided view of the whole "
          "storage",
          last.str(), count.str());
}

// src replaces the view that `view_check` allows.
template <void (*view_check)(const Node&)>
void check_view_scatter(const Node& n) {
  view_check(n);
  std::vector<Arg> args = n.args;
  args.erase(args.begin() + 1);
  std::string name = n.op->name();
  std::string view = name.substr(0, name.find("_scatter"));
  const OpDef* op = find_op(view + (view == "aten.slice"    ? ".Tensor"
                                    : view == "aten.select" ? ".int"
                                                            : ".default"));
  Node taken;
  taken.op = op;
  taken.args = std::move(args);
  taken.name = n.name;
  taken.source = n.source;
  require_sizes(n, "src", op->infer(taken).at(0).sizes);
}

void check_write_view(const Node& n) {
  const TensorType& view = tensor_arg(n, "view")->type;
  require_expandable(n, "src", view.sizes);
  // An expanded base is written as what it reads as; eager mutates no such tensor.
  const Index strides = strides_of(tensor_arg(n, "base")->type);
  if (std::any_of(strides.begin(), strides.end(), [](const Sym& s) { return s.is(0); })) return;
  require(n, !may_overlap_itself(view.sizes, strides_of(view)),
          "it writes a view with the sizes {} and the strides {}, of which several elements share "
          "memory; write a clone of it",
          sizes_text(view.sizes), sizes_text(strides_of(view)));
}

// ---- splits

void check_split(const Node& n) {
  const Sym& size = size_along(n, "dim");
  bool chunks = n.op->schema.index_of("chunks") >= 0;
  const char* count = chunks ? "chunks" : "split_size";
  require_within(n, count, chunks || !size.is(0) ? 1 : 0);
}

template <bool named_sizes>
void check_split_sizes(const Node& n) {
  const char* name = named_sizes ? "split_sizes" : "split_size";
  const Sym& size = size_along(n, "dim");
  require_not_negative(n, name);
  Sym total = 0;
  for (const Sym& s : syms_arg(n, name)) total = total + s;
  require(n, can_be_equal(total, size), "'{}' is {}, its sum should be {}", name,
          sizes_text(syms_arg(n, name)), size.str());
}

void check_sections(const Node& n) {
  if (n.op->schema.index_of("dim") >= 0) size_along(n, "dim");
  if (n.op->schema.index_of("sections") >= 0) require_within(n, "sections", 1);
}

// hsplit, vsplit, dsplit: the parts are equal.
template <size_t dim>
void check_fixed_split(const Node& n) {
  size_t d = dim == 1 && rank_of(n) == 1 ? 0 : dim;
  require_rank(n, "self", static_cast<int64_t>(d) + 1);
  if (n.op->schema.index_of("sections") < 0) return;
  require_within(n, "sections", 1);
  const Sym& size = input_type(n).sizes[d];
  require(n, can_be_equal(mod(size, sym_arg(n, "sections")), 0),
          "dimension {} of {} elements has no {} equal parts", d, size.str(),
          sym_arg(n, "sections").str());
}

// ---- reading through index maps

void check_flip(const Node& n) { require_dims(n, "dims", rank_of(n)); }

void check_roll(const Node& n) {
  size_t dims = ints_arg(n, "dims").size(), shifts = syms_arg(n, "shifts").size();
  require(n, shifts > 0 && (dims == shifts || (dims == 0 && shifts == 1)),
          "'shifts' has {} numbers, 'dims' {}", shifts, dims);
  for (int64_t d : ints_arg(n, "dims")) wrap_dim(d, rank_of(n), n);
  require(n, dims == 0 || rank_of(n) > 0, "'self' has no dimensions to roll");
}

void check_rot90(const Node& n) {
  require_rank(n, "self", 2);
  require_list(n, "dims", 2, std::numeric_limits<int64_t>::min());
  require_dims(n, "dims", rank_of(n));
}

void check_tile(const Node& n) { require_not_negative(n, "dims"); }

void check_pixel_shuffle(const Node& n) {
  require_rank(n, "self", 3);
  require_within(n, "upscale_factor", 1, 1 << 20);
  Sym f = sym_arg(n, "upscale_factor");
  const Sym& channels = input_type(n).sizes[input_type(n).rank() - 3];
  require(n, can_be_equal(mod(channels, f * f), 0),
          "'self' has {} channels, expected a multiple of {}", channels.str(), (f * f).str());
}

void check_pixel_unshuffle(const Node& n) {
  require_rank(n, "self", 3);
  require_within(n, "downscale_factor", 1, 1 << 20);
  Sym f = sym_arg(n, "downscale_factor");
  for (size_t d = input_type(n).rank() - 2; d < input_type(n).rank(); ++d)
    require(n, can_be_equal(mod(input_type(n).sizes[d], f), 0),
            "dimension {} has {} elements, expected a multiple of {}", d,
            input_type(n).sizes[d].str(), f.str());
}

void check_channel_shuffle(const Node& n) {
  require_rank(n, "self", 3);
  require_within(n, "groups", 1);
  require(n, can_be_equal(mod(input_type(n).sizes[1], sym_arg(n, "groups")), 0),
          "'self' has {} channels, which {} groups do not divide", input_type(n).sizes[1].str(),
          sym_arg(n, "groups").str());
}

}  // namespace

ArgumentRules view_rules() {
  return {
      {"aten.view", check_view},
      {"aten.view.dtype", nullptr},  // its type rule says what fits
      {"aten._unsafe_view", check_view},
      {"aten.view_copy", check_view},
      {"aten.view_copy.dtype", nullptr},
      {"aten._reshape_copy", check_view},
      {"aten._reshape_alias", check_reshape_alias},
      {"aten.reshape", check_reshape},
      {"aten.view_as", check_view_as},
      {"aten.reshape_as", check_view_as},
      {"aten.flatten", check_flatten},
      {"aten.unflatten", check_unflatten},
      {"aten.squeeze", check_squeeze},
      {"aten.squeeze_copy", check_squeeze},
      {"aten.permute", check_permute},
      {"aten.permute_copy", check_permute},
      {"aten.transpose", check_two_dims},
      {"aten.transpose_copy", check_two_dims},
      {"aten.swapdims", check_two_dims},
      {"aten.swapaxes", check_two_dims},
      {"aten.movedim", check_movedim},
      {"aten.moveaxis", check_movedim},
      {"aten.t", [](const Node& n) { require_rank(n, "self", 0, 2); }},
      {"aten.t_copy", [](const Node& n) { require_rank(n, "self", 0, 2); }},
      {"aten.mT", check_matrices<false>},
      {"aten.mH", check_matrices<false>},
      {"aten.adjoint", check_matrices<false>},
      {"aten.matrix_H", check_matrices<true>},
      {"aten.positive", [](const Node& n) { require_not_bool(n, "self"); }},
      {"aten.expand", check_expand},
      {"aten.expand_copy", check_expand},
      {"aten.broadcast_to", check_expand},
      {"aten.expand_as",
       [](const Node& n) { require_expandable(n, "self", sizes_of(n, "other")); }},
      {"aten.slice", check_slice},
      {"aten.slice_copy", check_slice},
      {"aten.narrow", check_narrow},
      {"aten.narrow_copy", check_narrow},
      {"aten.select", check_select},
      {"aten.select_copy", check_select},
      {"aten.diagonal", check_diagonal},
      {"aten.diagonal_copy", check_diagonal},
      {"aten.linalg_diagonal", check_diagonal},
      {"aten.diag_embed", check_diag_embed},
      {"aten.diag", [](const Node& n) { require_rank(n, "self", 1, 2); }},
      {"aten.unfold", check_unfold},
      {"aten.unfold_copy", check_unfold},
      {"aten.as_strided", check_as_strided},
      {"aten.as_strided_copy", check_as_strided},
      {"aten.resize", check_resize},
      {"aten.resize_as", check_resize_as},
      {"aten.resize_", check_resize_in_place},
      {"aten.slice_scatter", check_view_scatter<check_slice>},
      {"aten.select_scatter", check_view_scatter<check_select>},
      {"aten.diagonal_scatter", check_view_scatter<check_diagonal>},
      {"aten.as_strided_scatter", check_view_scatter<check_as_strided>},
      {"aten.split.Tensor", check_split},
      {"aten.split_copy", check_split},
      {"aten.unsafe_split", check_split},
      {"aten.chunk", check_split},
      {"aten.unsafe_chunk", check_split},
      {"aten.split.sizes", check_split_sizes<false>},
      {"aten.split_with_sizes", check_split_sizes<true>},
      {"aten.split_with_sizes_copy", check_split_sizes<true>},
      {"aten.unsafe_split_with_sizes", check_split_sizes<true>},
      {"aten.tensor_split", check_sections},
      {"aten.hsplit", check_fixed_split<1>},
      {"aten.vsplit", check_fixed_split<0>},
      {"aten.dsplit", check_fixed_split<2>},
      {"aten.unbind", [](const Node& n) { size_along(n, "dim"); }},
      {"aten.flip", check_flip},
      {"aten.fliplr", [](const Node& n) { require_rank(n, "self", 2); }},
      {"aten.flipud", [](const Node& n) { require_rank(n, "self", 1); }},
      {"aten.roll", check_roll},
      {"aten.rot90", check_rot90},
      {"aten.repeat", check_repeat},
      {"aten.tile", check_tile},
      {"aten.repeat_interleave.self_int", check_interleave},
      {"aten.pixel_shuffle", check_pixel_shuffle},
      {"aten.pixel_unshuffle", check_pixel_unshuffle},
      {"aten.channel_shuffle", check_channel_shuffle},
      {"aten.native_channel_shuffle", check_channel_shuffle},
      {"aotc.write_view", check_write_view},
  };
}

}  // namespace aotc
