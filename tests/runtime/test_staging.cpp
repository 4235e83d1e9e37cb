// Inputs whose strides or alignment differ from the compiled layout: copied in, and back where they
// are written.
#include "catch2/catch.hpp"
#include "layouts_call.h"

using namespace aotc;
using namespace aotc::test;

TEST_CASE_METHOD(LayoutsCall, "the exported layout is used in place, gaps untouched") {
  REQUIRE(failure() == "(succeeded)");
  CHECK(window_memory == Floats{10, 20, 30, -1, -1, -1, -1, -1, -1, -1, 40, 50, 60});
  CHECK(values<float>(outputs[0]) == Floats{66, 156});
  CHECK(a_memory == Floats{11, 22, 33, 44});
  CHECK(b_memory == Floats{20, 40, 60, 80});
  CHECK(values<std::complex<double>>(outputs[1]) ==
        std::vector<std::complex<double>>{{-1, -2}, {-3, -4}});
  CHECK(session.scratch_size() == 0);
}

TEST_CASE_METHOD(LayoutsCall,
                 "a mutated input of other strides is written through its real strides") {
  SECTION("contiguous") {
    window_memory = {1, 2, 3, 4, 5, 6, -1};
    window = over(window_memory, {2, 3});
    REQUIRE(failure() == "(succeeded)");
    CHECK(window_memory == Floats{10, 20, 30, 40, 50, 60, -1});
  }
  SECTION("transposed") {
    window_memory = {1, 4, 2, 5, 3, 6};
    window = over(window_memory, {2, 3}, {1, 2});
    REQUIRE(failure() == "(succeeded)");
    CHECK(window_memory == Floats{10, 40, 20, 50, 30, 60});
  }
  SECTION("reversed, with a gap") {
    window_memory = {6, -1, 5, -1, 4, -1, 3, -1, 2, -1, 1};
    window = Tensor::borrow(&window_memory[10], {2, 3}, {-6, -2});
    REQUIRE(failure() == "(succeeded)");
    CHECK(window_memory == Floats{60, -1, 50, -1, 40, -1, 30, -1, 20, -1, 10});
  }
  CHECK(values<float>(outputs[0]) == Floats{66, 156});
  CHECK(session.scratch_size() > 0);
}

TEST_CASE_METHOD(LayoutsCall, "an input that is written but never read is not copied in") {
  Floats strided = {7, -1, 7, -1, 7, -1, 7};
  b = over(strided, {4}, {2});
  REQUIRE(failure() == "(succeeded)");
  CHECK(strided == Floats{20, -1, 40, -1, 60, -1, 80});
}

TEST_CASE_METHOD(LayoutsCall, "an input that is only read may be strided, expanded or unaligned") {
  Floats strided = {10, -1, 20, -1, 30, -1, 40};
  SECTION("strided") {
    c = over(strided, {4}, {2});
    REQUIRE(failure() == "(succeeded)");
    CHECK(a_memory == Floats{11, 22, 33, 44});
  }
  SECTION("reversed: the data pointer is that of the first element") {
    Floats reversed = {40, -1, 30, -1, 20, -1, 10};
    c = Tensor::borrow(&reversed[6], {4}, {-2});
    REQUIRE(failure() == "(succeeded)");
    CHECK(a_memory == Floats{11, 22, 33, 44});
  }
  SECTION("expanded") {
    c = over(strided, {4}, {0});
    REQUIRE(failure() == "(succeeded)");
    CHECK(a_memory == Floats{11, 12, 13, 14});
  }
  SECTION("unaligned") {
    std::vector<char> bytes(17);
    std::memcpy(bytes.data() + 1, c_memory.data(), 16);
    c = Tensor::borrow_raw(bytes.data() + 1, {kDLFloat, 32, 1}, {4});
    REQUIRE(failure() == "(succeeded)");
    CHECK(a_memory == Floats{11, 22, 33, 44});
  }
  CHECK(strided == Floats{10, -1, 20, -1, 30, -1, 40});
}

TEST_CASE_METHOD(LayoutsCall, "an unaligned mutated input is written back") {
  std::vector<char> bytes(17, 'x');
  std::memcpy(bytes.data() + 1, a_memory.data(), 16);
  a = Tensor::borrow_raw(bytes.data() + 1, {kDLFloat, 32, 1}, {4});
  REQUIRE(failure() == "(succeeded)");
  std::memcpy(a_memory.data(), bytes.data() + 1, 16);
  CHECK(a_memory == Floats{11, 22, 33, 44});
  CHECK(bytes[0] == 'x');
}

TEST_CASE_METHOD(LayoutsCall, "complex128 needs the alignment of a double only") {
  std::vector<double> memory = {0, 1, 2, 3, 4};
  z = Tensor::borrow_raw(memory.data() + 1, {kDLComplex, 128, 1}, {2});
  REQUIRE(failure() == "(succeeded)");
  CHECK(values<std::complex<double>>(outputs[1]) ==
        std::vector<std::complex<double>>{{-1, -2}, {-3, -4}});
  CHECK(session.scratch_size() == 0);
}

TEST_CASE_METHOD(LayoutsCall, "strides of dimensions of size 1 do not matter") {
  Program program(aotc_pointwise_get_api);
  Floats x = {1, 2, 3, 4}, w = {2};
  REQUIRE(program.run({over(x, {1, 4}, {-77, 1}), over(w, {1}, {1 << 20})}) == AOTC_OK);
  CHECK(x == Floats{2, 3, 4, 5});
  CHECK(program.session.scratch_size() == 64);
}

TEST_CASE_METHOD(LayoutsCall, "an input exported with shared elements accepts only those strides") {
  Floats dense = {1, 2, 3, 4, 5, 6};
  spread = over(dense, {2, 3});
  CHECK(
      failure() ==
      "input 'spread' with sizes [2, 3] and strides [3, 1]: the program was exported for elements "
      "that share memory; pass the exported strides");
  CHECK(window_memory[0] == 1);
  std::vector<char> bytes(13);
  std::memcpy(bytes.data() + 1, spread_memory.data(), 12);
  spread = Tensor::borrow_raw(bytes.data() + 1, {kDLFloat, 32, 1}, {2, 3}, {0, 1});
  CHECK(failure() == "(succeeded)");
  CHECK(values<float>(outputs[0]) == Floats{66, 156});
}

TEST_CASE_METHOD(LayoutsCall,
                 "a mutated input that reaches an element twice is refused before any write") {
  const Floats before = window_memory;
  SECTION("expanded") {
    window = over(window_memory, {2, 3}, {0, 1});
    CHECK(failure() ==
          "input 'window' with sizes [2, 3] and strides [0, 1]: the program writes it, but some "
          "elements share memory; pass a contiguous copy");
  }
  SECTION("overlapping windows") {
    window = over(window_memory, {2, 3}, {2, 1});
    CHECK(run() == AOTC_INVALID_ARGUMENT);
  }
  CHECK(window_memory == before);
  CHECK(a_memory == Floats{1, 2, 3, 4});
}

TEST_CASE_METHOD(LayoutsCall, "strides that are interleaved without meeting are accepted") {
  // Elements 0, 3, 6 and 2, 5, 8: no stride steps over the other's reach, yet none is reached
  // twice.
  window_memory = {1, -1, 4, 2, -1, 5, 3, -1, 6};
  window = over(window_memory, {2, 3}, {2, 3});
  REQUIRE(failure() == "(succeeded)");
  CHECK(window_memory == Floats{10, -1, 40, 20, -1, 50, 30, -1, 60});
}

TEST_CASE_METHOD(LayoutsCall, "strides that leave the address space are refused") {
  c = over(c_memory, {4}, {INT64_MAX / 2});
  CHECK(failure() ==
        "input 'c' with sizes [4] and strides [4611686018427387903]: its elements lie outside of "
        "memory");
  c = over(c_memory, {4}, {INT64_MIN});
  CHECK(run() == AOTC_INVALID_ARGUMENT);
}

TEST_CASE_METHOD(LayoutsCall, "an input that nobody looks at may lie anyhow") {
  float one = 0;
  d = Tensor::borrow(&one, {8}, {0});
  CHECK(failure() == "(succeeded)");
}

TEST_CASE("a failed call does not write a staged input back") {
  Program program(aotc_pointwise_get_api);
  Floats x = {1, 5, 2, 6, 3, 7, 4, 8}, w = {-1, 1};
  REQUIRE(program.run({over(x, {2, 4}, {1, 2}), over(w)}) == AOTC_FAILED_CHECK);
  CHECK(x == Floats{1, 5, 2, 6, 3, 7, 4, 8});
  w[0] = 1;
  REQUIRE(program.run({over(x, {2, 4}, {1, 2}), over(w)}) == AOTC_OK);
  CHECK(x == Floats{2, 6, 3, 7, 4, 8, 5, 9});
  CHECK(values<float>(program.outputs[0]) == Floats{1, 2, 3, 4, 5, 6, 7, 8});
}
