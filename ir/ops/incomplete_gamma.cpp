// The regularised incomplete gamma functions P(a, x) and Q(a, x) = 1 - P(a, x), in float64: the
// series DLMF 8.11.4 below x = a, the continued fraction 8.9.2 above it, the uniform expansion
// 8.12.3 where a is large and x near it, the series 8.7.3 for a Q that is small beside 1.
#include <cmath>
#include <vector>

#include "ir/ops/scalar_math.h"
#include "ir/ops/tensor_expr.h"

namespace aotc {
Rows gamma_ops();
namespace {

constexpr int64_t kGammaTerms = 140;  // of the series and the fraction, where they are used
constexpr double kUniformFrom = 20;   // the least a of the uniform expansion
constexpr size_t kUniformOrders = 15, kUniformPowers = 18;

// ---- coefficients

// x(eta) = 1 + alpha[1] eta + alpha[2] eta^2 + ... where eta^2 / 2 = x - 1 - log x.
std::vector<long double> inverse_series(size_t count) {
  std::vector<long double> alpha{0, 1};
  for (size_t n = 2; n < count; ++n) {
    long double sum = alpha[n - 1];
    for (size_t j = 2; j < n; ++j) sum -= static_cast<long double>(j) * alpha[j] * alpha[n + 1 - j];
    alpha.push_back(sum / static_cast<long double>(n + 1));
  }
  return alpha;
}

// Row k: the Taylor coefficients of the factor of a^-k (N. M. Temme, 1979).
std::vector<std::vector<double>> uniform_coefficients() {
  const size_t count = kUniformPowers + 2 * kUniformOrders + 4;
  std::vector<long double> alpha = inverse_series(count), first, row;
  for (size_t n = 0; n + 2 < count; ++n)
    first.push_back(n == 0 ? -1.0L / 3 : static_cast<long double>(n + 2) * alpha[n + 2]);
  std::vector<std::vector<double>> rows;
  long double odd = 1;  // 1 * 3 * 5 * ..., with the sign of (-1)^k
  row = first;
  for (size_t k = 0; k < kUniformOrders; ++k) {
    rows.emplace_back(row.begin(), row.begin() + kUniformPowers);
    odd *= -static_cast<long double>(2 * k + 3);
    std::vector<long double> next;
    for (size_t n = 0; n + 2 < row.size(); ++n)
      next.push_back(odd * alpha[2 * k + 3] * first[n] +
                     static_cast<long double>(n + 2) * row[n + 2]);
    row = next;
  }
  return rows;
}

// zeta(s) - 1 for s >= 2, by summation with the Euler-Maclaurin formula for the rest.
double zeta_beyond_one(int s) {
  const long double n = 30, exponent = s;
  long double sum = std::pow(n, 1 - exponent) / (exponent - 1) + std::pow(n, -exponent) / 2 +
                    exponent * std::pow(n, -exponent - 1) / 12 -
                    exponent * (exponent + 1) * (exponent + 2) * std::pow(n, -exponent - 3) / 720;
  for (int j = 29; j >= 2; --j) sum += std::pow(static_cast<long double>(j), -exponent);
  return static_cast<double>(sum);
}

// ---- pieces

// log(1 + m) - m without cancellation: with s = m / (2 + m), log(1 + m) = 2 atanh(s).
E log1p_minus(E m) {
  E near = where(abs(m) < 0.5, m, 0.0), s = near / (near + 2.0), square_of = s * s;
  E sum = like(s, 1.0 / 35);
  for (int k = 16; k >= 1; --k) sum = sum * square_of + 1.0 / (2 * k + 1);
  E small = 2.0 * (s * square_of * sum) - near * s;
  return where(abs(m) < 0.5, small, log1p(m) - m);
}

// log gamma(1 + a)
E log_gamma_1p(E a) {
  constexpr double kEuler = 0.57721566490153286061;
  E near = where(a < 0.5, a, 0.0), sum = like(a, 0);
  for (int k = 29; k >= 2; --k) sum = (sum + (k % 2 == 0 ? 1 : -1) * zeta_beyond_one(k) / k) * near;
  E small = near * (1 - kEuler) + sum * near - log1p(near);
  return where(a < 0.5, small, lgamma(a + 1.0));
}

// How far Stirling's formula for log gamma(a) is off, for large a.
E stirling_rest(E a) {
  E inverse = 1.0 / a, s = inverse * inverse;
  constexpr double kTerms[] = {1.0 / 1188, -1.0 / 1680, 1.0 / 1260, -1.0 / 360, 1.0 / 12};
  return polynomial(s, kTerms) * inverse;
}

struct GammaPair {
  E lower, upper;  // P, Q
};

// x^a e^-x / gamma(a + 1)
E gamma_power(E a, E x, E exponent) {
  E large = where(a >= kUniformFrom, a, 1.0);
  E stirling = exp(exponent - stirling_rest(large)) / sqrt(large * (2 * M_PI));
  return where(a >= kUniformFrom, stirling, exp(a * log(x) - x - log_gamma_1p(a)));
}

GammaPair uniform_expansion(E a, E mu, E exponent) {
  E eta = copysign(sqrt(maximum(exponent / a * -2.0, like(a, 0))), mu), sum = like(a, 0);
  std::vector<std::vector<double>> rows = uniform_coefficients();
  for (size_t k = rows.size(); k-- > 0;) {
    std::vector<double> down(rows[k].rbegin(), rows[k].rend());
    sum = sum / a + polynomial(eta, down);
  }
  E rest = exp(exponent) / sqrt(a * (2 * M_PI)) * sum, scaled = eta * sqrt(a / 2.0);
  return {erfc(-scaled) * 0.5 - rest, erfc(scaled) * 0.5 + rest};
}

// Q for x up to 1.1, where it is the small difference of two numbers near 1.
E small_upper(E a, E x) {
  E power = a * log(x) - log_gamma_1p(a), factor = like(x, 1), sum = like(x, 0);
  for (int n = 1; n <= 24; ++n) {
    factor = -(factor * x) / static_cast<double>(n);
    sum = sum + factor / (a + static_cast<double>(n));
  }
  return -unary(Prim::expm1, power) - exp(power) * a * sum;
}

// Whether the continued fraction is used, not the series.
E takes_fraction(E a, E x) { return (x > 1.1) && (x > a); }

GammaPair gamma_pair(E a, E x, E tail) {
  E mu = (x - a) / a, exponent = a * log1p_minus(mu);
  E power = gamma_power(a, x, exponent), series = power * tail,
    fraction = a * power / (x + 1.0 - a + tail);
  E cancels = where(x <= 0.5, -0.4 / log(x) < a, x * 1.1 < a);
  E by_series = (x <= 1.1) && !cancels;
  E low = where(by_series, x, 0.5), small = small_upper(where(by_series, a, 0.5), low);
  E upper = takes_fraction(a, x);
  GammaPair plain{where(upper, 1.0 - fraction, where(by_series, 1.0 - small, series)),
                  where(upper, fraction, where(by_series, small, 1.0 - series))};
  E uniform = (a >= kUniformFrom) && (abs(mu) < 0.3);
  E centre = where(uniform, a, kUniformFrom);
  GammaPair near =
      uniform_expansion(centre, where(uniform, mu, 0.0), where(uniform, exponent, 0.0));
  return {where(uniform, near.lower, plain.lower), where(uniform, near.upper, plain.upper)};
}

// At the ends of the domain, and outside of it.
E with_limits(E a, E x, E value, bool upper) {
  double at_zero = upper ? 1 : 0, at_infinity = upper ? 0 : 1;
  value = where(isinf(x), like(x, at_infinity), value);
  value = where(isinf(a), where(isinf(x), like(x, NAN), like(x, at_zero)), value);
  value = where(x == 0.0, like(x, at_zero), value);
  value = where(a == 0.0, where(x > 0.0, like(x, at_infinity), like(x, NAN)), value);
  E outside = !(a >= 0.0) || !(x >= 0.0);
  return where(outside, like(x, NAN), value);
}

// ---- the kernels: the series or the fraction from its last term on, then the formulas

Types gamma_types(const Node& n) {
  const TensorType& t = input_type(n);
  return {contiguous_type(t.dtype, t.sizes, t.device)};
}

// The operands of one element, and of the formulas: 1 where a limit decides.
struct GammaOperands {
  E a, x, a_in, x_in;
};

GammaOperands operands_at(KernelBuilder& k, const Node& n, const Index& at) {
  E a = k.lowering().load(k, tensor_arg(n, "a"), at),
    x = k.lowering().load(k, tensor_arg(n, "x"), at);
  E inside = (a > 0.0) && (x > 0.0) && !isinf(a) && !isinf(x);
  return {a, x, where(inside, a, 1.0), where(inside, x, 1.0)};
}

void lower_gamma_tail(Lowering& l, const Node& n, loops::BufferId tail) {
  KernelBuilder k(l, l.unique_kernel_name("gamma_tail"));
  Index at = k.axes(input_type(n).sizes);
  GammaOperands o = operands_at(k, n, at);
  E fraction = takes_fraction(o.a_in, o.x_in);
  k.store(tail, at, where(fraction, 0.0, like(o.a, 1)));
  k.begin_phase(true);
  E i = cast(k.index(kGammaTerms - k.inner_axis(kGammaTerms)), DType::Float64);
  E before = k.load(tail, at);
  E next_fraction = i * (o.a_in - i) / (o.x_in + i * 2.0 + 1.0 - o.a_in + before);
  E next_series = o.x_in / (o.a_in + i) * before + 1.0;
  k.store(tail, at, where(fraction, next_fraction, next_series));
  l.finish(k, n);
}

void lower_gamma(Lowering& l, const Node& n) {
  const Index& sizes = input_type(n).sizes;
  loops::BufferId tail = l.temp(temp_name(l, n, "tail"), DType::Float64, sizes);
  lower_gamma_tail(l, n, tail);
  KernelBuilder k(l, l.unique_kernel_name("incomplete_gamma"));
  Index at = k.axes(sizes);
  GammaOperands o = operands_at(k, n, at);
  GammaPair both = gamma_pair(o.a_in, o.x_in, k.load(tail, at));
  bool upper = bool_arg(n, "upper");
  k.store(l.output(n), at, with_limits(o.a, o.x, upper ? both.upper : both.lower, upper));
  l.finish(k, n);
}

// Computed in float64, rounded once to the promoted type.
Values gamma_of(Rewriter& r, bool upper) {
  TensorExpr a = in(r, "self"), x = in(r, "other");
  DType t = result_type(r.node, {0, 1});
  if (is_complex(t)) unsupported(r.node, "a complex argument", "pass real numbers");
  if (!is_floating(t)) t = DType::Float32;
  Index common = broadcast_sizes({a.sizes(), x.sizes()}, r.node);
  auto wide = [&](TensorExpr v) { return v.cast(t).cast(DType::Float64).expand(common); };
  return {wide(a).apply("aotc.incomplete_gamma", {wide(x).v, upper}).cast(t)};
}

}  // namespace

Rows gamma_ops() {
  auto lower = [](Rewriter& r) { return gamma_of(r, false); };
  auto upper = [](Rewriter& r) { return gamma_of(r, true); };
  return {
      loops_op("aotc.incomplete_gamma(Tensor a, Tensor x, bool upper) -> Tensor", LoopsKind::Scan,
               gamma_types, lower_gamma),
      rewrite_op("aten.igamma.default(Tensor self, Tensor other) -> Tensor", lower),
      rewrite_op("aten.igammac.default(Tensor self, Tensor other) -> Tensor", upper),
      rewrite_op("aten.special_gammainc.default(Tensor self, Tensor other) -> Tensor", lower),
      rewrite_op("aten.special_gammaincc.default(Tensor self, Tensor other) -> Tensor", upper),
  };
}

}  // namespace aotc
