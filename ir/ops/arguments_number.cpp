// Conditions of elementwise ops and of tensors made from numbers, where type and broadcast rules
// leave something open.
#include <cmath>

#include "ir/ops/arguments.h"
#include "ir/ops/number_fit.h"

namespace aotc {
namespace {

// ---- creation

void check_size(const Node& n) { require_not_negative(n, "size"); }

void check_eye(const Node& n) {
  require_not_negative(n, "n");
  if (n.op->schema.index_of("m") >= 0) require_not_negative(n, "m");
}

void check_steps(const Node& n) {
  require_not_negative(n, "steps");
  for (const char* a : {"start", "end"})
    if (std::holds_alternative<Value*>(arg(n, a))) require_rank(n, a, 0, 0);
}

void check_triangle_indices(const Node& n) {
  require_not_negative(n, "row");
  require_not_negative(n, "col");
}

bool is_zero_number(const Arg& a) {
  if (auto* s = std::get_if<Sym>(&a)) return s->is(0);
  if (auto* d = std::get_if<double>(&a)) return *d == 0;
  return false;
}

std::optional<double> known_number(const Arg& a) {
  if (auto* d = std::get_if<double>(&a)) return *d;
  if (auto* s = std::get_if<Sym>(&a)) return float_constant(to_float(*s));
  return std::nullopt;
}

void check_arange(const Node& n) {
  const Schema& s = n.op->schema;
  Arg start = s.index_of("start") < 0 ? Arg(Sym(0)) : arg(n, "start");
  Arg step = s.index_of("step") < 0 ? Arg(Sym(1)) : arg(n, "step");
  require(n, !is_zero_number(step), "'step' is 0");
  auto a = known_number(start), e = known_number(arg(n, "end")), by = known_number(step);
  if (is_whole(start) && is_whole(arg(n, "end")) && by) {
    const Sym from = number_arg(start), to = number_arg(arg(n, "end"));
    require(n, can_hold(*by > 0 ? sym_le(from, to) : sym_le(to, from)),
            "a step of {} does not lead from {} to {}", *by, from.str(), to.str());
  }
  if (!a || !e || !by) return;
  require(n, std::isfinite(*a) && std::isfinite(*e) && std::isfinite(*by), "a bound is not finite");
  require(n, *a == *e || (*e > *a) == (*by > 0), "a step of {} does not lead from {} to {}", *by,
          *a, *e);
  require(n, (*e - *a) / *by < 1e15, "the range from {} to {} is too long", *a, *e);
}

void check_fill(const Node& n) {
  if (n.op->schema.args[1].is_tensor()) require_rank(n, "value", 0, 0);
}

// ---- elementwise

void check_copy(const Node& n) { require_expandable(n, "src", sizes_of(n, "self")); }

void check_triangle(const Node& n) { require_rank(n, "self", 2); }

void check_glu(const Node& n) {
  require_rank(n, "self", 1);
  const Sym& size = input_type(n).sizes[require_dim(n, "dim", input_rank(n))];
  require(n, can_be_equal(mod(size, 2), 0), "dimension {} has {} elements, expected an even number",
          int_arg(n, "dim"), size.str());
  require_floating(n, "self");
}

void check_prelu(const Node& n) {
  require_rank(n, "weight", 0, 1);
  require_same_dtype(n, {"self", "weight"});
  const Index& sizes = input_type(n).sizes;
  Sym count = product(sizes_of(n, "weight"));
  if (count.is(1)) return;
  Sym channels = sizes.size() < 2 ? Sym(1) : sizes[1];
  require(n, can_be_equal(count, channels), "'weight' has {} numbers, 'self' {} channels",
          count.str(), channels.str());
}

void check_approximate(const Node& n) {
  require_word(n, "approximate", {"none", "tanh"});
  require_floating(n, "self");
}

void check_rounding(const Node& n) {
  if (is_given(n, "rounding_mode")) require_word(n, "rounding_mode", {"trunc", "floor"});
}

void check_celu(const Node& n) {
  require_floating(n, "self");
  require(n, !is_zero_number(arg(n, "alpha")), "'alpha' is 0");
}

void check_floating_self(const Node& n) { require_floating(n, "self"); }
void check_not_bool_self(const Node& n) { require_not_bool(n, "self"); }

// Neither side is bool.
void check_subtraction(const Node& n) {
  for (const char* a : {"self", "other"}) {
    const Arg& value = arg(n, a);
    auto* v = std::get_if<Value*>(&value);
    bool is_boolean = v ? is_bool((*v)->type.dtype) : std::holds_alternative<bool>(value);
    require(n, !is_boolean, "'{}' is bool; use logical_not or logical_xor", a);
  }
}

void check_polygamma(const Node& n) { require_not_negative(n, "n"); }

void check_same_types(const Node& n) {
  require_same_dtype(n, {"self", n.op->schema.index_of("values") >= 0 ? "values" : "other"});
}

void check_lerp(const Node& n) {
  require_same_dtype(n, {"self", "end"});
  if (n.op->schema.args[2].is_tensor()) require_same_dtype(n, {"self", "weight"});
}

void check_relu6(const Node& n) {
  require_not_bool(n, "self");
  require_real(n, "self");
}

void check_hardtanh(const Node& n) {
  check_relu6(n);
  const DType t = dtype_of(n, "self");
  if (!is_integer(t)) return;
  require_fits(n, "min_val", DType::Int64);
  require_fits(n, "max_val", DType::Int64);
  require_bounds_meet(n, "min_val", "max_val", t);
}

void check_clamp(const Node& n) {
  const bool one = n.op->schema.args.size() == 2;
  const std::string_view only = n.op->schema.args[1].name;
  const std::string_view low = one && only == "max" ? "" : "min",
                         high = one && only == "min" ? "" : "max";
  std::vector<int> promoting{0, 1};
  if (!one) promoting.push_back(2);
  require_bounds_meet(n, low, high, result_type(n, promoting));
}

// Bits of integers and bools.
void check_bits(const Node& n) {
  for (size_t i = 0; i < 2 && i < n.args.size(); ++i) {
    const Arg& a = n.args[i];
    auto* v = std::get_if<Value*>(&a);
    bool fraction = v ? is_floating((*v)->type.dtype) || is_complex((*v)->type.dtype)
                      : std::holds_alternative<double>(a) || std::holds_alternative<Complex>(a);
    require(n, !fraction, "'{}' is no integer or bool", n.op->schema.args[i].name);
  }
}

void check_dropout_rate(const Node& n) {
  double p = double_arg(n, "p");
  require(n, p >= 0 && p <= 1, "'p' is {}, expected 0 to 1", p);
}

// ---- sizes as numbers

void check_sym_size(const Node& n) {
  require_rank(n, "self", 1);
  require_dim(n, "dim", input_rank(n));
}

void check_item(const Node& n) {
  for (const Sym& s : input_type(n).sizes)
    require(n, can_be_equal(s, 1), "'self' has the sizes {}, expected one element",
            sizes_text(input_type(n).sizes));
}

void check_matrix_norm(const Node& n) {
  require_rank(n, "self", 2);
  require_list(n, "dim", 2, std::numeric_limits<int64_t>::min());
  require_dims(n, "dim", input_rank(n));
  require_floating(n, "self");
}

void check_nonzero_static(const Node& n) { require_not_negative(n, "size"); }

}  // namespace

std::optional<std::pair<int64_t, int64_t>> integer_range(DType t) {
  if (!is_integer(t) || element_size(t) == 8) return std::nullopt;
  const int64_t values = int64_t{1} << (8 * element_size(t));
  if (!is_signed_integer(t)) return std::pair{int64_t{0}, values - 1};
  return std::pair{-values / 2, values / 2 - 1};
}

void require_fits(const Node& n, std::string_view name, DType t) {
  if (!is_integer(t) || !is_given(n, name)) return;
  const Arg& a = arg(n, name);
  const auto range = integer_range(t);
  if (auto* d = std::get_if<double>(&a)) {
    const double low = range                  ? static_cast<double>(range->first)
                       : is_signed_integer(t) ? -0x1p63
                                              : 0;
    const bool below = range ? *d <= static_cast<double>(range->second) : *d < 0x1p63;
    require(n, *d >= low && below, "'{}' is {}, which {} does not hold", name, *d, aotc::name(t));
  }
  auto* s = std::get_if<Sym>(&a);
  if (!s || !range) return;
  const int64_t low = is_signed_integer(t) ? range->first : -range->second;
  require(n, can_be_within(*s, low, range->second), "'{}' is {}, which {} does not hold", name,
          s->str(), aotc::name(t));
}

void require_bounds_meet(const Node& n, std::string_view low, std::string_view high, DType t) {
  const auto range = integer_range(t);
  if (!range) return;
  auto bound = [&](std::string_view name) -> const Sym* {
    return name.empty() || !is_given(n, name) ? nullptr : std::get_if<Sym>(&arg(n, name));
  };
  if (const Sym* s = bound(low))
    require(n, can_hold(sym_le(*s, Sym(range->second))), "'{}' is {}, above all numbers of {}", low,
            s->str(), name(t));
  if (const Sym* s = bound(high))
    require(n, can_hold(sym_le(Sym(range->first), *s)), "'{}' is {}, below all numbers of {}", high,
            s->str(), name(t));
}

ArgumentRules number_rules() {
  return {
      {"aten.full", check_size},
      {"aten.zeros", check_size},
      {"aten.ones", check_size},
      {"aten.empty", check_size},
      {"aten.new_full", check_size},
      {"aten.new_zeros", check_size},
      {"aten.new_ones", check_size},
      {"aten.new_empty", check_size},
      {"aten.empty_permuted",
       [](const Node& n) {
         check_size(n);
         auto rank = static_cast<int64_t>(syms_arg(n, "size").size());
         require_list(n, "physical_layout", static_cast<size_t>(rank), 0);
         require_dims(n, "physical_layout", rank);
       }},
      {"aten.empty_strided",
       [](const Node& n) { require_list(n, "stride", syms_arg(n, "size").size(), 0); }},
      {"aten.new_empty_strided",
       [](const Node& n) { require_list(n, "stride", syms_arg(n, "size").size(), 0); }},
      {"aten.eye", check_eye},
      {"aten.linspace", check_steps},
      {"aten.logspace", check_steps},
      {"aten.tril_indices", check_triangle_indices},
      {"aten.triu_indices", check_triangle_indices},
      {"aten.arange", check_arange},
      {"aten.fill", check_fill},
      {"aten.copy", check_copy},
      {"aten.tril", check_triangle},
      {"aten.triu", check_triangle},
      {"aten.glu", check_glu},
      {"aten.prelu", check_prelu},
      {"aten._prelu_kernel",
       [](const Node& n) {
         require_same_dtype(n, {"self", "weight"});
         require_expandable(n, "weight", sizes_of(n, "self"));
       }},
      {"aten.gelu", check_approximate},
      {"aten.div", check_rounding},
      {"aten.divide", check_rounding},
      {"aten.celu", check_celu},
      {"aten.elu", check_floating_self},
      {"aten.selu", check_floating_self},
      {"aten.hardshrink", check_floating_self},
      {"aten.softshrink", check_floating_self},
      {"aten.leaky_relu", check_floating_self},
      {"aten.hardswish", check_floating_self},
      {"aten.hardsigmoid", check_floating_self},
      {"aten.silu", check_floating_self},
      {"aten.mish", check_floating_self},
      {"aten.softplus", check_floating_self},
      {"aten.log_sigmoid", check_floating_self},
      {"aten.log_sigmoid_forward", check_floating_self},
      {"aten.frac", check_floating_self},
      {"aten.abs", check_not_bool_self},
      {"aten.absolute", check_not_bool_self},
      {"aten.neg", check_not_bool_self},
      {"aten.negative", check_not_bool_self},
      {"aten.relu", check_not_bool_self},
      {"aten.relu6", check_relu6},
      {"aten.hardtanh", check_hardtanh},
      {"aten.clamp", check_clamp},
      {"aten.clip", check_clamp},
      {"aten.clamp_min", check_clamp},
      {"aten.clamp_max", check_clamp},
      {"aten.sub", check_subtraction},
      {"aten.subtract", check_subtraction},
      {"aten.rsub", check_subtraction},
      {"aten.polygamma", check_polygamma},
      {"aten.special_polygamma", check_polygamma},
      {"aten.heaviside", check_same_types},
      {"aten.lerp", check_lerp},
      {"aten.bitwise_and", check_bits},
      {"aten.bitwise_or", check_bits},
      {"aten.bitwise_xor", check_bits},
      {"aten.bitwise_not", check_bits},
      {"aten.__and__", check_bits},
      {"aten.__or__", check_bits},
      {"aten.__xor__", check_bits},
      {"aten.gcd", check_bits},
      {"aten.lcm", check_bits},
      {"aten.dropout", check_dropout_rate},
      {"aten.feature_dropout", check_dropout_rate},
      {"aten.alpha_dropout", check_dropout_rate},
      {"aten.feature_alpha_dropout", check_dropout_rate},
      {"aten.sym_size", check_sym_size},
      {"aten.sym_stride", check_sym_size},
      {"aten.item", check_item},
      {"aten._local_scalar_dense", check_item},
      {"aten.linalg_matrix_norm", check_matrix_norm},
      {"aten.nonzero_static", check_nonzero_static},
  };
}

}  // namespace aotc
