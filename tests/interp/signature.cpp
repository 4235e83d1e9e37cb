// Functional stages: write-backs, aliases, symbols of the signature, refused inputs; comparing
// results.
#include "helpers.h"

using namespace helpers;

TEST_CASE("write-backs: all values first, then all stores") {
  RunResult r = run_graph(R"(core graph {
  input %x: float32[2]
  input %y: float32[2]
  %a: float32[2] = aten.alias.default(%x)
  write back %x = %y
  write back %y = %a
  output %a
}
)",
                          {floats({2}, {1, 2}), floats({2}, {3, 4})}, GraphStage::Functional);
  CHECK(values(r.inputs[0]) == Numbers{3, 4});
  CHECK(values(r.inputs[1]) == Numbers{1, 2});
  CHECK(values(r.outputs[0]) == Numbers{1, 2});
  CHECK(r.alias_of == std::vector<int>{-1});
}

TEST_CASE("an output that is the written input, and a view of it") {
  RunResult r = run_graph(R"(core graph {
  input %x: float32[2, 2]
  %m: float32[2, 2] = aten.mul.Tensor(%x, 2)
  %t: float32[2, 2] = aten.t.default(%m)
  %row: float32[2] = aten.select.int(%t, 0, 1)
  write back %x = %m
  output %m
  output %row
  alias output 0 of %x by %m
  alias output 1 of %x by %row
}
)",
                          {floats({2, 2}, {1, 2, 3, 4})}, GraphStage::Functional);
  CHECK(r.alias_of == std::vector<int>{0, 0});
  CHECK(values(r.outputs[1]) == Numbers{4, 8});
  CHECK(std::get<Tensor>(r.outputs[1]).memory == std::get<Tensor>(r.inputs[0]).memory);
}

TEST_CASE("partial writes through write_view") {
  RunResult r = run_graph(R"(core graph {
  input %x: float32[2, 3]
  input %v: float32[2]
  %t: float32[3, 2] = aten.t.default(%x)
  %s: float32[2, 2] = aten.slice.Tensor(%t, 0, start=1)
  %w: float32[2, 3] = aotc.write_view(%x, %s, %v)
  write back %x = %w
  output none
}
)",
                          {floats({2, 3}, {0, 1, 2, 3, 4, 5}), floats({2}, {70, 80})},
                          GraphStage::Functional);
  CHECK(values(r.inputs[0]) == Numbers{0, 70, 70, 3, 80, 80});
}

TEST_CASE("loops write direct and view their inputs") {
  RunResult r = run_loops(R"(core graph {
  input %x: float32[4]
  %m: float32[4] = aten.mul.Tensor(%x, 2)
  write back %x = %m
  output %m
}
loops {
  buffer x: float32[4] = input 0
  kernel double (i0 < 4) {
    %0: float32 = load x[i0]
    %1: float32 = add(%0, %0)
    store x[i0] = %1
  }
  write back 0: x = x, direct
  view 0 of input 0 at 0, strides [1], simple, steps [1], starts [0]
  output 0 = none
}
)",
                          {floats({4}, {1, 2, 3, 4})});
  CHECK(values(r.inputs[0]) == Numbers{2, 4, 6, 8});
  CHECK(r.alias_of == std::vector<int>{0});
  CHECK(values(r.outputs[0]) == Numbers{2, 4, 6, 8});
}

TEST_CASE("symbols are solved from sizes") {
  std::string text = R"(graph {
  symbol s0 in 1..8
  symbol s1 in 0..
  guard lt(s1, 20) "s1 < 20"
  input %x: float32[2*s0 + 1, s0]
  input %y: float32[s0 + s1]
  scalar k, value s1
  scalar fixed, value 7
  output %x
  output scalar s0*10 + s1, as n
}
)";
  auto run_with = [&](std::vector<int64_t> a, std::vector<int64_t> b, RunValue k,
                      RunValue fixed = std::monostate{}) {
    return run_graph(text, {empty(DType::Float32, a), empty(DType::Float32, b), k, fixed});
  };
  CHECK(std::get<int64_t>(run_with({7, 3}, {5}, int64_t{2}).outputs[1]) == 32);
  auto error = [&](auto... args) { return error_of([&] { run_with(args...); }); };
  CHECK(contains(error(std::vector<int64_t>{7, 4}, std::vector<int64_t>{5}, RunValue(int64_t{2})),
                 "input 'x' dimension"));
  CHECK(contains(error(std::vector<int64_t>{7, 3}, std::vector<int64_t>{5}, RunValue(int64_t{1})),
                 "input 'y' dimension 0 is 5, expected 4 (s0 + s1)"));
  CHECK(contains(error(std::vector<int64_t>{19, 9}, std::vector<int64_t>{9}, RunValue(int64_t{0})),
                 "symbol s0 is 9, expected 1..8"));
  CHECK(contains(error(std::vector<int64_t>{3, 1}, std::vector<int64_t>{21}, RunValue(int64_t{20})),
                 "the condition s1 < 20 does not hold"));
  CHECK(contains(error(std::vector<int64_t>{3}, std::vector<int64_t>{21}, RunValue(int64_t{20})),
                 "input 'x' has rank 1, expected 2"));
  CHECK(contains(error(std::vector<int64_t>{7, 3}, std::vector<int64_t>{5}, RunValue(int64_t{2}),
                       RunValue(int64_t{8})),
                 "input 'fixed' is 8, expected 7"));
  CHECK(contains(error(std::vector<int64_t>{7, 3}, std::vector<int64_t>{5}, RunValue{}),
                 "input 'k' needs an integer"));
}

TEST_CASE("symbols that no size is by itself") {
  const std::string text = R"(graph {
  symbol s0 in 1..8
  input %x: float32[3*s0 - 2]
  input %y: float32[2*s0]
  output scalar s0, as n
}
)";
  auto run_with = [&](int64_t x, int64_t y) {
    return run_graph(text, {empty(DType::Float32, {x}), empty(DType::Float32, {y})});
  };
  CHECK(std::get<int64_t>(run_with(7, 6).outputs[0]) == 3);
  CHECK(
      contains(error_of([&] { run_with(7, 8); }), "input 'y' dimension 0 is 8, expected 6 (2*s0)"));
  CHECK(
      contains(error_of([&] { run_with(7, 7); }), "input 'y' dimension 0 is 7, expected 6 (2*s0)"));
  const std::string alone = "graph {\n  symbol s0\n  input %x: float32[2*s0]\n  output none\n}\n";
  CHECK(contains(error_of([&] { run_graph(alone, {empty(DType::Float32, {7})}); }),
                 "input 'x' dimension 0 is 7, expected 2*s0 with integers s0"));
}

TEST_CASE("compare finds the first difference") {
  auto result = [](Numbers out, Numbers in) {
    RunResult r;
    r.outputs = {floats({static_cast<int64_t>(out.size())}, out), int64_t{3}};
    r.alias_of = {-1, -1};
    r.inputs = {view(floats({static_cast<int64_t>(in.size())}, in), {2}, {2})};
    return r;
  };
  double nan = std::nan("");
  RunResult a = result({1, nan}, {1, 2, 3});
  CHECK_FALSE(compare(a, result({1.000001, nan}, {1, 2, 3})));
  CHECK(contains(*compare(a, result({1.1, nan}, {1, 2, 3})),
                 "output 0: element [0] is 1.0 against 1.1"));
  CHECK(contains(*compare(a, result({1, 2}, {1, 2, 3})), "output 0: element [1]"));
  CHECK(contains(*compare(a, result({1, nan, 3}, {1, 2, 3})), "sizes [2] against [3]"));
  CHECK(contains(*compare(a, result({1, nan}, {1, 2, 4})),
                 "input 0 after the call: element [1] is 3.0 against 4.0"));
  CHECK(contains(*compare(a, result({1, nan}, {1, 9, 3})),
                 "memory of an input: byte 6, outside of all views, differs"));
  RunResult b = result({1, nan}, {1, 2, 3});
  b.outputs[1] = int64_t{4};
  CHECK(contains(*compare(a, b), "output 1: 3 against 4"));
  b = result({1, nan}, {1, 2, 3});
  b.failure = "no";
  CHECK(contains(*compare(a, b), "the call succeeds against fails: no"));
  b = result({1, nan}, {1, 2, 3});
  b.alias_of = {0, -1};
  CHECK_FALSE(compare(a, b));
  CHECK(contains(*compare(a, b, {1e-5, 1e-6, true}), "lies in the memory of input -1 against 0"));
}
