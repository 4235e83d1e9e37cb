// Inputs that are drawn from a manifest.
#include <catch2/catch.hpp>
#include <cmath>

#include "codegen/cli/call_inputs.h"
#include "codegen/cli/numbers.h"
#include "ir/error.h"
#include "support.h"

namespace aotc::cli::test {
namespace {

CallInputs draw(const std::string& inputs, const std::string& symbols = "[]") {
  return draw_inputs("{\"inputs\": " + inputs + ", \"symbols\": " + symbols + "}");
}

}  // namespace

TEST_CASE("sizes follow the symbols' ranges", "[inputs]") {
  const CallInputs in = draw(
      R"([{"name": "x", "dtype": "float32", "sizes": ["s0", 3, "2*s0"]},
          {"name": "y", "dtype": "float32", "sizes": ["s1", "s2"]},
          {"name": "n", "dtype": "int64", "sizes": [], "symbol": "s0"}])",
      R"([{"name": "s0", "min": 1, "max": 2}, {"name": "s1", "min": 9}, {"name": "s2"}])");
  REQUIRE(in.tensors.size() == 3);
  CHECK(in.tensors[0].sizes == std::vector<int64_t>{2, 3, 4});
  CHECK(in.tensors[1].sizes == std::vector<int64_t>{9, 4});
  CHECK(to_doubles(value_of(in.tensors[2])) == std::vector<double>{2});
  CHECK(in.origin.find("drawn") != std::string::npos);
}

TEST_CASE("values are the same each time, and in range for every type", "[inputs]") {
  for (const char* type :
       {"float64", "float32", "bfloat16", "float16", "float8_e4m3fn", "float8_e5m2",
        "float8_e4m3fnuz", "float8_e5m2fnuz", "complex64", "complex128", "complex32"}) {
    const std::string spec =
        std::string("[{\"name\": \"x\", \"dtype\": \"") + type + "\", \"sizes\": [64]}]";
    const Array a = value_of(draw(spec).tensors[0]);
    CHECK(a.data == value_of(draw(spec).tensors[0]).data);
    for (double v : to_doubles(a)) CHECK(std::abs(v) <= 1);
    CHECK(summarize(a).minimum < summarize(a).maximum);
  }
  for (const char* type : {"bool", "int64", "uint8", "int16"}) {
    const std::string spec =
        std::string("[{\"name\": \"x\", \"dtype\": \"") + type + "\", \"sizes\": [64]}]";
    const Summary s = summarize(value_of(draw(spec).tensors[0]));
    CHECK(s.minimum == 0);
    CHECK(s.maximum == 1);
  }
}

TEST_CASE("Python scalars have the value of the export", "[inputs]") {
  const CallInputs in = draw(R"([{"name": "a", "dtype": "int64", "sizes": [], "value": -7},
    {"name": "b", "dtype": "float64", "sizes": [], "value": 0.5},
    {"name": "c", "dtype": "bool", "sizes": [], "value": true}])");
  CHECK(to_doubles(value_of(in.tensors[0]))[0] == -7);
  CHECK(to_doubles(value_of(in.tensors[1]))[0] == 0.5);
  CHECK(to_doubles(value_of(in.tensors[2]))[0] == 1);
}

TEST_CASE("a manifest that is not one is refused", "[inputs]") {
  CHECK_THROWS_AS(draw_inputs("{"), UserError);
  CHECK_THROWS_AS(draw_inputs("{}"), UserError);
  CHECK_THROWS_AS(draw(R"([{"name": "x", "dtype": "float99", "sizes": []}])"), UserError);
  CHECK_THROWS_AS(draw(R"([{"name": "x", "dtype": "float32", "sizes": ["s5"]}])"), UserError);
}

TEST_CASE("a folder that is not there is named", "[inputs]") {
  CHECK_THROWS_WITH(inputs_from_folder("nowhere"), Catch::Contains("nowhere: no such folder"));
}

}  // namespace aotc::cli::test
