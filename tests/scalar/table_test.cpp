// The table of primitives: what a row promises holds for the functions; what torch refuses is
// defined too.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "ir/error.h"
#include "ir/scalar.h"

namespace aotc {
namespace {

std::vector<DType> all_types() {
  return {
#define X(name, ...) DType::name,
      AOTC_DTYPES(X)
#undef X
  };
}

// Values of type t: numbers that tell operands apart, limits, and for floats NaN, infinities and
// zeros.
std::vector<ScalarValue> samples(DType t) {
  std::vector<ScalarValue> values;
  for (int v : {0, 1, 2, 3, 100, -1, -7}) values.push_back(cast(ScalarValue::of(v), t));
  for (int64_t v : {std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()})
    if (is_integer(t)) values.push_back(cast(ScalarValue::of(v), t));
  for (double v : {0.5, -2.25, -0.0, 1e30, HUGE_VAL, -HUGE_VAL, std::nan("")})
    if (is_floating(t) || is_complex(t)) values.push_back(cast(ScalarValue::of(v), t));
  if (is_complex(t)) values.push_back(cast(ScalarValue::of(1.5, -2.5), t));
  return values;
}

std::vector<ScalarValue> operands_of(Prim p, const std::vector<ScalarValue>& from, size_t i) {
  std::vector<ScalarValue> args;
  for (int k = 0; k < prim_info(p).arity; ++k)
    args.push_back(from[(i + static_cast<size_t>(k) * 3) % from.size()]);
  if (p == Prim::where) args[0] = ScalarValue::of(i % 2 == 0);
  return args;
}

bool is_nan(const ScalarValue& v) {
  const auto [re, im] = as_complex(v);
  return std::isnan(re) || std::isnan(im);
}

// Equal values: zeros of either sign are, and so is any NaN with another.
bool is_equal(const ScalarValue& a, const ScalarValue& b) {
  if (a == b || (is_nan(a) && is_nan(b))) return true;
  return as_complex(a) == as_complex(b) && as_int64(a) == as_int64(b);
}

ScalarValue call(Prim p, std::vector<ScalarValue> args) { return aotc::apply(p, args); }

ScalarValue i8(int v) { return cast(ScalarValue::of(v), DType::Int8); }

}  // namespace

TEST_CASE("rows name themselves", "[scalar]") {
  for (const PrimInfo& row : all_prims()) {
    auto p = prim_from_name(row.name);
    REQUIRE(p);
    CHECK(&prim_info(*p) == &row);
  }
  CHECK_FALSE(prim_from_name("no_such_primitive"));
}

TEST_CASE("a primitive is defined for exactly the types of its row, with the type it promises",
          "[scalar]") {
  for (const PrimInfo& row : all_prims()) {
    const Prim p = *prim_from_name(row.name);
    for (DType t : all_types()) {
      const std::vector<ScalarValue> values = samples(t);
      if (row.result == PrimResult::Target || !prim_supports(p, t)) {
        CHECK_THROWS_AS(aotc::apply(p, operands_of(p, values, 0)), InternalError);
        continue;
      }
      for (size_t i = 0; i < values.size(); ++i)
        CHECK(aotc::apply(p, operands_of(p, values, i)).dtype == prim_result(p, t));
    }
  }
}

TEST_CASE("wrong operands are internal errors", "[scalar]") {
  CHECK_THROWS_AS(call(Prim::add, {i8(1)}), InternalError);
  CHECK_THROWS_AS(call(Prim::add, {i8(1), ScalarValue::of(1)}), InternalError);
  CHECK_THROWS_AS(call(Prim::where, {i8(1), i8(1), i8(1)}), InternalError);
  CHECK_THROWS_AS(aotc::apply(Prim::add, std::vector{i8(1), i8(1)}, DType::Int16), InternalError);
  CHECK(aotc::apply(Prim::cast, std::vector{i8(-1)}, DType::UInt8) ==
        cast(ScalarValue::of(255), DType::UInt8));
}

TEST_CASE("bitcast keeps the bits", "[scalar]") {
  auto bits = [](const ScalarValue& v, DType t) {
    return aotc::apply(Prim::bitcast, std::vector{v}, t);
  };
  CHECK(as_int64(bits(ScalarValue::of(1.0f), DType::Int32)) == 0x3f800000);
  CHECK(as_double(bits(ScalarValue::of(int64_t{0x4000000000000000}), DType::Float64)) == 2.0);
  CHECK(bits(i8(2), DType::Bool) == ScalarValue::of(true));
  for (DType t : all_types())
    for (const ScalarValue& v : samples(t))
      if (!is_bool(t)) CHECK(bits(v, t) == v);
  CHECK_THROWS_AS(bits(i8(1), DType::Int16), InternalError);
}

TEST_CASE("commutative primitives commute", "[scalar]") {
  for (const PrimInfo& row : all_prims()) {
    const Prim p = *prim_from_name(row.name);
    for (DType t : all_types()) {
      if (!row.has(PrimInfo::Commutative) || !prim_supports(p, t)) continue;
      for (const ScalarValue& a : samples(t))
        for (const ScalarValue& b : samples(t)) CHECK(is_equal(call(p, {a, b}), call(p, {b, a})));
    }
  }
}

TEST_CASE("the identity of a reduction leaves every value as it is", "[scalar]") {
  for (const PrimInfo& row : all_prims()) {
    const Prim p = *prim_from_name(row.name);
    for (DType t : all_types()) {
      if (!row.has(PrimInfo::Associative) || !prim_supports(p, t)) continue;
      // gcd and a complex product with infinities change values by nature.
      if (p == Prim::gcd || (p == Prim::mul && is_complex(t))) continue;
      for (const ScalarValue& v : samples(t))
        CHECK(is_equal(call(p, {reduction_identity(p, t), v}), v));
    }
  }
  CHECK_THROWS_AS(reduction_identity(Prim::sub, DType::Float32), InternalError);
  CHECK(as_double(reduction_identity(Prim::maximum, DType::BFloat16)) == -HUGE_VAL);
  CHECK(as_int64(reduction_identity(Prim::minimum, DType::UInt8)) == 255);
}

TEST_CASE("integer arithmetic has no undefined results", "[scalar]") {
  CHECK(call(Prim::floor_divide, {i8(-128), i8(-1)}) == i8(-128));
  CHECK(call(Prim::trunc_divide, {i8(-128), i8(-1)}) == i8(-128));
  CHECK(call(Prim::remainder, {i8(-128), i8(-1)}) == i8(0));
  for (Prim p : {Prim::floor_divide, Prim::trunc_divide, Prim::remainder, Prim::fmod})
    for (DType t :
         {DType::Int8, DType::UInt8, DType::Int16, DType::Int32, DType::Int64, DType::UInt64})
      for (const ScalarValue& v : samples(t))
        CHECK(as_int64(call(p, {v, cast(ScalarValue::of(0), t)})) == 0);
  const ScalarValue least = ScalarValue::of(std::numeric_limits<int64_t>::min());
  CHECK(call(Prim::floor_divide, {least, ScalarValue::of(-1)}) == least);
  CHECK(call(Prim::remainder, {least, ScalarValue::of(-1)}) == ScalarValue::of(0));
  CHECK(call(Prim::neg, {least}) == least);
  CHECK(call(Prim::abs, {least}) == least);
  const ScalarValue u16 = cast(ScalarValue::of(65535), DType::UInt16);
  CHECK(as_int64(call(Prim::mul, {u16, u16})) == 1);  // promoted to int, the product would overflow
}

TEST_CASE("fma rounds once", "[scalar]") {
  const double a = 1 + 0x1p-30;
  const ScalarValue x = ScalarValue::of(a);
  CHECK(as_double(call(Prim::fma, {x, x, ScalarValue::of(-a * a)})) == 0x1p-60);
}

TEST_CASE("a function is named after its type where it is long", "[scalar]") {
  CHECK(prim_function(Prim::exp, DType::Float32) == "exp_f32");
  CHECK(prim_function(Prim::exp, DType::Float64) == "exp_f64");
  CHECK(prim_function(Prim::exp, DType::Complex64) == "complex_exp");
  CHECK(prim_function(Prim::pow, DType::Int16) == "pow_int");
  CHECK(prim_function(Prim::maximum, DType::Float32) == "maximum");
  CHECK(prim_function(Prim::cast, DType::Complex64) == "cast");
  CHECK(prim_function(Prim::bitcast, DType::Float64) == "bitcast");
}

}  // namespace aotc
