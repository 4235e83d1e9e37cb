// Gradients of average pools: every element collects its share of the windows that hold it.
#include "ir/ops/scalar_math.h"
#include "ir/ops/tensor_expr.h"

namespace aotc {
namespace {

Types gradient_type(const Node& n) {
  const TensorType& t = tensor_arg(n, "self")->type;
  return {contiguous_type(t.dtype, t.sizes, t.device)};
}

// A kernel that sums `share` over a loop that adds its axes itself, for every element of the
// result. Half types round at every addition, as eager's kernels do.
template <typename Share>
void sum_shares(Lowering& l, const Node& n, const char* name, Share share) {
  DType type = n.output()->type.dtype;
  bool in_order = is_half(type);
  loops::BufferId result = l.output(n);
  KernelBuilder k(l, l.unique_kernel_name(name));
  Index out = k.axes(n.output()->type.sizes);
  if (in_order) {
    k.store(result, out, k.constant(0.0, type));
    k.begin_phase(true);
  }
  E value = share(k, out);
  if (in_order) {
    k.store(result, out, cast(value, type), {}, true);
  } else {
    int total = k.accumulate(Prim::add, value);
    k.begin_phase();
    k.store(result, out, k.result(total));
  }
  l.finish(k, n);
}

// What element `at` of the gradient gives to each of the `count` elements of its window; nothing
// where it lies outside.
E share_of(Lowering& l, KernelBuilder& k, const Node& n, const Index& at, E inside,
           const Sym& count) {
  Value* gradient = tensor_arg(n, "grad_output");
  DType type = gradient->type.dtype, compute = compute_type(type);
  E given = l.load(k, gradient, at, inside, k.constant(0.0, type));
  E divisor = where(inside, k.index(count), k.constant(int64_t{1}, DType::Int64));
  return cast(given, compute) / cast(divisor, compute);
}

Index listed(const Node& n, const char* name, size_t count, const Index& if_empty = {}) {
  Index v = syms_arg(n, name);
  if (v.empty()) v = if_empty;
  if (v.size() == 1) v.resize(count, Sym(v[0]));
  return v;
}

// The elements that a window from `start` on divides by, along one dimension.
Sym window_extent(const Node& n, const Sym& start, const Sym& kernel, const Sym& padding,
                  const Sym& size) {
  Sym end = sym_min(start + kernel, size + padding);
  if (bool_arg(n, "count_include_pad")) return end - start;
  return sym_min(end, size) - sym_max(start, 0);
}

template <size_t spatial>
void lower_average_backward(Lowering& l, const Node& n) {
  const Index &sizes = tensor_arg(n, "self")->type.sizes,
              &windows = tensor_arg(n, "grad_output")->type.sizes;
  Index kernel = listed(n, "kernel_size", spatial), stride = listed(n, "stride", spatial, kernel),
        padding = listed(n, "padding", spatial);
  size_t first = sizes.size() - spatial;
  sum_shares(l, n, "avg_pool_backward", [&](KernelBuilder& k, const Index& out) {
    Index at = out, taps = k.inner_axes(kernel);
    E inside = k.boolean(true);
    Sym count = 1;
    for (size_t d = 0; d < spatial; ++d) {
      // Taps run backwards, so that windows come in ascending order.
      Sym scaled = out[first + d] + padding[d] - (kernel[d] - 1 - taps[d]);
      at[first + d] = floordiv(scaled, stride[d]);
      E window = k.index(at[first + d]);
      inside = inside && (window >= 0.0) && (window < k.index(windows[first + d]));
      if (!stride[d].is(1))
        inside = inside && (k.index(at[first + d] * stride[d]) == k.index(scaled));
      count = count * window_extent(n, at[first + d] * stride[d] - padding[d], kernel[d],
                                    padding[d], sizes[first + d]);
    }
    if (!arg_is_none(n, "divisor_override")) count = sym_arg(n, "divisor_override");
    return share_of(l, k, n, at, inside, count);
  });
}

// Window o covers floor(o in / out) to ceil((o + 1) in / out); element i lies in the windows from
// floor(i out / in) up to ceil((i + 1) out / in).
template <size_t spatial>
void lower_adaptive_backward(Lowering& l, const Node& n) {
  const Index &sizes = tensor_arg(n, "self")->type.sizes,
              &windows = tensor_arg(n, "grad_output")->type.sizes;
  size_t first = sizes.size() - spatial;
  sum_shares(l, n, "adaptive_avg_pool_backward", [&](KernelBuilder& k, const Index& out) {
    Index at = out;
    E inside = k.boolean(true);
    Sym count = 1;
    for (size_t d = first; d < sizes.size(); ++d) {
      const Sym &in = sizes[d], &w = windows[d];
      bool even = mod(w, in).is(0);
      Sym begin = floordiv(out[d] * w, in);
      at[d] = begin + k.inner_axis(even ? floordiv(w, in) : sym_min(floordiv(w, in) + 2, w));
      if (!even) inside = inside && (k.index(at[d]) < k.index(ceildiv((out[d] + 1) * w, in)));
      Sym some = w.is(0) ? Sym(1) : w;
      count = count * (ceildiv((at[d] + 1) * in, some) - floordiv(at[d] * in, some));
    }
    return share_of(l, k, n, at, inside, count);
  });
}

OpDef gradient_op(std::string_view schema, void (*lower)(Lowering&, const Node&)) {
  return loops_op(schema, LoopsKind::Template, gradient_type, lower);
}

}  // namespace

Rows pool_backward_ops() {
  return {
      gradient_op("aten.avg_pool2d_backward.default(Tensor grad_output, Tensor self, int[2] "
                  "kernel_size, int[2] stride, int[2] padding, bool ceil_mode, bool "
                  "count_include_pad, int? divisor_override) -> Tensor",
                  lower_average_backward<2>),
      gradient_op("aten.avg_pool3d_backward.default(Tensor grad_output, Tensor self, int[3] "
                  "kernel_size, int[3] stride, int[3] padding, bool ceil_mode, bool "
                  "count_include_pad, int? divisor_override) -> Tensor",
                  lower_average_backward<3>),
      gradient_op(
          "aten._adaptive_avg_pool2d_backward.default(Tensor grad_output, Tensor self) -> Tensor",
          lower_adaptive_backward<2>),
      gradient_op(
          "aten._adaptive_avg_pool3d_backward.default(Tensor grad_output, Tensor self) -> Tensor",
          lower_adaptive_backward<3>),
  };
}

}  // namespace aotc
