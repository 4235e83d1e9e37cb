// States: initial values, get, set, bind, reset, fork.
#include "catch2/catch.hpp"
#include "support.h"

using namespace aotc;
using namespace aotc::test;

namespace {
struct Counter : Program {
  Counter() : Program(aotc_counter_get_api) {}
  AotcStatus step() { return run({over(x)}); }
  int64_t count() { return session.state("count").item<int64_t>(); }
  Floats cache() { return values<float>(session.state("cache")); }
  Floats x = {10, 20, 30};
};
}  // namespace

TEST_CASE_METHOD(Counter, "states start from the archive's values and keep what calls write") {
  CHECK(model.state_names() == std::vector<std::string>{"count", "cache", "row"});
  CHECK(model.weight_names() == std::vector<std::string>{"bias", "tied", "nothing"});
  CHECK(count() == 5);
  CHECK(cache() == Floats(6, 0));
  REQUIRE(step() == AOTC_OK);
  CHECK(count() == 6);
  CHECK(cache() == Floats{0, 0, 0, 11, 22, 33});
  REQUIRE(step() == AOTC_OK);
  REQUIRE(step() == AOTC_OK);
  CHECK(values<float>(outputs[0]) == Floats{22, 44, 66});
  CHECK(cache() == Floats{11, 22, 33, 22, 44, 66});
  CHECK(values<float>(session.state("row")) == Floats{22, 44, 66});
}

TEST_CASE_METHOD(Counter, "outputs that are states point into the session") {
  REQUIRE(step() == AOTC_OK);
  const Tensor cache_out = outputs[1], count_out = outputs[2];
  CHECK(values<float>(cache_out) == Floats{0, 0, 0, 11, 22, 33});
  REQUIRE(step() == AOTC_OK);
  CHECK(outputs[1].raw() == cache_out.raw());
  CHECK(count_out.item<int64_t>() == 7);
  std::vector<Tensor> given = {Tensor(), Tensor::borrow(cache_out.data<float>(), {2, 3}), Tensor()};
  CHECK(run({over(x)}, given) == AOTC_OK);  // the very storage
  Floats other(6);
  given[1] = over(other, {2, 3});
  CHECK(run({over(x)}, given) == AOTC_INVALID_ARGUMENT);
  CHECK(message ==
        "output 'cache_out' points into a state: its entry must be NULL or that very storage");
}

TEST_CASE_METHOD(Counter, "a failed call leaves states as they were") {
  REQUIRE(step() == AOTC_OK);
  x[0] = -1;
  CHECK(step() == AOTC_FAILED_CHECK);
  CHECK(count() == 6);
  CHECK(cache() == Floats{0, 0, 0, 11, 22, 33});
}

TEST_CASE_METHOD(Counter, "get reads any name of the archive, through any strides") {
  Floats bias(3), nothing(1), spaced(6, -1);
  session.get_state("bias", over(bias));
  CHECK(bias == Floats{1, 2, 3});
  session.get_state("tied", over(spaced, {3}, {2}));
  CHECK(spaced == Floats{1, -1, 2, -1, 3, -1});
  session.get_state("nothing", Tensor::borrow(static_cast<float*>(nullptr), {0}));
  CHECK_THROWS_WITH(session.get_state("bias", over(nothing)),
                    "session_state_get: the tensor for 'bias' has sizes [1], expected [3]");
  CHECK_THROWS_WITH(
      session.get_state("bias", over(bias, {3}, {0})),
      "session_state_get: 'bias' would be written with sizes [3] and strides [0]: elements "
      "share memory");
  CHECK_THROWS_WITH(session.get_state("count", over(bias)),
                    "session_state_get: the tensor for 'count' is float32, expected int64");
  CHECK_THROWS_WITH(
      session.get_state("cash", over(bias)),
      "session_state_get: program 'counter' has no 'cash'; its states are: count, cache, row");
  CHECK_THROWS_WITH(session.get_state("bias", Tensor::borrow(static_cast<float*>(nullptr), {3})),
                    "session_state_get: the tensor for 'bias' has NULL data");
  const AotcApi* api = model.api();
  CHECK(api->session_state_get(session.handle(), nullptr, nullptr) == AOTC_INVALID_ARGUMENT);
  CHECK(api->session_state_get(session.handle(), "bias", nullptr) == AOTC_INVALID_ARGUMENT);
}

TEST_CASE_METHOD(Counter, "set writes states, through views and from any strides") {
  Floats columns = {1, 4, 2, 5, 3, 6}, row = {7, 8, 9}, one = {3};
  int64_t next = 8;
  session.set_state("cache", over(columns, {2, 3}, {1, 2}));
  CHECK(cache() == Floats{1, 2, 3, 4, 5, 6});
  session.set_state("row", over(row));
  session.set_state("count", scalar(next));
  CHECK(cache() == Floats{1, 2, 3, 7, 8, 9});
  session.set_state("row", over(one, {3}, {0}));
  CHECK(cache() == Floats{1, 2, 3, 3, 3, 3});
  REQUIRE(step() == AOTC_OK);
  CHECK(cache() == Floats{12, 24, 36, 3, 3, 3});
  CHECK_THROWS_WITH(
      session.set_state("bias", over(row)),
      "session_state_set: 'bias' is not a state but a constant of the program, shared by all "
      "sessions");
  CHECK_THROWS_WITH(session.set_state("row", over(one, {3}, {INT64_MAX})),
                    "session_state_set: the tensor for 'row' lies outside of memory");
}

TEST_CASE_METHOD(Counter, "set and get also copy between overlapping memory") {
  Floats start = {1, 2, 3, 4, 5, 6};
  session.set_state("cache", over(start, {2, 3}));
  REQUIRE(step() == AOTC_OK);
  float* data = outputs[1].data<float>();
  session.set_state("row", Tensor::borrow(data + 2, {3}));
  CHECK(cache() == Floats{1, 2, 3, 3, 15, 27});
}

TEST_CASE_METHOD(Counter, "reset gives the archive's values again") {
  REQUIRE(step() == AOTC_OK);
  session.reset_states();
  CHECK(count() == 5);
  CHECK(cache() == Floats(6, 0));
}

TEST_CASE_METHOD(Counter, "a bound state lives in the caller's storage") {
  Floats storage = {1, 2, 3, 4, 5, 6};
  session.bind_state("cache", over(storage, {2, 3}));
  REQUIRE(step() == AOTC_OK);
  CHECK(storage == Floats{1, 2, 3, 15, 27, 39});
  CHECK(outputs[1].raw() == storage.data());
  CHECK(values<float>(session.state("row")) == Floats{15, 27, 39});
  Session fork = session.fork();  // has its own copy
  session.reset_states();
  CHECK(storage == Floats(6, 0));
  CHECK(values<float>(fork.state("cache")) == Floats{1, 2, 3, 15, 27, 39});
  storage[0] = 8;
  REQUIRE(model.api()->session_state_bind(session.handle(), "cache", nullptr) == AOTC_OK);
  storage[0] = 9;
  CHECK(cache() == Floats{8, 0, 0, 0, 0, 0});  // unbound with its content
}

TEST_CASE_METHOD(Counter, "what cannot be bound") {
  Floats storage(8);
  Integers counts(1);
  CHECK_THROWS_WITH(
      session.bind_state("row", over(storage, {3})),
      "session_state_bind: 'row' is a view of a larger storage and cannot be bound by itself");
  CHECK_THROWS_WITH(
      session.bind_state("bias", over(storage, {3})),
      "session_state_bind: 'bias' is not a state but a constant of the program, shared by all "
      "sessions");
  CHECK_THROWS_WITH(
      session.bind_state("cache", over(storage, {2, 3}, {4, 1})),
      "session_state_bind: the storage for 'cache' has strides [4, 1], expected [3, 1]");
  CHECK_THROWS_WITH(session.bind_state("cache", over(storage, {3, 2})),
                    "session_state_bind: the tensor for 'cache' has sizes [3, 2], expected [2, 3]");
  std::vector<char> bytes(32);
  CHECK_THROWS_WITH(
      session.bind_state("cache", Tensor::borrow_raw(bytes.data() + 1, {kDLFloat, 32, 1}, {2, 3})),
      "session_state_bind: the storage for 'cache' is not aligned to 4 bytes");
  session.bind_state("cache", over(storage, {2, 3}));
  CHECK_THROWS_WITH(
      session.bind_state("count", Tensor::borrow_raw(storage.data() + 4, {kDLInt, 64, 1}, {})),
      "session_state_bind: the storage for 'count' overlaps that of state 'cache'");
  CHECK_NOTHROW(
      session.bind_state("count", Tensor::borrow_raw(storage.data() + 6, {kDLInt, 64, 1}, {})));
}

TEST_CASE_METHOD(Counter, "a fork goes its own way") {
  REQUIRE(step() == AOTC_OK);
  Session fork = session.fork();
  REQUIRE(step() == AOTC_OK);
  CHECK(fork.state("count").item<int64_t>() == 6);
  fork.run({over(x)});
  CHECK(values<float>(fork.state("cache")) == cache());
  fork.reset_states();
  CHECK(count() == 7);
}

TEST_CASE("a session keeps its model alive") {
  const AotcApi* api = aotc_counter_get_api(AOTC_ABI_VERSION);
  AotcModel* model = nullptr;
  AotcSession* session = nullptr;
  REQUIRE(api->model_open(nullptr, nullptr, &model) == AOTC_OK);
  REQUIRE(api->session_create(model, "", &session) == AOTC_OK);
  api->model_close(model);
  Floats x = {1, 2, 3};
  const DLTensor input = over(x).dl_tensor();
  std::vector<int64_t> three = {3};
  DLTensor stable = input;
  stable.shape = three.data();
  stable.data = x.data();
  DLManagedTensor* outputs[3] = {};
  CHECK(api->session_run(session, &stable, 1, outputs, 3) == AOTC_OK);
  for (DLManagedTensor* output : outputs) output->deleter(output);
  api->session_destroy(session);
  api->session_destroy(nullptr);
  api->model_close(nullptr);
}
