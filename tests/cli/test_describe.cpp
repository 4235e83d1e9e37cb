// The manifest as text.
#include <catch2/catch.hpp>

#include "codegen/cli/kernel_profile.h"
#include "codegen/human_text.h"
#include "codegen/pipeline.h"
#include "ir/error.h"

namespace aotc::cli::test {
namespace {

constexpr char kManifest[] = R"({
  "name": "toy", "format": {"major": 1, "minor": 0}, "abi": 1, "producer": "aotc 0.1.0",
  "exported_by": {"torch": "2.15.0", "schema": "8.20"},
  "cpu": [{"level": "x86-64-v3", "file": "model.so"}], "cpu_requested": ["native"],
  "inputs": [{"name": "x", "dtype": "float32", "sizes": ["s7", 4], "device": "cpu"},
             {"name": "n", "dtype": "int64", "sizes": [], "symbol": "s9"},
             {"name": "flag", "dtype": "bool", "sizes": [], "value": true}],
  "outputs": [{"name": "y", "dtype": "float32", "sizes": ["s7"], "device": "cpu"},
              {"name": "none", "none": true}],
  "states": [{"name": "cache", "dtype": "float32", "sizes": [2, 8]}],
  "symbols": [{"name": "s7", "min": 1, "max": 64}, {"name": "s9", "min": 0},
              {"name": "u0", "data_dependent": true}],
  "mutations": [{"state": "cache", "op": "aten.copy_.default", "source": "toy.py:9",
                 "write": "copy", "reason": "a later check can fail"}],
  "aliased_io": {"version": 1, "digest": "0123456789abcdef",
    "entries": [{"output": "y", "input": "x", "kind": "identity", "write": "direct", "reason": "r"},
                {"output": null, "state": "cache", "kind": "mutation", "write": "copy",
                 "reason": "a later check can fail"}]},
  "arena_bytes": "4*s7", "weights_bytes": 2048, "weights_embedded": true})";

void check_has(const std::string& text, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) {
    INFO(text << "\nmust have: " << part);
    CHECK(text.find(part) != std::string::npos);
  }
}

}  // namespace

TEST_CASE("a manifest is described in full", "[describe]") {
  const std::string text = describe_manifest(kManifest);
  check_has(text, {"toy", "torch 2.15.0, schema 8.20", "x86-64-v3 (asked for: native)"});
  check_has(text, {"0  x", "float32 [s7, 4]", "= s9", "always true", "None"});
  check_has(text, {"s7  1..64", "s9  0..", "u0  depends on data"});
  check_has(text,
            {"state 'cache'", "copy", "aten.copy_.default", "toy.py:9", "a later check can fail"});
  check_has(text,
            {"digest 0123456789abcdef", "output 'y'", "input 'x'", "identity", "(no output)"});
  check_has(text, {"4*s7 bytes", "2.05 kB, in model.so"});
}

TEST_CASE("conditions on sizes are shown, and those that are not checked", "[describe]") {
  check_has(describe_manifest(R"({"conditions": ["(x.size()[0] % 8) == 0"],
                                  "unchecked_conditions": ["x.size()[0] / 2 == y.size()[0]"]})"),
            {"conditions", "(x.size()[0] % 8) == 0", "not checked"});
}

TEST_CASE("a damaged manifest is an error of the user's file", "[describe]") {
  CHECK_THROWS_AS(describe_manifest("{"), UserError);
  CHECK_THROWS_AS(describe_manifest(R"({"inputs": 3, "name": []})"), UserError);
  CHECK_THROWS_AS(describe_manifest(R"([1])"), UserError);
}

TEST_CASE("a mutation is a sentence", "[describe]") {
  CHECK(mutation_text(
            R"({"input": "x", "op": "aten.mul_.Tensor", "source": "a.py:3", "reason": "why"})") ==
        "input 'x' by aten.mul_.Tensor at a.py:3 (why)");
  CHECK(mutation_text(R"({"state": "k"})") == "state 'k'");
}

TEST_CASE("a trace is added up by kernel", "[describe]") {
  const auto times = kernel_times(R"({"traceEvents": [
    {"ph": "X", "name": "a", "dur": 2}, {"ph": "X", "name": "b", "dur": 10},
    {"ph": "X", "name": "a", "dur": 3.5}, {"ph": "M", "name": "c"}]})",
                                  "trace");
  REQUIRE(times.size() == 2);
  CHECK(times[0].name == "b");
  CHECK(times[1].calls == 2);
  CHECK(times[1].microseconds == 5.5);
  check_has(kernel_table(times), {"b", "10.0 us", "64.5 %"});
  CHECK_THROWS_AS(kernel_times("x", "trace"), InternalError);
}

}  // namespace aotc::cli::test
