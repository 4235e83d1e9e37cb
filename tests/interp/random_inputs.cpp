// Drawing inputs that fit a signature.
#include <algorithm>

#include "helpers.h"
#include "ir/interp/bind.h"

using namespace helpers;

TEST_CASE("symbols respect ranges, guards and dependent sizes") {
  auto g = parse_graph(R"(graph {
  symbol s0 in 2..40
  symbol s1 in 0..
  guard eq(s0 - 4*floordiv(s0, 4), 0) "s0 % 4 == 0"
  guard lt(s0, s1)
  input %x: float32[s0, s1]
  input %y: int8[s1 - s0]
  scalar k, value s1
  none mask
  output %x
}
)",
                       "t.ir");
  for (uint64_t seed = 0; seed < 20; ++seed) {
    RunInputs in = random_inputs(*g, seed);
    Symbols s = bind_symbols(*g, in);
    CHECK(s.at("s0") % 4 == 0);
    CHECK(s.at("s0") < s.at("s1"));
    CHECK(std::get<int64_t>(in.inputs[2]) == s.at("s1"));
  }
}

TEST_CASE("the same seed draws the same inputs") {
  auto g = parse_graph("graph {\n input %x: float32[3, 4]\n output %x\n}", "t.ir");
  CHECK(values(random_inputs(*g, 7).inputs[0]) == values(random_inputs(*g, 7).inputs[0]));
  CHECK(values(random_inputs(*g, 7).inputs[0]) != values(random_inputs(*g, 8).inputs[0]));
}

TEST_CASE("integers are made small until they are valid indices") {
  auto g = parse_graph(R"(graph {
  input %table: float32[3, 2]
  input %i: int64[5]
  %e: float32[5, 2] = aten.embedding.default(%table, %i)
  output %e
}
)",
                       "t.ir");
  for (uint64_t seed = 0; seed < 5; ++seed)
    for (double v : values(random_inputs(*g, seed).inputs[1])) CHECK((v >= 0 && v < 3));
}

TEST_CASE("inputs with gaps, permuted, sharing memory where nothing writes") {
  auto g = parse_graph(R"(graph {
  input %x: float32[3, 4]
  input %y: float32[3, 4]
  input %z: float32[3, 4]
  %add_: float32[3, 4] = aten.add_.Tensor(%x, %y)
  output %z
}
)",
                       "t.ir");
  RandomOptions options;
  options.strided_inputs = true;
  bool shared = false, strided = false;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    RunInputs in = random_inputs(*g, seed, options);
    const Tensor &x = std::get<Tensor>(in.inputs[0]), &y = std::get<Tensor>(in.inputs[1]),
                 &z = std::get<Tensor>(in.inputs[2]);
    CHECK_FALSE(may_overlap(x, y));
    CHECK_FALSE(may_overlap(x, z));
    shared |= may_overlap(y, z);
    strided |= x.strides != std::vector<int64_t>{4, 1};
  }
  CHECK(shared);
  CHECK(strided);
}

TEST_CASE("storages of parsed programs are drawn") {
  auto g = parse_graph(
      "graph {\n buffer %b: int16[4], target \"b\", storage 3 bytes 2..10\n output %b\n}", "t.ir");
  RunInputs in = random_inputs(*g, 1);
  CHECK(in.storages.at(3)->size() == 10);
  CHECK(std::get<Tensor>(run(*g, in).outputs[0]).sizes == std::vector<int64_t>{4});
}

TEST_CASE("nothing fits") {
  auto g = parse_graph(
      "graph {\n symbol s0 in 1..4\n guard lt(s0, 0)\n input %x: float32[s0]\n output %x\n}",
      "t.ir");
  CHECK(contains(error_of([&] { random_inputs(*g, 1); }), "no values of the symbols"));
  g = parse_graph(
      "graph {\n input %x: int64[2]\n aten._assert_scalar.default(0, \"never\")\n output %x\n}",
      "t.ir");
  CHECK(contains(error_of([&] { random_inputs(*g, 1); }), "never"));
}
