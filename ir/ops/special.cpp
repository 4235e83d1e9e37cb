// Special functions that are short formulas of the scalar primitives.
#include <array>
#include <cmath>

#include "ir/ops/row_helpers.h"
#include "ir/ops/scalar_math.h"

namespace aotc {
namespace {

using enum TypeRule;

Rows renamed() {
  Rows rows;
  const std::pair<std::string_view, Prim> table[] = {
      {"aten.special_digamma.default(Tensor self) -> Tensor", Prim::digamma},
      {"aten.special_psi.default(Tensor self) -> Tensor", Prim::digamma},
      {"aten.special_erf.default(Tensor self) -> Tensor", Prim::erf},
      {"aten.special_erfc.default(Tensor self) -> Tensor", Prim::erfc},
      {"aten.special_erfinv.default(Tensor self) -> Tensor", Prim::erfinv},
      {"aten.special_exp2.default(Tensor self) -> Tensor", Prim::exp2},
      {"aten.special_expit.default(Tensor self) -> Tensor", Prim::sigmoid},
      {"aten.special_expm1.default(Tensor self) -> Tensor", Prim::expm1},
      {"aten.special_gammaln.default(Tensor self) -> Tensor", Prim::lgamma},
      {"aten.special_log1p.default(Tensor self) -> Tensor", Prim::log1p},
      {"aten.special_i0.default(Tensor self) -> Tensor", Prim::i0},
      {"aten.special_i0e.default(Tensor self) -> Tensor", Prim::i0e},
      {"aten.special_i1.default(Tensor self) -> Tensor", Prim::i1},
      {"aten.special_i1e.default(Tensor self) -> Tensor", Prim::i1e},
      {"aten.special_modified_bessel_i0.default(Tensor self) -> Tensor", Prim::i0},
      {"aten.special_modified_bessel_i1.default(Tensor self) -> Tensor", Prim::i1},
  };
  for (auto [schema, prim] : table) rows.push_back(prim_op(schema, Float, prim));
  rows.push_back(alias_op("aten.special_sinc.default(Tensor self) -> Tensor", "aten.sinc.default"));
  return rows;
}

// x * log(y), 0 where x is 0 and y is a number.
E x_log_y(Elements& x) {
  return where(isnan(x[1]), x[1], where(x[0] == 0.0, 0.0, x[0] * log(x[1])));
}
E x_log1p_y(Elements& x) {
  return where(isnan(x[1]), x[1], where(x[0] == 0.0, 0.0, x[0] * log1p(x[1])));
}

// Log of the sum of two exponentials; equal infinities stay what they are.
E log_add_exp(Elements& x) {
  E a = x[0], b = x[1];
  return where(isinf(a) && (a == b), a, maximum(a, b) + log1p(exp(-abs(a - b))));
}
E log_add_exp2(Elements& x) {
  E a = x[0], b = x[1];
  return where(isinf(a) && (a == b), a, maximum(a, b) + log1p(exp2(-abs(a - b))) * M_LOG2E);
}

Rows logarithms() {
  Rows rows;
  for (std::string_view schema :
       {"aten.xlogy.Tensor(Tensor self, Tensor other) -> Tensor",
        "aten.xlogy.Scalar_Self(Scalar self, Tensor other) -> Tensor",
        "aten.xlogy.Scalar_Other(Tensor self, Scalar other) -> Tensor",
        "aten.special_xlogy.default(Tensor self, Tensor other) -> Tensor",
        "aten.special_xlogy.self_scalar(Scalar self, Tensor other) -> Tensor",
        "aten.special_xlogy.other_scalar(Tensor self, Scalar other) -> Tensor"})
    rows.push_back(scalar_op(schema, Float, x_log_y));
  for (std::string_view schema :
       {"aten.special_xlog1py.default(Tensor self, Tensor other) -> Tensor",
        "aten.special_xlog1py.self_scalar(Scalar self, Tensor other) -> Tensor",
        "aten.special_xlog1py.other_scalar(Tensor self, Scalar other) -> Tensor"})
    rows.push_back(scalar_op(schema, Float, x_log1p_y));
  rows.push_back(
      scalar_op("aten.logaddexp.default(Tensor self, Tensor other) -> Tensor", Float, log_add_exp));
  rows.push_back(scalar_op("aten.logaddexp2.default(Tensor self, Tensor other) -> Tensor", Float,
                           log_add_exp2));
  return rows;
}

// -x log x; 0 at 0, -inf below.
E entropy(Elements& x) {
  E v = x[0];
  return where(isnan(v), v, where(v > 0.0, -v * log(v), where(v == 0.0, 0.0, x.number(-INFINITY))));
}

E scaled_complementary_erf(E v);

E normal_cdf(Elements& x) { return 0.5 * erfc(x[0] * -M_SQRT1_2); }

// log of the normal CDF: the tail through erfcx, which does not underflow.
E log_normal_cdf(Elements& x) {
  E t = x[0] * M_SQRT1_2;
  return where(x[0] < -1.0, log(scaled_complementary_erf(-t) / 2.0) - t * t, log1p(-erfc(t) / 2.0));
}

// exp(v^2) erfc(v). From 2 on by its continued fraction v + (1/2)/(v + 1/(v + (3/2)/(v + ...)));
// below by definition, where exp(v^2) is moderate. Far below zero it is 2 exp(v^2).
E scaled_complementary_erf(E v) {
  E fraction = v;
  for (int k = 60; k >= 1; --k) fraction = v + (k * 0.5) / fraction;
  E tail = like(v, 1 / std::sqrt(M_PI)) / fraction;
  return where(v >= 2.0, tail, exp(v * v) * erfc(v));
}

// The p-variate log gamma: p (p - 1) / 4 log(pi) + sum of lgamma(x - j / 2).
E multivariate_lgamma(Elements& x) {
  int64_t p = int_arg(x.node, "p");
  double constant = static_cast<double>(p * (p - 1)) / 4 * std::log(M_PI);
  E sum = lgamma(x[0]);
  for (int64_t j = 1; j < p; ++j) sum = sum + lgamma(x[0] - static_cast<double>(j) / 2);
  return sum + constant;
}

// ---- Hurwitz zeta, the sum of (q + k)^-s, and polygamma

// For q > 0: ten terms, then the Euler-Maclaurin formula at q + 9. `power` gives a^-s.
E positive_zeta(E s, E q, const std::function<E(E)>& power) {
  const double bernoulli[] = {1.0 / 6,  -1.0 / 30,     1.0 / 42, -1.0 / 30,
                              5.0 / 66, -691.0 / 2730, 7.0 / 6,  -3617.0 / 510};
  E sum = power(q);
  for (int k = 1; k <= 9; ++k) sum = sum + power(q + static_cast<double>(k));
  E a = q + 9.0, last = power(a), inverse = 1.0 / a;
  sum = sum + last * a / (s - 1.0) - last * 0.5;
  // B_2j / (2j)! s (s + 1) ... (s + 2j - 2) a^(1 - s - 2j)
  E factor = s * last * inverse;
  double factorial = 2;
  for (int j = 1; j <= 8; ++j) {
    sum = sum + factor * (bernoulli[j - 1] / factorial);
    factor = factor * (s + (2.0 * j - 1)) * (s + 2.0 * j) * inverse * inverse;
    factorial *= (2.0 * j + 1) * (2.0 * j + 2);
  }
  return sum;
}

// 1 for s = 1; below 1 it is undefined. Negative q needs a whole s; its poles are the negative
// integers.
E zeta(Elements& x) {
  E s = cast(x[0], DType::Float64), q = cast(x[1], DType::Float64);
  auto power = [&](E a) { return pow(a, -s); };
  E value = positive_zeta(s, where(q > 0.0, q, 1.0), power);
  E below = where(q == floor(q), INFINITY, like(q, NAN));
  value = where(q > 0.0, value, below);
  value = where(s == 1.0, INFINITY, where(s < 1.0, like(s, NAN), value));
  return cast(value, x.compute);
}

// zeta(s, q) for a whole s > 1 and any q: the terms at negative positions are those of 1 -
// fraction, up to the sign.
E whole_zeta(int64_t s, E q) {
  E order = like(q, static_cast<double>(s));
  auto power = [&](E a) { return pow(a, -order); };
  E fraction = q - floor(q), count = -floor(q);
  E start = where(q > 0.0, q, where(fraction == 0.0, 1.0, fraction));
  E negative =
      positive_zeta(order, 1.0 - where(q > 0.0, 0.5, fraction), power) -
      positive_zeta(order, 1.0 - where(q > 0.0, 0.5, fraction) + maximum(count, like(q, 0)), power);
  if (s % 2 == 1) negative = -negative;
  E value = positive_zeta(order, start, power);
  value = where(q > 0.0, value, value + negative);
  return where((q <= 0.0) && (fraction == 0.0), INFINITY, value);
}

// Below 1/2 by reflection, then six steps up and the asymptotic series, in the type itself, as
// eager.
E trigamma(E v) {
  E sine = sin(v * M_PI);
  E reflected = like(v, M_PI * M_PI) / (sine * sine);
  E x = where(v < 0.5, 1.0 - v, v), sum = where(v < 0.5, -reflected, like(v, 0));
  for (int i = 0; i < 6; ++i) {
    sum = sum + 1.0 / (x * x);
    x = x + 1.0;
  }
  E inverse = 1.0 / (x * x);
  E series = inverse * (1.0 / 6 - inverse * (1.0 / 30 - inverse * (1.0 / 42)));
  sum = sum + (1.0 + 1.0 / (x * 2.0) + series) / x;
  return where(v < 0.5, -sum, sum);
}

// The n-th derivative of digamma: (-1)^(n + 1) n! zeta(n + 1, x).
E polygamma(Elements& x) {
  int64_t n = int_arg(x.node, "n");
  if (n == 0) return digamma(x[0]);
  if (n == 1) return trigamma(x[0]);
  double factor = std::tgamma(static_cast<double>(n + 1)) * (n % 2 == 1 ? 1 : -1);
  return cast(whole_zeta(n + 1, cast(x[0], DType::Float64)) * factor, x.compute);
}

std::vector<Value*> polygamma_row(Rewriter& r) {
  return {r("aotc.polygamma", {r.tensor("self"), arg(r.node, "n")})};
}

// j0(x) = sin(x) / x, by its series where that loses digits.
E spherical_bessel_j0(Elements& x) {
  E v = x[0], s = v * v;
  const double series[] = {1.0 / 6227020800, -1.0 / 39916800, 1.0 / 362880, -1.0 / 5040,
                           1.0 / 120,        -1.0 / 6,        1.0};
  return where(isinf(v), 0.0, where(abs(v) < 0.5, polynomial(s, series), sin(v) / v));
}

// ---- mantissa and exponent: x = m 2^e with |m| in [1/2, 1)

// The bits of a float type: field of the exponent, what it is at m in [1/2, 1).
struct FloatBits {
  DType bits;
  int64_t shift, mask, half;
};

// Zeros, infinities and NaN stay and have exponent 0. Subnormal numbers are scaled up first.
Values frexp_of(Rewriter& r) {
  TensorExpr self = in(r, "self"), x = widened(self);
  if (!is_floating(self.dtype()))
    unsupported(r.node, "frexp of integers", "cast them to a floating-point type");
  bool wide = x.dtype() == DType::Float64;
  FloatBits f =
      wide ? FloatBits{DType::Int64, 52, 0x7ff, 1022} : FloatBits{DType::Int32, 23, 0xff, 126};
  double up = wide ? 0x1p54 : 0x1p25;
  auto both = [](TensorExpr a, TensorExpr b) { return a.apply("aten.logical_and.default", {b.v}); };
  TensorExpr tiny = abs(x) < (wide ? 0x1p-1022 : 0x1p-126);
  TensorExpr scaled = where(tiny, (x * up).v, x.v);
  TensorExpr bits{&r, r("aten.view.dtype", {r.clone(scaled), f.bits})};
  TensorExpr field = bits.apply("aten.bitwise_right_shift.Tensor_Scalar", {Sym(f.shift)})
                         .apply("aten.bitwise_and.Scalar", {Sym(f.mask)});
  TensorExpr plain = both(x != 0.0, field != Sym(f.mask));
  TensorExpr exponent = field - Sym(f.half);
  exponent = where(tiny, (exponent - Sym(wide ? 54 : 25)).v, exponent.v);
  const int64_t field_mask = f.mask << f.shift;
  TensorExpr mantissa = bits.apply("aten.bitwise_and.Scalar", {Sym(~field_mask)})
                            .apply("aten.bitwise_or.Scalar", {Sym(f.half << f.shift)});
  TensorExpr value{&r, r("aten.view.dtype", {r.clone(mantissa), x.dtype()})};
  return {where(plain, value.v, x.v).cast(self.dtype()),
          where(plain, exponent.v, Sym(0)).cast(DType::Int32)};
}

Rows formulas() {
  return {
      scalar_op("aten.special_entr.default(Tensor self) -> Tensor", Float, entropy),
      scalar_op("aten.special_erfcx.default(Tensor self) -> Tensor", Float,
                [](Elements& x) { return scaled_complementary_erf(x[0]); }),
      scalar_op("aten.special_ndtr.default(Tensor self) -> Tensor", Float, normal_cdf),
      scalar_op("aten.special_log_ndtr.default(Tensor self) -> Tensor", Float, log_normal_cdf),
      scalar_op("aten.mvlgamma.default(Tensor self, int p) -> Tensor", Float, multivariate_lgamma),
      scalar_op("aten.special_multigammaln.default(Tensor self, int p) -> Tensor", Float,
                multivariate_lgamma),
      in_place_as(
          scalar_op("aotc.polygamma(Tensor self, int n) -> Tensor", Float, polygamma, {"self"}),
          "aten.polygamma_.default"),
      rewrite_op("aten.polygamma.default(int n, Tensor self) -> Tensor", polygamma_row),
      rewrite_op("aten.special_polygamma.default(int n, Tensor self) -> Tensor", polygamma_row),
      rewrite_op("aten.frexp.Tensor(Tensor self) -> (Tensor mantissa, Tensor exponent)", frexp_of),
      scalar_op("aten.special_zeta.default(Tensor self, Tensor other) -> Tensor", Float, zeta),
      scalar_op("aten.special_zeta.self_scalar(Scalar self, Tensor other) -> Tensor", Float, zeta),
      scalar_op("aten.special_zeta.other_scalar(Tensor self, Scalar other) -> Tensor", Float, zeta),
      scalar_op("aten.special_spherical_bessel_j0.default(Tensor x) -> Tensor", Float,
                spherical_bessel_j0),
  };
}

}  // namespace

Rows special_ops() {
  Rows rows = renamed();
  append(rows, logarithms());
  append(rows, formulas());
  append(rows, bessel_ops());
  append(rows, orthogonal_ops());
  return rows;
}

}  // namespace aotc
