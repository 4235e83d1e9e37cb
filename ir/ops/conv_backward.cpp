// Gradients of convolutions: of the input as the opposite convolution, of the weight as products of
// the input's windows with the gradient, of the bias as sums.
#include <numeric>

#include "ir/ops/convolution.h"

namespace aotc {
namespace {

Index spatial_sizes(const Value* v) { return {v->type.sizes.begin() + 2, v->type.sizes.end()}; }

// A transposed convolution of the gradient gives the input of a plain one, and the reverse. Where
// sizes along a dimension do not follow from the gradient's, output_padding makes up for them or
// what is too much is cut off.
TensorExpr input_gradient(Rewriter& r, const Convolution& c, TensorExpr gradient) {
  size_t spatial = c.spatial();
  Index rest(spatial, Sym(0)), sizes = spatial_sizes(c.input);
  for (size_t d = 0; d < spatial && !c.transposed; ++d) {
    Sym reach = c.dilation[d] * (c.weight->type.sizes[d + 2] - 1) + 1;
    rest[d] = sizes[d] - ((gradient.sizes()[d + 2] - 1) * c.stride[d] - c.padding[d] * 2 + reach);
  }
  TensorExpr x{&r, r("aten.convolution.default", {gradient.v, c.weight, None{}, c.stride, c.padding,
                                                  c.dilation, !c.transposed, rest, c.groups})};
  for (size_t d = 0; d < spatial; ++d)
    if (!(x.sizes()[d + 2] == sizes[d])) x = x.slice(static_cast<int64_t>(d) + 2, 0, sizes[d]);
  return x;
}

// Per group: the small side's positions [A/G, N * positions] times the large side's windows
// [N * positions, B/G * taps]. The large side is the input of a plain convolution and the gradient
// of a transposed one.
TensorExpr weight_gradient(Rewriter& r, const Convolution& c, TensorExpr gradient) {
  TensorExpr large{&r, c.input}, small = gradient;
  if (c.transposed) std::swap(large, small);
  size_t spatial = c.spatial();
  TensorExpr x = convolution_windows(large, c);
  Index places(small.sizes().begin() + 2, small.sizes().end());
  for (size_t d = 0; d < spatial; ++d)
    if (!(x.sizes()[d + 3] == places[d])) x = x.slice(static_cast<int64_t>(d) + 3, 0, places[d]);
  std::vector<int64_t> order{1, 0};
  for (size_t d = 0; d < spatial; ++d) order.push_back(static_cast<int64_t>(3 + d));
  order.push_back(2);
  for (size_t d = 0; d < spatial; ++d) order.push_back(static_cast<int64_t>(3 + spatial + d));
  const Index& w = c.weight->type.sizes;
  Sym positions = small.size(0) * product(places), columns = product(Index(w.begin() + 1, w.end()));
  TensorExpr windows = x.permute(order).reshape({c.groups, positions, columns});
  Sym rows = floordiv(w[0], c.groups);
  TensorExpr left = small.reshape({small.size(0), c.groups, rows, product(places)});
  left = left.permute({1, 2, 0, 3}).reshape({c.groups, rows, positions});
  return left.apply("aten.bmm.default", {windows.v}).reshape(w);
}

TensorExpr bias_gradient(TensorExpr gradient) {
  std::vector<int64_t> dims(static_cast<size_t>(gradient.rank()));
  std::iota(dims.begin(), dims.end(), int64_t{0});
  dims.erase(dims.begin() + 1);
  return gradient.sum(dims, false);
}

Values convolution_backward(Rewriter& r) {
  const Node& n = r.node;
  Convolution c{r.tensor("input"),         r.tensor("weight"),  nullptr, {}, {}, {}, {},
                bool_arg(n, "transposed"), sym_arg(n, "groups")};
  auto numbers = [&](const char* name) {
    return per_spatial_dimension(syms_arg(n, name), c.spatial());
  };
  c.stride = numbers("stride");
  c.padding = numbers("padding");
  c.dilation = numbers("dilation");
  c.output_padding = numbers("output_padding");
  TensorExpr gradient = in(r, "grad_output"), input{&r, c.input};
  const auto& wanted = std::get<std::vector<bool>>(arg(n, "output_mask"));
  bool lacks_batch = input.rank() == static_cast<int64_t>(c.spatial()) + 1;
  if (lacks_batch) {
    c.input = input.unsqueeze(0);
    gradient = gradient.unsqueeze(0);
  }
  Values results(3, nullptr);
  if (wanted[0]) {
    TensorExpr x = input_gradient(r, c, gradient);
    results[0] = lacks_batch ? x.squeeze(0) : x;
  }
  if (wanted[1]) results[1] = weight_gradient(r, c, gradient);
  if (wanted[2]) results[2] = bias_gradient(gradient);
  return results;
}

}  // namespace

Rows convolution_backward_ops() {
  return {rewrite_op(
      "aten.convolution_backward.default(Tensor grad_output, Tensor input, Tensor weight, "
      "SymInt[]? "
      "bias_sizes, SymInt[] stride, SymInt[] padding, SymInt[] dilation, bool transposed, SymInt[] "
      "output_padding, SymInt groups, bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
      convolution_backward)};
}

}  // namespace aotc
