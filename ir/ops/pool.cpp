// Pooling over windows of one to three spatial dimensions: maxima with positions, averages, and the
// adaptive forms, whose windows follow from the output size.
#include "ir/ops/index_math.h"
#include "ir/ops/scalar_math.h"
#include "ir/ops/tensor_expr.h"

namespace aotc {
namespace {

// Windows over the last kernel.size() dimensions.
struct Windows {
  Index kernel, stride, padding, dilation;
  bool ceil_mode = false;
  size_t spatial() const { return kernel.size(); }
};

Index per_dimension(Index v, size_t spatial) {
  if (v.size() == 1) v.resize(spatial, Sym(v[0]));
  return v;
}

Windows windows_of(const Node& n) {
  Windows w;
  w.kernel = syms_arg(n, "kernel_size");
  size_t spatial = w.kernel.size();
  std::string_view type =
      n.op->schema.args[static_cast<size_t>(n.op->schema.index_of("kernel_size"))].type;
  if (type.find('[') + 1 < type.size())
    spatial = static_cast<size_t>(type[type.find('[') + 1] - '0');
  w.kernel = per_dimension(w.kernel, spatial);
  w.stride = per_dimension(syms_arg(n, "stride"), spatial);
  if (w.stride.empty()) w.stride = w.kernel;
  w.padding = per_dimension(syms_arg(n, "padding"), spatial);
  w.dilation = Index(spatial, Sym(1));
  if (n.op->schema.index_of("dilation") >= 0)
    w.dilation = per_dimension(syms_arg(n, "dilation"), spatial);
  w.ceil_mode = n.op->schema.index_of("ceil_mode") >= 0 && bool_arg(n, "ceil_mode");
  return w;
}

// With ceil_mode a last window counts if it starts inside the input or its left padding.
Sym window_count(const Windows& w, size_t d, const Sym& size) {
  Sym span = size + w.padding[d] * 2 - w.dilation[d] * (w.kernel[d] - 1) - 1;
  if (!w.ceil_mode) return floordiv(span, w.stride[d]) + 1;
  Sym count = ceildiv(span, w.stride[d]) + 1;
  Sym starts_late = sym_le(size + w.padding[d], (count - 1) * w.stride[d]);
  return count - starts_late;
}

Index pooled_sizes(const Windows& w, const TensorType& t) {
  Index sizes = t.sizes;
  size_t first = t.rank() - w.spatial();
  for (size_t d = 0; d < w.spatial(); ++d)
    sizes[first + d] = window_count(w, d, t.sizes[first + d]);
  return sizes;
}

// Position in the input of tap `tap` of the window at `index`, and whether it exists.
struct Tap {
  Index at;
  E inside;
};

Tap tap_of(KernelBuilder& k, const Windows& w, const TensorType& t, const Index& index,
           const Index& tap) {
  Tap result{index, k.boolean(true)};
  size_t first = t.rank() - w.spatial();
  for (size_t d = 0; d < w.spatial(); ++d) {
    Sym position = index[first + d] * w.stride[d] - w.padding[d] + tap[d] * w.dilation[d];
    result.at[first + d] = position;
    E p = k.index(position);
    if (!w.padding[d].is(0)) result.inside = result.inside && (p >= 0.0);
    if (!w.padding[d].is(0) || w.ceil_mode)
      result.inside = result.inside && (p < k.index(t.sizes[first + d]));
  }
  return result;
}

// ---- maxima: values, and positions in the flattened spatial dimensions

Types max_types(const Node& n) {
  const TensorType& t = input_type(n);
  Index sizes = pooled_sizes(windows_of(n), t);
  return {contiguous_type(t.dtype, sizes, t.device),
          contiguous_type(DType::Int64, sizes, t.device)};
}

E lowest(KernelBuilder& k, DType t) {
  if (is_floating(t)) return k.constant(-INFINITY, t);
  if (is_bool(t)) return k.boolean(false);
  auto bits = 8 * element_size(t);
  return k.constant(is_signed_integer(t) ? INT64_MIN >> (64 - bits) : int64_t{0}, t);
}

Sym flat_position(const TensorType& t, const Index& at, size_t spatial) {
  Sym position = 0;
  for (size_t d = t.rank() - spatial; d < t.rank(); ++d) position = position * t.sizes[d] + at[d];
  return position;
}

// The greatest value and its position: the first one's, but the last NaN's, as eager's comparison
// (greater than the greatest so far, or NaN) has it. Positions outside of the input are INT64_MAX.
void store_best(Lowering& l, const Node& n, KernelBuilder& k, const Index& index, E value,
                E position) {
  auto [best, place] = k.accumulate_best(Prim::maximum, value, position);
  const bool may_be_nan = is_floating(value.dtype());
  int last_nan = -1;
  if (may_be_nan)
    last_nan = k.accumulate(Prim::maximum,
                            where(isnan(value), position, k.constant(int64_t{-1}, DType::Int64)));
  k.begin_phase();
  k.store(l.output(n, 0), index, k.result(best));
  E at = k.result(place);
  if (may_be_nan) at = where(isnan(k.result(best)), k.result(last_nan), at);
  k.store(l.output(n, 1), index, at);
  l.finish(k, n);
}

void lower_max(Lowering& l, const Node& n) {
  Windows w = windows_of(n);
  const TensorType& t = input_type(n);
  KernelBuilder k(l, l.unique_kernel_name("max_pool"));
  Index index = k.axes(n.output()->type.sizes), taps = k.inner_axes(w.kernel);
  Tap tap = tap_of(k, w, t, index, taps);
  DType compute = compute_type(t.dtype);
  E value =
      cast(l.load(k, std::get<Value*>(n.args[0]), tap.at, tap.inside, lowest(k, t.dtype)), compute);
  E position = where(tap.inside, k.index(flat_position(t, tap.at, w.spatial())),
                     k.constant(INT64_MAX, DType::Int64));
  store_best(l, n, k, index, value, position);
}

OpDef max_op(std::string_view schema) {
  return loops_op(schema, LoopsKind::Template, max_types, lower_max);
}

OpDef max_values_op(std::string_view schema, const char* core) {
  return rewrite_op(schema,
                    [core](Rewriter& r) { return Values{r.emit(core, r.node.args)->output(0)}; });
}

// ---- averages

Types average_type(const Node& n) {
  const TensorType& t = input_type(n);
  return {contiguous_type(t.dtype, pooled_sizes(windows_of(n), t), t.device)};
}

// How many elements the window at `index` counts: those of the input, or with its padding.
E window_size(KernelBuilder& k, const Node& n, const Windows& w, const TensorType& t,
              const Index& index) {
  bool has_divisor = n.op->schema.index_of("divisor_override") >= 0;
  if (has_divisor && !arg_is_none(n, "divisor_override"))
    return k.index(sym_arg(n, "divisor_override"));
  bool padding_counts = bool_arg(n, "count_include_pad");
  Sym count = 1;
  size_t first = t.rank() - w.spatial();
  for (size_t d = 0; d < w.spatial(); ++d) {
    Sym start = index[first + d] * w.stride[d] - w.padding[d];
    Sym end = sym_min(start + w.kernel[d], t.sizes[first + d] + w.padding[d]);
    if (!padding_counts) {
      start = sym_max(start, 0);
      end = sym_min(end, t.sizes[first + d]);
    }
    count = count * (end - start);
  }
  return k.index(count);
}

void lower_average(Lowering& l, const Node& n) {
  Windows w = windows_of(n);
  const TensorType& t = input_type(n);
  DType compute = compute_type(t.dtype);
  KernelBuilder k(l, l.unique_kernel_name("avg_pool"));
  Index index = k.axes(n.output()->type.sizes), taps = k.inner_axes(w.kernel);
  Tap tap = tap_of(k, w, t, index, taps);
  E value = l.load(k, std::get<Value*>(n.args[0]), tap.at, tap.inside, k.constant(0.0, t.dtype));
  int total = k.accumulate(Prim::add, cast(value, compute));
  k.begin_phase();
  Prim divide = is_floating(compute) ? Prim::div : Prim::trunc_divide;
  k.store(l.output(n), index,
          binary(divide, k.result(total), cast(window_size(k, n, w, t, index), compute)));
  l.finish(k, n);
}

OpDef average_op(std::string_view schema) {
  return loops_op(schema, LoopsKind::Template, average_type, lower_average);
}

// ---- adaptive: window i covers floor(i n / m) to ceil((i + 1) n / m)

Index adaptive_sizes(const Node& n) {
  const TensorType& t = input_type(n);
  Index sizes = t.sizes, out = syms_arg(n, "output_size");
  if (sizes.size() < out.size())
    user_error("{}: node '{}' ({}): output_size has {} dimensions, the input {}", n.source.str(),
               n.name, n.op->name(), out.size(), sizes.size());
  size_t first = t.rank() - out.size();
  for (size_t d = 0; d < out.size(); ++d) sizes[first + d] = out[d];
  return sizes;
}

struct AdaptiveTap {
  Index at;
  E inside;
  Sym count;  // elements of the window
};

AdaptiveTap adaptive_tap(KernelBuilder& k, const TensorType& t, const Index& sizes, size_t spatial,
                         const Index& index) {
  AdaptiveTap tap{index, k.boolean(true), 1};
  for (size_t d = t.rank() - spatial; d < t.rank(); ++d) {
    const Sym &in = t.sizes[d], out = sizes[d].is(0) ? Sym(1) : sizes[d];  // of none, any windows
    Sym start = floordiv(index[d] * in, out), end = ceildiv((index[d] + 1) * in, out);
    Sym longest = mod(in, out).is(0) ? floordiv(in, out) : floordiv(in, out) + 2;
    Sym i = k.inner_axis(sym_min(longest, in));
    tap.at[d] = start + i;
    if (!mod(in, out).is(0)) tap.inside = tap.inside && (k.index(start + i) < k.index(end));
    tap.count = tap.count * (end - start);
  }
  return tap;
}

Types adaptive_average_type(const Node& n) {
  const TensorType& t = input_type(n);
  return {contiguous_type(t.dtype, adaptive_sizes(n), t.device)};
}

void lower_adaptive_average(Lowering& l, const Node& n) {
  const TensorType& t = input_type(n);
  DType compute = compute_type(t.dtype);
  KernelBuilder k(l, l.unique_kernel_name("adaptive_avg_pool"));
  Index index = k.axes(n.output()->type.sizes);
  AdaptiveTap tap = adaptive_tap(k, t, adaptive_sizes(n), syms_arg(n, "output_size").size(), index);
  E value = l.load(k, std::get<Value*>(n.args[0]), tap.at, tap.inside, k.constant(0.0, t.dtype));
  int total = k.accumulate(Prim::add, cast(value, compute));
  k.begin_phase();
  k.store(l.output(n), index, k.result(total) / cast(k.index(tap.count), compute));
  l.finish(k, n);
}

Types adaptive_max_types(const Node& n) {
  const TensorType& t = input_type(n);
  Index sizes = adaptive_sizes(n);
  return {contiguous_type(t.dtype, sizes, t.device),
          contiguous_type(DType::Int64, sizes, t.device)};
}

void lower_adaptive_max(Lowering& l, const Node& n) {
  const TensorType& t = input_type(n);
  size_t spatial = syms_arg(n, "output_size").size();
  KernelBuilder k(l, l.unique_kernel_name("adaptive_max_pool"));
  Index index = k.axes(n.output()->type.sizes);
  AdaptiveTap tap = adaptive_tap(k, t, adaptive_sizes(n), spatial, index);
  E value = cast(l.load(k, std::get<Value*>(n.args[0]), tap.at, tap.inside, lowest(k, t.dtype)),
                 compute_type(t.dtype));
  E position = where(tap.inside, k.index(flat_position(t, tap.at, spatial)),
                     k.constant(INT64_MAX, DType::Int64));
  store_best(l, n, k, index, value, position);
}

OpDef adaptive_average_op(std::string_view schema) {
  return loops_op(schema, LoopsKind::Template, adaptive_average_type, lower_adaptive_average);
}
OpDef adaptive_max_op(std::string_view schema) {
  return loops_op(schema, LoopsKind::Template, adaptive_max_types, lower_adaptive_max);
}

// ---- unpooling and gradients: values to positions of the flattened spatial dimensions

// Zeros of `sizes` with the source's elements at their positions; they add up, or the last one
// stays.
Values scatter_to_positions(TensorExpr source, TensorExpr positions, const Index& sizes,
                            size_t spatial, bool add) {
  auto flat = [&](const Index& s) {
    Index f(s.begin(), s.end() - static_cast<std::ptrdiff_t>(spatial));
    f.push_back(product(Index(s.end() - static_cast<std::ptrdiff_t>(spatial), s.end())));
    return f;
  };
  TensorExpr zeros{source.r, source.r->full(flat(sizes), 0, source.dtype())};
  TensorExpr at = positions.reshape(flat(positions.sizes())),
             values = source.reshape(flat(source.sizes()));
  const char* op = add ? "aten.scatter_add.default" : "aten.scatter.src";
  return {zeros.apply(op, {Sym(zeros.rank() - 1), at.v, values.v}).reshape(sizes)};
}

Values unpool(Rewriter& r) {
  TensorExpr self = in(r, "self");
  Index out = syms_arg(r.node, "output_size"), sizes = self.sizes();
  std::copy(out.begin(), out.end(), sizes.end() - static_cast<std::ptrdiff_t>(out.size()));
  return scatter_to_positions(self, in(r, "indices"), sizes, out.size(), false);
}

OpDef max_backward_op(std::string_view schema, size_t spatial) {
  return rewrite_op(schema, [spatial](Rewriter& r) {
    return scatter_to_positions(in(r, "grad_output"), in(r, "indices"), in(r, "self").sizes(),
                                spatial, true);
  });
}

}  // namespace

Rows pool_ops() {
  return {
      max_op(
          "aten.max_pool2d_with_indices.default(Tensor self, int[2] kernel_size, int[2] stride=[], "
          "int[2] padding=0, int[2] dilation=1, bool ceil_mode=False) -> (Tensor, Tensor)"),
      max_op(
          "aten.max_pool3d_with_indices.default(Tensor self, int[3] kernel_size, int[3] stride=[], "
          "int[3] padding=0, int[3] dilation=1, bool ceil_mode=False) -> (Tensor, Tensor)"),
      max_op(
          "aten.max_pool1d_with_indices.default(Tensor self, int[1] kernel_size, int[1] stride=[], "
          "int[1] padding=[0], int[1] dilation=[1], bool ceil_mode=False) -> (Tensor, Tensor)"),
      max_values_op("aten.max_pool1d.default(Tensor self, int[1] kernel_size, int[1] stride=[], "
                    "int[1] padding=[0], int[1] dilation=[1], bool ceil_mode=False) -> Tensor",
                    "aten.max_pool1d_with_indices.default"),
      max_values_op("aten.max_pool2d.default(Tensor self, int[2] kernel_size, int[2] stride=[], "
                    "int[2] padding=0, int[2] dilation=1, bool ceil_mode=False) -> Tensor",
                    "aten.max_pool2d_with_indices.default"),
      max_values_op("aten.max_pool3d.default(Tensor self, int[3] kernel_size, int[3] stride=[], "
                    "int[3] padding=0, int[3] dilation=1, bool ceil_mode=False) -> Tensor",
                    "aten.max_pool3d_with_indices.default"),
      average_op(
          "aten.avg_pool1d.default(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] "
          "padding=[0], bool ceil_mode=False, bool count_include_pad=True) -> Tensor"),
      average_op("aten.avg_pool2d.default(Tensor self, int[2] kernel_size, int[2] stride=[], "
                 "int[2] padding=0, bool ceil_mode=False, bool count_include_pad=True, int? "
                 "divisor_override=None) -> Tensor"),
      average_op("aten.avg_pool3d.default(Tensor self, int[3] kernel_size, int[3] stride=[], "
                 "int[3] padding=0, bool ceil_mode=False, bool count_include_pad=True, int? "
                 "divisor_override=None) -> Tensor"),
      adaptive_average_op(
          "aten.adaptive_avg_pool1d.default(Tensor self, int[1] output_size) -> Tensor"),
      adaptive_average_op(
          "aten.adaptive_avg_pool2d.default(Tensor self, SymInt[2] output_size) -> Tensor"),
      adaptive_average_op(
          "aten.adaptive_avg_pool3d.default(Tensor self, SymInt[3] output_size) -> Tensor"),
      adaptive_average_op(
          "aten._adaptive_avg_pool2d.default(Tensor self, SymInt[2] output_size) -> Tensor"),
      adaptive_average_op(
          "aten._adaptive_avg_pool3d.default(Tensor self, SymInt[3] output_size) -> Tensor"),
      adaptive_max_op(
          "aten.adaptive_max_pool1d.default(Tensor self, int[1] output_size) -> (Tensor, Tensor)"),
      adaptive_max_op(
          "aten.adaptive_max_pool2d.default(Tensor self, int[2] output_size) -> (Tensor, Tensor)"),
      adaptive_max_op(
          "aten.adaptive_max_pool3d.default(Tensor self, int[3] output_size) -> (Tensor, Tensor)"),
      rewrite_op(
          "aten.max_unpool2d.default(Tensor self, Tensor indices, SymInt[2] output_size) -> Tensor",
          unpool),
      rewrite_op("aten.max_unpool3d.default(Tensor self, Tensor indices, SymInt[3] output_size, "
                 "int[3] stride, int[3] padding) -> Tensor",
                 unpool),
      max_backward_op("aten.max_pool2d_with_indices_backward.default(Tensor grad_output, Tensor "
                      "self, int[2] kernel_size, int[2] stride, int[2] padding, int[2] dilation, "
                      "bool ceil_mode, Tensor indices) -> Tensor",
                      2),
      max_backward_op("aten.max_pool3d_with_indices_backward.default(Tensor grad_output, Tensor "
                      "self, int[3] kernel_size, int[3] stride, int[3] padding, int[3] dilation, "
                      "bool ceil_mode, Tensor indices) -> Tensor",
                      3),
  };
}

}  // namespace aotc
