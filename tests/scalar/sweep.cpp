// Largest error of each primitive against libm in a wider format, in units of the last place of the
// exact result. `sweep` takes every 49999th float (and as many doubles) and fails above the bounds
// listed here; `sweep --stride N [NAME...]` takes every Nth float: 1 is exhaustive.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "aotc/scalar.h"

namespace {

struct FloatCase {
  const char* name;
  float (*ours)(float);
  double (*reference)(double);
  double bound;
};

struct DoubleCase {
  const char* name;
  double (*ours)(double);
  long double (*reference)(long double);
  double bound;
};

double sigmoid(double x) {  // exp(-x) overflows to infinity, as in eager mode
  const double e = std::exp(-x);
  return e > std::numeric_limits<float>::max() ? 0 : 1 / (1 + e);
}
double reciprocal_root(double x) { return 1 / std::sqrt(x); }

const FloatCase kFloatCases[] = {
#define CASE(name, bound) \
  {#name, [](float x) { return aotc::name(x); }, [](double x) { return std::name(x); }, bound}
    CASE(exp, 1.1),
    CASE(exp2, 1.0),
    CASE(expm1, 1.5),
    CASE(log, 1.0),
    CASE(log2, 1.5),
    CASE(log10, 1.5),
    CASE(log1p, 1.5),
    CASE(sin, 1.0),
    CASE(cos, 1.0),
    CASE(tan, 2.5),
    CASE(asin, 2.5),
    CASE(acos, 2.0),
    CASE(atan, 1.5),
    CASE(sinh, 2.0),
    CASE(cosh, 2.0),
    CASE(tanh, 1.5),
    CASE(asinh, 3.0),
    CASE(acosh, 3.0),
    CASE(atanh, 3.0),
    CASE(erf, 1.5),
    CASE(erfc, 3.0),
    CASE(sqrt, 0.5),
    CASE(lgamma, 1.0),
#undef CASE
    {"rsqrt", [](float x) { return aotc::rsqrt(x); }, reciprocal_root, 1.6},
    {"sigmoid", [](float x) { return aotc::sigmoid(x); }, sigmoid, 3.0},
};

const DoubleCase kDoubleCases[] = {
#define CASE(name, bound) \
  {#name, [](double x) { return aotc::name(x); }, [](long double x) { return std::name(x); }, bound}
    CASE(exp, 1.0),   CASE(exp2, 1.0),  CASE(expm1, 2.0), CASE(log, 1.0),   CASE(log2, 1.0),
    CASE(log10, 1.0), CASE(log1p, 1.5), CASE(sin, 1.0),   CASE(cos, 1.0),   CASE(tan, 2.0),
    CASE(asin, 2.0),  CASE(acos, 2.0),  CASE(atan, 2.0),  CASE(sinh, 2.5),  CASE(cosh, 2.0),
    CASE(tanh, 2.0),  CASE(asinh, 2.5), CASE(acosh, 2.5), CASE(atanh, 2.5), CASE(erf, 2.0),
    CASE(erfc, 3.0),
#undef CASE
};

// Error of `got` in units of the last place that a result near `exact` has in a format of that
// precision.
double ulps(double got, long double exact, int precision, int least_exponent) {
  int exponent = 0;
  std::frexp(exact, &exponent);
  const int last = std::max(exponent - precision, least_exponent);
  return static_cast<double>(std::abs(std::ldexp(got - exact, -last)));
}

// The result in the narrow format where the comparison is one of equality: NaN, infinities, zero.
template <typename T>
double error_of(T got, long double exact) {
  const T rounded = static_cast<T>(exact);
  if (std::isnan(rounded) || std::isnan(got))
    return std::isnan(rounded) == std::isnan(got) ? 0 : HUGE_VAL;
  if (got == rounded)
    return std::isinf(got)
               ? 0
               : ulps(got, exact, sizeof(T) == 4 ? 24 : 53, sizeof(T) == 4 ? -149 : -1074);
  // Next to the greatest finite value, overflow one place early or late is one unit.
  if (std::isinf(rounded) || std::isinf(got)) {
    const T finite = std::isinf(got) ? rounded : got;
    return std::abs(finite) == std::numeric_limits<T>::max() ? 1 : HUGE_VAL;
  }
  return ulps(got, exact, sizeof(T) == 4 ? 24 : 53, sizeof(T) == 4 ? -149 : -1074);
}

struct Worst {
  double error = 0, at = 0;
  void note(double e, double x) {
    if (e > error) *this = {e, x};
  }
};

bool report(const char* name, const char* type, const Worst& worst, double bound, bool strict) {
  const bool good = worst.error <= bound;
  std::printf("%-8s %-4s %8.3f ulp at %.9g%s\n", name, type, worst.error, worst.at,
              good ? "" : "  above the bound");
  std::fflush(stdout);
  return good || !strict;
}

Worst sweep_floats(const FloatCase& c, uint64_t stride) {
  Worst worst;
  for (uint64_t bits = 0; bits < (1ull << 32); bits += stride) {
    const float x = aotc::bits_as<float>(static_cast<uint32_t>(bits));
    worst.note(error_of(c.ours(x), c.reference(x)), x);
  }
  return worst;
}

// Random doubles of all magnitudes, and of those where the functions change most.
Worst sweep_doubles(const DoubleCase& c, uint64_t count) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> near(-40, 40), unit(-1.2, 1.2);
  Worst worst;
  for (uint64_t i = 0; i < count; ++i) {
    const double x = i % 3 == 0   ? aotc::bits_as<double>(random())
                     : i % 3 == 1 ? near(random)
                                  : unit(random);
    worst.note(error_of(c.ours(x), c.reference(x)), x);
  }
  return worst;
}

template <typename T, typename Wide>
Worst sweep_pow(uint64_t count) {
  std::mt19937_64 random(2);
  std::uniform_real_distribution<double> exponent(-130, 130), unit(0.5, 2);
  Worst worst;
  for (uint64_t i = 0; i < count; ++i) {
    const T x = static_cast<T>(i % 2 ? std::exp2(exponent(random)) : unit(random));
    const T y = static_cast<T>(exponent(random) / (i % 2 ? 50 : 1));
    worst.note(error_of(aotc::pow(x, y), std::pow(Wide(x), Wide(y))), x);
  }
  return worst;
}

}  // namespace

int main(int argc, char** argv) {
  uint64_t stride = 49999;
  std::vector<std::string> names;
  for (int i = 1; i < argc; ++i) {
    if (!std::strcmp(argv[i], "--stride") && i + 1 < argc)
      stride = std::strtoull(argv[++i], nullptr, 10);
    else
      names.push_back(argv[i]);
  }
  if (stride == 0) return 2;
  auto wanted = [&](const std::string& name) {
    for (const std::string& n : names)
      if (n == name) return true;
    return names.empty();
  };
  const uint64_t count = (1ull << 32) / stride;
  bool good = true;
  for (const FloatCase& c : kFloatCases)
    if (wanted(c.name)) good &= report(c.name, "f32", sweep_floats(c, stride), c.bound, true);
  for (const DoubleCase& c : kDoubleCases)
    if (wanted(c.name)) good &= report(c.name, "f64", sweep_doubles(c, count), c.bound, true);
  if (wanted("pow")) {
    good &= report("pow", "f32", sweep_pow<float, double>(count), 1.0, true);
    good &= report("pow", "f64", sweep_pow<double, long double>(count), 1.0, true);
  }
  return good ? 0 : 1;
}
