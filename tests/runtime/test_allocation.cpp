// Every allocation of every operation fails once: a clear status, nothing changed, nothing leaked.
#include <array>
#include <nlohmann/json.hpp>

#include "catch2/catch.hpp"
#include "failing_malloc.h"
#include "package_writer.h"
#include "support.h"

using namespace aotc;
using namespace aotc::test;

namespace {
// Lets the n-th allocation of `operation` fail for n = 0, 1, ... until it succeeds. Each failure
// must be out-of-memory and leave as many live blocks as before. Returns the number of failures.
template <class Operation>
int fail_each_allocation(const Operation& operation) {
  for (int n = 0;; ++n) {
    const int64_t before = live_blocks();
    fail_allocations_after(n);
    const AotcStatus status = operation();
    fail_allocations_after(-1);
    if (status == AOTC_OK) return n;
    REQUIRE(status == AOTC_OUT_OF_MEMORY);
    REQUIRE(live_blocks() == before);
  }
}

struct Call {
  explicit Call(GetApi get_api) : api(get_api(1)) {
    REQUIRE(api->model_open(nullptr, nullptr, &model) == AOTC_OK);
    REQUIRE(api->session_create(model, "{\"threads\": 1}", &session) == AOTC_OK);
  }
  ~Call() {
    api->session_destroy(session);
    api->model_close(model);
  }
  const AotcApi* api;
  AotcModel* model = nullptr;
  AotcSession* session = nullptr;
};
}  // namespace

TEST_CASE("opening a model and creating, forking sessions") {
  for (GetApi get_api : {aotc_counter_get_api, aotc_kinds_get_api, aotc_layouts_get_api}) {
    const AotcApi* api = get_api(1);
    const int64_t before = live_blocks();
    AotcModel* model = nullptr;
    AotcSession *session = nullptr, *fork = nullptr;
    CHECK(fail_each_allocation([&] { return api->model_open(nullptr, nullptr, &model); }) >= 1);
    CHECK(fail_each_allocation([&] { return api->session_create(model, nullptr, &session); }) >= 1);
    CHECK(fail_each_allocation([&] { return api->session_fork(session, &fork); }) >= 1);
    api->session_destroy(fork);
    api->session_destroy(session);
    api->model_close(model);
    CHECK(live_blocks() == before);
  }
}

TEST_CASE("a call with every kind of output") {
  Call call(aotc_kinds_get_api);
  Floats x = {-1, 2, 0, 3};
  int64_t n = 5, three = 3;
  double half = 0.5;
  bool yes = true;
  const Tensor tensors[] = {over(x), scalar(n), scalar(three), scalar(half), scalar(yes)};
  std::array<DLTensor, 5> inputs;
  for (size_t i = 0; i < 5; ++i) inputs[i] = tensors[i].dl_tensor();
  std::array<DLManagedTensor*, 9> outputs = {};
  const int64_t before = live_blocks();
  // Scratch memory that an earlier attempt has obtained stays with the session, so each attempt has
  // its own.
  const int failures = fail_each_allocation([&] {
    AotcSession* session = nullptr;
    fail_allocations_after(-1);
    REQUIRE(call.api->session_create(call.model, "{\"threads\": 1}", &session) == AOTC_OK);
    static int64_t attempt = 0;
    fail_allocations_after(attempt++);
    const AotcStatus status = call.api->session_run(session, inputs.data(), 5, outputs.data(), 9);
    fail_allocations_after(-1);
    if (status)
      for (DLManagedTensor* output : outputs) REQUIRE(output == nullptr);
    call.api->session_destroy(session);
    return status;
  });
  CHECK(failures == 9);  // scratch, six fresh or scalar results, one view, one of unknown size
  for (DLManagedTensor* output : outputs)
    if (output) output->deleter(output);
  CHECK(live_blocks() == before);
}

TEST_CASE("a call with states leaves them alone") {
  Call call(aotc_counter_get_api);
  Floats x = {1, 2, 3};
  const Tensor input = over(x);
  std::array<DLManagedTensor*, 3> outputs = {};
  CHECK(fail_each_allocation([&] {
          const AotcStatus status =
              call.api->session_run(call.session, &input.dl_tensor(), 1, outputs.data(), 3);
          if (!status) return status;
          fail_allocations_after(-1);
          int64_t count = 0;
          DLTensor into = {&count, {kDLCPU, 0}, 0, {kDLInt, 64, 1}, nullptr, nullptr, 0};
          REQUIRE(call.api->session_state_get(call.session, "count", &into) == AOTC_OK);
          REQUIRE(count == 5);
          for (DLManagedTensor* output : outputs) REQUIRE(output == nullptr);
          return status;
        }) == 3);
  for (DLManagedTensor* output : outputs) output->deleter(output);
}

TEST_CASE("staging leaves mutated inputs alone") {
  Call call(aotc_pointwise_get_api);
  Floats x = {1, 3, 2, 4, 5, 7, 6, 8}, w = {1, 2}, y(16);
  const Floats before = x;
  const Tensor tensors[] = {over(x, {2, 4}, {1, 2}), over(w)};
  const DLTensor inputs[] = {tensors[0].dl_tensor(), tensors[1].dl_tensor()};
  const Tensor given = over(y, {2, 4}, {8, 2});
  DLManagedTensor* outputs[] = {given.managed()};
  // Arena and staging memory are kept by the session; each failure gets a little further.
  int failures = 0;
  for (;; ++failures) {
    fail_allocations_after(0);
    const AotcStatus first = call.api->session_run(call.session, inputs, 2, outputs, 1);
    fail_allocations_after(-1);
    REQUIRE(first == AOTC_OUT_OF_MEMORY);
    REQUIRE(x == before);
    fail_allocations_after(failures);
    const AotcStatus status = call.api->session_run(call.session, inputs, 2, outputs, 1);
    fail_allocations_after(-1);
    if (status == AOTC_OK) break;
    REQUIRE(x == before);
    REQUIRE(y == Floats(16));
  }
  CHECK(x == Floats{2, 4, 3, 5, 6, 8, 7, 9});
  CHECK(outputs[0] == given.managed());
}

TEST_CASE("saving and loading") {
  Call call(aotc_counter_get_api);
  const TemporaryFolder folder;
  const std::string path = folder / "states";
  CHECK(fail_each_allocation([&] { return call.api->session_save(call.session, path.c_str()); }) ==
        2);
  CHECK(fail_each_allocation([&] { return call.api->session_load(call.session, path.c_str()); }) ==
        2);
}

TEST_CASE("profiling costs records, never a call") {
  Call call(aotc_steps_get_api);
  const AotcApi* api = call.api;
  const TemporaryFolder folder;
  const std::string path = folder / "trace.json";
  Floats x(3), y(3);
  const Tensor input = over(x), given = over(y);
  DLManagedTensor* outputs[] = {given.managed()};
  const int64_t before = live_blocks();
  CHECK(fail_each_allocation([&] { return api->session_profile_start(call.session, "{}"); }) == 2);
  constexpr int kCalls = 3000;  // more than fit into the first block
  fail_allocations_after(0);
  for (int i = 0; i < kCalls; ++i)
    REQUIRE(api->session_run(call.session, &input.dl_tensor(), 1, outputs, 1) == AOTC_OK);
  fail_allocations_after(-1);
  CHECK(y == Floats{1, 1, 1});
  CHECK(fail_each_allocation(
            [&] { return api->session_profile_stop(call.session, path.c_str()); }) == 1);
  CHECK(live_blocks() == before);
  const nlohmann::json trace = nlohmann::json::parse(read_file(path));
  const nlohmann::json& data = trace.at("otherData");
  CHECK(data.at("calls") == kCalls);
  CHECK(data.at("truncated") == true);
  const int64_t lost = data.at("lost_calls");
  CHECK(lost > 0);
  CHECK(lost < kCalls);
  CHECK(trace.at("traceEvents").size() == static_cast<size_t>(1 + 4 * (kCalls - lost)));
}

TEST_CASE("a session that ends discards its profile") {
  const AotcApi* api = aotc_steps_get_api(1);
  const int64_t before = live_blocks();
  {
    Call call(aotc_steps_get_api);
    REQUIRE(api->session_profile_start(call.session, nullptr) == AOTC_OK);
  }
  CHECK(live_blocks() == before);
}

TEST_CASE("fast calls allocate one block per result and nothing else") {
  Call call(aotc_pointwise_get_api);
  Floats x(8), w(2), y(8);
  const Tensor tensors[] = {over(x, {2, 4}), over(w)};
  const DLTensor inputs[] = {tensors[0].dl_tensor(), tensors[1].dl_tensor()};
  DLManagedTensor* outputs[] = {nullptr};
  REQUIRE(call.api->session_run(call.session, inputs, 2, outputs, 1) == AOTC_OK);
  outputs[0]->deleter(outputs[0]);
  outputs[0] = nullptr;
  fail_allocations_after(1);
  CHECK(call.api->session_run(call.session, inputs, 2, outputs, 1) == AOTC_OK);
  fail_allocations_after(-1);
  outputs[0]->deleter(outputs[0]);
  const Tensor given = over(y, {2, 4});
  outputs[0] = given.managed();
  fail_allocations_after(0);
  CHECK(call.api->session_run(call.session, inputs, 2, outputs, 1) == AOTC_OK);
  fail_allocations_after(-1);
}
