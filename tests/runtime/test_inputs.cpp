// Every message about a wrong input.
#include <cmath>
#include <limits>

#include "catch2/catch.hpp"
#include "support.h"

using namespace aotc;
using namespace aotc::test;

namespace {
struct Pointwise : Program {
  Pointwise() : Program(aotc_pointwise_get_api) {}
  Floats x = Floats(64 * 4), w = Floats(64);
  Tensor good_x = over(x, {2, 4}), good_w = over(w, {2});
};
}  // namespace

TEST_CASE_METHOD(Pointwise, "counts and NULL arrays") {
  CHECK(message_of({good_x}) == "session_run: 1 inputs given, program 'pointwise' has 2: x, w");
  CHECK(run({good_x, good_w}, {}) == AOTC_INVALID_ARGUMENT);
  CHECK(message == "session_run: 0 outputs wanted, program 'pointwise' has 1");
  const AotcApi* api = model.api();
  DLManagedTensor* result[] = {nullptr};
  CHECK(api->session_run(session.handle(), nullptr, 2, result, 1) == AOTC_INVALID_ARGUMENT);
  CHECK(std::string(api->last_error()) == "session_run: the array of inputs is NULL");
  const DLTensor inputs[] = {good_x.dl_tensor(), good_w.dl_tensor()};
  CHECK(api->session_run(session.handle(), inputs, 2, nullptr, 1) == AOTC_INVALID_ARGUMENT);
  CHECK(std::string(api->last_error()) == "session_run: the array of outputs is NULL");
  CHECK(run({good_x, good_w}) == AOTC_OK);
}

TEST_CASE_METHOD(Pointwise, "dtype") {
  const auto typed = [&](DLDataType dtype) { return Tensor::borrow_raw(x.data(), dtype, {2, 4}); };
  CHECK(message_of({typed({kDLFloat, 64, 1}), good_w}) == "input 'x' is float64, expected float32");
  CHECK(message_of({typed({kDLBfloat, 16, 1}), good_w}) ==
        "input 'x' is bfloat16, expected float32");
  CHECK(message_of({typed({kDLBool, 8, 1}), good_w}) == "input 'x' is bool, expected float32");
  CHECK(message_of({typed({kDLComplex, 64, 1}), good_w}) ==
        "input 'x' is complex64, expected float32");
  CHECK(message_of({typed({kDLUInt, 8, 1}), good_w}) == "input 'x' is uint8, expected float32");
  CHECK(message_of({typed({kDLFloat8_e4m3fn, 8, 1}), good_w}) ==
        "input 'x' is float8_e4m3fn, expected float32");
  CHECK(message_of({typed({kDLFloat, 32, 4}), good_w}) ==
        "input 'x' is float32x4, expected float32");
  CHECK(message_of({typed({77, 12, 1}), good_w}) ==
        "input 'x' is (DLPack type code 77, 12 bits), expected float32");
}

TEST_CASE_METHOD(Pointwise, "device") {
  DLManagedTensor managed = *good_x.managed();
  managed.deleter = nullptr;
  managed.dl_tensor.device = {kDLCUDA, 1};
  CHECK(message_of({Tensor(&managed), good_w}) ==
        "input 'x' is on cuda:1, expected cpu: copy it there first");
  managed.dl_tensor.device = {kDLCUDAHost, 0};  // pinned host memory is host memory
  CHECK(run({Tensor(&managed), good_w}) == AOTC_OK);
}

TEST_CASE_METHOD(Pointwise, "rank and shape") {
  CHECK(message_of({over(x, {2, 4, 1}), good_w}) ==
        "input 'x' has rank 3 [2, 4, 1], expected rank 2");
  float one = 0;
  CHECK(message_of({scalar(one), good_w}) == "input 'x' has rank 0 [], expected rank 2");
  DLManagedTensor managed = *good_x.managed();
  managed.deleter = nullptr;
  managed.dl_tensor.shape = nullptr;
  CHECK(message_of({Tensor(&managed), good_w}) == "input 'x' has rank 2 but its shape is NULL");
  managed.dl_tensor.ndim = -3;
  CHECK(message_of({Tensor(&managed), good_w}) == "input 'x' has rank -3 [], expected rank 2");
}

TEST_CASE_METHOD(Pointwise, "sizes") {
  CHECK(message_of({over(x, {2, 5}), good_w}) == "input 'x' dimension 1 is 5, expected 4");
  CHECK(message_of({over(x, {-2, 4}), good_w}) ==
        "input 'x' dimension 0 is -2: a size is never negative");
  CHECK(message_of({over(x, {65, 4}), over(w, {65})}) ==
        "input 'x' dimension 0 is 65, expected 0..64 (symbol s0)");
  CHECK(message_of({over(x, {3, 4}), good_w}) ==
        "input 'w' dimension 0 is 2, expected 3 (symbol s0, from input 'x' dimension 0)");
  CHECK(run({good_x, good_w}) == AOTC_OK);
  CHECK(message_of({over(x, {3, 4}), good_w}) ==
        "input 'w' dimension 0 is 2, expected 3 (symbol s0, from input 'x' dimension 0)");
  CHECK(message_of({good_x, over(w, {3})}) ==
        "input 'w' dimension 0 is 3, expected 2 (symbol s0, from input 'x' dimension 0)");
  CHECK(run({good_x, good_w}) == AOTC_OK);
}

TEST_CASE_METHOD(Pointwise, "data") {
  const Tensor none = Tensor::borrow(static_cast<float*>(nullptr), {2, 4});
  CHECK(message_of({none, good_w}) == "input 'x' has 8 elements but its data is NULL");
  Program views(aotc_views_get_api);
  Floats m(6);
  CHECK(views.message_of({over(x, {4, INT64_MAX / 2}), over(m, {2, 3})}) ==
        "input 'x' has sizes [4, 4611686018427387903]: more elements than memory holds");
}

TEST_CASE("sizes that are expressions, and constraints between symbols") {
  Program program(aotc_layouts_get_api);
  Floats window(20), spread(3), a(5), b(5), c(5), d(10);
  std::vector<std::complex<double>> z(2);
  const auto inputs = [&](int64_t n, int64_t d_size) {
    return std::vector<Tensor>{over(window, {2, 3}, {10, 1}),
                               over(spread, {2, 3}, {0, 1}),
                               over(a, {n}),
                               over(b, {n}),
                               over(c, {n}),
                               over(d, {d_size}),
                               over(z)};
  };
  CHECK(program.message_of(inputs(5, 9)) == "input 'd' dimension 0 is 9, expected 10");
  CHECK(program.run(inputs(5, 10)) == AOTC_OK);
  CHECK(program.message_of(inputs(1, 2)) ==
        "input 'a' dimension 0 is 1, expected 2..100 (symbol s0)");

  Program kinds(aotc_kinds_get_api);
  Floats x(1001);
  int64_t n = 1, three = 3;
  double half = 0.5;
  bool yes = true;
  CHECK(kinds.run({over(x), scalar(n), scalar(three), scalar(half), scalar(yes)}) ==
        AOTC_INVALID_ARGUMENT);
  CHECK(kinds.message == "s0 must be at most 1000, found 1001");
}

TEST_CASE("unbounded symbols say only what bounds them") {
  Program program(aotc_kinds_get_api);
  Floats x(2);
  int64_t n = -1, three = 3;
  double half = 0.5;
  bool yes = true;
  const auto message = [&] {
    return program.message_of({over(x), scalar(n), scalar(three), scalar(half), scalar(yes)});
  };
  CHECK(message() == "input 'n' is -1, expected 0..9 (symbol n)");
  n = 10;
  CHECK(message() == "input 'n' is 10, expected 0..9 (symbol n)");
  n = 9;
  CHECK(message() == "(succeeded)");
}

TEST_CASE("specialised Python scalars must keep their value") {
  Program program(aotc_kinds_get_api);
  Floats x(2);
  int64_t n = 1, three = 3;
  double half = 0.5;
  bool yes = true;
  const auto message = [&] {
    return program.message_of({over(x), scalar(n), scalar(three), scalar(half), scalar(yes)});
  };
  CHECK(message() == "(succeeded)");
  three = 4;
  CHECK(message() == "input 'three' is 4, expected 3: the program was exported for this value");
  three = 3 + (int64_t{1} << 32);
  CHECK(message() ==
        "input 'three' is 4294967299, expected 3: the program was exported for this value");
  three = 3;
  half = std::nan("");
  CHECK(message() == "input 'half' is nan, expected 0.5: the program was exported for this value");
  half = 0.5;
  yes = false;
  CHECK(message() == "input 'yes' is 0, expected 1: the program was exported for this value");
  int32_t narrow = 3;
  CHECK(program.message_of({over(x), scalar(n), scalar(narrow), scalar(half), scalar(yes)}) ==
        "input 'three' is int32, expected int64");
  CHECK(program.message_of({over(x), scalar(n), over(x), scalar(half), scalar(yes)}) ==
        "input 'three' is float32, expected int64");
  const Tensor null = Tensor::borrow(static_cast<int64_t*>(nullptr), {});
  CHECK(program.message_of({over(x), null, scalar(three), scalar(half), scalar(yes)}) ==
        "input 'n' has 1 elements but its data is NULL");
}

TEST_CASE("scalars may lie at any address") {
  Program program(aotc_kinds_get_api);
  Floats x = {1};
  int64_t three = 3;
  double half = 0.5;
  bool yes = true;
  char memory[16] = {};
  const int64_t n = 5;
  std::memcpy(memory + 3, &n, sizeof n);
  const Tensor odd = Tensor::borrow_raw(memory + 3, {kDLInt, 64, 1}, {});
  REQUIRE(program.run({over(x), odd, scalar(three), scalar(half), scalar(yes)}) == AOTC_OK);
  CHECK(values<float>(program.outputs[0]) == Floats{5});
}
