// Reductions: identities, NaN, positions, running values.
#include <cmath>

#include "helpers.h"

using namespace helpers;

namespace {

const double kNan = std::nan("");

// Reduces x [n] with the given accumulator lines; %8 is stored.
std::string reduction(const std::string& accumulators, const std::string& type = "float32") {
  return "core graph {\n  symbol s0 in 0..\n  input %x: float32[s0]\n  %y: " + type +
         "[] = aten.sum.default(%x)\n  output %y\n}\nloops {\n  buffer x: float32[s0] = input 0\n  "
         "buffer y: " +
         type +
         "[] = output 0\n  kernel reduce {\n    phase (r0 < s0)\n      %0: float32 = load x[r0]\n  "
         "    %1: int64 = index r0\n" +
         accumulators + "    phase\n      %8: " + type +
         " = accRESULT\n      store y[] = %8\n  }\n  output 0 = y\n}\n";
}

double reduce(const std::string& accumulators, const Numbers& x, const std::string& result = "0",
              const std::string& type = "float32") {
  std::string text = reduction(accumulators, type);
  text.replace(text.find("RESULT"), 6, result);
  loops::LoopProgram p = parse_loops(text, "t.ir");
  RunInputs in;
  in.inputs = {floats({static_cast<int64_t>(x.size())}, x)};
  return values(run(p, in).outputs[0])[0];
}

const std::string kMax = "      acc0: float32 = maximum(%0) from -inf\n";
const std::string kMin = "      acc0: float32 = minimum(%0) from inf\n";
const std::string kArgmax =
    "      acc0: float32 = maximum(%0) from -inf position acc1\n      acc1: int64 = maximum(%1) "
    "from 0\n";
const std::string kArgmin =
    "      acc0: float32 = minimum(%0) from inf position acc1\n      acc1: int64 = minimum(%1) "
    "from 0\n";

int64_t position(const std::string& accumulators, const Numbers& x) {
  return static_cast<int64_t>(reduce(accumulators, x, "1", "int64"));
}

}  // namespace

TEST_CASE("accumulators start at their identity") {
  CHECK(reduce("      acc0: float32 = add(%0) from 0.0\n", {}) == 0);
  CHECK(reduce("      acc0: float32 = mul(%0) from 1.0\n", {}) == 1);
  CHECK(reduce(kMax, {}) == -INFINITY);
  CHECK(reduce("      acc0: float32 = add(%0) from 0.0\n", {1, 2, 4}) == 7);
  CHECK(reduce("      acc0: float32 = mul(%0) from 1.0\n", {2, 3, 4}) == 24);
}

TEST_CASE("NaN wins in maximum and minimum, wherever it is") {
  for (const Numbers& x : {Numbers{kNan, 1, 2}, Numbers{1, kNan, 2}, Numbers{1, 2, kNan}}) {
    CHECK(std::isnan(reduce(kMax, x)));
    CHECK(std::isnan(reduce(kMin, x)));
    CHECK(std::isnan(reduce("      acc0: float32 = add(%0) from 0.0\n", x)));
  }
}

TEST_CASE("positions: first of the best, first NaN above all") {
  CHECK(position(kArgmax, {1, 3, 2, 3}) == 1);
  CHECK(position(kArgmin, {2, 1, 3, 1}) == 1);
  CHECK(position(kArgmax, {5, kNan, 7, kNan}) == 1);
  CHECK(position(kArgmin, {5, kNan, -7}) == 1);
  CHECK(position(kArgmax, {-INFINITY, -INFINITY}) == 0);
  CHECK(position(kArgmin, {INFINITY}) == 0);
  CHECK(std::isnan(reduce(kArgmax, {5, kNan, 7})));
  CHECK(reduce(kArgmax, {1, 3, 2}) == 3);
}

TEST_CASE("every outer iteration starts anew") {
  RunResult r = run_loops(R"(core graph {
  input %x: float32[2, 3]
  %y: float32[2] = aten.sum.dim_IntList(%x, [1])
  output %y
}
loops {
  buffer x: float32[2, 3] = input 0
  buffer y: float32[2] = output 0
  kernel sum (i0 < 2) {
    phase (r0 < 3)
      %0: float32 = load x[i0, r0]
      acc0: float32 = add(%0) from 0.0
    phase
      %1: float32 = acc0
      store y[i0] = %1
  }
  output 0 = y
}
)",
                          {floats({2, 3}, {1, 2, 3, 10, 20, 30})}, {true});
  CHECK(values(r.outputs[0]) == Numbers{6, 60});
}

TEST_CASE("running values in an ordered phase include the iteration itself") {
  RunResult r = run_loops(R"(core graph {
  input %x: float32[2, 3]
  %y: float32[2, 3] = aten.cos.default(%x)
  output %y
}
loops {
  buffer x: float32[2, 3] = input 0
  buffer y: float32[2, 3] = output 0
  kernel cumsum (i0 < 2) {
    phase (r0 < 3) ordered
      %0: float32 = load x[i0, r0]
      acc0: float32 = add(%0) from 0.0 ordered
      %1: float32 = acc0
      store y[i0, r0] = %1
  }
  output 0 = y
}
)",
                          {floats({2, 3}, {1, 2, 3, 10, 20, 30})});
  CHECK(values(r.outputs[0]) == Numbers{1, 3, 6, 10, 30, 60});
}
