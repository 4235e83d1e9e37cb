// One program at every stage: the interpreter must see the same results, and the texts must
// round-trip.
#include "helpers.h"
#include "ir/lowering.h"

using namespace helpers;

namespace {

void round_trips(const Graph& g) {
  std::string text = print(g);
  CHECK(print(*parse_graph(text, "t.ir")) == text);
}

// Interprets the program before and after each of stages 2 to 4.
void agrees(const std::string& text) {
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    INFO(text);
    auto imported = parse_graph(text, "t.ir");
    verify(*imported, GraphStage::Graph);
    RandomOptions options;
    options.strided_inputs = seed == 2;
    RunInputs in = random_inputs(*imported, seed, options);
    RunResult expected = run(*imported, in);
    FunctionalGraph functional = functionalize({std::move(imported)});
    verify(*functional.graph, GraphStage::Functional);
    round_trips(*functional.graph);
    auto difference = [&](const RunResult& r) { return compare(expected, r).value_or(""); };
    CHECK(difference(run(*functional.graph, in)) == "");
    CoreGraph core = decompose(std::move(functional));
    verify(*core.graph, GraphStage::Core);
    round_trips(*core.graph);
    CHECK(difference(run(*core.graph, in)) == "");
    loops::LoopProgram loops = lower(std::move(core));
    verify(loops);
    std::string printed = print(loops);
    CHECK(print(parse_loops(printed, "t.ir")) == printed);
    CHECK(difference(run(loops, in)) == "");
    CHECK(difference(run(loops, in, {true})) == "");
  }
}

}  // namespace

TEST_CASE("pointwise and reductions") {
  agrees(R"(graph {
  symbol s0 in 1..
  input %x: float32[s0, 4]
  %m: float32[s0, 4] = aten.mul.Tensor(%x, 2)
  %s: float32[s0] = aten.sum.dim_IntList(%m, [1])
  %soft: float32[s0, 4] = aten.softmax.int(%x, 1)
  output %s
  output %soft
}
)");
}

TEST_CASE("mutation of an input through views") {
  agrees(R"(graph {
  input %x: float32[3, 4]
  %t: float32[4, 3]{1, 4} = aten.t.default(%x)
  %s: float32[2, 3]{1, 4} = aten.slice.Tensor(%t, 0, start=1, end=3)
  %mul_: float32[2, 3]{1, 4} = aten.mul_.Tensor(%s, 3)
  %y: float32[3, 4] = aten.cos.default(%x)
  %add_: float32[4, 3]{1, 4} = aten.add_.Tensor(%t, 1)
  output %y
  output %s
}
)");
}

TEST_CASE("swap, shift and self-flip") {
  agrees(R"(graph {
  input %x: float32[5]
  input %y: float32[5]
  %c: float32[5] = aten.clone.default(%x)
  %c1: float32[5] = aten.copy_.default(%x, %y)
  %c2: float32[5] = aten.copy_.default(%y, %c)
  %a: float32[4] = aten.slice.Tensor(%x, 0, start=0, end=4)
  %b: float32[4] = aten.slice.Tensor(%x, 0, start=1)
  %ac: float32[4] = aten.clone.default(%a)
  %c3: float32[4] = aten.copy_.default(%b, %ac)
  %f: float32[5] = aten.flip.default(%y, [0])
  %c4: float32[5] = aten.sub_.Tensor(%y, %f)
  output %x
  output %f
}
)");
}

TEST_CASE("buffers, indexed writes and matrix products") {
  agrees(R"(graph {
  buffer %cache: float32[6, 2], target "cache", storage 0 bytes 0..48
  input %u: float32[2, 2]
  input %at: int64[2]
  %copy: float32[6, 2] = aten.index_copy_.default(%cache, 0, %at, %u)
  %t: float32[2, 6]{1, 2} = aten.t.default(%cache)
  %mm: float32[2, 6] = aten.mm.default(%u, %t)
  output %mm
  output %cache
}
)");
}

TEST_CASE("a loop of the fixtures' kind: arithmetic on sizes") {
  agrees(R"(graph {
  symbol s0 in 1..9
  input %x: float32[s0, 6]
  scalar k, value s0
  %v: float32[2*s0, 3] = aten.view.default(%x, [2*s0, 3])
  %p: float32[3, 2*s0]{1, 3} = aten.permute.default(%v, [1, 0])
  %r: float32[6*s0] = aten.reshape.default(%p, [6*s0])
  %a: int64[s0] = aten.arange.default(s0)
  output %r
  output %a
  output scalar s0*2, as n
}
)");
}
