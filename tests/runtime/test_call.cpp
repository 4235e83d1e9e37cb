// A call as such: results, mutation in place, what a failing call leaves behind, busy sessions.
#include "catch2/catch.hpp"
#include "support.h"

using namespace aotc;
using namespace aotc::test;

TEST_CASE("a call computes outputs and writes the mutated input in place") {
  Program program(aotc_pointwise_get_api);
  Floats x = {1, 2, 3, 4, 5, 6, 7, 8}, w = {10, 100};
  REQUIRE(program.run({over(x, {2, 4}), over(w)}) == AOTC_OK);
  CHECK(values<float>(program.outputs[0]) == Floats{10, 20, 30, 40, 500, 600, 700, 800});
  CHECK(x == Floats{2, 3, 4, 5, 6, 7, 8, 9});
  CHECK(w == Floats{10, 100});
  const DLTensor& y = program.outputs[0].dl_tensor();
  CHECK(program.outputs[0].sizes() == Integers{2, 4});
  CHECK(program.outputs[0].strides() == Integers{4, 1});
  CHECK(y.device.device_type == kDLCPU);
  CHECK(y.byte_offset == 0);
  CHECK(reinterpret_cast<uintptr_t>(y.data) % 64 == 0);
}

TEST_CASE("symbols take every size in their range, 0 and 1 included") {
  Program program(aotc_pointwise_get_api);
  for (int64_t rows : {3, 0, 1, 64, 2, 64, 0}) {
    Floats x(static_cast<size_t>(rows * 4), 2), w(static_cast<size_t>(rows), 3);
    REQUIRE(program.run({over(x, {rows, 4}), over(w, {rows})}) == AOTC_OK);
    CHECK(values<float>(program.outputs[0]) == Floats(static_cast<size_t>(rows * 4), 6));
    CHECK(program.outputs[0].sizes() == Integers{rows, 4});
    CHECK(x == Floats(static_cast<size_t>(rows * 4), 3));
  }
  CHECK(program.session.scratch_size() == 64 * 16);  // the arena has grown to the largest
}

TEST_CASE("tensors without elements may have NULL data") {
  Program program(aotc_pointwise_get_api);
  const Tensor x = Tensor::borrow(static_cast<float*>(nullptr), {0, 4});
  const Tensor w = Tensor::borrow(static_cast<float*>(nullptr), {0});
  REQUIRE(program.run({x, w}) == AOTC_OK);
  CHECK(program.outputs[0].sizes() == Integers{0, 4});
  CHECK(program.outputs[0].raw() == nullptr);
}

TEST_CASE("byte_offset moves the first element") {
  Program program(aotc_pointwise_get_api);
  Floats memory = {-1, -2, 1, 2, 3, 4}, w = {2};
  DLTensor inputs[] = {over(memory, {1, 4}).dl_tensor(), over(w).dl_tensor()};
  int64_t sizes[] = {1, 4}, one[] = {1};
  inputs[0].shape = sizes;
  inputs[1].shape = one;
  inputs[0].byte_offset = 8;
  DLManagedTensor* outputs[] = {nullptr};
  const AotcApi* api = program.model.api();
  REQUIRE(api->session_run(program.session.handle(), inputs, 2, outputs, 1) == AOTC_OK);
  CHECK(values<float>(Tensor(outputs[0])) == Floats{2, 4, 6, 8});
  CHECK(memory == Floats{-1, -2, 2, 3, 4, 5});
}

TEST_CASE("a failed check leaves inputs and the array of outputs as they were") {
  Program program(aotc_pointwise_get_api);
  Floats x = {1, 2, 3, 4}, w = {-7};
  REQUIRE(program.run({over(x, {1, 4}), over(w)}) == AOTC_FAILED_CHECK);
  CHECK(program.message == "w[0] must not be negative, found -7");
  CHECK(x == Floats{1, 2, 3, 4});
  CHECK_FALSE(program.outputs[0].defined());
  w[0] = 7;
  CHECK(program.run({over(x, {1, 4}), over(w)}) == AOTC_OK);
}

TEST_CASE("the last error is per thread and never NULL") {
  const AotcApi* api = aotc_pointwise_get_api(AOTC_ABI_VERSION);
  REQUIRE(api->last_error() != nullptr);
  CHECK(api->session_run(nullptr, nullptr, 0, nullptr, 0) == AOTC_INVALID_ARGUMENT);
  CHECK(std::string(api->last_error()) == "session_run: the session is NULL");
}

namespace {
struct Nested {
  Program* program;
  AotcStatus status;
  std::string message;
};

// A lent pool that calls back into the session that is running.
void call_again(void* context, int64_t n, int64_t, AotcRangeFn fn, void* arg) {
  Nested* nested = static_cast<Nested*>(context);
  nested->status =
      nested->program->model.api()->session_state_reset(nested->program->session.handle());
  nested->message = nested->program->model.api()->last_error();
  fn(arg, 0, n);
}
}  // namespace

TEST_CASE("a second call on a busy session is refused, and the first one succeeds") {
  Program program(aotc_parallel_get_api);
  Nested nested = {&program, AOTC_OK, ""};
  program.session.set_parallel_for(call_again, &nested, 2);
  Floats x = {3};
  CHECK(program.run({over(x)}) == AOTC_OK);
  CHECK(values<float>(program.outputs[0]) == Floats{9});
  CHECK(nested.status == AOTC_BUSY);
  CHECK(nested.message ==
        "session_state_reset: the session is in use by another call; use one per thread");
  program.session.set_parallel_for(nullptr, nullptr, 0);
  CHECK(program.run({over(x)}) == AOTC_OK);
}

TEST_CASE("a lent pool needs at least one thread") {
  Program program(aotc_parallel_get_api);
  CHECK_THROWS_WITH(program.session.set_parallel_for(call_again, nullptr, 0),
                    "session_set_parallel_for: 0 threads, expected at least 1");
}

TEST_CASE("what this version does not offer says so") {
  Program program(aotc_pointwise_get_api);
  const AotcApi* api = program.model.api();
  CHECK(api->model_update_weights(program.model.handle(), nullptr, nullptr, 0) == AOTC_UNSUPPORTED);
  CHECK(std::string(api->last_error()).find("not available in this version") != std::string::npos);
  CHECK(api->session_synchronize(program.session.handle()) == AOTC_OK);
  CHECK(api->session_synchronize(nullptr) == AOTC_INVALID_ARGUMENT);
}
