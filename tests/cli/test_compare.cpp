// The tolerance rules: what agrees and what does not.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "codegen/cli/compare.h"
#include "codegen/cli/numbers.h"
#include "support.h"

namespace aotc::cli::test {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

bool agree(float a, float b) { return difference(floats({a}, {}), floats({b}, {})).empty(); }

Array halves(const std::vector<uint16_t>& bits, DType dtype) {
  return {dtype,
          {static_cast<int64_t>(bits.size())},
          {reinterpret_cast<const char*>(bits.data()), bits.size() * 2}};
}

}  // namespace

TEST_CASE("float32 agrees within rounding, not beyond", "[compare]") {
  CHECK(agree(1.0f, 1.0f));
  CHECK(agree(1.0f, 1.00001f));
  CHECK_FALSE(agree(1.0f, 1.001f));
  CHECK(agree(0.0f, -0.0f));
  CHECK(agree(1e-9f, 0.0f));
  CHECK_FALSE(agree(1e-3f, 0.0f));
}

TEST_CASE("NaN agrees with NaN, an infinity with itself", "[compare]") {
  CHECK(agree(kNan, kNan));
  CHECK_FALSE(agree(kNan, 1.0f));
  CHECK_FALSE(agree(1.0f, kNan));
  CHECK(agree(kInf, kInf));
  CHECK_FALSE(agree(kInf, -kInf));
  CHECK_FALSE(agree(std::numeric_limits<float>::max(), kInf));
  CHECK_FALSE(agree(kInf, std::numeric_limits<float>::max()));
}

TEST_CASE("one huge element does not excuse errors in the others", "[compare]") {
  CHECK_FALSE(difference(floats({1e10f, 2, 1}, {3}), floats({1e10f, 1, 1}, {3})).empty());
}

TEST_CASE("small elements may have the error of their tensor's larger ones", "[compare]") {
  CHECK(difference(floats({1, 2, 3, 1e-5f}, {4}), floats({1, 2, 3, 2e-5f}, {4})).empty());
}

TEST_CASE("results of cancelling sums are judged by their operands", "[compare]") {
  const Array found = floats({0.0010003f}, {}), expected = floats({0.001f}, {});
  CHECK_FALSE(difference(found, expected).empty());
  CHECK(difference(found, expected, 1.0).empty());
}

TEST_CASE("integers and bool agree exactly", "[compare]") {
  CHECK(difference(integers({1, -2}, {2}), integers({1, -2}, {2})).empty());
  const int64_t big = int64_t{1} << 60;
  const std::string text = difference(integers({big + 1}, {1}), integers({big}, {1}));
  CHECK(text.find("1152921504606846977, expected 1152921504606846976") != std::string::npos);
  const Array yes{DType::Bool, {1}, std::string(1, '\1')},
      no{DType::Bool, {1}, std::string(1, '\0')};
  CHECK_FALSE(difference(yes, no).empty());
}

TEST_CASE("half types agree within a rounding step", "[compare]") {
  CHECK(difference(halves({0x3c01}, DType::Float16), halves({0x3c00}, DType::Float16)).empty());
  CHECK_FALSE(
      difference(halves({0x3c10}, DType::Float16), halves({0x3c00}, DType::Float16)).empty());
  CHECK(difference(halves({0x3f81}, DType::BFloat16), halves({0x3f80}, DType::BFloat16)).empty());
  CHECK_FALSE(
      difference(halves({0x3f90}, DType::BFloat16), halves({0x3f80}, DType::BFloat16)).empty());
  CHECK_FALSE(
      difference(halves({0x7bff}, DType::Float16), halves({0x7c00}, DType::Float16)).empty());
}

TEST_CASE("type and sizes must agree, and the message says what differs", "[compare]") {
  CHECK(difference(integers({1}, {1}), floats({1}, {1})) == "is int64, expected float32");
  CHECK(difference(floats({1}, {1}), floats({1}, {1, 1})) == "has sizes [1], expected [1, 1]");
  const std::string text = difference(floats({1, 2, 3, 9}, {2, 2}), floats({1, 2, 3, 4}, {2, 2}));
  CHECK(text == "max abs diff 5 at [1, 1]: 9, expected 4; 1 of 4 elements differ");
  CHECK(difference(floats({}, {0, 3}), floats({}, {0, 3})).empty());
}

TEST_CASE("complex elements are judged by their magnitude", "[compare]") {
  const auto complex = [](float re, float im) {
    Array a = floats({re, im}, {1});
    a.dtype = DType::Complex64;
    return a;
  };
  CHECK(difference(complex(1000, 0.001f), complex(1000, 0)).empty());
  CHECK_FALSE(difference(complex(1, 0.1f), complex(1, 0)).empty());
}

TEST_CASE("every element type is decoded", "[numbers]") {
  const auto bits = [](DType t, const std::vector<uint8_t>& bytes) {
    return to_doubles({t, {static_cast<int64_t>(bytes.size())}, {bytes.begin(), bytes.end()}});
  };
  CHECK(bits(DType::Float8E4M3FN, {0x38, 0x7e, 0x01, 0xb8}) ==
        std::vector<double>{1, 448, 0x1p-9, -1});
  CHECK(std::isnan(bits(DType::Float8E4M3FN, {0x7f})[0]));
  CHECK(bits(DType::Float8E5M2, {0x3c, 0x7b, 0x7c}) == std::vector<double>{1, 57344, HUGE_VAL});
  CHECK(bits(DType::Float8E4M3FNUZ, {0x40, 0x7f}) == std::vector<double>{1, 240});
  CHECK(std::isnan(bits(DType::Float8E4M3FNUZ, {0x80})[0]));
  CHECK(bits(DType::Float8E5M2FNUZ, {0x40, 0x7f}) == std::vector<double>{1, 57344});
  CHECK(element_text({DType::Int8, {1}, std::string(1, '\xff')}, 0) == "-1");
  CHECK(element_text({DType::UInt8, {1}, std::string(1, '\xff')}, 0) == "255");
  CHECK(element_text({DType::UInt64, {1}, std::string(8, '\xff')}, 0) == "18446744073709551615");
}

}  // namespace aotc::cli::test
