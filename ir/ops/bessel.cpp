// Bessel functions, the Airy function and the normal quantile, from integrals and series, in
// float64. An integral of a smooth periodic (or fast decaying) function is a sum over equidistant
// nodes, to full precision.
#include <cmath>
#include <numbers>
#include <vector>

#include "ir/ops/row_helpers.h"
#include "ir/ops/scalar_math.h"

namespace aotc {
namespace {

using std::numbers::egamma;
using std::numbers::pi;

// A row computed in float64 and rounded to its type.
OpDef double_op(std::string_view schema, E (*fn)(E)) {
  return scalar_op(schema, TypeRule::Float,
                   [fn](Elements& x) { return cast(fn(cast(x[0], DType::Float64)), x.compute); });
}

E sum_of(const std::vector<E>& terms) {
  E sum = terms.front();
  for (size_t i = 1; i < terms.size(); ++i) sum = sum + terms[i];
  return sum;
}

// ---- first and second kind, for x >= 0. Below kFar by integrals over an eighth of the circle's
// symmetry, above it by the asymptotic series

constexpr double kFar = 25;
constexpr int kNodes =
    48;  // on a quarter circle; exact while |x| and the order stay below twice that

struct CircleNode {
  double sine, weight, neumann;
};

// Midpoint nodes of the quarter circle. `neumann` is the sum over k of (-1)^(k+1) cos(2 k t) / k.
std::vector<CircleNode> quarter_circle() {
  std::vector<CircleNode> nodes;
  for (int i = 0; i < kNodes; ++i) {
    double t = (i + 0.5) * (pi / 2) / kNodes, neumann = 0;
    for (int k = 1; k <= 40; ++k) neumann += (k % 2 == 1 ? 1 : -1) * std::cos(2 * k * t) / k;
    nodes.push_back({std::sin(t), 1.0 / kNodes, neumann});
  }
  return nodes;
}

struct Near {
  E j0, j1, y0, y1;
};

// J0 = mean of cos(x sin t), J1 = mean of sin(x sin t) sin t; Y0 and Y1 by Neumann's series.
Near near_zero(E x) {
  std::vector<E> j0, j1, n0, n1;
  for (const CircleNode& n : quarter_circle()) {
    E angle = x * n.sine, c = cos(angle), s = sin(angle) * n.sine;
    j0.push_back(c * n.weight);
    j1.push_back(s * n.weight);
    n0.push_back(c * (n.weight * n.neumann));
    n1.push_back(s * (n.weight * n.neumann));
  }
  E a = sum_of(j0), b = sum_of(j1), logarithm = log(x / 2.0) + egamma;
  E y0 = (logarithm * a + sum_of(n0) * 2.0) * (2 / pi);
  E y1 = (logarithm * b - a / x + sum_of(n1) * 2.0) * (2 / pi);
  return {a, b, y0, y1};
}

// Hankel's expansion for order v: amplitude series P and Q in 1 / x.
struct Far {
  E first, second;
};

Far far_from_zero(E x, int order) {
  double mu = 4.0 * order * order, term = 1;
  E p = like(x, 1), q = like(x, 0), power = like(x, 1), inverse = 1.0 / x;
  for (int k = 1; k <= 16; ++k) {
    term *= (mu - (2.0 * k - 1) * (2.0 * k - 1)) / (8.0 * k);
    power = power * inverse;
    double sign = (k / 2) % 2 == 0 ? 1 : -1;
    (k % 2 == 0 ? p : q) = (k % 2 == 0 ? p : q) + power * (sign * term);
  }
  E phase = x - (order * pi / 2 + pi / 4), scale = sqrt((2 / pi) / x);
  return {scale * (p * cos(phase) - q * sin(phase)), scale * (p * sin(phase) + q * cos(phase))};
}

E bounded(E x) { return minimum(x, like(x, kFar)); }
E distant(E x) { return maximum(x, like(x, kFar)); }

E bessel_j0(E v) {
  E x = abs(v);
  return where(isinf(x), 0.0,
               where(x < kFar, near_zero(bounded(x)).j0, far_from_zero(distant(x), 0).first));
}

E bessel_j1(E v) {
  E x = abs(v);
  E value = where(x < kFar, near_zero(bounded(x)).j1, far_from_zero(distant(x), 1).first);
  return where(isinf(x), 0.0, where(v < 0.0, -value, value));
}

// -inf at 0, NaN below.
E second_kind(E x, E value) {
  E outside = where(x == 0.0, -INFINITY, like(x, NAN));
  return where(x > 0.0, where(isinf(x), 0.0, value), outside);
}

E bessel_y0(E x) {
  return second_kind(
      x, where(x < kFar, near_zero(bounded(x)).y0, far_from_zero(distant(x), 0).second));
}
E bessel_y1(E x) {
  return second_kind(
      x, where(x < kFar, near_zero(bounded(x)).y1, far_from_zero(distant(x), 1).second));
}

// ---- modified, second kind: the series around 0 up to 2, beyond it exp(x) K(x) as an integral

// K0 = -(log(x / 2) + gamma) I0 + sum of (x^2 / 4)^k / k!^2 H_k, likewise K1.
E small_k(E x, int order) {
  E square = x * x / 4.0, power = like(x, 1), bessel_i = like(x, 0), rest = like(x, 0);
  double harmonic = 0, factorial = 1;  // of k!(k + order)!
  for (int k = 0; k < 18; ++k) {
    if (k > 0) {
      harmonic += 1.0 / k;
      factorial *= k * (k + order);
      power = power * square;
    }
    double next = harmonic + (order == 1 ? harmonic + 1.0 / (k + 1) : harmonic);
    bessel_i = bessel_i + power * (1 / factorial);
    rest = rest + power * (next / 2 / factorial);
  }
  E logarithm = log(x / 2.0) + egamma;
  if (order == 0) return rest - logarithm * bessel_i;
  return 1.0 / x + (logarithm * bessel_i - rest) * x / 2.0;
}

// exp(z) K_v(z) for z >= 40 by its asymptotic series.
E scaled_k_series(E z, double order) {
  double mu = 4 * order * order, term = 1;
  E sum = like(z, 1), power = sum, inverse = 1.0 / z;
  for (int k = 1; k <= 12; ++k) {
    term *= (mu - (2.0 * k - 1) * (2.0 * k - 1)) / (8.0 * k);
    power = power * inverse;
    sum = sum + power * term;
  }
  return sqrt((pi / 2) / z) * sum;
}

// exp(z) K_v(z) for 1 <= z: up to 40 the integral of exp(-z (cosh t - 1)) cosh(v t).
E scaled_k_large(E z, double order) {
  constexpr double kLarge = 40;
  constexpr double kStep = 0.1;
  std::vector<E> terms{like(z, kStep / 2)};
  for (int i = 1; i * kStep < 5.2; ++i) {
    double t = i * kStep;
    terms.push_back(exp(z * -(std::cosh(t) - 1)) * (kStep * std::cosh(order * t)));
  }
  return where(z < kLarge, sum_of(terms), scaled_k_series(maximum(z, like(z, kLarge)), order));
}

// inf at 0, NaN below.
E third_kind(E x, E value) {
  return where(x > 0.0, value, where(x == 0.0, INFINITY, like(x, NAN)));
}

E scaled_k(E x, int order) {
  E low = minimum(x, like(x, 2)), high = maximum(x, like(x, 2));
  return third_kind(x,
                    where(x <= 2.0, small_k(low, order) * exp(low), scaled_k_large(high, order)));
}
E plain_k(E x, int order) {
  E low = minimum(x, like(x, 2)), high = maximum(x, like(x, 2));
  return third_kind(x,
                    where(x <= 2.0, small_k(low, order), scaled_k_large(high, order) * exp(-high)));
}

// ---- Airy: the Maclaurin series between -7 and 2, K of order 1/3 above, the asymptotic series
// below

E airy_series(E x) {
  constexpr double kAi0 = 0.355028053887817239260, kAi0Slope = 0.258819403792806798405;
  E cube = x * x * x, f = like(x, 1), g = x, tf = f, tg = g;
  for (int k = 1; k <= 36; ++k) {
    tf = tf * cube * (1.0 / ((3.0 * k - 1) * (3.0 * k)));
    tg = tg * cube * (1.0 / ((3.0 * k) * (3.0 * k + 1)));
    f = f + tf;
    g = g + tg;
  }
  return f * kAi0 - g * kAi0Slope;
}

E airy_oscillating(E x) {  // x > 0: Ai(-x)
  E zeta = x * sqrt(x) * (2.0 / 3), inverse = 1.0 / zeta, power = like(x, 1);
  E even = like(x, 0), odd = like(x, 0);
  double u = 1;
  for (int k = 0; k < 12; ++k) {
    if (k > 0) {
      u *= (6.0 * k - 5) * (6.0 * k - 3) * (6.0 * k - 1) / (216.0 * k * (2.0 * k - 1));
      power = power * inverse;
    }
    double sign = (k / 2) % 2 == 0 ? 1 : -1;
    (k % 2 == 0 ? even : odd) = (k % 2 == 0 ? even : odd) + power * (sign * u);
  }
  E phase = zeta - pi / 4;
  return (cos(phase) * even + sin(phase) * odd) * rsqrt(sqrt(x)) * (1 / std::sqrt(pi));
}

E airy_ai(E x) {
  constexpr double kLow = -7, kHigh = 2;
  E middle = minimum(maximum(x, like(x, kLow)), like(x, kHigh));
  E high = maximum(x, like(x, kHigh)), low = maximum(-x, like(x, -kLow));
  E zeta = high * sqrt(high) * (2.0 / 3);
  E decaying = sqrt(high / 3.0) * scaled_k_large(zeta, 1.0 / 3) * exp(-zeta) * (1 / pi);
  E value = where(x > kHigh, decaying, where(x < kLow, airy_oscillating(low), airy_series(middle)));
  return where(isinf(x), where(x > 0.0, 0.0, like(x, NAN)), value);
}

// ---- the inverse of the normal distribution function

// A rational first guess in the tail, then steps of Halley's method on the complementary error
// function.
E normal_quantile(E p) {
  E tail = minimum(p, 1.0 - p), t = sqrt(log(tail) * -2.0);
  E x = t - (t * 0.27061 + 2.30753) / ((t * 0.04481 + 0.99229) * t + 1.0);
  for (int i = 0; i < 4; ++i) {
    E error = erfc(x * std::numbers::sqrt2 / 2.0) * 0.5 - tail;
    E density = exp(x * x * -0.5) * (1 / std::sqrt(2 * pi));
    E step = error / density;
    x = x + step / (1.0 - x * step * 0.5);
  }
  E value = where(p < 0.5, -x, x);
  E edge = where(p == 0.0, -INFINITY, where(p == 1.0, INFINITY, like(p, NAN)));
  return where((p > 0.0) && (p < 1.0), value, edge);
}

}  // namespace

Rows bessel_ops() {
  return {
      double_op("aten.special_bessel_j0.default(Tensor self) -> Tensor", bessel_j0),
      double_op("aten.special_bessel_j1.default(Tensor self) -> Tensor", bessel_j1),
      double_op("aten.special_bessel_y0.default(Tensor self) -> Tensor", bessel_y0),
      double_op("aten.special_bessel_y1.default(Tensor self) -> Tensor", bessel_y1),
      double_op("aten.special_modified_bessel_k0.default(Tensor self) -> Tensor",
                [](E x) { return plain_k(x, 0); }),
      double_op("aten.special_modified_bessel_k1.default(Tensor self) -> Tensor",
                [](E x) { return plain_k(x, 1); }),
      double_op("aten.special_scaled_modified_bessel_k0.default(Tensor x) -> Tensor",
                [](E x) { return scaled_k(x, 0); }),
      double_op("aten.special_scaled_modified_bessel_k1.default(Tensor x) -> Tensor",
                [](E x) { return scaled_k(x, 1); }),
      double_op("aten.special_airy_ai.default(Tensor x) -> Tensor", airy_ai),
      double_op("aten.special_ndtri.default(Tensor self) -> Tensor", normal_quantile),
  };
}

}  // namespace aotc
