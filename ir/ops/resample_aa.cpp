// Resizing images with a filter that widens as the image shrinks (antialias): each dimension by
// itself, width first.
#include <cmath>

#include "ir/ops/resample.h"
#include "ir/ops/scalar_math.h"

namespace aotc {
Rows antialias_ops();
namespace {

Types resized_type(const Node& n) {
  const TensorType& t = input_type(n);
  if (!is_floating(t.dtype))
    unsupported(n, fmt::format("antialiasing of {}", name(t.dtype)), "cast to float32 first");
  Index sizes = t.sizes;
  sizes[dim_arg(n)] = sym_arg(n, "size");
  return {contiguous_type(t.dtype, sizes, t.device)};
}

// How many elements of the input one element of the result stands for.
E ratio(KernelBuilder& k, const Node& n, const Sym& from, const Sym& to, DType t) {
  auto number = [&](const Sym& s) { return cast(k.index(s), t); };
  if (bool_arg(n, "align_corners"))
    return to.is(1) ? k.constant(0.0, t) : number(from - 1) / number(to - 1);
  double factor = double_arg(n, "factor");
  return factor > 0 ? k.constant(1 / factor, t) : number(from) / number(to);
}

// Taps that a window can have; where that is not known, all elements.
Sym tap_count(const Node& n, const Sym& from, const Sym& to, double radius) {
  auto in = from.constant(), out = to.constant();
  if (!in || !out || *out == 0) return from;
  double factor = double_arg(n, "factor"),
         scale = factor > 0 ? 1 / factor : static_cast<double>(*in) / static_cast<double>(*out);
  if (bool_arg(n, "align_corners"))
    scale = *out > 1 ? static_cast<double>(*in - 1) / static_cast<double>(*out - 1) : 0;
  double support = radius * std::max(scale, 1.0);
  return sym_min(Sym(static_cast<int64_t>(std::ceil(support)) * 2 + 1), from);
}

E linear_filter(E x) { return where(x < 1.0, 1.0 - x, 0.0); }

// Keys' cubic with a = -1/2.
E cubic_filter(E x) {
  E inner = (x * 1.5 - 2.5) * x * x + 1.0;
  E outer = (((x - 5.0) * x + 8.0) * x - 4.0) * -0.5;
  return where(x < 1.0, inner, where(x < 2.0, outer, like(x, 0)));
}

void lower_resize(Lowering& l, const Node& n) {
  Value* self = self_of(n);
  size_t dim = dim_arg(n);
  bool cubic = bool_arg(n, "cubic");
  double radius = cubic ? 2 : 1;
  DType type = self->type.dtype, t = compute_type(type);
  Sym from = self->type.sizes[dim], to = sym_arg(n, "size");
  KernelBuilder k(l, l.unique_kernel_name("antialias"));
  Index at = k.axes(n.output()->type.sizes);
  E scale = ratio(k, n, from, to, t), shrink = maximum(scale, like(scale, 1));
  E center = (cast(k.index(at[dim]), t) + 0.5) * scale, support = shrink * radius;
  E zero = k.constant(int64_t{0}, DType::Int64), size = k.index(from);
  E first = maximum(cast(center - support + 0.5, DType::Int64), zero);
  E end = minimum(cast(center + support + 0.5, DType::Int64), size);
  Sym tap = k.inner_axis(tap_count(n, from, to, radius)), place = k.value_of(first) + tap;
  E inside = k.index(place) < end;
  E distance = abs((cast(k.index(place), t) - center + 0.5) / shrink);
  E weight = where(inside, cubic ? cubic_filter(distance) : linear_filter(distance), 0.0);
  Index source = at;
  source[dim] = place;
  E element = cast(l.load(k, self, source, inside, k.constant(0.0, type)), t);
  int total = k.accumulate(Prim::add, weight * element), weights = k.accumulate(Prim::add, weight);
  k.begin_phase();
  k.store(l.output(n), at, k.result(total) / k.result(weights));
  l.finish(k, n);
}

OpDef antialias_op(std::string_view schema, bool cubic) {
  return rewrite_op(schema, [cubic](Rewriter& r) {
    TensorExpr x{&r, std::get<Value*>(r.node.args[0])};
    if (x.rank() != 4)
      unsupported(r.node, "an image without four dimensions", "add a batch dimension");
    const ResizeTarget t = resize_target(r, x, 2);
    const bool corners = bool_arg(r.node, "align_corners");
    for (size_t d : {1, 0})
      x = x.apply("aotc.antialias",
                  {Sym(static_cast<int64_t>(d) + 2), t.sizes[d], t.scales[d], corners, cubic});
    return Values{x};
  });
}

}  // namespace

Rows antialias_ops() {
  return {
      loops_op("aotc.antialias(Tensor self, int dim, SymInt size, float factor, bool "
               "align_corners, bool cubic) -> Tensor",
               LoopsKind::Template, resized_type, lower_resize),
      antialias_op("aten._upsample_bilinear2d_aa.default(Tensor self, SymInt[2] output_size, bool "
                   "align_corners, float? scales_h=None, float? scales_w=None) -> Tensor",
                   false),
      antialias_op("aten._upsample_bicubic2d_aa.default(Tensor self, SymInt[2] output_size, bool "
                   "align_corners, float? scales_h=None, float? scales_w=None) -> Tensor",
                   true),
      antialias_op("aten._upsample_bilinear2d_aa.vec(Tensor input, SymInt[]? output_size, bool "
                   "align_corners, float[]? scale_factors) -> Tensor",
                   false),
      antialias_op("aten._upsample_bicubic2d_aa.vec(Tensor input, SymInt[]? output_size, bool "
                   "align_corners, float[]? scale_factors) -> Tensor",
                   true),
  };
}

}  // namespace aotc
