// Every primitive against what torch computed (data/torch.bin, written by record.py). Exact but for
// the long functions, whose distance from torch is bounded in units of the last place: torch itself
// is off by some.
#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>
#include <vector>

#include "ir/scalar.h"

namespace aotc {
namespace {

std::vector<ScalarValue> read_elements(std::istream& in, DType t, size_t count) {
  std::vector<ScalarValue> values(count);
  for (ScalarValue& v : values) {
    std::array<char, 16> memory{};
    in.read(memory.data(), element_size(t));
    v = read_scalar(memory.data(), t);
  }
  REQUIRE(in);
  return values;
}

DType type_named(const std::string& text) {
  auto t = dtype_from_name(text);
  REQUIRE(t);
  return *t;
}

// Units of the last place of float64 or float32 near `scale`.
double last_place(double scale, DType part) {
  const bool single = part == DType::Float32;
  const int exponent = std::ilogb(std::max(std::abs(scale), single ? 1.2e-38 : 2.3e-308));
  return std::ldexp(1.0, exponent - (single ? 23 : 52));
}

DType part_type(DType t) {
  return t == DType::Complex64 ? DType::Float32 : t == DType::Complex128 ? DType::Float64 : t;
}

// The distance of two real numbers in units of the last place near `scale`; infinite between NaN
// and a number.
double distance(double got, double expected, double scale, DType part) {
  if (std::isnan(got) || std::isnan(expected))
    return std::isnan(got) == std::isnan(expected) ? 0 : HUGE_VAL;
  if (got == expected)
    return got == 0 && std::signbit(got) != std::signbit(expected) ? HUGE_VAL : 0;
  return std::abs(got - expected) / last_place(scale, part);
}

// lgamma and digamma have roots, near which neither is relatively accurate.
double real_distance(Prim p, const ScalarValue& got, const ScalarValue& expected) {
  const double e = as_double(expected);
  const bool has_roots = p == Prim::lgamma || p == Prim::digamma;
  return distance(as_double(got), e, has_roots ? std::max(1.0, std::abs(e)) : e, got.dtype);
}

// Parts are compared near the greater part. Where torch gives NaN in some part, the other one is
// arbitrary in C99; so is the sign of a zero.
double complex_distance(const ScalarValue& got, const ScalarValue& expected) {
  const auto [gr, gi] = as_complex(got);
  const auto [er, ei] = as_complex(expected);
  if (std::isnan(er) || std::isnan(ei)) return std::isnan(gr) || std::isnan(gi) ? 0 : HUGE_VAL;
  const double scale = std::isinf(er) || std::isinf(ei) ? 1 : std::max(std::abs(er), std::abs(ei));
  const DType part = part_type(got.dtype);
  return std::max(distance(gr + 0.0, er + 0.0, scale, part),
                  distance(gi + 0.0, ei + 0.0, scale, part));
}

// What torch's own error allows for, in units of the last place. Its square root is not the nearest
// value.
double tolerance(Prim p, DType t) {
  static const std::map<std::string, double> kTable = {
      {"sqrt", 1}, {"lgamma", 8}, {"digamma", 16}, {"erfinv", 8}, {"i0", 8},
      {"i0e", 8},  {"i1", 16},    {"i1e", 16},     {"erfc", 8},   {"asinh", 8},
      {"tan", 8},  {"expm1", 8},  {"log1p", 8},
  };
  if (is_complex(t))
    return prim_is_transcendental(p) || p == Prim::sqrt || p == Prim::rsqrt ? 64 : 4;
  auto found = kTable.find(prim_name(p));
  if (found != kTable.end()) return found->second;
  return prim_is_transcendental(p) ? 4 : 0;
}

struct Case {
  Prim prim;
  DType operand, result;
  std::vector<std::vector<ScalarValue>> inputs;  // per argument
  std::vector<ScalarValue> expected;
};

std::vector<Case> recorded_cases() {
  std::ifstream in(AOTC_TESTS_DIR "/scalar/data/torch.bin", std::ios::binary);
  REQUIRE(in);
  std::map<std::string, std::vector<ScalarValue>> sets;
  std::vector<Case> cases;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string kind, first, second, third;
    words >> kind >> first >> second >> third;
    if (kind == "set") {
      sets[first] = read_elements(in, type_named(second), std::stoull(third));
      continue;
    }
    REQUIRE(kind == "case");
    auto prim = prim_from_name(first);
    REQUIRE(prim);
    Case c{*prim, type_named(second), type_named(third), {}, {}};
    for (std::string set; words >> set;) c.inputs.push_back(sets.at(set));
    c.expected = read_elements(in, c.result, c.inputs[0].size());
    cases.push_back(std::move(c));
  }
  return cases;
}

std::string arguments_text(const std::vector<ScalarValue>& args) {
  std::string text;
  for (const ScalarValue& v : args) text += (text.empty() ? "" : ", ") + to_text(v);
  return text;
}

// Same bits, or both NaN: the bits of a NaN are not torch's contract.
bool is_same(const ScalarValue& a, const ScalarValue& b) {
  if (a == b) return true;
  return is_floating(a.dtype) && std::isnan(as_double(a)) && std::isnan(as_double(b));
}

double difference(const Case& c, const ScalarValue& got, const ScalarValue& expected) {
  if (is_same(got, expected)) return 0;
  if (c.prim == Prim::cast && !is_complex(c.result)) return HUGE_VAL;
  if (is_complex(c.result)) return complex_distance(got, expected);
  return c.result == DType::Float32 || c.result == DType::Float64
             ? real_distance(c.prim, got, expected)
             : HUGE_VAL;
}

// Where eager disagrees with itself or with mathematics: its vector code's remainder is NaN where
// the quotient overflows or the divisor is a denormal; NaN of the formats without a negative zero
// becomes the integer 0; what NaN and infinities become in uint32 depends on the type they come
// from.
bool is_eager_arbitrary(const Case& c, const std::vector<ScalarValue>& args) {
  const double a = as_double(args[0]);
  if (c.prim == Prim::fmod || c.prim == Prim::remainder || c.prim == Prim::floor_divide) {
    const double b = std::abs(as_double(args[1])),
                 greatest = c.operand == DType::Float32 ? 3.4e38 : 1.7e308;
    return is_floating(c.operand) &&
           (b < 4 / greatest || (std::isfinite(a) && std::abs(a) / b > greatest));
  }
  const bool nuz = c.operand == DType::Float8E4M3FNUZ || c.operand == DType::Float8E5M2FNUZ;
  return c.prim == Prim::cast && is_integer(c.result) &&
         ((nuz && std::isnan(a)) || (c.result == DType::UInt32 && !std::isfinite(a)));
}

// Complex functions of a large argument multiply its rounding error.
double amplification(const ScalarValue& v) {
  if (!is_complex(v.dtype)) return 1;
  const auto [re, im] = as_complex(v);
  const double size = std::abs(re) + std::abs(im);
  return std::isfinite(size) ? std::max(1.0, size) : 1;
}

void check(const Case& c) {
  for (size_t i = 0; i < c.expected.size(); ++i) {
    std::vector<ScalarValue> args;
    for (const auto& input : c.inputs) args.push_back(input[i]);
    if (is_eager_arbitrary(c, args)) continue;
    const double large = amplification(args[0]) * amplification(args.back());
    if (c.prim == Prim::pow && large > 1e6) continue;
    const double allowed = tolerance(c.prim, c.operand) * large;
    const ScalarValue got = apply(c.prim, args, c.result);
    const double d = difference(c, got, c.expected[i]);
    if (d > allowed)
      FAIL_CHECK(prim_name(c.prim) << " of " << name(c.operand) << " (" << arguments_text(args)
                                   << ") is " << to_text(got) << ", torch has "
                                   << to_text(c.expected[i]) << ": " << d << " ulp");
  }
}

}  // namespace

TEST_CASE("every primitive gives what torch gives", "[scalar]") {
  const std::vector<Case> cases = recorded_cases();
  REQUIRE(cases.size() > 500);
  for (const Case& c : cases) check(c);
}

TEST_CASE("the recording covers every primitive", "[scalar]") {
  std::map<Prim, bool> seen;
  for (const Case& c : recorded_cases()) seen[c.prim] = true;
  for (const PrimInfo& p : all_prims()) {
    const Prim prim = *prim_from_name(p.name);
    // torch has no fused multiply-add; bits are compared with C++'s own in table_test.cpp
    if (prim != Prim::fma && prim != Prim::bitcast)
      CHECK((seen[prim] ? "" : p.name) == std::string());
  }
}

}  // namespace aotc
