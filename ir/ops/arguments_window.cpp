// Conditions of pooling and of convolutions: ranks, windows that fit, channels and groups that
// agree.
#include "ir/ops/arguments.h"

namespace aotc {
namespace {

// ---- pools

// A number for every spatial dimension; an absent argument is `otherwise`, an empty list stands for
// `if_empty`.
Index window_numbers(const Node& n, const char* name, size_t spatial, int64_t otherwise,
                     const Index& if_empty = {}) {
  if (n.op->schema.index_of(name) < 0) return Index(spatial, Sym(otherwise));
  Index list = syms_arg(n, name);
  if (list.empty()) list = if_empty;
  if (list.size() == 1) list.resize(spatial, Sym(list[0]));
  return list;
}

// An image with or without a batch dimension.
void require_image(const Node& n, std::string_view arg, size_t spatial) {
  auto rank = static_cast<int64_t>(spatial);
  require_rank(n, arg, rank + 1, rank + 2);
  require_elements(n, arg, sizes_of(n, arg).size() == spatial + 2 ? 1 : 0);
}

template <size_t spatial>
Index pooled_spatial_sizes(const Node& n) {
  require_per_dimension(n, "kernel_size", spatial, 1);
  require_per_dimension(n, "stride", spatial, 1, true);
  require_per_dimension(n, "padding", spatial, 0);
  bool dilated = n.op->schema.index_of("dilation") >= 0;
  if (dilated) require_per_dimension(n, "dilation", spatial, 1);
  Index kernel = window_numbers(n, "kernel_size", spatial, 1),
        stride = window_numbers(n, "stride", spatial, 1, kernel),
        padding = window_numbers(n, "padding", spatial, 0),
        dilation = window_numbers(n, "dilation", spatial, 1);
  const char* self = "self";
  require_image(n, self, spatial);
  const Index& sizes = sizes_of(n, self);
  bool ceil = n.op->schema.index_of("ceil_mode") >= 0 && bool_arg(n, "ceil_mode");
  Index results;
  for (size_t d = 0; d < spatial; ++d) {
    Sym reach = dilation[d] * (kernel[d] - 1) + 1,
        span = sizes[sizes.size() - spatial + d] + padding[d] * 2;
    require(n, can_be_within(reach - padding[d] * 2, 0),
            "'padding' is {}, at most half of the window of {} elements is allowed",
            padding[d].str(), reach.str());
    Sym count = (ceil ? ceildiv(span - reach, stride[d]) : floordiv(span - reach, stride[d])) + 1;
    require(n, can_be_within(count, 1), "a window of {} elements does not fit into {} elements",
            reach.str(), span.str());
    results.push_back(count);
  }
  return results;
}

template <size_t spatial>
void check_pool(const Node& n) {
  pooled_spatial_sizes<spatial>(n);
  bool divides =
      n.op->schema.index_of("divisor_override") >= 0 && !arg_is_none(n, "divisor_override");
  require(n, !divides || !sym_arg(n, "divisor_override").is(0), "'divisor_override' is 0");
}

template <size_t spatial>
void check_adaptive_pool(const Node& n) {
  require_list(n, "output_size", spatial, 0);
  const auto rank = static_cast<int64_t>(spatial);
  require_rank(n, "self", rank + 1, rank + 2);
  bool averages = n.op->name().find("avg") != std::string::npos;
  // Eager looks at the channels of some only, and takes the first dimension for the batch.
  require_elements(n, "self", averages && spatial < 3 ? input_type(n).rank() - spatial : 1);
  if (averages) require_floating(n, "self");
}

template <size_t spatial>
void check_max_pool_backward(const Node& n) {
  pooled_spatial_sizes<spatial>(n);
  require_int64(n, "indices");
  require_same_dtype(n, {"self", "grad_output"});
  require_same_sizes(n, "indices", "grad_output");
  require_rank(n, "grad_output", static_cast<int64_t>(sizes_of(n, "self").size()),
               static_cast<int64_t>(sizes_of(n, "self").size()));
  for (size_t d = 0; d + spatial < sizes_of(n, "self").size(); ++d)
    require(n, can_be_equal(sizes_of(n, "self")[d], sizes_of(n, "grad_output")[d]),
            "'grad_output' has the sizes {}, 'self' {}", sizes_text(sizes_of(n, "grad_output")),
            sizes_text(sizes_of(n, "self")));
}

template <size_t spatial>
void check_max_unpool(const Node& n) {
  require_list(n, "output_size", spatial, 0);
  require_image(n, "self", spatial);
  require_int64(n, "indices");
  require_same_sizes(n, "indices", "self");
}

// ---- convolutions

struct Weights {
  size_t spatial;
  bool transposed;
};

void check_convolved_sizes(const Node& n, const Weights& w) {
  const Index &x = sizes_of(n, "input"), &kernel = sizes_of(n, "weight");
  bool named = std::holds_alternative<std::string>(arg(n, "padding"));
  Index stride = window_numbers(n, "stride", w.spatial, 1),
        dilation = window_numbers(n, "dilation", w.spatial, 1),
        padding = named ? Index(w.spatial, Sym(0)) : window_numbers(n, "padding", w.spatial, 0),
        output_padding = window_numbers(n, "output_padding", w.spatial, 0);
  bool same = named && std::get<std::string>(arg(n, "padding")) == "same";
  for (size_t d = 0; d < w.spatial; ++d) {
    const Sym &size = x[x.size() - w.spatial + d], &taps = kernel[d + 2];
    require(n, !taps.is(0), "'weight' has the sizes {}, its windows must not be empty",
            sizes_text(kernel));
    Sym reach = dilation[d] * (taps - 1) + 1;
    if (!w.transposed && !same)
      require(n, can_be_within(size + padding[d] * 2 - reach, 0),
              "a window of {} elements does not fit into {} elements", reach.str(),
              (size + padding[d] * 2).str());
    if (same) require(n, can_be_equal(stride[d], 1), "'padding' \"same\" needs a stride of 1");
    if (!w.transposed) continue;
    Sym small =
        sym_or(sym_lt(output_padding[d], stride[d]), sym_lt(output_padding[d], dilation[d]));
    require(n, can_hold(small), "'output_padding' is {}, expected less than stride or dilation",
            output_padding[d].str());
    Sym result = (size - 1) * stride[d] - padding[d] * 2 + reach + output_padding[d];
    require(n, can_be_within(result, 1), "its result would have {} elements along a dimension",
            result.str());
  }
}

void check_channels(const Node& n, const Weights& w) {
  const Index &x = sizes_of(n, "input"), &kernel = sizes_of(n, "weight");
  Sym groups = sym_arg(n, "groups"), channels = x[x.size() - w.spatial - 1];
  require_within(n, "groups", 1);
  Sym expected = w.transposed ? kernel[0] : kernel[1] * groups;
  require(n, can_be_equal(channels, expected),
          "'input' has {} channels, 'weight' with sizes {} and {} groups needs {}", channels.str(),
          sizes_text(kernel), groups.str(), expected.str());
  require(n, can_be_equal(mod(kernel[0], groups), 0),
          "'weight' has the sizes {}, {} groups do not divide {}", sizes_text(kernel), groups.str(),
          kernel[0].str());
  require_sizes(n, "bias", {w.transposed ? kernel[1] * groups : kernel[0]});
}

void check_convolution_with(const Node& n, const Weights& w) {
  auto rank = static_cast<int64_t>(w.spatial) + 2;
  require_rank(n, "weight", rank, rank);
  require_rank(n, "input", rank - 1, rank);
  require_same_dtype(n, {"input", "weight", "bias"});
  require_per_dimension(n, "stride", w.spatial, 1);
  require_per_dimension(n, "dilation", w.spatial, 1);
  if (std::holds_alternative<std::string>(arg(n, "padding")))
    require_word(n, "padding", {"same", "valid"});
  else
    require_per_dimension(n, "padding", w.spatial, 0);
  if (n.op->schema.index_of("output_padding") >= 0)
    require_per_dimension(n, "output_padding", w.spatial, 0);
  check_channels(n, w);
  check_convolved_sizes(n, w);
}

template <size_t spatial, bool transposed>
void check_conv(const Node& n) {
  check_convolution_with(n, {spatial, transposed});
}

void check_convolution(const Node& n) {
  require_rank(n, "weight", 3, 5);
  check_convolution_with(n, {sizes_of(n, "weight").size() - 2, bool_arg(n, "transposed")});
}

void check_convolution_mode(const Node& n) {
  require_rank(n, "weight", 3, 5);
  check_convolution_with(n, {sizes_of(n, "weight").size() - 2, false});
}

// The gradient has the sizes of the convolution's result.
void check_convolution_backward(const Node& n) {
  require_rank(n, "weight", 3, 5);
  Weights w{sizes_of(n, "weight").size() - 2, bool_arg(n, "transposed")};
  check_convolution_with(n, w);
  require_floating(n, "input");
  require_same_dtype(n, {"input", "grad_output"});
  const Index &x = sizes_of(n, "input"), &kernel = sizes_of(n, "weight");
  Index stride = window_numbers(n, "stride", w.spatial, 1),
        dilation = window_numbers(n, "dilation", w.spatial, 1),
        padding = window_numbers(n, "padding", w.spatial, 0),
        more = window_numbers(n, "output_padding", w.spatial, 0);
  size_t first = x.size() - w.spatial;
  Index expected(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(first));
  expected.back() = w.transposed ? kernel[1] * sym_arg(n, "groups") : kernel[0];
  for (size_t d = 0; d < w.spatial; ++d) {
    Sym reach = dilation[d] * (kernel[d + 2] - 1) + 1, size = x[first + d];
    expected.push_back(w.transposed ? (size - 1) * stride[d] - padding[d] * 2 + reach + more[d]
                                    : floordiv(size + padding[d] * 2 - reach, stride[d]) + 1);
  }
  require_sizes(n, "grad_output", expected);
  const auto* mask = std::get_if<std::vector<bool>>(&arg(n, "output_mask"));
  require(n, mask && mask->size() == 3, "'output_mask' has {} entries, expected 3",
          mask ? mask->size() : 0);
}

// ---- windows as columns

void require_column_numbers(const Node& n) {
  require_per_dimension(n, "kernel_size", 2, 1);
  require_per_dimension(n, "dilation", 2, 1);
  require_per_dimension(n, "padding", 2, 0);
  require_per_dimension(n, "stride", 2, 1);
}

Sym windows_along(const Node& n, size_t d, const Sym& size) {
  Sym kernel = window_numbers(n, "kernel_size", 2, 1)[d],
      padding = window_numbers(n, "padding", 2, 0)[d];
  Sym reach = window_numbers(n, "dilation", 2, 1)[d] * (kernel - 1) + 1, span = size + padding * 2;
  require(n, can_be_within(span - reach, 0),
          "a window of {} elements does not fit into {} elements", reach.str(), span.str());
  return floordiv(span - reach, window_numbers(n, "stride", 2, 1)[d]) + 1;
}

void check_im2col(const Node& n) {
  require_column_numbers(n);
  require_image(n, "self", 2);
  const Index& sizes = sizes_of(n, "self");
  for (size_t d = 0; d < 2; ++d) windows_along(n, d, sizes[sizes.size() - 2 + d]);
}

void check_col2im(const Node& n) {
  require_column_numbers(n);
  require_list(n, "output_size", 2, 1);
  require_rank(n, "self", 2, 3);
  require_elements(n, "self", sizes_of(n, "self").size() == 3 ? 1 : 0);
  Index out = syms_arg(n, "output_size"), kernel = window_numbers(n, "kernel_size", 2, 1);
  const Index& sizes = sizes_of(n, "self");
  const Sym &rows = sizes[sizes.size() - 2], taps = kernel[0] * kernel[1];
  require(n, can_be_equal(mod(rows, taps), 0), "'self' has {} rows, expected a multiple of {}",
          rows.str(), taps.str());
  Sym windows = windows_along(n, 0, out[0]) * windows_along(n, 1, out[1]);
  require(n, can_be_equal(sizes.back(), windows), "'self' has {} columns, expected {}",
          sizes.back().str(), windows.str());
}

}  // namespace

ArgumentRules pool_rules() {
  return {
      {"aten.max_pool1d", check_pool<1>},
      {"aten.max_pool2d", check_pool<2>},
      {"aten.max_pool3d", check_pool<3>},
      {"aten.max_pool1d_with_indices", check_pool<1>},
      {"aten.max_pool2d_with_indices", check_pool<2>},
      {"aten.max_pool3d_with_indices", check_pool<3>},
      {"aten.avg_pool1d", check_pool<1>},
      {"aten.avg_pool2d", check_pool<2>},
      {"aten.avg_pool3d", check_pool<3>},
      {"aten.adaptive_avg_pool1d", check_adaptive_pool<1>},
      {"aten.adaptive_avg_pool2d", check_adaptive_pool<2>},
      {"aten.adaptive_avg_pool3d", check_adaptive_pool<3>},
      {"aten._adaptive_avg_pool2d", check_adaptive_pool<2>},
      {"aten._adaptive_avg_pool3d", check_adaptive_pool<3>},
      {"aten.adaptive_max_pool1d", check_adaptive_pool<1>},
      {"aten.adaptive_max_pool2d", check_adaptive_pool<2>},
      {"aten.adaptive_max_pool3d", check_adaptive_pool<3>},
      {"aten.max_pool2d_with_indices_backward", check_max_pool_backward<2>},
      {"aten.max_pool3d_with_indices_backward", check_max_pool_backward<3>},
      {"aten.max_unpool2d", check_max_unpool<2>},
      {"aten.max_unpool3d", check_max_unpool<3>},
  };
}

ArgumentRules convolution_rules() {
  return {
      {"aten.convolution", check_convolution},
      {"aten._convolution", check_convolution},
      {"aten.convolution_backward", check_convolution_backward},
      {"aten._convolution_mode", check_convolution_mode},
      {"aten.conv1d", check_conv<1, false>},
      {"aten.conv2d", check_conv<2, false>},
      {"aten.conv3d", check_conv<3, false>},
      {"aten.conv_transpose1d", check_conv<1, true>},
      {"aten.conv_transpose2d", check_conv<2, true>},
      {"aten.conv_transpose3d", check_conv<3, true>},
      {"aten.im2col", check_im2col},
      {"aten.col2im", check_col2im},
  };
}

}  // namespace aotc
