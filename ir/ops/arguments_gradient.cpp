// Conditions of the gradient ops: the gradient has the sizes of what the forward op yields.
#include "ir/ops/arguments.h"

namespace aotc {
namespace {

void require_mask(const Node& n) {
  const auto* mask = std::get_if<std::vector<bool>>(&arg(n, "output_mask"));
  require(n, mask && mask->size() == 3, "'output_mask' has {} entries, expected 3",
          mask ? mask->size() : 0);
}

// A float gradient of the type and the leading dimensions of an image.
void require_image_gradient(const Node& n, size_t spatial) {
  auto rank = static_cast<int64_t>(spatial);
  require_rank(n, "self", rank + 1, rank + 2);
  require_floating(n, "self");
  require_real(n, "self");
  require_same_dtype(n, {"self", "grad_output"});
  const Index &x = sizes_of(n, "self"), &g = sizes_of(n, "grad_output");
  bool fits = x.size() == g.size();
  for (size_t d = 0; fits && d + spatial < x.size(); ++d) fits = can_be_equal(x[d], g[d]);
  require(n, fits, "'grad_output' has the sizes {}, 'self' {}", sizes_text(g), sizes_text(x));
}

template <size_t spatial>
void check_adaptive(const Node& n) {
  require_image_gradient(n, spatial);
  for (const char* a : {"self", "grad_output"})
    require_elements(n, a, sizes_of(n, a).size() == spatial + 2 ? 1 : 0);
}

Index numbers(const Node& n, const char* name, size_t spatial, const Index& if_empty) {
  Index v = syms_arg(n, name);
  if (v.empty()) v = if_empty;
  if (v.size() == 1) v.resize(spatial, Sym(v[0]));
  return v;
}

template <size_t spatial>
void check_average(const Node& n) {
  require_image_gradient(n, spatial);
  require_per_dimension(n, "kernel_size", spatial, 1);
  require_per_dimension(n, "stride", spatial, 1, true);
  require_per_dimension(n, "padding", spatial, 0);
  require(n, arg_is_none(n, "divisor_override") || !sym_arg(n, "divisor_override").is(0),
          "'divisor_override' is 0");
  Index kernel = numbers(n, "kernel_size", spatial, {}),
        stride = numbers(n, "stride", spatial, kernel),
        padding = numbers(n, "padding", spatial, {});
  const Index &x = sizes_of(n, "self"), &g = sizes_of(n, "grad_output");
  for (size_t d = 0; d < spatial; ++d) {
    size_t at = x.size() - spatial + d;
    require(n, can_be_within(kernel[d] - padding[d] * 2, 0),
            "'padding' is {}, at most half of the window of {} elements is allowed",
            padding[d].str(), kernel[d].str());
    Sym span = x[at] + padding[d] * 2 - kernel[d], count = floordiv(span, stride[d]) + 1;
    require(n, can_be_within(span, 0), "a window of {} elements does not fit into {} elements",
            kernel[d].str(), (x[at] + padding[d] * 2).str());
    Sym fits = sym_eq(g[at], count);
    if (bool_arg(n, "ceil_mode")) fits = sym_or(fits, sym_eq(g[at], ceildiv(span, stride[d]) + 1));
    require(n, can_hold(fits), "dimension {} of 'grad_output' is {}, expected {}", at, g[at].str(),
            count.str());
  }
}

void check_layer_norm(const Node& n) {
  require_mask(n);
  require_floating(n, "input");
  require_real(n, "input");
  require_same_sizes(n, "grad_out", "input");
  require_same_dtype(n, {"input", "grad_out"});
  Index shape = syms_arg(n, "normalized_shape");
  const Index& sizes = sizes_of(n, "input");
  require(n, !shape.empty() && shape.size() <= sizes.size(),
          "'normalized_shape' is {}, 'input' has the sizes {}", sizes_text(shape),
          sizes_text(sizes));
  size_t outer = sizes.size() - shape.size();
  Index statistics(sizes);
  for (size_t d = outer; d < sizes.size(); ++d) {
    require(n, can_be_equal(sizes[d], shape[d - outer]),
            "'normalized_shape' is {}, 'input' has the sizes {}", sizes_text(shape),
            sizes_text(sizes));
    statistics[d] = Sym(1);
  }
  for (const char* a : {"mean", "rstd"}) require_sizes(n, a, statistics);
  for (const char* a : {"weight", "bias"}) require_sizes(n, a, shape);
}

void check_group_norm(const Node& n) {
  require_mask(n);
  require_floating(n, "input");
  require_real(n, "input");
  require_rank(n, "input", 2);
  require_same_sizes(n, "grad_out", "input");
  require_same_dtype(n, {"input", "grad_out"});
  Sym batch = sym_arg(n, "N"), channels = sym_arg(n, "C"), groups = sym_arg(n, "group");
  const Index& sizes = sizes_of(n, "input");
  require_within(n, "group", 1);
  require(n, can_be_equal(product(sizes), batch * channels * sym_arg(n, "HxW")),
          "'input' has the sizes {}, 'N', 'C' and 'HxW' are {}, {} and {}", sizes_text(sizes),
          batch.str(), channels.str(), sym_arg(n, "HxW").str());
  require(n, can_be_equal(mod(channels, groups), 0), "{} groups do not divide {} channels",
          groups.str(), channels.str());
  for (const char* a : {"mean", "rstd"}) require_sizes(n, a, {batch, groups});
  require_sizes(n, "weight", {channels});
}

void check_embedding(const Node& n) {
  require_index_type(n, "indices");
  require_floating(n, "grad_output");
  require_within(n, "num_weights", 0);
  const Index &g = sizes_of(n, "grad_output"), &i = sizes_of(n, "indices");
  require(n, g.size() == i.size() + 1 && can_be_equal(Index(g.begin(), g.end() - 1), i),
          "'grad_output' has the sizes {}, 'indices' {}", sizes_text(g), sizes_text(i));
}

}  // namespace

ArgumentRules gradient_rules() {
  return {
      {"aten.avg_pool2d_backward", check_average<2>},
      {"aten.avg_pool3d_backward", check_average<3>},
      {"aten._adaptive_avg_pool2d_backward", check_adaptive<2>},
      {"aten._adaptive_avg_pool3d_backward", check_adaptive<3>},
      {"aten.native_layer_norm_backward", check_layer_norm},
      {"aten.native_group_norm_backward", check_group_norm},
      {"aten.embedding_dense_backward", check_embedding},
  };
}

}  // namespace aotc
