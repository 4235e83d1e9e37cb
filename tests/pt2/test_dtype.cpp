// Element types: names, sizes, and torch.promote_types for every pair, as torch recorded it.
#include <catch2/catch.hpp>
#include <fstream>

#include "ir/dtype.h"
#include "ir/error.h"
#include "support.h"

using namespace aotc;

namespace {
constexpr DType kAll[] = {
#define X(name, ...) DType::name,
    AOTC_DTYPES(X)
#undef X
};
}  // namespace

TEST_CASE("promotion of every pair of types is torch's") {
  std::ifstream table(test::data_path("promote.txt"));
  REQUIRE(table);
  std::string a, b, expected;
  size_t rows = 0;
  while (table >> a >> b >> expected) {
    INFO(a << " and " << b);
    const DType left = dtype_from_name(a).value(), right = dtype_from_name(b).value();
    if (expected == "error") {
      CHECK_THROWS_AS(promote(left, right), UserError);
    } else {
      CHECK(std::string(name(promote(left, right))) == expected);
    }
    ++rows;
  }
  CHECK(rows == std::size(kAll) * std::size(kAll));
}

TEST_CASE("names and schema numbers name one type each") {
  for (const DType t : kAll) {
    CHECK(dtype_from_name(name(t)) == t);
    int found = 0;
    for (int number = 0; number < 64; ++number) found += dtype_from_schema(number) == t;
    CHECK(found == 1);
  }
  CHECK(dtype_from_schema(7) == DType::Float32);
  CHECK(dtype_from_schema(13) == DType::BFloat16);
  CHECK_FALSE(dtype_from_schema(0));
  CHECK_FALSE(dtype_from_schema(33));
  CHECK_FALSE(dtype_from_schema(-1));
  CHECK_FALSE(dtype_from_name("float"));
  CHECK_FALSE(dtype_from_name(""));
}

TEST_CASE("each type is of exactly one class") {
  for (const DType t : kAll) {
    INFO(name(t));
    CHECK(is_bool(t) + is_integer(t) + is_floating(t) + is_complex(t) == 1);
    CHECK((!is_signed_integer(t) || is_integer(t)));
    CHECK((!is_half(t) || is_floating(t)));
  }
  CHECK(is_floating(DType::Float8E5M2FNUZ));
  CHECK(is_signed_integer(DType::Int8));
  CHECK_FALSE(is_signed_integer(DType::UInt64));
}

TEST_CASE("narrow floats are computed in float32") {
  CHECK(compute_type(DType::Float16) == DType::Float32);
  CHECK(compute_type(DType::BFloat16) == DType::Float32);
  CHECK(compute_type(DType::Float8E4M3FN) == DType::Float32);
  CHECK(compute_type(DType::Complex32) == DType::Complex64);
  CHECK(compute_type(DType::Float64) == DType::Float64);
  CHECK(compute_type(DType::Bool) == DType::Bool);
  CHECK(compute_type(DType::UInt8) == DType::UInt8);
}
