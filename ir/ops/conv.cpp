// Convolutions of one to three spatial dimensions. Channel-mixing ones are matrix products over
// windows of the padded input; depthwise and transposed ones are loops.
#include <algorithm>

#include "ir/ops/convolution.h"
#include "ir/ops/require.h"
#include "ir/ops/scalar_math.h"

namespace aotc {

Index per_spatial_dimension(Index v, size_t spatial) {
  if (v.size() == 1) v.resize(spatial, Sym(v[0]));
  return v;
}

TensorExpr convolution_windows(TensorExpr x, const Convolution& c) {
  size_t spatial = c.spatial();
  bool pads =
      std::any_of(c.padding.begin(), c.padding.end(), [](const Sym& p) { return !p.is(0); });
  if (pads) {
    Index pad;
    for (size_t d = spatial; d-- > 0;) pad.insert(pad.end(), {c.padding[d], c.padding[d]});
    x = x.apply("aten.constant_pad_nd.default", {pad, 0.0});
  }
  Index grouped{x.size(0), c.groups, floordiv(x.size(1), c.groups)};
  for (size_t d = 0; d < spatial; ++d) grouped.push_back(x.sizes()[d + 2]);
  x = x.reshape(grouped);
  for (size_t d = 0; d < spatial; ++d) {
    const Sym& taps = c.weight->type.sizes[d + 2];
    Sym reach = c.dilation[d] * (taps - 1) + 1;
    auto dim = static_cast<int64_t>(d + 3);
    x = x.apply("aten.unfold.default", {Sym(dim), reach, c.stride[d]});
    x = x.slice(-1, 0, reach, c.dilation[d]);
  }
  return x;
}

namespace {

Convolution convolution_of(const Node& n) {
  Convolution c{
      tensor_arg(n, "input"),    tensor_arg(n, "weight"), tensor_arg(n, "bias"), {}, {}, {}, {},
      bool_arg(n, "transposed"), sym_arg(n, "groups")};
  c.stride = per_spatial_dimension(syms_arg(n, "stride"), c.spatial());
  c.padding = per_spatial_dimension(syms_arg(n, "padding"), c.spatial());
  c.dilation = per_spatial_dimension(syms_arg(n, "dilation"), c.spatial());
  c.output_padding = per_spatial_dimension(syms_arg(n, "output_padding"), c.spatial());
  return c;
}

Sym window_count(const Convolution& c, size_t d) {
  Sym reach = c.dilation[d] * (c.weight->type.sizes[d + 2] - 1) + 1;
  return floordiv(c.input->type.sizes[d + 2] + c.padding[d] * 2 - reach, c.stride[d]) + 1;
}

Sym transposed_size(const Convolution& c, size_t d) {
  return (c.input->type.sizes[d + 2] - 1) * c.stride[d] - c.padding[d] * 2 +
         c.dilation[d] * (c.weight->type.sizes[d + 2] - 1) + c.output_padding[d] + 1;
}

Index result_sizes(const Convolution& c) {
  const Index& w = c.weight->type.sizes;
  Index sizes{c.input->type.sizes[0], c.transposed ? w[1] * c.groups : w[0]};
  for (size_t d = 0; d < c.spatial(); ++d)
    sizes.push_back(c.transposed ? transposed_size(c, d) : window_count(c, d));
  return sizes;
}

// ---- depthwise convolutions as loops

Types direct_type(const Node& n) {
  Convolution c = convolution_of(n);
  return {contiguous_type(c.input->type.dtype, result_sizes(c), c.input->type.device)};
}

E between(KernelBuilder& k, const Sym& position, const Sym& size) {
  E p = k.index(position);
  return (p >= 0.0) && (p < k.index(size));
}

void lower_direct(Lowering& l, const Node& n) {
  Convolution c = convolution_of(n);
  DType type = c.input->type.dtype, compute = compute_type(type);
  const Index& w = c.weight->type.sizes;
  KernelBuilder k(l, l.unique_kernel_name("convolution"));
  Index out = k.axes(n.output()->type.sizes);
  Sym in_channels = floordiv(c.input->type.sizes[1], c.groups);
  Sym group = floordiv(out[1], floordiv(w[0], c.groups)), channel = k.inner_axis(in_channels);
  Index tap = k.inner_axes(Index(w.begin() + 2, w.end()));
  Index at{out[0], group * in_channels + channel}, weight_at{out[1], channel};
  E inside = k.boolean(true);
  for (size_t d = 0; d < c.spatial(); ++d) {
    at.push_back(out[d + 2] * c.stride[d] - c.padding[d] + tap[d] * c.dilation[d]);
    weight_at.push_back(tap[d]);
    if (!c.padding[d].is(0)) inside = inside && between(k, at.back(), c.input->type.sizes[d + 2]);
  }
  E x = cast(l.load(k, c.input, at, inside, k.constant(0.0, type)), compute);
  int total = k.accumulate(Prim::add, x * cast(l.load(k, c.weight, weight_at), compute));
  k.begin_phase();
  E sum = k.result(total);
  if (c.bias) sum = sum + cast(l.load(k, c.bias, {out[1]}), compute);
  k.store(l.output(n), out, sum);
  l.finish(k, n);
}

// ---- the sum of what each input position sends to an output position (the end of a transposed
// convolution)

// From [N, C, taps..., positions...]: tap t of position p goes to p stride - padding + t dilation.
Types gather_taps_type(const Node& n) {
  const TensorType& t = std::get<Value*>(n.args[0])->type;
  Index sizes{t.sizes[0], t.sizes[1]}, out = syms_arg(n, "size");
  sizes.insert(sizes.end(), out.begin(), out.end());
  return {contiguous_type(t.dtype, sizes, t.device)};
}

// Half types round at every addition, as eager's col2im; others add up in any order.
void lower_gather_taps(Lowering& l, const Node& n) {
  Value* columns = std::get<Value*>(n.args[0]);
  Index stride = syms_arg(n, "stride"), padding = syms_arg(n, "padding"),
        dilation = syms_arg(n, "dilation");
  size_t spatial = stride.size();
  const Index& sizes = columns->type.sizes;
  bool in_order = is_half(columns->type.dtype);
  loops::BufferId result = l.output(n);
  KernelBuilder k(l, l.unique_kernel_name("gather_taps"));
  Index out = k.axes(n.output()->type.sizes);
  if (in_order) {
    k.store(result, out, k.constant(0.0, columns->type.dtype));
    k.begin_phase(true);
  }
  Index taps = k.inner_axes(
      Index(sizes.begin() + 2, sizes.begin() + 2 + static_cast<std::ptrdiff_t>(spatial)));
  Index at{out[0], out[1]};
  at.insert(at.end(), taps.begin(), taps.end());
  E inside = k.boolean(true);
  for (size_t d = 0; d < spatial; ++d) {
    Sym scaled = out[d + 2] + padding[d] - taps[d] * dilation[d],
        position = floordiv(scaled, stride[d]);
    inside = inside && between(k, position, sizes[2 + spatial + d]);
    if (!stride[d].is(1)) inside = inside && (k.index(position * stride[d]) == k.index(scaled));
    at.push_back(position);
  }
  E value = l.load(k, columns, at, inside, k.constant(0.0, columns->type.dtype));
  if (in_order) {
    k.store(result, out, value, inside, true);
  } else {
    int total = k.accumulate(Prim::add, value);
    k.begin_phase();
    k.store(result, out, k.result(total));
  }
  l.finish(k, n);
}

// ---- matrix products

// Per group: weight [O/G, C/G * taps] times windows [C/G * taps, positions].
TensorExpr as_matmul(Rewriter& r, const Convolution& c) {
  TensorExpr x = convolution_windows({&r, c.input}, c), weight{&r, c.weight}, bias{&r, c.bias};
  size_t spatial = c.spatial();
  std::vector<int64_t> order{0, 1, 2};
  for (size_t d = 0; d < spatial; ++d) order.push_back(static_cast<int64_t>(3 + spatial + d));
  for (size_t d = 0; d < spatial; ++d) order.push_back(static_cast<int64_t>(3 + d));
  Index sizes = result_sizes(c), positions(sizes.begin() + 2, sizes.end());
  const Index& w = c.weight->type.sizes;
  Sym depth = product(Index(w.begin() + 1, w.end())), batch = sizes[0];
  Sym outputs = floordiv(w[0], c.groups);
  TensorExpr columns = x.permute(order).reshape({batch, c.groups, depth, product(positions)});
  TensorExpr rows =
      weight.reshape({Sym(1), c.groups, outputs, depth}).expand({batch, c.groups, outputs, depth});
  Arg addend = None{};
  if (c.bias)
    addend = bias.reshape({Sym(1), c.groups, outputs, Sym(1)})
                 .expand({batch, c.groups, outputs, product(positions)})
                 .v;
  return rows.apply("aotc.matmul", {columns.v, addend}).reshape(sizes);
}

TensorExpr with_bias(Rewriter& r, const Convolution& c, TensorExpr out) {
  if (!c.bias) return out;
  Index channel(out.sizes().size(), Sym(1));
  channel[1] = out.size(1);
  return out + TensorExpr{&r, c.bias}.reshape(channel);
}

// Per group: weight [O/G * taps, C/G] times the input's positions; then every output sums its taps.
TensorExpr transposed(Rewriter& r, const Convolution& c) {
  TensorExpr x{&r, c.input}, weight{&r, c.weight};
  const Index& w = c.weight->type.sizes;
  Index sizes = result_sizes(c), in_space(x.sizes().begin() + 2, x.sizes().end());
  Index taps(w.begin() + 2, w.end()), out_space(sizes.begin() + 2, sizes.end());
  Sym batch = x.size(0), in_channels = floordiv(x.size(1), c.groups),
      rows = product(Index(w.begin() + 1, w.end()));
  TensorExpr right = x.reshape({batch, c.groups, in_channels, product(in_space)});
  TensorExpr left = weight.reshape({Sym(1), c.groups, in_channels, rows}).transpose(2, 3);
  left = left.expand({batch, c.groups, rows, in_channels});
  Index columns{batch, sizes[1]};
  columns.insert(columns.end(), taps.begin(), taps.end());
  columns.insert(columns.end(), in_space.begin(), in_space.end());
  TensorExpr products = left.apply("aotc.matmul", {right.v}).reshape(columns);
  TensorExpr out = products.apply("aotc.gather_taps", {out_space, c.stride, c.padding, c.dilation});
  return with_bias(r, c, out);
}

bool is_depthwise(const Convolution& c) { return c.weight->type.sizes[1].is(1) && !c.groups.is(1); }

Values convolve(Rewriter& r, const Convolution& c);

// By convolutions of the parts.
TensorExpr complex_convolution(Rewriter& r, const Convolution& c) {
  auto product = [&](const char* of_input, const char* of_weight) {
    Convolution part = c;
    part.bias = nullptr;
    part.input = r(of_input, {c.input});
    part.weight = r(of_weight, {c.weight});
    return TensorExpr{&r, convolve(r, part)[0]};
  };
  const char *re = "aotc.real", *im = "aotc.imag";
  TensorExpr real = product(re, re) - product(im, im), imag = product(re, im) + product(im, re);
  return with_bias(r, c, real.apply("aten.complex.default", {imag.v}));
}

Values convolve(Rewriter& r, const Convolution& c) {
  if (is_complex(c.input->type.dtype)) return {complex_convolution(r, c)};
  if (c.transposed) return {transposed(r, c)};
  if (!is_depthwise(c)) return {as_matmul(r, c)};
  Arg bias = c.bias ? Arg(c.bias) : Arg(None{});
  return {r("aotc.convolution", {c.input, c.weight, bias, c.stride, c.padding, c.dilation,
                                 c.transposed, c.output_padding, c.groups})};
}

// An input without a batch dimension gets one for the time of the operation.
Values with_batch(Rewriter& r, Convolution c) {
  TensorExpr x{&r, c.input};
  bool missing = x.rank() == static_cast<int64_t>(c.spatial()) + 1;
  if (missing) c.input = x.unsqueeze(0);
  Values results = convolve(r, c);
  if (missing) results[0] = TensorExpr{&r, results[0]}.squeeze(0);
  return results;
}

Values convolution(Rewriter& r) { return with_batch(r, convolution_of(r.node)); }

Index zeros(size_t n) { return Index(n, Sym(0)); }

Convolution plain(const Node& n) {
  Convolution c{
      tensor_arg(n, "input"), tensor_arg(n, "weight"), tensor_arg(n, "bias"), {}, {}, {}, {}, false,
      sym_arg(n, "groups")};
  c.stride = per_spatial_dimension(syms_arg(n, "stride"), c.spatial());
  c.dilation = per_spatial_dimension(syms_arg(n, "dilation"), c.spatial());
  c.output_padding = zeros(c.spatial());
  c.padding = zeros(c.spatial());
  return c;
}

Values conv(Rewriter& r) {
  Convolution c = plain(r.node);
  c.padding = per_spatial_dimension(syms_arg(r.node, "padding"), c.spatial());
  return with_batch(r, c);
}

// "same" pads so that with stride 1 the sizes stay; an odd total pads one more behind.
Values conv_named_padding(Rewriter& r) {
  Convolution c = plain(r.node);
  if (std::get<std::string>(arg(r.node, "padding")) == "valid") return with_batch(r, c);
  Index behind;
  bool uneven = false;
  for (size_t d = 0; d < c.spatial(); ++d) {
    Sym total = c.dilation[d] * (c.weight->type.sizes[d + 2] - 1);
    c.padding[d] = floordiv(total, 2);
    behind.insert(behind.begin(), {Sym(0), total - c.padding[d] * 2});
    uneven |= !behind[1].is(0);
  }
  if (uneven)
    c.input = TensorExpr{&r, c.input}.apply("aten.constant_pad_nd.default", {behind, 0.0});
  return with_batch(r, c);
}

Values conv_transpose(Rewriter& r) {
  Convolution c = plain(r.node);
  c.transposed = true;
  c.padding = per_spatial_dimension(syms_arg(r.node, "padding"), c.spatial());
  c.output_padding = per_spatial_dimension(syms_arg(r.node, "output_padding"), c.spatial());
  return with_batch(r, c);
}

// Time comes first, channels last: input [T, N, C], weight [K, C, channels out].
Values conv_time_first(Rewriter& r) {
  TensorExpr x = in(r, "self").permute({1, 2, 0}), weight = in(r, "weight").permute({2, 1, 0});
  require_rank(r.node, "self", 3, 3);
  require_rank(r.node, "weight", 3, 3);
  TensorExpr y = x.apply("aten.conv1d.default", {weight.v, r.tensor("bias"), Index{Sym(1)},
                                                 Index{sym_arg(r.node, "pad")}});
  return {y.permute({2, 0, 1}).apply("aten.clone.default")};
}

}  // namespace

Rows conv_ops() {
  Rows rows = {
      loops_op(
          "aotc.convolution(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, SymInt[] "
          "padding, "
          "SymInt[] dilation, bool transposed, SymInt[] output_padding, SymInt groups) -> Tensor",
          LoopsKind::Template, direct_type, lower_direct),
      loops_op("aotc.gather_taps(Tensor columns, SymInt[] size, SymInt[] stride, SymInt[] padding, "
               "SymInt[] dilation) -> Tensor",
               LoopsKind::Template, gather_taps_type, lower_gather_taps),
      rewrite_op("aten.convolution.default(Tensor input, Tensor weight, Tensor? bias, SymInt[] "
                 "stride, SymInt[] padding, SymInt[] dilation, bool transposed, SymInt[] "
                 "output_padding, SymInt groups) -> Tensor",
                 convolution),
      rewrite_op("aten._convolution.default(Tensor input, Tensor weight, Tensor? bias, SymInt[] "
                 "stride, SymInt[] padding, SymInt[] dilation, bool transposed, SymInt[] "
                 "output_padding, SymInt groups, bool benchmark, bool deterministic, bool "
                 "cudnn_enabled, bool allow_tf32) -> Tensor",
                 convolution),
      rewrite_op(
          "aten.conv1d.default(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] "
          "stride=[1], SymInt[1] padding=[0], SymInt[1] dilation=[1], SymInt groups=1) -> Tensor",
          conv),
      rewrite_op("aten.conv2d.default(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] "
                 "stride=[1, 1], SymInt[2] padding=[0, 0], SymInt[2] dilation=[1, 1], SymInt "
                 "groups=1) -> Tensor",
                 conv),
      rewrite_op("aten.conv3d.default(Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] "
                 "stride=[1, 1, 1], SymInt[3] padding=[0, 0, 0], SymInt[3] dilation=[1, 1, 1], "
                 "SymInt groups=1) -> Tensor",
                 conv),
      rewrite_op(
          "aten.conv1d.padding(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] "
          "stride=[1], str padding=\"valid\", SymInt[1] dilation=[1], SymInt groups=1) -> Tensor",
          conv_named_padding),
      rewrite_op("aten.conv2d.padding(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] "
                 "stride=[1, 1], str padding=\"valid\", SymInt[2] dilation=[1, 1], SymInt "
                 "groups=1) -> Tensor",
                 conv_named_padding),
      rewrite_op("aten.conv3d.padding(Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] "
                 "stride=[1, 1, 1], str padding=\"valid\", SymInt[3] dilation=[1, 1, 1], SymInt "
                 "groups=1) -> Tensor",
                 conv_named_padding),
      rewrite_op("aten._convolution_mode.default(Tensor input, Tensor weight, Tensor? bias, "
                 "SymInt[] stride, str padding, SymInt[] dilation, SymInt groups) -> Tensor",
                 conv_named_padding),
      rewrite_op("aten.conv_tbc.default(Tensor self, Tensor weight, Tensor bias, int pad=0) -> "
                 "Tensor",
                 conv_time_first),
      rewrite_op("aten.conv_transpose1d.default(Tensor input, Tensor weight, Tensor? bias=None, "
                 "SymInt[1] stride=[1], SymInt[1] padding=[0], SymInt[1] output_padding=[0], "
                 "SymInt groups=1, SymInt[1] dilation=[1]) -> Tensor",
                 conv_transpose),
      rewrite_op("aten.conv_transpose2d.input(Tensor input, Tensor weight, Tensor? bias=None, "
                 "SymInt[2] stride=[1, 1], SymInt[2] padding=[0, 0], SymInt[2] output_padding=[0, "
                 "0], SymInt groups=1, SymInt[2] dilation=[1, 1]) -> Tensor",
                 conv_transpose),
      rewrite_op(
          "aten.conv_transpose3d.input(Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] "
          "stride=[1, 1, 1], SymInt[3] padding=[0, 0, 0], SymInt[3] output_padding=[0, 0, 0], "
          "SymInt groups=1, SymInt[3] dilation=[1, 1, 1]) -> Tensor",
          conv_transpose),
  };
  append(rows, convolution_backward_ops());
  return rows;
}

}  // namespace aotc
