// parse(print(x)) of level 2.
#include <catch2/catch.hpp>

#include "ir/text/phase_steps.h"
#include "ir/text/text.h"
#include "texts.h"

using namespace aotc;

namespace {

std::string program(const std::string& body) {
  std::string text =
      "graph {\n  input %x: float32[8]\n\n  output %x\n}\n\nloops {\n  buffer x: float32[8] = "
      "input 0\n";
  text += body;
  text += "}\n";
  return text;
}

void round_trips(const std::string& text) {
  loops::LoopProgram p = parse_loops(text, "t.ir");
  std::string printed = print(p);
  CHECK(printed == text);
  CHECK(print(parse_loops(printed, "t.ir")) == printed);
}

}  // namespace

TEST_CASE("a program with all kinds of kernels round-trips") { round_trips(texts::kLoops); }

TEST_CASE("sorts round-trip") {
  const std::string text = program(R"(  buffer values: float32[2, 3] = temp
  buffer places: int64[2, 3] = temp
  buffer order: int64[2] = output 1

  template k0_sort {
    from aotc.sort sort
    sort [2, 4], dim = 1, count = 3, descending
    x = x at 0, strides [4, 1]
    values = values
    indices = places
  }

  template k1_row_order {
    sort [2, 4], dim = 0, within = 1, count = 2
    x = x at 0, strides [4, 1]
    indices = order
  }
)");
  round_trips(text);
  const loops::LoopProgram p = parse_loops(text, "t.ir");
  CHECK(p.kernels[0].sort->descending);
  CHECK(p.kernels[0].sort->count.is(3));
  CHECK(p.kernels[0].sort->within == -1);
  CHECK(p.kernels[1].sort->within == 1);
  CHECK(p.kernels[1].sort->values == -1);
}

TEST_CASE("what the text says is what the program holds") {
  loops::LoopProgram p = parse_loops(texts::kLoops, "t.ir");
  REQUIRE(p.kernels.size() == 7);
  const loops::Kernel& softmax = p.kernels[0];
  CHECK(softmax.phases.size() == 3);
  CHECK(softmax.accumulators[0].phase == 0);
  CHECK(softmax.accumulators[1].phase == 1);
  CHECK(softmax.exprs.size() == 10);
  CHECK(softmax.origins[0].source.line == 3);
  CHECK(p.kernels[1].matmul->a.row.is(8));
  CHECK(p.kernels[3].symbol == "u0");
  CHECK(p.kernels[4].report == 0);
  CHECK(p.write_backs[0].reason == "not examined");
  CHECK(p.output_buffers[0] == 5);
}

TEST_CASE("rarer parts of kernels round-trip") {
  round_trips(program(R"(  buffer odd: float32[2, 4]{1, 2}@cuda:0 = temp + 3
  buffer index: int64[8] = output 1

  kernel k0 (i0 < 2) @cuda:0 {
    %7: float32 = 2.5
    phase (r0 < 4, r1 < i0) ordered
      %0: int64 = load index[r0]
      %1: bool = true
      %2: float32 = 0.0
      %3: float32 = load x[%0 + r0] if %1 else %2
      %4: int64 = index 4*i0 + r0
      acc0: float32 = maximum(%3) from -inf ordered position acc1
      acc1: int64 = maximum(%4) from 0
      %5: float32 = acc0
      %6: int64 = acc1
      store odd[i0, r0] += %5 if %1
      store index[%0] = %6
  }

  write back 0: x = none, direct
  view 0 of input 0 at 4, strides [1], simple, steps [1], starts [4]
  output 0 = none
  output 1 = index
)"));
}

TEST_CASE("numbers of expressions need not be consecutive") {
  loops::LoopProgram p = parse_loops(program(R"(
  kernel k0 (i0 < 8) {
    %10: int64 = index i0
    %20: int64 = 1
    %30: float32 = load x[%10]
    acc7: int64 = add(%20) from 0
    store x[%10] = %30
  }
)"),
                                     "t.ir");
  const loops::Kernel& k = p.kernels[0];
  REQUIRE(k.exprs.size() == 3);
  CHECK(k.exprs[2].at[0].str() == "%0");
  CHECK(k.phases[0].stores[0].at[0].str() == "%0");
  CHECK(k.accumulators[0].value == 1);
  CHECK(print(p).find("store x[%0] = %2") != std::string::npos);
}

TEST_CASE("buffers that share a name are told apart") {
  loops::LoopProgram p = parse_loops(program("  buffer y: float32[8] = temp\n"), "t.ir");
  p.buffers[1].name = p.buffers[0].name;
  std::string printed = print(p);
  CHECK(printed.find("buffer x.1: float32[8] = temp") != std::string::npos);
  CHECK(print(parse_loops(printed, "t.ir")) == printed);
}

TEST_CASE("broken programs can be printed") {
  loops::LoopProgram p = parse_loops(texts::kLoops, "t.ir");
  loops::Kernel& k = p.kernels[0];
  k.exprs[3].args[0] = 99;
  k.exprs[0].buffer = 77;
  k.phases[0].accumulators.push_back(55);
  k.accumulators[0].value = -3;
  k.phases[2].stores[0].value = 1000;
  p.graph->nodes.front()->op = nullptr;
  p.graph->nodes.front()->args[0] = static_cast<Value*>(nullptr);
  p.graph->write_backs[0].input = 9;
  p.graph = std::move(p.graph);
  CHECK(print(p).find("%99") != std::string::npos);
  p.graph = nullptr;
  CHECK(print(p).starts_with("loops {"));
}

TEST_CASE("steps of a phase feed accumulators before their running value is read") {
  loops::LoopProgram p = parse_loops(program(R"(
  kernel k0 {
    phase (r0 < 8) ordered
      %0: float32 = load x[r0]
      acc0: float32 = add(%0) from 0.0 ordered
      %1: float32 = acc0
      store x[r0] = %1
  }
)"),
                                     "t.ir");
  auto steps = loops::phase_steps(p.kernels[0], 0);
  REQUIRE(steps.size() == 3);
  CHECK(steps[1].feeds);
  CHECK(steps[2].index == 1);
}
