// Level 1: nodes by their loops, compositions by their expansion, views, symbols, checks.
#include <cmath>

#include "helpers.h"

using namespace helpers;

TEST_CASE("pointwise, reduction, composition and matrix product") {
  RunResult r = run_graph(R"(graph {
  symbol s0 in 0..
  input %x: float32[s0, 2]
  %mul: float32[s0, 2] = aten.mul.Tensor(%x, 2)
  %sum: float32[s0] = aten.sum.dim_IntList(%mul, [1])
  %soft: float32[s0, 2] = aten.softmax.int(%x, 1)
  %t: float32[2, s0]{1, 2} = aten.t.default(%x)
  %mm: float32[s0, s0] = aten.mm.default(%x, %t)
  output %sum
  output %soft
  output %mm
}
)",
                          {floats({2, 2}, {1, 1, 2, 3})});
  CHECK(values(r.outputs[0]) == Numbers{4, 10});
  CHECK(values(r.outputs[1])[0] == 0.5);
  CHECK(values(r.outputs[1])[3] == Approx(1 / (1 + std::exp(-1.0))));
  CHECK(values(r.outputs[2]) == Numbers{2, 5, 5, 13});
  CHECK(r.alias_of == std::vector<int>{-1, -1, -1});
}

TEST_CASE("empty tensors") {
  RunResult r = run_graph(R"(graph {
  symbol s0 in 0..
  input %x: float32[s0, 2]
  %sum: float32[2] = aten.sum.dim_IntList(%x, [0])
  %mean: float32[] = aten.mean.default(%x)
  %v: float32[2*s0] = aten.view.default(%x, [2*s0])
  output %sum
  output %mean
  output %v
}
)",
                          {floats({0, 2}, {})});
  CHECK(values(r.outputs[0]) == Numbers{0, 0});
  CHECK(std::isnan(values(r.outputs[1])[0]));
  CHECK(values(r.outputs[2]).empty());
}

TEST_CASE("views share memory, copies do not") {
  RunResult r = run_graph(R"(graph {
  input %x: float32[2, 6]
  %a: float32[2, 3]{6, 2} = aten.slice.Tensor(%x, 1, start=1, step=2)
  %b: float32[3, 2]{2, 6} = aten.permute.default(%a, [1, 0])
  %c: float32[2, 2, 3] = aten.view.default(%x, [2, 2, 3])
  %d: float32[6] = aten.reshape.default(%b, [6])
  %e: float32[2] = aten.select.int(%b, 0, -1)
  %f: float32[4, 2, 6]{0, 6, 1} = aten.expand.default(%x, [4, -1, -1])
  %g: float32[2, 6] = aten.flip.default(%x, [1])
  %h: float32[2]{7} = aten.diagonal.default(%x)
  output %a
  output %b
  output %c
  output %d
  output %e
  output %f
  output %g
  output %h
}
)",
                          {floats({2, 6}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11})});
  CHECK(r.alias_of == std::vector<int>{0, 0, 0, -1, 0, 0, -1, 0});
  CHECK(values(r.outputs[0]) == Numbers{1, 3, 5, 7, 9, 11});
  CHECK(values(r.outputs[1]) == Numbers{1, 7, 3, 9, 5, 11});
  CHECK(values(r.outputs[3]) == Numbers{1, 7, 3, 9, 5, 11});
  CHECK(values(r.outputs[4]) == Numbers{5, 11});
  CHECK(values(r.outputs[6]) == Numbers{5, 4, 3, 2, 1, 0, 11, 10, 9, 8, 7, 6});
  CHECK(values(r.outputs[7]) == Numbers{0, 7});
  CHECK(std::get<Tensor>(r.outputs[5]).strides == std::vector<int64_t>{0, 6, 1});
}

TEST_CASE("results have eager's strides") {
  RunResult r = run_graph(R"(graph {
  input %x: float32[2, 3]{1, 2}
  %y: float32[2, 3]{1, 2} = aten.mul.Tensor(%x, 2)
  %v: float32[6] = aten.reshape.default(%y, [6])
  %t: float32[3, 2] = aten.t.default(%y)
  %w: float32[6] = aten.view.default(%t, [6])
  output %y
  output %v
  output %w
}
)",
                          {view(floats({6}, {0, 1, 2, 3, 4, 5}), {2, 3}, {1, 2})});
  CHECK(std::get<Tensor>(r.outputs[0]).strides == std::vector<int64_t>{1, 2});
  CHECK(values(r.outputs[1]) == Numbers{0, 4, 8, 2, 6, 10});
  CHECK(values(r.outputs[2]) == Numbers{0, 2, 4, 6, 8, 10});
}

TEST_CASE("symbols that data defines") {
  std::string text = R"(graph {
  symbol u0 in 0..9 unbacked
  input %n: int64[]
  %item: symbol u0 = aten.item.default(%n)
  aten._assert_scalar.default(le(u0, 4), "u0 is at most 4")
  %full: float32[u0] = aten.full.default([u0], 0.5)
  output %full
  output scalar u0*2, as twice
}
)";
  RunResult r = run_graph(text, {ints({}, {3})});
  CHECK(values(r.outputs[0]) == Numbers{0.5, 0.5, 0.5});
  CHECK(std::get<int64_t>(r.outputs[1]) == 6);
  CHECK(contains(run_graph(text, {ints({}, {7})}).failure, "u0 is at most 4"));
}

TEST_CASE("errors name the node") {
  std::string e = error_of([] {
    run_graph(
        "graph {\n input %x: float32[2]\n %y: float32[2]{0} = aten.expand.default(%x, [2])\n"
        " %z: float32[2] = aten.cond_like(%y)\n output %y\n}",
        {floats({2}, {1, 2})});
  });
  CHECK(contains(e, "unknown op"));
}
