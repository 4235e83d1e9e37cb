// Conditions of the normalisations: parameters and statistics have the input's channels.
#include "ir/ops/arguments.h"

namespace aotc {
namespace {

// Of the input's type, or float32 beside a half input.
void require_parameter_type(const Node& n, std::string_view arg) {
  if (!is_given(n, arg)) return;
  DType t = dtype_of(n, arg), input = dtype_of(n, "input");
  require(n, t == input || (is_half(input) && t == DType::Float32), "'{}' is {}, 'input' is {}",
          arg, name(t), name(input));
}

void require_parameters(const Node& n, const Index& sizes) {
  for (const char* a : {"weight", "bias"}) {
    require_sizes(n, a, sizes);
    if (is_given(n, a)) require_parameter_type(n, a);
  }
}

void require_statistics(const Node& n, const Index& sizes) {
  for (const char* a : {"running_mean", "running_var"}) {
    require_sizes(n, a, sizes);
    if (is_given(n, a)) require_parameter_type(n, a);
  }
  bool mean = is_given(n, "running_mean"), variance = is_given(n, "running_var");
  require(n, mean == variance, "only one of 'running_mean' and 'running_var' is given");
}

void check_batch_norm(const Node& n) {
  require_rank(n, "input", 2);
  require_floating(n, "input");
  require_real(n, "input");
  require_parameters(n, {sizes_of(n, "input")[1]});
  require_statistics(n, {sizes_of(n, "input")[1]});
}

void check_instance_norm(const Node& n) {
  check_batch_norm(n);
  require_rank(n, "input", 3);
  require(n, bool_arg(n, "use_input_stats") || is_given(n, "running_mean"),
          "it has neither the input's statistics nor running ones");
}

void require_normalized_shape(const Node& n) {
  Index shape = syms_arg(n, "normalized_shape");
  const Index& sizes = sizes_of(n, "input");
  require(n, !shape.empty(), "'normalized_shape' is empty");
  require(
      n,
      shape.size() <= sizes.size() &&
          can_be_equal(Index(sizes.end() - static_cast<std::ptrdiff_t>(shape.size()), sizes.end()),
                       shape),
      "'normalized_shape' is {}, 'input' has the sizes {}", sizes_text(shape), sizes_text(sizes));
  for (const char* a : {"weight", "bias"})
    if (n.op->schema.index_of(a) >= 0) require_sizes(n, a, shape);
}

void check_layer_norm(const Node& n) {
  require_normalized_shape(n);
  require_floating(n, "input");
  for (const char* a : {"weight", "bias"}) require_parameter_type(n, a);
}

void check_rms_norm(const Node& n) {
  require_normalized_shape(n);
  require_floating(n, "input");
}

void check_group_norm(const Node& n) {
  require_rank(n, "input", 2);
  require_floating(n, "input");
  const Sym& channels = sizes_of(n, "input")[1];
  require_within(n, "num_groups", 1);
  require(n, can_be_equal(mod(channels, sym_arg(n, "num_groups")), 0),
          "{} groups do not divide {} channels", sym_arg(n, "num_groups").str(), channels.str());
  require_parameters(n, {channels});
}

// The sizes come as numbers beside the input.
void check_native_group_norm(const Node& n) {
  require_rank(n, "input", 2);
  require_floating(n, "input");
  const Index& sizes = sizes_of(n, "input");
  Sym batch = sym_arg(n, "N"), channels = sym_arg(n, "C"), rest = sym_arg(n, "HxW");
  for (const char* a : {"N", "C", "HxW"}) require_not_negative(n, a);
  require(n,
          can_be_equal(sizes[0], batch) && can_be_equal(sizes[1], channels) &&
              can_be_equal(product(sizes), batch * channels * rest),
          "'input' has the sizes {}, 'N', 'C' and 'HxW' are {}, {} and {}", sizes_text(sizes),
          batch.str(), channels.str(), rest.str());
  require_within(n, "group", 1);
  require(n, can_be_equal(mod(channels, sym_arg(n, "group")), 0),
          "{} groups do not divide {} channels", sym_arg(n, "group").str(), channels.str());
  require_parameters(n, {channels});
}

// g has a size along `dim` only.
void check_weight_norm(const Node& n) {
  require_rank(n, "v", 1);
  size_t dim = require_dim(n, "dim", static_cast<int64_t>(sizes_of(n, "v").size()));
  Index expected(sizes_of(n, "v").size(), Sym(1));
  expected[dim] = sizes_of(n, "v")[dim];
  require_expandable(n, "g", expected);
  require_floating(n, "v");
}

// ---- softmax

void check_softmax(const Node& n) {
  require_dim(n, "dim", input_rank(n));
  bool half = n.op->schema.index_of("half_to_float") >= 0;
  if (half) {
    require_floating(n, "self");
    require_real(n, "self");
    return;
  }
  if (auto t = dtype_arg(n, "dtype"))
    require(n, is_floating(*t), "'dtype' is {}, expected a floating-point type", name(*t));
}

}  // namespace

ArgumentRules norm_rules() {
  return {
      {"aten.batch_norm", check_batch_norm},
      {"aten.native_batch_norm", check_batch_norm},
      {"aten._native_batch_norm_legit", check_batch_norm},
      {"aten._native_batch_norm_legit_functional", check_batch_norm},
      {"aten._native_batch_norm_legit_no_training", check_batch_norm},
      {"aten._batch_norm_with_update", check_batch_norm},
      {"aten._batch_norm_with_update_functional", check_batch_norm},
      {"aten.instance_norm", check_instance_norm},
      {"aten.layer_norm", check_layer_norm},
      {"aten.native_layer_norm", check_layer_norm},
      {"aten.rms_norm", check_rms_norm},
      {"aten._fused_rms_norm", check_rms_norm},
      {"aten.group_norm", check_group_norm},
      {"aten.native_group_norm", check_native_group_norm},
      {"aten._weight_norm", check_weight_norm},
      {"aten._weight_norm_interface", check_weight_norm},
      {"aten._softmax", check_softmax},
      {"aten._log_softmax", check_softmax},
      {"aten.softmax", check_softmax},
      {"aten.special_softmax", check_softmax},
      {"aten.log_softmax", check_softmax},
      {"aten.special_log_softmax", check_softmax},
      {"aten._safe_softmax", check_softmax},
  };
}

}  // namespace aotc
