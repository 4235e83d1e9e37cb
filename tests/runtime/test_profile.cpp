// Profiles: what a trace holds, which calls it has, and what goes wrong.
#include <sys/stat.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "catch2/catch.hpp"
#include "package_writer.h"
#include "support.h"

using namespace aotc;
using namespace aotc::test;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

const std::string kAdd = "add \"one\"\\\n\x01";

double microseconds_now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) / 1e3;
}

struct Profiled : Program {
  explicit Profiled(GetApi get_api = aotc_steps_get_api) : Program(get_api) {}

  void start(const std::string& options = "{}") { session.profile_start(options); }
  // The trace, parsed strictly.
  json stop() {
    session.profile_stop(folder / "trace.json");
    return json::parse(read_file(folder / "trace.json"));
  }
  void call(float first = 0) { call_status = run({Tensor(over(x = {first, 1, 2}))}); }
  // The message of starting or stopping.
  template <class Operation>
  std::string failure(AotcStatus status, const Operation& operation) {
    CHECK(operation() == status);
    return model.api()->last_error();
  }
  AotcStatus try_start(const char* options) {
    return model.api()->session_profile_start(session.handle(), options);
  }
  AotcStatus try_stop(const std::string& path) {
    return model.api()->session_profile_stop(session.handle(), path.c_str());
  }

  TemporaryFolder folder;
  Floats x;
  AotcStatus call_status = AOTC_OK;
};

std::vector<json> events(const json& trace, const std::string& category) {
  std::vector<json> found;
  for (const json& event : trace.at("traceEvents"))
    if (event.at("ph") == "X" && event.at("cat") == category) found.push_back(event);
  return found;
}

std::vector<int> call_numbers(const json& trace) {
  std::vector<int> numbers;
  for (const json& event : events(trace, "call")) numbers.push_back(event.at("args").at("call"));
  return numbers;
}

double end_of(const json& event) {
  return event.at("ts").get<double>() + event.at("dur").get<double>();
}

}  // namespace

TEST_CASE_METHOD(Profiled, "a trace has every call and its steps in order") {
  const double begin = microseconds_now();
  start();
  for (int i = 0; i < 3; ++i) call();
  const json trace = stop();
  const double end = microseconds_now();
  const auto calls = events(trace, "call"), steps = events(trace, "step");
  REQUIRE(calls.size() == 3);
  REQUIRE(steps.size() == 9);
  CHECK(call_numbers(trace) == std::vector<int>{0, 1, 2});
  for (size_t i = 0; i < 9; ++i) {
    const json &step = steps[i], &call = calls[i / 3];
    CHECK(step.at("name") == (i % 3 == 0 ? kAdd : i % 3 == 1 ? "check" : "finish"));
    CHECK(step.at("args").at("call") == i / 3);
    CHECK(step.at("pid") == getpid());
    CHECK(step.at("tid") == getpid());  // the main thread's
    CHECK_FALSE(step.at("args").contains("failed"));
    CHECK(step.at("ts") >= call.at("ts"));
    CHECK(step.at("dur") >= 0.0);
    CHECK(end_of(step) <= end_of(call) + 0.01);  // rounding of large numbers
    if (i % 3) CHECK(step.at("ts").get<double>() == Approx(end_of(steps[i - 1])).epsilon(1e-12));
  }
  for (const json& call : calls) {
    CHECK(call.at("name") == "steps");
    CHECK(call.at("args").at("status") == AOTC_OK);
  }
  CHECK(calls[0].at("ts") >= begin - 0.01);
  CHECK(end_of(calls[2]) <= end + 0.01);
  CHECK(trace.at("otherData") ==
        json{{"program", "steps"}, {"calls", 3}, {"truncated", false}, {"lost_calls", 0}});
}

TEST_CASE_METHOD(Profiled, "texts of the table arrive unchanged; other bytes are replaced") {
  start();
  call();
  const auto steps = events(stop(), "step");
  CHECK(steps[0].at("args").at("op") == "aten.add.Scalar, aten.clone");
  CHECK(steps[0].at("args").at("line") == "C:\\models\\m.py:3");
  CHECK(steps[1].at("args").at("line") ==
        "/h\xc3\xb6me/\xf0\x9f\x98\x80.py:4, \xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef"
        "\xbf\xbd");
  CHECK(steps[2].at("args").at("op") == "");
}

TEST_CASE_METHOD(Profiled, "a schedule says which calls are kept") {
  const std::tuple<std::string, std::vector<int>> schedules[] = {
      {R"({"wait": 1, "warmup": 2, "active": 2})", {3, 4}},
      {R"({"active": 1})", {0}},
      {R"({"wait": 5})", {5, 6}},
      {R"({"warmup": 6, "active": 1152921504606846976})", {6}},
      {R"({"wait": 1152921504606846976, "warmup": 1152921504606846976})", {}},
      {"", {0, 1, 2, 3, 4, 5, 6}}};
  for (const auto& [options, expected] : schedules) {
    start(options);
    for (int i = 0; i < 7; ++i) call();
    const json trace = stop();
    CHECK(call_numbers(trace) == expected);
    CHECK(events(trace, "step").size() == 3 * expected.size());
    CHECK(trace.at("otherData").at("calls") == 7);
  }
}

TEST_CASE_METHOD(Profiled, "many calls are kept in order") {
  start();
  for (int i = 0; i < 5000; ++i) call();
  const json trace = stop();
  std::vector<int> expected(5000);
  for (int i = 0; i < 5000; ++i) expected[static_cast<size_t>(i)] = i;
  CHECK(call_numbers(trace) == expected);
  CHECK(trace.at("otherData").at("truncated") == false);
}

TEST_CASE_METHOD(Profiled, "a call that fails shows how far it came") {
  start();
  call(-1);
  CHECK(call_status == AOTC_FAILED_CHECK);
  CHECK(run({}) == AOTC_INVALID_ARGUMENT);
  call();
  const json trace = stop();
  const auto calls = events(trace, "call"), steps = events(trace, "step");
  REQUIRE(calls.size() == 3);
  REQUIRE(steps.size() == 5);  // two, none, three
  CHECK(calls[0].at("args") == json{{"call", 0}, {"status", AOTC_FAILED_CHECK}, {"failed", true}});
  CHECK(calls[1].at("args").at("status") == AOTC_INVALID_ARGUMENT);
  CHECK_FALSE(calls[2].at("args").contains("failed"));
  CHECK_FALSE(steps[0].at("args").contains("failed"));
  CHECK(steps[1].at("name") == "check");
  CHECK(steps[1].at("args").at("failed") == true);
  CHECK(steps[1].at("dur") >= 0.0);
  CHECK(steps[2].at("args").at("call") == 2);
}

TEST_CASE("a program without a table of steps has its calls") {
  Profiled counter(aotc_counter_get_api);
  counter.start();
  counter.call();
  CHECK(counter.call_status == AOTC_OK);
  const json trace = counter.stop();
  CHECK(call_numbers(trace) == std::vector<int>{0});
  CHECK(events(trace, "step").empty());
}

TEST_CASE_METHOD(Profiled, "profiles are started and stopped in turn") {
  const auto stop_it = [&] { return try_stop(folder / "t"); };
  CHECK_THAT(failure(AOTC_INVALID_ARGUMENT, stop_it), Contains("session_profile_start first"));
  CHECK(try_start(nullptr) == AOTC_OK);
  CHECK_THAT(failure(AOTC_INVALID_ARGUMENT, [&] { return try_start(nullptr); }),
             Contains("session_profile_stop first"));
  call();
  session.profile_discard();
  CHECK(failure(AOTC_INVALID_ARGUMENT, stop_it) != "");
  start();
  CHECK(call_numbers(stop()).empty());
  const AotcApi* api = model.api();
  CHECK(api->session_profile_start(nullptr, "{}") == AOTC_INVALID_ARGUMENT);
  CHECK(api->session_profile_stop(nullptr, "t") == AOTC_INVALID_ARGUMENT);
}

TEST_CASE_METHOD(Profiled, "options that mean nothing start no profile") {
  for (const char* options :
       {R"({"repeat": 1})", R"({"active": 0})", R"({"wait": -1})", R"({"warmup": 1.5})",
        R"({"wait": 1152921504606846977})", R"({"wait": "1"})", "{", "[]"})
    CHECK_THAT(failure(AOTC_INVALID_ARGUMENT, [&] { return try_start(options); }),
               Contains("session_profile_start"));
  CHECK(try_start("{}") == AOTC_OK);
}

TEST_CASE_METHOD(Profiled, "a trace that cannot be written leaves the profile running") {
  start();
  call();
  CHECK_THAT(failure(AOTC_NOT_FOUND, [&] { return try_stop(folder / "no/trace.json"); }),
             Contains("session_profile_stop: cannot create") && Contains("no/trace.json"));
  CHECK(try_stop(folder.path()) == AOTC_IO);
  CHECK(try_stop("/dev/full") == AOTC_IO);
  call();
  CHECK(call_numbers(stop()) == std::vector<int>{0, 1});
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
}

TEST_CASE_METHOD(Profiled, "a link or device is written, not replaced") {
  REQUIRE(symlink("trace.json", (folder / "link").c_str()) == 0);
  start();
  call();
  session.profile_stop(folder / "link");
  CHECK(std::filesystem::is_symlink(folder / "link"));
  CHECK(call_numbers(json::parse(read_file(folder / "trace.json"))) == std::vector<int>{0});
  start();
  CHECK(try_stop("/dev/null") == AOTC_OK);
  CHECK(std::filesystem::is_character_file("/dev/null"));
}

TEST_CASE_METHOD(Profiled, "a fork is not profiled") {
  start();
  Session fork = session.fork();
  fork.run({Tensor::zeros<float>({3})});
  CHECK_THROWS_AS(fork.profile_discard(), Error);
  fork.profile_start();
  fork.run({Tensor::zeros<float>({3})});
  call();
  CHECK(call_numbers(stop()) == std::vector<int>{0});
  fork.profile_stop(folder / "fork.json");
  CHECK(call_numbers(json::parse(read_file(folder / "fork.json"))) == std::vector<int>{0});
}

TEST_CASE("a session in use is not started or stopped") {
  Profiled program(aotc_parallel_get_api);
  program.session.set_parallel_for(
      [](void* context, int64_t n, int64_t, AotcRangeFn fn, void* argument) {
        CHECK(static_cast<Profiled*>(context)->try_start("{}") == AOTC_BUSY);
        CHECK(static_cast<Profiled*>(context)->try_stop("t") == AOTC_BUSY);
        fn(argument, 0, n);
      },
      &program, 2);
  Floats one(1);
  program.start();
  CHECK(program.run({over(one)}) == AOTC_OK);
  CHECK(call_numbers(program.stop()) == std::vector<int>{0});
}
