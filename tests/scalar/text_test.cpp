// Scalar values as text: every value reads back to the same bits, and nothing else is accepted.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <random>

#include "ir/scalar.h"

namespace aotc {
namespace {

void check_round_trip(const ScalarValue& v) {
  const std::string text = to_text(v);
  if (scalar_from_text(text, v.dtype) != v) FAIL_CHECK(name(v.dtype) << " " << text);
}

ScalarValue parsed(std::string_view text, DType t) {
  auto v = scalar_from_text(text, t);
  INFO(text);
  REQUIRE(v);
  return *v;
}

}  // namespace

TEST_CASE("random bits of every type read back", "[scalar]") {
  std::mt19937_64 random(3);
  for (int t = 0; t <= static_cast<int>(DType::Float8E5M2FNUZ); ++t)
    for (int i = 0; i < 1000; ++i) {
      const std::array<uint64_t, 2> bits{random(), random()};
      check_round_trip(read_scalar(bits.data(), static_cast<DType>(t)));
    }
}

TEST_CASE("all 8-bit and many 16-bit patterns read back", "[scalar]") {
  for (DType t : {DType::Float16, DType::BFloat16, DType::Float8E4M3FN, DType::Float8E5M2,
                  DType::Float8E4M3FNUZ, DType::Float8E5M2FNUZ})
    for (uint32_t bits = 0; bits < (element_size(t) == 1 ? 256u : 65536u);
         bits += element_size(t) == 1 ? 1 : 7)
      check_round_trip(read_scalar(&bits, t));
}

TEST_CASE("values look as expected", "[scalar]") {
  CHECK(to_text(ScalarValue::of(true)) == "true");
  CHECK(to_text(ScalarValue::of(-3)) == "-3");
  CHECK(to_text(ScalarValue::of(uint64_t{18446744073709551615u})) == "18446744073709551615");
  CHECK(to_text(ScalarValue::of(0.1f)) == "0.1");
  CHECK(to_text(ScalarValue::of(2.0)) == "2.0");
  CHECK(to_text(ScalarValue::of(-0.0)) == "-0.0");
  CHECK(to_text(ScalarValue::of(1e300)) == "1e+300");
  CHECK(to_text(ScalarValue::of(-HUGE_VAL)) == "-inf");
  CHECK(to_text(ScalarValue::of(std::nan(""))) == "nan");
  CHECK(to_text(ScalarValue::of(1.0, -2.5)) == "1.0-2.5j");
  CHECK(to_text(ScalarValue::of(1e-5, std::nan(""))) == "1e-05+nanj");
}

TEST_CASE("numbers are rounded to the type", "[scalar]") {
  CHECK(parsed("0.1", DType::Float32) == ScalarValue::of(0.1f));
  CHECK(as_double(parsed("1.00390625", DType::BFloat16)) == 1);  // halfway: to even
  CHECK(parsed("3", DType::Float64) == ScalarValue::of(3.0));
  CHECK(parsed("-1e-3-2e-3j", DType::Complex128) == ScalarValue::of(-1e-3, -2e-3));
}

TEST_CASE("malformed text is refused", "[scalar]") {
  for (auto text : {"", "x", "1.5x", " 1", "1 ", "--1", "1e", "nan(0x)", "nan(0x3f800000)",
                    "nan(0x17fc00000)", "nan(", "infinity", "true", "0x10", "1e999"}) {
    INFO(text);
    CHECK_FALSE(scalar_from_text(text, DType::Float32));
  }
  for (auto text : {"", "1.0", "256", "-129", "128", "x", "1x", "99999999999999999999"}) {
    INFO(text);
    CHECK_FALSE(scalar_from_text(text, DType::Int8));
  }
  CHECK_FALSE(scalar_from_text("-1", DType::UInt64));
  CHECK_FALSE(scalar_from_text("-1", DType::UInt32));
  for (auto text : {"", "1.0", "j", "1.0j", "1.0+j", "1.0+2.0", "+1j", "e-1j", "1e-05j"}) {
    INFO(text);
    CHECK_FALSE(scalar_from_text(text, DType::Complex64));
  }
  for (auto text : {"1", "True", ""}) CHECK_FALSE(scalar_from_text(text, DType::Bool));
}

TEST_CASE("elements are read and written at any alignment", "[scalar]") {
  std::array<std::byte, 24> memory{};
  const ScalarValue v = ScalarValue::of(1.25, -3.5);
  write_scalar(memory.data() + 3, v);
  CHECK(read_scalar(memory.data() + 3, DType::Complex128) == v);
  const uint8_t two = 2;  // a bool of other bits than 0 and 1 is true
  CHECK(read_scalar(&two, DType::Bool) == ScalarValue::of(true));
}

}  // namespace aotc
