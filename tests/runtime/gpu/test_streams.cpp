// Asynchronous sessions on a stream of the caller, several sessions on threads, profiles.
#include <fstream>
#include <thread>

#include "catch2/catch.hpp"
#include "nlohmann/json.hpp"
#include "support.h"

using namespace aotc;
using namespace aotc::test;

namespace {

// A stream of the caller's own in the primary context.
class CallersStream {
 public:
  CallersStream() {
    driver_function<int (*)(unsigned)>("cuInit")(0);
    driver_function<int (*)(void**, int)>("cuDevicePrimaryCtxRetain")(&context_, 0);
    push();
    driver_function<int (*)(void**, unsigned)>("cuStreamCreate")(&stream_, 1);
    pop();
  }
  ~CallersStream() {
    destroy();
    driver_function<int (*)(int)>("cuDevicePrimaryCtxRelease_v2")(0);
  }
  void destroy() {
    push();
    if (stream_) driver_function<int (*)(void*)>("cuStreamDestroy_v2")(stream_);
    stream_ = nullptr;
    pop();
  }
  std::string options(const std::string& more = "") const {
    return "{\"stream\": " + std::to_string(reinterpret_cast<intptr_t>(stream_)) + more + "}";
  }
  void* context() const { return context_; }

 private:
  void push() { driver_function<int (*)(void*)>("cuCtxPushCurrent_v2")(context_); }
  void pop() {
    void* ignored = nullptr;
    driver_function<int (*)(void**)>("cuCtxPopCurrent_v2")(&ignored);
  }
  void *context_ = nullptr, *stream_ = nullptr;
};

void* current_context() {
  void* context = nullptr;
  driver_function<int (*)(void**)>("cuCtxGetCurrent")(&context);
  return context;
}

struct Inputs {
  Floats x = {0, 1, 2, 3, 4, 5}, m = {10, 20}, bad = {0, 1, 2, 3, -1, 5};
};

nlohmann::json trace_of(Session& session) {
  const std::string path = "gpu_trace.json";
  session.profile_stop(path);
  std::ifstream in(path);
  const nlohmann::json trace = nlohmann::json::parse(in);
  remove(path.c_str());
  return trace;
}

}  // namespace

TEST_CASE("a session on the caller's stream does not wait") {
  CallersStream stream;
  Inputs in;
  {
    DeviceProgram p(aotc_affine_get_api, stream.options());
    const Tensor x = p.device(in.x, {2, 3}), m = p.device(in.m);
    const uint64_t launches = counter("launches");
    REQUIRE(p.message_of({x, m}) == "(succeeded)");
    const Tensor first = p.outputs[0];
    REQUIRE(p.message_of({x, m}) == "(succeeded)");
    // The simulator does nothing before somebody waits, but for some when asked whether it is done.
    if (is_simulated()) CHECK(counter("launches") <= launches + 1);
    p.outputs.clear();  // freed in order
    p.session.synchronize();
    if (is_simulated()) CHECK(counter("launches") == launches + 8);
    CHECK(p.host(first) == Floats{5, 7, 11, 8, 13, 20});
    CHECK(p.host(m) == Floats{12, 22});
    CHECK(values<int64_t>(p.session.state("steps")) == Integers{7});
    Session fork = p.session.fork();
    fork.run({x, m});
    CHECK(values<int64_t>(fork.state("steps")) == Integers{8});
    REQUIRE(p.message_of({x, m}) == "(succeeded)");
  }
}

TEST_CASE("the caller's stream may end before the session") {
  CallersStream stream;
  Inputs in;
  DeviceProgram p(aotc_affine_get_api, stream.options());
  const Tensor x = p.device(in.x, {2, 3}), m = p.device(in.m);
  REQUIRE(p.message_of({x, m}) == "(succeeded)");
  stream.destroy();
  CHECK(values<int64_t>(p.session.state("steps")) == Integers{6});
  CHECK(p.host(p.outputs[0]) == Floats{5, 7, 11, 8, 13, 20});
}

TEST_CASE("the default stream") {
  Inputs in;
  DeviceProgram p(aotc_affine_get_api, "{\"stream\": 0, \"cuda_graph\": true}");
  const Tensor x = p.device(in.x, {2, 3}), m = p.device(in.m);
  REQUIRE(p.message_of({x, m}) == "(succeeded)");
  REQUIRE(p.message_of({x, m}) == "(succeeded)");
  p.session.synchronize();
  CHECK(p.session.graph_trouble() == "");
  CHECK(p.host(m) == Floats{12, 22});
}

TEST_CASE("a failed check is reported later, and suppresses what follows") {
  CallersStream stream;
  Inputs in;
  DeviceProgram p(aotc_affine_get_api, stream.options());
  const Tensor x = p.device(in.x, {2, 3}), m = p.device(in.m), bad = p.device(in.bad, {2, 3});
  REQUIRE(p.message_of({bad, m}) == "(succeeded)");
  // Already submitted: does nothing. Results are kept, since without memory pools freeing them
  // waits.
  const Tensor kept = p.outputs[0], also_kept = p.outputs[1];
  REQUIRE(p.message_of({x, m}) == "(succeeded)");
  SECTION("by synchronize") {
    CHECK_THROWS_WITH(p.session.synchronize(), "x must not be -1 (affine.py:3), found 4");
    CHECK_THROWS_WITH(p.session.synchronize(), Catch::Contains("reset, set or load"));
  }
  SECTION("by the next call") {
    settled("launches");
    CHECK(p.message_of({x, m}) == "x must not be -1 (affine.py:3), found 4");
  }
  CHECK(p.host(m) == in.m);
  CHECK(p.message_of({x, m}).find("reset, set or load") != std::string::npos);
  p.session.reset_states();
  REQUIRE(p.message_of({x, m}) == "(succeeded)");
  p.session.synchronize();
  CHECK(p.host(m) == Floats{11, 21});
  CHECK(values<int64_t>(p.session.state("steps")) == Integers{6});
}

TEST_CASE("an asynchronous call that must write back waits") {
  CallersStream stream;
  Inputs in;
  DeviceProgram p(aotc_affine_get_api, stream.options());
  Floats wide = {10, -1, 20, -1};
  const Tensor x = p.device(in.x, {2, 3}), base = p.device(wide), bad = p.device(in.bad, {2, 3});
  REQUIRE(p.message_of({x, p.view(base, {2}, {2})}) == "(succeeded)");
  CHECK(p.host(base) == Floats{11, -1, 21, -1});
  CHECK(p.message_of({bad, p.view(base, {2}, {2})}) == "x must not be -1 (affine.py:3), found 4");
  CHECK(p.host(base) == Floats{11, -1, 21, -1});
}

TEST_CASE("the caller's context is back after every call") {
  Inputs in;
  CHECK(current_context() == nullptr);
  DeviceProgram p(aotc_affine_get_api);
  const Tensor x = p.device(in.x, {2, 3}), m = p.device(in.m);
  REQUIRE(p.run({x, m}) == AOTC_OK);
  CHECK(p.run({m, x}) == AOTC_INVALID_ARGUMENT);
  p.session.state("cache");
  p.session.fork();
  p.outputs.clear();
  CHECK(current_context() == nullptr);
}

TEST_CASE("two sessions on two threads") {
  Inputs in;
  const Model model = Model::built_in(aotc_affine_get_api(AOTC_ABI_VERSION));
  auto work = [&](float start, bool* good) {
    Session session(model, start == 0 ? "{}" : "{\"cuda_graph\": true}");
    Floats x(6, start), m(2, start);
    const Tensor on_device = model.to_device(over(x, {2, 3})), mutated = model.to_device(over(m));
    *good = true;
    for (int call = 0; call < 50; ++call) {
      const std::vector<Tensor> out = session.run({on_device, mutated});
      const Floats y = values<float>(model.to_host(out[0]));
      for (size_t i = 0; i < 6; ++i)
        *good &= y[i] == start * static_cast<float>(i % 3 + 1) + 5 + static_cast<float>(call);
    }
    *good &= values<float>(model.to_host(mutated)) == Floats(2, start + 50);
  };
  bool first = false, second = false;
  std::thread a(work, 0.0f, &first), b(work, 3.0f, &second);
  a.join();
  b.join();
  CHECK(first);
  CHECK(second);
}

TEST_CASE("a profile has the device's times") {
  Inputs in;
  DeviceProgram p(aotc_affine_get_api, "{\"cuda_graph\": true}");
  const Tensor x = p.device(in.x, {2, 3}), m = p.device(in.m);
  p.session.profile_start("{\"wait\": 1, \"active\": 1}");
  for (int i = 0; i < 3; ++i) REQUIRE(p.run({x, m}) == AOTC_OK);
  const nlohmann::json trace = trace_of(p.session);
  CHECK(trace["otherData"]["cuda_graph"] == "");
  std::vector<std::string> kernels;
  double end = 0;
  for (const auto& event : trace["traceEvents"]) {
    if (event.value("cat", "") != "kernel") continue;
    kernels.push_back(event["name"]);
    CHECK(event["args"]["device"] == "cuda:0");
    CHECK(event["ts"].get<double>() >= end);
    end = event["ts"].get<double>() + event["dur"].get<double>();
  }
  CHECK(kernels == std::vector<std::string>{"check_x", "multiply", "finish", "store_row"});
}

TEST_CASE("a profile of host and device steps") {
  DeviceProgram p(aotc_hybrid_get_api);
  Floats a = {1, 2, 3}, b = {4, -5, 6}, total = {100};
  p.session.profile_start();
  REQUIRE(p.run({over(a), p.device(b), over(total)}) == AOTC_OK);
  const nlohmann::json trace = trace_of(p.session);
  std::vector<std::string> kinds;
  for (const auto& event : trace["traceEvents"])
    if (event.value("ph", "") == "X") kinds.push_back(event["cat"]);
  CHECK(kinds == std::vector<std::string>{"call", "transfer", "kernel", "kernel", "step"});
}
