// Changing the resolution of images: nearest and linear interpolation in one to three dimensions,
// bicubic in two; and the windows of im2col and col2im.
#include "ir/ops/resample.h"

#include <cmath>

#include "ir/ops/require.h"
#include "ir/ops/scalar_math.h"

namespace aotc {
namespace {

// ---- the core form: one dimension, sizes and scales given. scale 0: sizes alone decide

Types resized_type(const Node& n) {
  TensorType t = input_type(n);
  t.sizes[static_cast<size_t>(int_arg(n, "dim"))] = sym_arg(n, "size");
  return {contiguous_type(t.dtype, t.sizes, t.device)};
}

// Input elements per output element.
E ratio(KernelBuilder& k, const Node& n, DType t, bool align_corners) {
  const Sym& in = input_type(n).sizes[static_cast<size_t>(int_arg(n, "dim"))];
  Sym out = sym_arg(n, "size");
  double scale = double_arg(n, "scale");
  if (align_corners) {
    if (out.is(1)) return k.constant(0.0, t);
    return cast(k.index(in - 1), t) / cast(k.index(out - 1), t);
  }
  if (scale > 0) return k.constant(1.0 / scale, t);
  return cast(k.index(in), t) / cast(k.index(out), t);
}

E as_index(E position) { return cast(position, DType::Int64); }

E load_at(KernelBuilder& k, const Node& n, Index at, E position) {
  const Sym& size = input_type(n).sizes[static_cast<size_t>(int_arg(n, "dim"))];
  E clamped = minimum(maximum(position, k.constant(int64_t{0}, DType::Int64)), k.index(size - 1));
  at[static_cast<size_t>(int_arg(n, "dim"))] = k.value_of(clamped);
  return k.lowering().load(k, std::get<Value*>(n.args[0]), at);
}

// floor(i * ratio), or at the middle of the output element (exact).
E resized_nearest(KernelBuilder& k, const Node& n, const Index& index) {
  E i = cast(k.index(index[static_cast<size_t>(int_arg(n, "dim"))]), DType::Float32);
  E scale = ratio(k, n, DType::Float32, false);
  if (bool_arg(n, "exact")) i = i + 0.5;
  return load_at(k, n, index, as_index(floor(i * scale)));
}

// The position in the input that the middle of output element i stands for.
E source_position(KernelBuilder& k, const Node& n, const Index& index, DType t, bool cubic) {
  bool align = bool_arg(n, "align_corners");
  E i = cast(k.index(index[static_cast<size_t>(int_arg(n, "dim"))]), t),
    scale = ratio(k, n, t, align);
  if (align) return i * scale;
  E position = (i + 0.5) * scale - 0.5;
  return cubic ? position : maximum(position, like(position, 0));
}

E resized_linear(KernelBuilder& k, const Node& n, const Index& index) {
  DType t = compute_type(input_type(n).dtype);
  E position = source_position(k, n, index, t, false), low = floor(position);
  E weight = minimum(maximum(position - low, like(low, 0)), like(low, 1));
  E a = cast(load_at(k, n, index, as_index(low)), t);
  E b = cast(load_at(k, n, index, as_index(low) + k.constant(int64_t{1}, DType::Int64)), t);
  return a * (1.0 - weight) + b * weight;
}

// The cubic convolution kernel with a = -0.75, near (|x| <= 1) and far.
constexpr double kCubic = -0.75;
E cubic_near(E x) { return ((kCubic + 2) * x - (kCubic + 3)) * x * x + 1.0; }
E cubic_far(E x) { return ((kCubic * x - 5 * kCubic) * x + 8 * kCubic) * x - 4 * kCubic; }

E resized_cubic(KernelBuilder& k, const Node& n, const Index& index) {
  DType t = compute_type(input_type(n).dtype);
  E position = source_position(k, n, index, t, true), low = floor(position), x = position - low;
  E first = as_index(low);
  const E weights[] = {cubic_far(x + 1.0), cubic_near(x), cubic_near(1.0 - x), cubic_far(2.0 - x)};
  E sum = like(x, 0);
  for (int64_t i = 0; i < 4; ++i)
    sum = sum + cast(load_at(k, n, index, first + k.constant(i - 1, DType::Int64)), t) * weights[i];
  return sum;
}

Rows core_rows() {
  return {
      formula_op("aotc.resize_nearest(Tensor self, int dim, SymInt size, float scale, bool exact) "
                 "-> Tensor",
                 LoopsKind::Index, resized_type, resized_nearest),
      formula_op("aotc.resize_linear(Tensor self, int dim, SymInt size, float scale, bool "
                 "align_corners) -> Tensor",
                 LoopsKind::Index, resized_type, resized_linear),
      formula_op("aotc.resize_cubic(Tensor self, int dim, SymInt size, float scale, bool "
                 "align_corners) -> Tensor",
                 LoopsKind::Index, resized_type, resized_cubic),
  };
}

// ---- torch's spellings

// Dimension by dimension; linear and cubic ones in float32 for half types, rounded once.
OpDef resize_op(std::string_view schema, size_t spatial, std::string core,
                std::optional<bool> exact = {}) {
  return rewrite_op(schema, [=](Rewriter& r) {
    TensorExpr x{&r, std::get<Value*>(r.node.args[0])};
    DType result = x.dtype();
    ResizeTarget t = resize_target(r, x, spatial);
    bool flag = exact ? *exact : bool_arg(r.node, "align_corners");
    if (!exact) x = widened(x);
    for (size_t d = spatial; d-- > 0;)
      x = x.apply(core, {Sym(static_cast<int64_t>(d + 2)), t.sizes.at(d), t.scales.at(d), flag});
    return Values{x.cast(result)};
  });
}

Rows spellings() {
  Rows rows;
  const std::tuple<std::string_view, size_t, bool> nearest_rows[] = {
      {"aten.upsample_nearest1d.default(Tensor self, SymInt[1] output_size, float? scales=None) -> "
       "Tensor",
       1, false},
      {"aten.upsample_nearest1d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) "
       "-> Tensor",
       1, false},
      {"aten.upsample_nearest2d.default(Tensor self, SymInt[2] output_size, float? scales_h=None, "
       "float? scales_w=None) -> Tensor",
       2, false},
      {"aten.upsample_nearest2d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) "
       "-> Tensor",
       2, false},
      {"aten.upsample_nearest3d.default(Tensor self, SymInt[3] output_size, float? scales_d=None, "
       "float? scales_h=None, float? scales_w=None) -> Tensor",
       3, false},
      {"aten.upsample_nearest3d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) "
       "-> Tensor",
       3, false},
      {"aten._upsample_nearest_exact1d.default(Tensor self, SymInt[1] output_size, float? "
       "scales=None) -> Tensor",
       1, true},
      {"aten._upsample_nearest_exact1d.vec(Tensor input, SymInt[]? output_size, float[]? "
       "scale_factors) -> Tensor",
       1, true},
      {"aten._upsample_nearest_exact2d.default(Tensor self, SymInt[2] output_size, float? "
       "scales_h=None, float? scales_w=None) -> Tensor",
       2, true},
      {"aten._upsample_nearest_exact2d.vec(Tensor input, SymInt[]? output_size, float[]? "
       "scale_factors) -> Tensor",
       2, true},
      {"aten._upsample_nearest_exact3d.default(Tensor self, SymInt[3] output_size, float? "
       "scales_d=None, float? scales_h=None, float? scales_w=None) -> Tensor",
       3, true},
      {"aten._upsample_nearest_exact3d.vec(Tensor input, SymInt[]? output_size, float[]? "
       "scale_factors) -> Tensor",
       3, true},
  };
  for (auto [schema, spatial, exact] : nearest_rows)
    rows.push_back(resize_op(schema, spatial, "aotc.resize_nearest", exact));
  const std::pair<std::string_view, size_t> linear_rows[] = {
      {"aten.upsample_linear1d.default(Tensor self, SymInt[1] output_size, bool align_corners, "
       "float? scales=None) -> Tensor",
       1},
      {"aten.upsample_linear1d.vec(Tensor input, SymInt[]? output_size, bool align_corners, "
       "float[]? scale_factors) -> Tensor",
       1},
      {"aten.upsample_bilinear2d.default(Tensor self, SymInt[2] output_size, bool align_corners, "
       "float? scales_h=None, float? scales_w=None) -> Tensor",
       2},
      {"aten.upsample_bilinear2d.vec(Tensor input, SymInt[]? output_size, bool align_corners, "
       "float[]? scale_factors) -> Tensor",
       2},
      {"aten.upsample_trilinear3d.default(Tensor self, SymInt[3] output_size, bool align_corners, "
       "float? scales_d=None, float? scales_h=None, float? scales_w=None) -> Tensor",
       3},
      {"aten.upsample_trilinear3d.vec(Tensor input, SymInt[]? output_size, bool align_corners, "
       "float[]? scale_factors) -> Tensor",
       3},
  };
  for (auto [schema, spatial] : linear_rows)
    rows.push_back(resize_op(schema, spatial, "aotc.resize_linear"));
  rows.push_back(
      resize_op("aten.upsample_bicubic2d.default(Tensor self, SymInt[2] output_size, bool "
                "align_corners, float? scales_h=None, float? scales_w=None) -> Tensor",
                2, "aotc.resize_cubic"));
  rows.push_back(
      resize_op("aten.upsample_bicubic2d.vec(Tensor input, SymInt[]? output_size, bool "
                "align_corners, float[]? scale_factors) -> Tensor",
                2, "aotc.resize_cubic"));
  return rows;
}

// ---- windows as columns

struct Columns {
  Index kernel, dilation, padding, stride;
};

Columns columns_of(const Node& n) {
  auto pair = [&](std::string_view name) {
    Index v = syms_arg(n, name);
    if (v.size() == 1) v.push_back(v[0]);
    return v;
  };
  return {pair("kernel_size"), pair("dilation"), pair("padding"), pair("stride")};
}

// [N, C kh kw, windows]; an image without a batch dimension stays without one.
Values im2col(Rewriter& r) {
  Columns c = columns_of(r.node);
  TensorExpr x = in(r, "self");
  bool single = x.rank() == 3;
  if (single) x = x.unsqueeze(0);
  Index pad{c.padding[1], c.padding[1], c.padding[0], c.padding[0]};
  Sym batch = x.size(0), channels = x.size(1);
  x = x.apply("aten.constant_pad_nd.default", {pad, Sym(0)});
  for (size_t d = 0; d < 2; ++d) {
    Sym reach = c.dilation[d] * (c.kernel[d] - 1) + 1;
    x = x.apply("aten.unfold.default", {Sym(static_cast<int64_t>(d + 2)), reach, c.stride[d]});
    x = x.slice(-1, 0, reach, c.dilation[d]);
  }
  Sym windows = x.size(2) * x.size(3);
  x = x.permute({0, 1, 4, 5, 2, 3}).reshape({batch, channels * c.kernel[0] * c.kernel[1], windows});
  x = x.apply("aten.clone.default");
  return {single ? x.squeeze(0) : x};
}

// Every output element sums the column entries that were taken from it.
Types col2im_type(const Node& n) {
  const TensorType& t = input_type(n);
  Columns c = columns_of(n);
  Index sizes(t.sizes.begin(), t.sizes.end() - 2), out = syms_arg(n, "output_size");
  sizes.push_back(floordiv(t.sizes[t.rank() - 2], c.kernel[0] * c.kernel[1]));
  sizes.insert(sizes.end(), out.begin(), out.end());
  return {contiguous_type(t.dtype, sizes, t.device)};
}

void lower_col2im(Lowering& l, const Node& n) {
  Columns c = columns_of(n);
  Index out = syms_arg(n, "output_size");
  DType compute = compute_type(input_type(n).dtype);
  KernelBuilder k(l, l.unique_kernel_name("col2im"));
  Index index = k.axes(n.output()->type.sizes), taps = k.inner_axes(c.kernel), counts, window;
  E inside = k.boolean(true);
  for (size_t d = 0; d < 2; ++d) {
    Sym reach = c.dilation[d] * (c.kernel[d] - 1) + 1;
    counts.push_back(floordiv(out[d] + c.padding[d] * 2 - reach, c.stride[d]) + 1);
    Sym start = index[index.size() - 2 + d] + c.padding[d] - taps[d] * c.dilation[d];
    window.push_back(floordiv(start, c.stride[d]));
    E w = k.index(window[d]);
    inside = inside && (w >= 0.0) && (w < k.index(counts[d])) &&
             (k.index(window[d] * c.stride[d]) == k.index(start));
  }
  Index at(index.begin(), index.end() - 3);
  at.push_back((index[index.size() - 3] * c.kernel[0] + taps[0]) * c.kernel[1] + taps[1]);
  at.push_back(window[0] * counts[1] + window[1]);
  E value =
      l.load(k, std::get<Value*>(n.args[0]), at, inside, k.constant(0.0, input_type(n).dtype));
  int total = k.accumulate(Prim::add, cast(value, compute));
  k.begin_phase();
  k.store(l.output(n), index, k.result(total));
  l.finish(k, n);
}

}  // namespace

ResizeTarget resize_target(Rewriter& r, TensorExpr x, size_t spatial) {
  ResizeTarget t{{}, std::vector<double>(spatial, 0)};
  if (r.node.op->schema.index_of("scale_factors") >= 0) {
    if (auto* f = std::get_if<std::vector<double>>(&arg(r.node, "scale_factors"))) t.scales = *f;
  } else {
    const char* names[] = {"scales_d", "scales_h", "scales_w"};
    for (size_t d = 0; d < spatial; ++d) {
      const char* name = spatial == 1 ? "scales" : names[3 - spatial + d];
      if (!arg_is_none(r.node, name)) t.scales[d] = double_arg(r.node, name);
    }
  }
  require(r.node, t.scales.size() == spatial, "'scale_factors' has {} numbers, expected {}",
          t.scales.size(), spatial);
  t.sizes = syms_arg(r.node, "output_size");
  if (t.sizes.empty())
    for (size_t d = 0; d < spatial; ++d)
      t.sizes.push_back(floor_to_int(float_mul(float_number(t.scales[d]), x.sizes().at(d + 2))));
  require(r.node, t.sizes.size() == spatial, "'output_size' has {} numbers, expected {}",
          t.sizes.size(), spatial);
  return t;
}

Rows resample_ops() {
  Rows rows = core_rows();
  append(rows, spellings());
  append(rows,
         {
             rewrite_op("aten.im2col.default(Tensor self, int[2] kernel_size, int[2] dilation, "
                        "int[2] padding, int[2] stride) -> Tensor",
                        im2col),
             loops_op("aten.col2im.default(Tensor self, SymInt[2] output_size, int[2] kernel_size, "
                      "int[2] dilation, int[2] padding, int[2] stride) -> Tensor",
                      LoopsKind::Template, col2im_type, lower_col2im),
         });
  append(rows, grid_sample_ops());
  return rows;
}

}  // namespace aotc
