// Conditions of padding, of changing the resolution of images and of sampling them.
#include "ir/ops/arguments.h"

namespace aotc {
namespace {

// ---- pads: before and after, from the last dimension backwards

Index pad_numbers(const Node& n) {
  return syms_arg(n, n.op->schema.index_of("pad") >= 0 ? "pad" : "padding");
}

void require_pairs(const Node& n) {
  Index pad = pad_numbers(n);
  require(n, pad.size() % 2 == 0, "the padding has {} numbers, expected pairs", pad.size());
  require(n, pad.size() / 2 <= input_type(n).rank(), "the padding has {} pairs for {} dimensions",
          pad.size() / 2, input_rank(n));
}

// Where the padding is taken from the tensor: how far it may reach.
void require_padding_reach(const Node& n, std::string_view mode) {
  const Index& sizes = input_type(n).sizes;
  Index pad = pad_numbers(n);
  if (mode != "circular") require_elements(n, "self", sizes.size() == pad.size() / 2 + 2 ? 1 : 0);
  for (size_t i = 0; i < pad.size(); ++i) {
    const Sym& size = sizes[sizes.size() - 1 - i / 2];
    Sym most = mode == "reflect" ? size - 1 : size;
    require(n, can_hold(sym_ne(size, 0)), "a dimension without elements has nothing to pad with");
    require(n, mode == "replicate" || can_be_within(most - pad[i], 0),
            "a padding of {} is more than a dimension of {} elements allows", pad[i].str(),
            size.str());
    if (i % 2 == 1)
      require(n, can_be_within(size + pad[i] + pad[i - 1], 1),
              "the padding {} leaves nothing of {} elements", sizes_text(pad), size.str());
  }
}

template <size_t spatial, bool reflects>
void check_fixed_pad(const Node& n) {
  auto rank = static_cast<int64_t>(spatial);
  require_list(n, "padding", 2 * spatial, std::numeric_limits<int64_t>::min());
  require_rank(n, "self", rank + 1, rank + 2);
  require_padding_reach(n, reflects ? "reflect" : "replicate");
}

void check_pad(const Node& n) {
  require_pairs(n);
  require_word(n, "mode", {"constant", "reflect", "replicate", "circular"});
  const std::string& mode = std::get<std::string>(arg(n, "mode"));
  if (mode == "constant") return;
  require(n, arg_is_none(n, "value") || std::holds_alternative<double>(arg(n, "value")),
          "'value' is no number");
  size_t pairs = pad_numbers(n).size() / 2, rank = input_type(n).rank();
  require(n, pairs >= 1 && pairs <= 3 && (rank == pairs + 1 || rank == pairs + 2),
          "a padding of {} dimensions needs a tensor of {} or {} dimensions, found {}", pairs,
          pairs + 1, pairs + 2, rank);
  require_padding_reach(n, mode);
}

void check_circular(const Node& n) {
  require_pairs(n);
  require_padding_reach(n, "circular");
}

// ---- resolution

std::string_view image_name(const Node& n) { return n.op->schema.args[0].name; }

template <size_t spatial>
void check_upsample(const Node& n) {
  auto rank = static_cast<int64_t>(spatial) + 2;
  std::string_view image = image_name(n);
  require_rank(n, image, rank, rank);
  require_elements(n, image, 1);
  DType t = dtype_of(n, image);
  bool nearest = n.op->name().find("nearest") != std::string::npos;
  require(n, is_floating(t) || (nearest && t == DType::UInt8),
          "'{}' is {}, expected a floating-point type{}", image, name(t),
          nearest ? " or uint8" : "");
  bool sized = !arg_is_none(n, "output_size");
  if (sized) require_list(n, "output_size", spatial, 1);
  if (n.op->schema.index_of("scale_factors") < 0) return;
  const Arg& factors = arg(n, "scale_factors");
  require(n, sized == std::holds_alternative<None>(factors),
          "exactly one of 'output_size' and 'scale_factors' is expected");
  if (sized) return;
  auto* list = std::get_if<std::vector<double>>(&factors);
  require(n, list && list->size() == spatial, "'scale_factors' has {} numbers, expected {}",
          list ? list->size() : 0, spatial);
  for (size_t d = 0; d < spatial; ++d) {
    auto size = sizes_of(n, image)[d + 2].constant();
    double scale = (*list)[d];
    bool some = scale > 0 && scale < 1e9 && (!size || static_cast<double>(*size) * scale >= 1);
    require(n, some, "'scale_factors' has {}, of which a dimension of {} elements keeps none",
            scale, sizes_of(n, image)[d + 2].str());
  }
}

// ---- sampling

template <size_t spatial>  // 0: two or three
void check_grid_sampler(const Node& n) {
  auto low = static_cast<int64_t>(spatial == 3 ? 5 : 4),
       high = static_cast<int64_t>(spatial == 2 ? 4 : 5);
  require_rank(n, "input", low, high);
  auto rank = static_cast<int64_t>(sizes_of(n, "input").size());
  require_rank(n, "grid", rank, rank);
  require_same_dtype(n, {"input", "grid"});
  require_floating(n, "input");
  const Index &x = sizes_of(n, "input"), &grid = sizes_of(n, "grid");
  require(n, can_be_equal(x[0], grid[0]), "'input' has {} images, 'grid' {}", x[0].str(),
          grid[0].str());
  require(n, can_be_equal(grid.back(), rank - 2),
          "the last dimension of 'grid' has {} elements, expected {}", grid.back().str(), rank - 2);
  require_elements(n, "input", 2);
  require_within(n, "interpolation_mode", 0, 2);
  require_within(n, "padding_mode", 0, 2);
}

void check_affine_grid(const Node& n) {
  Index size = syms_arg(n, "size");
  require(n, size.size() == 4 || size.size() == 5, "'size' has {} numbers, expected 4 or 5",
          size.size());
  for (const Sym& s : size)
    require(n, can_be_within(s, 1), "'size' is {}, expected positive numbers", sizes_text(size));
  auto spatial = static_cast<int64_t>(size.size()) - 2;
  require_floating(n, "theta");
  require_sizes(n, "theta", {size[0], Sym(spatial), Sym(spatial + 1)});
}

}  // namespace

ArgumentRules image_rules() {
  return {
      {"aten.constant_pad_nd", require_pairs},
      {"aten.pad", check_pad},
      {"aten._pad_circular", check_circular},
      {"aten.reflection_pad1d", check_fixed_pad<1, true>},
      {"aten.reflection_pad2d", check_fixed_pad<2, true>},
      {"aten.reflection_pad3d", check_fixed_pad<3, true>},
      {"aten.replication_pad1d", check_fixed_pad<1, false>},
      {"aten.replication_pad2d", check_fixed_pad<2, false>},
      {"aten.replication_pad3d", check_fixed_pad<3, false>},
      {"aten.upsample_nearest1d", check_upsample<1>},
      {"aten.upsample_nearest2d", check_upsample<2>},
      {"aten.upsample_nearest3d", check_upsample<3>},
      {"aten._upsample_nearest_exact1d", check_upsample<1>},
      {"aten._upsample_nearest_exact2d", check_upsample<2>},
      {"aten._upsample_nearest_exact3d", check_upsample<3>},
      {"aten.upsample_linear1d", check_upsample<1>},
      {"aten.upsample_bilinear2d", check_upsample<2>},
      {"aten.upsample_trilinear3d", check_upsample<3>},
      {"aten.upsample_bicubic2d", check_upsample<2>},
      {"aten.grid_sampler", check_grid_sampler<0>},
      {"aten.grid_sampler_2d", check_grid_sampler<2>},
      {"aten.grid_sampler_3d", check_grid_sampler<3>},
      {"aten.affine_grid_generator", check_affine_grid},
  };
}

}  // namespace aotc
