// Convolutions of one to three spatial dimensions. Channel-mixing ones are matrix products over
// windows of the padded input; depthwise and transposed ones are loops.
#include "ir/ops/scalar_math.h"
#include "ir/ops/tensor_expr.h"

namespace aotc {
namespace {

using Index = std::vector<Sym>;
using Types = std::vector<TensorType>;
using Values = std::vector<Value*>;

struct Convolution {
  Value *input, *weight, *bias;
  Index stride, padding, dilation, output_padding;
  bool transposed;
  Sym groups;
  size_t spatial() const { return weight->type.rank() - 2; }
};

Index per_dimension(Index v, size_t spatial) {
  if (v.size() == 1) v.resize(spatial, Sym(v[0]));
  return v;
}

Convolution convolution_of(const Node& n) {
  Convolution c{
      tensor_arg(n, "input"),    tensor_arg(n, "weight"), tensor_arg(n, "bias"), {}, {}, {}, {},
      bool_arg(n, "transposed"), sym_arg(n, "groups")};
  c.stride = per_dimension(syms_arg(n, "stride"), c.spatial());
  c.padding = per_dimension(syms_arg(n, "padding"), c.spatial());
  c.dilation = per_dimension(syms_arg(n, "dilation"), c.spatial());
  c.output_padding = per_dimension(syms_arg(n, "output_padding"), c.spatial());
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

// ---- loops

Types direct_type(const Node& n) {
  Convolution c = convolution_of(n);
  return {contiguous_type(c.input->type.dtype, result_sizes(c), c.input->type.device)};
}

struct Tap {
  Index at;  // position in the input
  E inside;  // whether it exists
};

E between(KernelBuilder& k, const Sym& position, const Sym& size) {
  E p = k.index(position);
  return (p >= 0.0) && (p < k.index(size));
}

// The input position that kernel position `tap` meets at output position `out`.
Tap input_position(KernelBuilder& k, const Convolution& c, const Index& out, const Index& tap) {
  Tap t{{}, k.boolean(true)};
  for (size_t d = 0; d < c.spatial(); ++d) {
    const Sym& size = c.input->type.sizes[d + 2];
    Sym position;
    if (!c.transposed) {
      position = out[d] * c.stride[d] - c.padding[d] + tap[d] * c.dilation[d];
    } else {
      Sym scaled = out[d] + c.padding[d] - tap[d] * c.dilation[d];
      position = floordiv(scaled, c.stride[d]);
      if (!c.stride[d].is(1))
        t.inside = t.inside && (k.index(position * c.stride[d]) == k.index(scaled));
    }
    if (c.transposed || !c.padding[d].is(0)) t.inside = t.inside && between(k, position, size);
    t.at.push_back(position);
  }
  return t;
}

void lower_direct(Lowering& l, const Node& n) {
  Convolution c = convolution_of(n);
  DType type = c.input->type.dtype, compute = compute_type(type);
  const Index& w = c.weight->type.sizes;
  KernelBuilder k(l, l.unique_kernel_name("convolution"));
  Index out = k.axes(n.output()->type.sizes);
  Index window(out.begin() + 2, out.end());
  Sym in_channels = floordiv(c.input->type.sizes[1], c.groups);
  Sym out_channels = c.transposed ? w[1] : floordiv(w[0], c.groups);
  Sym group = floordiv(out[1], out_channels);
  Sym channel = k.inner_axis(in_channels);
  Index tap = k.inner_axes(Index(w.begin() + 2, w.end()));
  Tap input = input_position(k, c, window, tap);
  Index at{out[0], group * in_channels + channel}, weight_at = tap;
  at.insert(at.end(), input.at.begin(), input.at.end());
  if (c.transposed)
    weight_at.insert(weight_at.begin(), {at[1], out[1] - group * out_channels});
  else
    weight_at.insert(weight_at.begin(), {out[1], channel});
  E x = cast(l.load(k, c.input, at, input.inside, k.constant(0.0, type)), compute);
  int total = k.accumulate(Prim::add, x * cast(l.load(k, c.weight, weight_at), compute));
  k.begin_phase();
  E sum = k.result(total);
  if (c.bias) sum = sum + cast(l.load(k, c.bias, {out[1]}), compute);
  k.store(l.output(n), out, sum);
  l.finish(k, n);
}

// ---- matrix products

bool all_are(const Index& v, int64_t value) {
  for (const Sym& s : v)
    if (!s.is(value)) return false;
  return true;
}

// [N, G, C/G, windows..., taps...]: the windows of the padded input as views.
TensorExpr windows_of(TensorExpr x, const Convolution& c) {
  size_t spatial = c.spatial();
  if (!all_are(c.padding, 0)) {
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

// Per group: weight [O/G, C/G * taps] times windows [C/G * taps, positions].
TensorExpr as_matmul(Rewriter& r, const Convolution& c) {
  TensorExpr x = windows_of({&r, c.input}, c), weight{&r, c.weight}, bias{&r, c.bias};
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

bool is_depthwise(const Convolution& c) { return c.weight->type.sizes[1].is(1) && !c.groups.is(1); }

Values convolve(Rewriter& r, const Convolution& c) {
  if (!c.transposed && !is_depthwise(c)) return {as_matmul(r, c)};
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
  c.stride = per_dimension(syms_arg(n, "stride"), c.spatial());
  c.dilation = per_dimension(syms_arg(n, "dilation"), c.spatial());
  c.output_padding = zeros(c.spatial());
  c.padding = zeros(c.spatial());
  return c;
}

Values conv(Rewriter& r) {
  Convolution c = plain(r.node);
  c.padding = per_dimension(syms_arg(r.node, "padding"), c.spatial());
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
  c.padding = per_dimension(syms_arg(r.node, "padding"), c.spatial());
  c.output_padding = per_dimension(syms_arg(r.node, "output_padding"), c.spatial());
  return with_batch(r, c);
}

}  // namespace

Rows conv_ops() {
  return {
      loops_op(
          "aotc.convolution(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, SymInt[] "
          "padding, "
          "SymInt[] dilation, bool transposed, SymInt[] output_padding, SymInt groups) -> Tensor",
          LoopsKind::Template, direct_type, lower_direct),
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
}

}  // namespace aotc
