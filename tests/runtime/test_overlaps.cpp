// Tensors of one call that share memory: refused where it could matter, accepted where it cannot.
#include "catch2/catch.hpp"
#include "layouts_call.h"

using namespace aotc;
using namespace aotc::test;

TEST_CASE_METHOD(LayoutsCall, "a mutated input must not overlap another one") {
  Floats shared(12, 1);
  SECTION("the same tensor, mutated and read") {
    a = c = over(shared, {4});
    CHECK(failure() ==
          "input 'a' and input 'c' share memory, and the call writes input 'a': pass a copy that "
          "does "
          "not overlap");
  }
  SECTION("the same tensor, mutated twice") {
    a = b = over(shared, {4});
    CHECK(run() == AOTC_INVALID_ARGUMENT);
  }
  SECTION("one element in common") {
    a = Tensor::borrow(&shared[0], {4});
    c = Tensor::borrow(&shared[3], {4});
    CHECK(run() == AOTC_INVALID_ARGUMENT);
  }
  SECTION("half an element in common") {
    a = Tensor::borrow(&shared[0], {4});
    c = Tensor::borrow_raw(reinterpret_cast<char*>(&shared[3]) + 2, {kDLFloat, 32, 1}, {4});
    CHECK(run() == AOTC_INVALID_ARGUMENT);
  }
  SECTION("strided into a gap of the other, but hitting it once") {
    a = Tensor::borrow(&shared[0], {4}, {2});
    c = Tensor::borrow(&shared[1], {4}, {3});
    CHECK(run() == AOTC_INVALID_ARGUMENT);
  }
  CHECK(shared == Floats(12, 1));
  CHECK(window_memory[0] == 1);
}

TEST_CASE_METHOD(LayoutsCall, "neighbours and interleaved tensors do not overlap") {
  Floats shared = {1, 10, 2, 20, 3, 30, 4, 40};
  SECTION("adjacent") {
    shared = {1, 2, 3, 4, 10, 20, 30, 40};
    a = Tensor::borrow(&shared[0], {4});
    c = Tensor::borrow(&shared[4], {4});
    REQUIRE(failure() == "(succeeded)");
    CHECK(shared == Floats{11, 22, 33, 44, 10, 20, 30, 40});
  }
  SECTION("even and odd elements") {
    a = Tensor::borrow(&shared[0], {4}, {2});
    c = Tensor::borrow(&shared[1], {4}, {2});
    REQUIRE(failure() == "(succeeded)");
    CHECK(shared == Floats{11, 10, 22, 20, 33, 30, 44, 40});
  }
  SECTION("in the gap of the window") {
    a = Tensor::borrow(&window_memory[4], {4});
    REQUIRE(failure() == "(succeeded)");
    CHECK(window_memory == Floats{10, 20, 30, -1, 9, 19, 29, 39, -1, -1, 40, 50, 60});
  }
  SECTION("opposite directions that miss each other") {
    shared.resize(12, -1);
    a = Tensor::borrow(&shared[9], {4}, {-3});  // 9 6 3 0
    c = Tensor::borrow(&shared[1], {4}, {3});   // 1 4 7 10
    CHECK(run() == AOTC_OK);
  }
  SECTION("strides without a common period that miss each other") {
    shared.resize(20, -1);
    a = Tensor::borrow(&shared[0], {4}, {4});  // 0 4 8 12
    c = Tensor::borrow(&shared[1], {4}, {5});  // 1 6 11 16
    CHECK(run() == AOTC_OK);
  }
}

TEST_CASE_METHOD(LayoutsCall, "inputs that are only read may share memory") {
  spread_memory = {1, 2, 3, 4};
  spread = over(spread_memory, {2, 3}, {0, 1});
  c = over(spread_memory, {4});
  REQUIRE(failure() == "(succeeded)");
  CHECK(a_memory == Floats{2, 4, 6, 8});
}

TEST_CASE_METHOD(LayoutsCall, "an input that nobody reads may overlap") {
  Floats shared(8, 1);
  a = over(shared, {4});
  d = over(shared, {8});
  CHECK(run() == AOTC_OK);
}

TEST_CASE_METHOD(LayoutsCall, "tensors without elements overlap nothing") {
  Program program(aotc_pointwise_get_api);
  Floats shared(4);
  CHECK(program.run({over(shared, {0, 4}), over(shared, {0})}) == AOTC_OK);
}

TEST_CASE("a state must not be an input of the same session") {
  Program program(aotc_counter_get_api);
  Floats x = {1, 2, 3};
  REQUIRE(program.run({over(x)}) == AOTC_OK);
  const Tensor cache = program.outputs[1];
  const Tensor row = Tensor::borrow(cache.data<float>() + 3, {3});
  const Floats before = values<float>(cache);
  CHECK(program.message_of({row}) ==
        "input 'x' and the states of this session share memory, and the call writes the states of "
        "this "
        "session: pass a copy that does not overlap");
  CHECK(values<float>(cache) == before);
  Program other(aotc_counter_get_api);
  CHECK(other.run({row}) == AOTC_OK);  // another session's states are just memory
}

TEST_CASE("a bound state must not be an input") {
  Program program(aotc_counter_get_api);
  Floats storage = {1, 2, 3, 4, 5, 6};
  program.session.bind_state("cache", over(storage, {2, 3}));
  CHECK(program.message_of({over(storage, {3})}) ==
        "input 'x' and the storage bound to state 'cache' share memory, and the call writes the "
        "storage "
        "bound to state 'cache': pass a copy that does not overlap");
  CHECK(storage == Floats{1, 2, 3, 4, 5, 6});
}

TEST_CASE("storage given for outputs must not overlap inputs, states or other outputs") {
  Program program(aotc_pointwise_get_api);
  Floats x = {1, 2, 3, 4}, w = {2};
  CHECK(program.run({over(x, {1, 4}), over(w)}, {over(x, {1, 4})}) == AOTC_INVALID_ARGUMENT);
  CHECK(
      program.message ==
      "input 'x' and the storage given for output 'y' share memory, and the call writes input 'x': "
      "pass a copy that does not overlap");
  Floats y = {2, 0, 0, 0};
  CHECK(program.run({over(x, {1, 4}), over(y, {1})}, {over(y, {1, 4})}) == AOTC_INVALID_ARGUMENT);
  CHECK(x == Floats{1, 2, 3, 4});
  CHECK(y == Floats{2, 0, 0, 0});

  Program counter(aotc_counter_get_api);
  REQUIRE(counter.run({over(x, {3})}) == AOTC_OK);
  const Tensor cache = counter.outputs[1];
  CHECK(counter.run({over(x, {3})}, {Tensor::borrow(cache.data<float>(), {3}), Tensor(),
                                     Tensor()}) == AOTC_INVALID_ARGUMENT);
}
