// Symbols that no size is by itself: solved from expressions, or refused by name.
#include "catch2/catch.hpp"
#include "support.h"

using namespace aotc;
using namespace aotc::test;

namespace {
struct Linear : Program {
  Linear() : Program(aotc_linear_get_api) {}
  Floats memory = Floats(100);
  int64_t n = 0, m = 0;
  std::vector<Tensor> inputs(int64_t x, int64_t y, int64_t z, int64_t n_value, int64_t m_value) {
    n = n_value;
    m = m_value;
    return {over(memory, {x}), over(memory, {y}), over(memory, {z}), scalar(n), scalar(m)};
  }
};
}  // namespace

TEST_CASE_METHOD(Linear, "symbols are solved from sizes a * s + b") {
  REQUIRE(run(inputs(7, 6, 5, -4, 15)) == AOTC_OK);  // a is 3, b is 5
  CHECK(values<int64_t>(outputs[0]) == Integers{50607});
  REQUIRE(run(inputs(1, 2, 10, 1, 0)) == AOTC_OK);  // others at the next call
  CHECK(values<int64_t>(outputs[0]) == Integers{100201});
}

TEST_CASE_METHOD(Linear, "sizes that no symbol gives") {
  CHECK(message_of(inputs(8, 6, 5, -4, 15)) ==
        "input 'x' dimension 0 is 8, expected 3*a - 2 with an integer a");
  CHECK(message_of(inputs(7, 7, 5, -4, 15)) ==
        "input 'y' dimension 0 is 7, expected 2*a (a is 3, from input 'x' dimension 0)");
  CHECK(message_of(inputs(7, 6, 5, -3, 15)) ==
        "input 'n' is -3, expected -b + 1 (b is 5, from input 'z' dimension 0)");
  CHECK(message_of(inputs(7, 6, 5, -4, 16)) == "input 'm' is 16, expected 15");
  CHECK(message_of(inputs(7, 6, 5, INT64_MIN, 15)) ==
        "input 'n' is -9223372036854775808, expected -b + 1 (b is 5, from input 'z' dimension "
        "0)");
}

TEST_CASE_METHOD(Linear, "ranges are those of the sizes") {
  CHECK(message_of(inputs(13, 10, 5, -4, 25)) ==
        "input 'x' dimension 0 is 13, expected 1..10 (3*a - 2)");
  CHECK(message_of(inputs(7, 6, 2, -7, 24)) ==
        "input 'z' dimension 0 is 2, expected at least 3 (-b + 10)");
  const TensorSpec x = model.input_spec(0), z = model.input_spec(2);
  CHECK(x.sizes == Integers{-1});
  CHECK(x.min_sizes == Integers{1});
  CHECK(x.max_sizes == Integers{10});
  CHECK(z.min_sizes == Integers{3});
  CHECK(z.max_sizes == Integers{INT64_MAX});
}
