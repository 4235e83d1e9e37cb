// Pointwise arithmetic: unary mathematics, the four operations, division and its remainders,
// powers, minimum and maximum, interpolation.
#include <cmath>

#include "ir/ops/number_fit.h"
#include "ir/ops/row_helpers.h"
#include "ir/ops/scalar_math.h"

namespace aotc {
namespace {

Rows unary_math() {
  using enum TypeRule;
  Rows rows;
  const std::pair<std::string_view, Prim> same_type[] = {
      {"aten.neg.default(Tensor self) -> Tensor", Prim::neg},
      {"aten.negative.default(Tensor self) -> Tensor", Prim::neg},
      {"aten.sign.default(Tensor self) -> Tensor", Prim::sign},
      {"aten.floor.default(Tensor self) -> Tensor", Prim::floor},
      {"aten.ceil.default(Tensor self) -> Tensor", Prim::ceil},
      {"aten.trunc.default(Tensor self) -> Tensor", Prim::trunc},
      {"aten.fix.default(Tensor self) -> Tensor", Prim::trunc},
      {"aten.round.default(Tensor self) -> Tensor", Prim::round},
  };
  for (auto [schema, prim] : same_type) rows.push_back(prim_op(schema, Promote, prim));
  const std::pair<std::string_view, Prim> floating[] = {
      {"aten.exp.default(Tensor self) -> Tensor", Prim::exp},
      {"aten.exp2.default(Tensor self) -> Tensor", Prim::exp2},
      {"aten.expm1.default(Tensor self) -> Tensor", Prim::expm1},
      {"aten.log.default(Tensor self) -> Tensor", Prim::log},
      {"aten.log2.default(Tensor self) -> Tensor", Prim::log2},
      {"aten.log10.default(Tensor self) -> Tensor", Prim::log10},
      {"aten.log1p.default(Tensor self) -> Tensor", Prim::log1p},
      {"aten.sqrt.default(Tensor self) -> Tensor", Prim::sqrt},
      {"aten.rsqrt.default(Tensor self) -> Tensor", Prim::rsqrt},
      {"aten.reciprocal.default(Tensor self) -> Tensor", Prim::reciprocal},
      {"aten.sin.default(Tensor self) -> Tensor", Prim::sin},
      {"aten.cos.default(Tensor self) -> Tensor", Prim::cos},
      {"aten.tan.default(Tensor self) -> Tensor", Prim::tan},
      {"aten.asin.default(Tensor self) -> Tensor", Prim::asin},
      {"aten.acos.default(Tensor self) -> Tensor", Prim::acos},
      {"aten.atan.default(Tensor self) -> Tensor", Prim::atan},
      {"aten.sinh.default(Tensor self) -> Tensor", Prim::sinh},
      {"aten.cosh.default(Tensor self) -> Tensor", Prim::cosh},
      {"aten.tanh.default(Tensor self) -> Tensor", Prim::tanh},
      {"aten.asinh.default(Tensor self) -> Tensor", Prim::asinh},
      {"aten.acosh.default(Tensor self) -> Tensor", Prim::acosh},
      {"aten.atanh.default(Tensor self) -> Tensor", Prim::atanh},
      {"aten.arcsin.default(Tensor self) -> Tensor", Prim::asin},
      {"aten.arccos.default(Tensor self) -> Tensor", Prim::acos},
      {"aten.arctan.default(Tensor self) -> Tensor", Prim::atan},
      {"aten.arcsinh.default(Tensor self) -> Tensor", Prim::asinh},
      {"aten.arccosh.default(Tensor self) -> Tensor", Prim::acosh},
      {"aten.arctanh.default(Tensor self) -> Tensor", Prim::atanh},
      {"aten.erf.default(Tensor self) -> Tensor", Prim::erf},
      {"aten.erfc.default(Tensor self) -> Tensor", Prim::erfc},
      {"aten.erfinv.default(Tensor self) -> Tensor", Prim::erfinv},
      {"aten.lgamma.default(Tensor self) -> Tensor", Prim::lgamma},
      {"aten.digamma.default(Tensor self) -> Tensor", Prim::digamma},
      {"aten.sigmoid.default(Tensor self) -> Tensor", Prim::sigmoid},
      {"aten.i0.default(Tensor self) -> Tensor", Prim::i0},
  };
  for (auto [schema, prim] : floating) rows.push_back(prim_op(schema, Float, prim));
  rows.push_back(scalar_op("aten.frac.default(Tensor self) -> Tensor", Promote,
                           [](Elements& x) { return x[0] - trunc(x[0]); }));
  rows.push_back(rewrite_op("aten.square.default(Tensor self) -> Tensor", [](Rewriter& r) {
    return std::vector<Value*>{r("aten.pow.Tensor_Scalar", {r.tensor("self"), Sym(2)})};
  }));
  rows.push_back(scalar_op("aten.deg2rad.default(Tensor self) -> Tensor", Float,
                           [](Elements& x) { return x[0] * (M_PI / 180); }));
  rows.push_back(scalar_op("aten.rad2deg.default(Tensor self) -> Tensor", Float,
                           [](Elements& x) { return x[0] * (180 / M_PI); }));
  rows.push_back(scalar_op("aten.sinc.default(Tensor self) -> Tensor", Float, [](Elements& x) {
    E t = x[0] * M_PI;
    return where(x[0] == 0.0, 1.0, sin(t) / t);
  }));
  return rows;
}

// self + alpha * other.
E add_scaled(Elements& x) { return x[0] + (x.is_one("alpha") ? x[1] : x[2] * x[1]); }
E sub_scaled(Elements& x) { return x[0] - (x.is_one("alpha") ? x[1] : x[2] * x[1]); }
E reverse_sub(Elements& x) { return x[1] - (x.is_one("alpha") ? x[0] : x[2] * x[0]); }

E round_decimals(Elements& x) {
  if (!is_floating(x.common)) return x[0];
  int64_t decimals = int_arg(x.node, "decimals");
  Rounded v{x[0], x.common};
  Rounded ten =
      rounded(x.number(std::pow(10.0, static_cast<double>(std::abs(decimals)))), x.common);
  if (decimals == 0) return round(v.e);
  if (decimals < 0) return round((v / ten).e) * ten.e;
  return round((v * ten).e) / ten.e;
}

Rows arithmetic() {
  using enum TypeRule;
  return {
      scalar_op("aten.add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", Promote,
                add_scaled),
      scalar_op("aten.add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor", Promote,
                add_scaled),
      scalar_op("aten.sub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", Promote,
                sub_scaled),
      scalar_op("aten.sub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor", Promote,
                sub_scaled),
      scalar_op("aten.subtract.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
                Promote, sub_scaled),
      scalar_op("aten.subtract.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
                Promote, sub_scaled),
      scalar_op("aten.rsub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", Promote,
                reverse_sub),
      scalar_op("aten.rsub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor", Promote,
                reverse_sub),
      prim_op("aten.mul.Tensor(Tensor self, Tensor other) -> Tensor", Promote, Prim::mul, 2),
      prim_op("aten.mul.Scalar(Tensor self, Scalar other) -> Tensor", Promote, Prim::mul, 2),
      prim_op("aten.multiply.Tensor(Tensor self, Tensor other) -> Tensor", Promote, Prim::mul, 2),
      prim_op("aten.multiply.Scalar(Tensor self, Scalar other) -> Tensor", Promote, Prim::mul, 2),
      prim_op("aten.div.Tensor(Tensor self, Tensor other) -> Tensor", Float, Prim::div, 2),
      prim_op("aten.div.Scalar(Tensor self, Scalar other) -> Tensor", Float, Prim::div, 2),
      prim_op("aten.divide.Tensor(Tensor self, Tensor other) -> Tensor", Float, Prim::div, 2),
      prim_op("aten.divide.Scalar(Tensor self, Scalar other) -> Tensor", Float, Prim::div, 2),
      prim_op("aten.true_divide.Tensor(Tensor self, Tensor other) -> Tensor", Float, Prim::div, 2),
      prim_op("aten.true_divide.Scalar(Tensor self, Scalar other) -> Tensor", Float, Prim::div, 2),
      scalar_op("aten.addcmul.default(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar "
                "value=1) -> Tensor",
                Promote, [](Elements& x) { return x[0] + x[3] * x[1] * x[2]; }),
      scalar_op("aten.addcdiv.default(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar "
                "value=1) -> Tensor",
                Promote, [](Elements& x) { return x[0] + x[3] * x[1] / x[2]; }),
      scalar_op("aten.round.decimals(Tensor self, *, int decimals) -> Tensor", Promote,
                round_decimals),
      scalar_op("aten.special_round.default(Tensor self, *, int decimals=0) -> Tensor", Promote,
                round_decimals),
  };
}

// Integer division by a tensor is checked: a zero divisor fails the call.
std::vector<Value*> checked_division(Rewriter& r, std::string_view op) {
  const Arg& divisor = r.node.args[1];
  DType common = result_type(r.node, {0, 1});
  if (!is_floating(common)) {
    if (auto* v = std::get_if<Value*>(&divisor)) {
      r.emit("aotc.check_nonzero", {*v});
    } else if (auto* s = std::get_if<Sym>(&divisor); s && s->is(0)) {
      user_error(
          "{}: node '{}' ({}): an integer tensor is divided by the constant 0; use another "
          "divisor or a floating-point tensor",
          r.node.source.str(), r.node.name, r.node.op->name());
    }
  }
  return {r(op, {r.node.args[0], divisor})};
}

std::vector<Value*> divide_with_mode(Rewriter& r) {
  auto* mode = std::get_if<std::string>(&arg(r.node, "rounding_mode"));
  if (!mode) return {r("aten.div.Tensor", {r.node.args[0], r.node.args[1]})};
  if (*mode == "floor") return checked_division(r, "aotc.floor_divide");
  if (*mode == "trunc") return checked_division(r, "aotc.trunc_divide");
  unsupported(r.node, "rounding_mode '" + *mode + "'", "use None, 'trunc' or 'floor'");
}

// Half types round the quotient before it is truncated.
E trunc_divide(Elements& x) {
  if (!is_half(x.common)) return binary(Prim::trunc_divide, x[0], x[1]);
  return trunc(rounded(x[0] / x[1], x.common).e);
}

Rows division() {
  using enum TypeRule;
  Rows rows = {
      prim_op("aotc.floor_divide(Tensor self, Tensor other) -> Tensor", Promote, Prim::floor_divide,
              2),
      scalar_op("aotc.trunc_divide(Tensor self, Tensor other) -> Tensor", Promote, trunc_divide),
      prim_op("aotc.remainder(Tensor self, Tensor other) -> Tensor", Promote, Prim::remainder, 2),
      prim_op("aotc.fmod(Tensor self, Tensor other) -> Tensor", Promote, Prim::fmod, 2),
  };
  const std::pair<std::string_view, const char*> checked[] = {
      {"aten.floor_divide.Scalar(Tensor self, Scalar other) -> Tensor", "aotc.floor_divide"},
      {"aten.remainder.Tensor(Tensor self, Tensor other) -> Tensor", "aotc.remainder"},
      {"aten.remainder.Scalar(Tensor self, Scalar other) -> Tensor", "aotc.remainder"},
      {"aten.remainder.Scalar_Tensor(Scalar self, Tensor other) -> Tensor", "aotc.remainder"},
      {"aten.fmod.Tensor(Tensor self, Tensor other) -> Tensor", "aotc.fmod"},
      {"aten.fmod.Scalar(Tensor self, Scalar other) -> Tensor", "aotc.fmod"},
  };
  for (auto [schema, op] : checked)
    rows.push_back(rewrite_op(schema, [op](Rewriter& r) { return checked_division(r, op); }));
  rows.push_back(
      in_place_as(rewrite_op("aten.floor_divide.default(Tensor self, Tensor other) -> Tensor",
                             [](Rewriter& r) { return checked_division(r, "aotc.floor_divide"); }),
                  "aten.floor_divide_.Tensor"));
  for (std::string_view schema :
       {"aten.div.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor",
        "aten.div.Scalar_mode(Tensor self, Scalar other, *, str? rounding_mode) -> Tensor",
        "aten.divide.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor",
        "aten.divide.Scalar_mode(Tensor self, Scalar other, *, str? rounding_mode) -> Tensor"})
    rows.push_back(rewrite_op(schema, divide_with_mode));
  return rows;
}

// Eager's kernels for the common constant exponents; others go through pow.
E power_by_constant(Elements& x) {
  E base = x[0];
  const Arg& exponent = arg(x.node, "exponent");
  bool is_constant = std::holds_alternative<Sym>(exponent)
                         ? std::get<Sym>(exponent).constant().has_value()
                         : !std::holds_alternative<Complex>(exponent);
  if (!is_constant) return pow(base, x[1]);
  double e = double_arg(x.node, "exponent");
  if (e == 2) return base * base;
  if (e == 3) return base * base * base;
  if (is_floating(x.compute)) {
    if (e == 0.5) return sqrt(base);
    if (e == -0.5) return rsqrt(base);
    if (e == -1) return reciprocal(base);
    if (e == -2) return like(base, 1) / (base * base);
  }
  return pow(base, x[1]);
}

std::vector<Value*> float_power(Rewriter& r) {
  std::vector<Arg> args = r.node.args;
  for (Arg& a : args) {
    if (auto* v = std::get_if<Value*>(&a))
      a = r.cast(*v, is_complex(r.dtype(*v)) ? DType::Complex128 : DType::Float64);
    else if (auto* s = std::get_if<Sym>(&a); s && s->constant())
      a = static_cast<double>(*s->constant());
  }
  return {r("aten.pow.Tensor_Tensor", args)};
}

Rows powers() {
  using enum TypeRule;
  Rows rows = {
      in_place_as(prim_op("aten.pow.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor", Promote,
                          Prim::pow, 2),
                  "aten.pow_.Tensor"),
      prim_op("aten.pow.Scalar(Scalar self, Tensor exponent) -> Tensor", Promote, Prim::pow, 2),
      in_place_as(scalar_op("aten.pow.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor",
                            Promote, power_by_constant),
                  "aten.pow_.Scalar"),
      in_place_as(scalar_op("aten.ldexp.Tensor(Tensor self, Tensor other) -> Tensor", Float,
                            [](Elements& x) { return x[0] * exp2(x[1]); }),
                  "aten.ldexp_.default"),
      in_place_as(
          rewrite_op("aten.float_power.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor",
                     float_power),
          "aten.float_power_.Tensor"),
      in_place_as(
          rewrite_op("aten.float_power.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor",
                     float_power),
          "aten.float_power_.Scalar"),
      rewrite_op("aten.float_power.Scalar(Scalar self, Tensor exponent) -> Tensor", float_power),
  };
  return rows;
}

// Bounds that are None do not bound. Where both bound and they cross, the upper one wins.
E clamp(Elements& x) {
  E v = x[0];
  if (!x.is_none("min")) v = maximum(v, bound_element(x, "min"));
  if (!x.is_none("max")) v = minimum(v, bound_element(x, "max"));
  return v;
}

Rows bounds() {
  using enum TypeRule;
  Rows rows;
  for (std::string_view schema :
       {"aten.clamp.default(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor",
        "aten.clamp.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor",
        "aten.clip.default(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor",
        "aten.clip.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor"})
    rows.push_back(scalar_op(schema, Promote, clamp, {"self", "min", "max"}));
  for (std::string_view schema : {"aten.clamp_min.default(Tensor self, Scalar min) -> Tensor",
                                  "aten.clamp_min.Tensor(Tensor self, Tensor min) -> Tensor"})
    rows.push_back(scalar_op(schema, Promote,
                             [](Elements& x) { return maximum(x[0], bound_element(x, "min")); },
                             {"self", "min"}));
  for (std::string_view schema : {"aten.clamp_max.default(Tensor self, Scalar max) -> Tensor",
                                  "aten.clamp_max.Tensor(Tensor self, Tensor max) -> Tensor"})
    rows.push_back(scalar_op(schema, Promote,
                             [](Elements& x) { return minimum(x[0], bound_element(x, "max")); },
                             {"self", "max"}));
  const std::pair<std::string_view, Prim> promoting[] = {
      {"aten.maximum.default(Tensor self, Tensor other) -> Tensor", Prim::maximum},
      {"aten.minimum.default(Tensor self, Tensor other) -> Tensor", Prim::minimum},
      {"aten.max.other(Tensor self, Tensor other) -> Tensor", Prim::maximum},
      {"aten.min.other(Tensor self, Tensor other) -> Tensor", Prim::minimum},
      {"aten.fmax.default(Tensor self, Tensor other) -> Tensor", Prim::fmax},
      {"aten.fmin.default(Tensor self, Tensor other) -> Tensor", Prim::fmin},
  };
  for (auto [schema, prim] : promoting) rows.push_back(prim_op(schema, Promote, prim, 2));
  return rows;
}

// Exact at both ends, as eager: below weight 0.5 it starts from self, above from end.
E lerp(Elements& x) {
  E self = x[0], end = x[1], weight = x[2];
  E from_self = self + weight * (end - self);
  E from_end = end - (end - self) * (1.0 - weight);
  return where(abs(weight) < 0.5, from_self, from_end);
}

E lcm(Elements& x) {
  E divisor = binary(Prim::gcd, x[0], x[1]);
  E quotient = binary(Prim::trunc_divide, x[0], where(divisor == 0.0, 1.0, divisor));
  return abs(quotient * x[1]);
}

E nan_to_num(Elements& x) {
  E v = x[0];
  if (!is_floating(x.common)) return v;
  auto [lowest, highest] = finite_range(x.common);
  E nan = x.is_none("nan") ? x.number(0) : x["nan"];
  E above = x.is_none("posinf") ? x.number(highest) : x["posinf"];
  E below = x.is_none("neginf") ? x.number(lowest) : x["neginf"];
  return where(isnan(v), nan, where(v == INFINITY, above, where(v == -INFINITY, below, v)));
}

Rows others() {
  using enum TypeRule;
  return {
      prim_op("aten.atan2.default(Tensor self, Tensor other) -> Tensor", Float, Prim::atan2, 2),
      prim_op("aten.arctan2.default(Tensor self, Tensor other) -> Tensor", Float, Prim::atan2, 2),
      prim_op("aten.hypot.default(Tensor self, Tensor other) -> Tensor", Promote, Prim::hypot, 2),
      prim_op("aten.copysign.Tensor(Tensor self, Tensor other) -> Tensor", Float, Prim::copysign,
              2),
      prim_op("aten.copysign.Scalar(Tensor self, Scalar other) -> Tensor", Float, Prim::copysign,
              2),
      prim_op("aten.nextafter.default(Tensor self, Tensor other) -> Tensor", Promote,
              Prim::nextafter, 2),
      scalar_op("aten.lerp.Scalar(Tensor self, Tensor end, Scalar weight) -> Tensor", Promote, lerp,
                {"self", "end"}),
      scalar_op("aten.lerp.Tensor(Tensor self, Tensor end, Tensor weight) -> Tensor", Promote, lerp,
                {"self", "end"}),
      scalar_op("aten.nan_to_num.default(Tensor self, float? nan=None, float? posinf=None, float? "
                "neginf=None) -> Tensor",
                Promote, nan_to_num, {"self"}),
      prim_op("aten.gcd.default(Tensor self, Tensor other) -> Tensor", Promote, Prim::gcd, 2),
      scalar_op("aten.lcm.default(Tensor self, Tensor other) -> Tensor", Promote, lcm),
      scalar_op("aten.heaviside.default(Tensor self, Tensor values) -> Tensor", Promote,
                [](Elements& x) { return where(x[0] == 0.0, x[1], cast(x[0] > 0.0, x.compute)); }),
  };
}

}  // namespace

E bound_element(Elements& x, std::string_view name) {
  const Arg& a = arg(x.node, name);
  const auto range = integer_range(x.common);
  Sym bound;
  if (auto* s = std::get_if<Sym>(&a); s && range)
    bound = *s;
  else if (auto* d = std::get_if<double>(&a); d && is_integer(x.common))
    bound = static_cast<int64_t>(*d);  // of a hardtanh
  else
    return x[name];
  if (range) bound = sym_min(sym_max(bound, Sym(range->first)), Sym(range->second));
  return cast(x.k.index(bound), x.compute);
}

Rows pointwise_ops() {
  Rows rows = unary_math();
  for (Rows (*part)() :
       {arithmetic, division, powers, bounds, others, compare_ops, activation_ops, special_ops})
    append(rows, part());
  return rows;
}

}  // namespace aotc
