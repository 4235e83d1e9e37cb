// aotc run --profile and aotc bench --kernels.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "codegen/cli/kernel_profile.h"
#include "support.h"

namespace fs = std::filesystem;
using json = nlohmann::json;

namespace aotc::cli::test {
namespace {

std::vector<json> events(const fs::path& trace, const std::string& category) {
  std::vector<json> found;
  const json all = json::parse(read_text(trace));
  for (const json& event : all.at("traceEvents"))
    if (event.at("ph") == "X" && event.at("cat") == category) found.push_back(event);
  return found;
}

std::vector<std::string> names(const std::vector<json>& events) {
  std::vector<std::string> out;
  for (const json& event : events) out.push_back(event.at("name"));
  return out;
}

bool has(const std::string& text, const std::string& part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("run --profile writes the steps of every call", "[profile]") {
  const Folder folder;
  const std::string package = package_of("buffer_mutation.pt2");
  const RunResult r = aotc({"run", package, "--profile", "t.json", "--steps",
                            data("buffer_mutation.case0"), data("buffer_mutation.case1")},
                           folder.path());
  INFO(r.out << r.err);
  REQUIRE(r.exit_code == 0);
  CHECK(has(r.out, "profile: t.json\n"));
  const auto calls = events(folder / "t.json", "call"), steps = events(folder / "t.json", "step");
  CHECK(names(calls) == std::vector<std::string>{"buffer_mutation", "buffer_mutation"});
  REQUIRE(steps.size() >= 2);
  REQUIRE(steps.size() % 2 == 0);
  const std::string explained = aotc({"explain", package}).out;
  double sum = 0, whole = 0;
  for (size_t i = 0; i < steps.size(); ++i) {
    const json& arguments = steps[i].at("args");
    CHECK(has(explained, steps[i].at("name")));
    CHECK(has(arguments.at("op"), "aten."));
    CHECK(has(arguments.at("line"), ".py:"));
    CHECK(arguments.at("call") == (i < steps.size() / 2 ? 0 : 1));
    sum += steps[i].at("dur").get<double>();
  }
  for (const json& call : calls) whole += call.at("dur").get<double>();
  CHECK(sum > 0);
  CHECK(sum <= whole + 0.001);
}

TEST_CASE("both back ends profile the same steps", "[profile]") {
  const Folder folder;
  const std::string model = data("cache_slice_at.pt2");
  for (const char* backend : {"clang", "g++"}) {
    const std::string name = backend;
    const RunResult compiled =
        aotc({"compile", model, "-q", "--backend", name, "-o", name + ".aotc"}, folder.path());
    INFO(compiled.err);
    REQUIRE(compiled.exit_code == 0);
    REQUIRE(
        aotc({"run", name + ".aotc", "-q", "--profile", name + ".json"}, folder.path()).exit_code ==
        0);
  }
  const auto steps = names(events(folder / "clang.json", "step"));
  CHECK(steps.size() >= 2);
  CHECK(names(events(folder / "g++.json", "step")) == steps);
}

TEST_CASE("a call that fails is in the trace, and is the error", "[profile]") {
  const Folder folder;
  write_array(folder.path(), "in0", floats({1, 2, 3}, {3}));
  const std::string package = package_of("buffer_mutation.pt2");
  for (const char* trace : {"t.json", "no/t.json"}) {
    const RunResult r =
        aotc({"run", package, "--inputs", "in0.npy", "--profile", trace}, folder.path());
    CHECK(r.exit_code == 1);
    CHECK(has(r.err, "dimension"));
  }
  const auto calls = events(folder / "t.json", "call");
  REQUIRE(calls.size() == 1);
  CHECK(calls[0].at("args").at("failed") == true);
  CHECK(events(folder / "t.json", "step").empty());
}

TEST_CASE("a trace that cannot be written is an error", "[profile]") {
  const Folder folder;
  const RunResult r =
      aotc({"run", package_of("buffer_mutation.pt2"), "--profile", "no/t.json"}, folder.path());
  CHECK(r.exit_code == 1);
  CHECK(has(r.err, "cannot create 'no/t.json"));
  CHECK(has(r.err, "No such file or directory"));
}

TEST_CASE("bench --kernels has a row per kernel", "[profile]") {
  const std::string package = package_of("cache_slice_at.pt2");
  const RunResult text = aotc({"bench", package, "--kernels", "--seconds", "0.05"});
  INFO(text.out << text.err);
  REQUIRE(text.exit_code == 0);
  CHECK(has(text.out, "per call"));
  const RunResult r = aotc({"bench", package, "--kernels", "--seconds", "0.05", "--json"});
  REQUIRE(r.exit_code == 0);
  const json kernels = json::parse(r.out).at("kernels");
  CHECK(kernels.size() >= 2);
  for (const json& kernel : kernels) {
    CHECK(has(text.out, kernel.at("name")));
    CHECK(kernel.at("name") != "cache_slice_at");
    CHECK(kernel.at("calls") >= 20);
    CHECK(kernel.at("calls") <= 1000);
    CHECK(kernel.at("us") > 0);
  }
}

TEST_CASE("only steps that succeeded are added up", "[profile]") {
  const auto times = kernel_times(R"({"traceEvents": [
    {"ph": "X", "cat": "call", "name": "net", "dur": 100, "args": {"call": 0}},
    {"ph": "X", "cat": "step", "name": "a", "dur": 2, "args": {"call": 0}},
    {"ph": "X", "cat": "step", "name": "a", "dur": 7, "args": {"call": 1, "failed": true}}]})",
                                  "trace");
  REQUIRE(times.size() == 1);
  CHECK(times[0].calls == 1);
  CHECK(times[0].microseconds == 2);
}

}  // namespace aotc::cli::test
