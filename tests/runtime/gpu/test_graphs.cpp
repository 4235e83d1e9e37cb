// Calls as CUDA graphs: the same results as without, with changing addresses and sizes.
#include "catch2/catch.hpp"
#include "support.h"

using namespace aotc;
using namespace aotc::test;

namespace {

constexpr char kGraphs[] = "{\"cuda_graph\": true}";

struct Both {
  DeviceProgram plain{aotc_affine_get_api}, graph{aotc_affine_get_api, kGraphs};
  void call(int64_t rows, float start) {
    Floats x, m;
    for (int64_t i = 0; i < 3 * rows; ++i) x.push_back(start + static_cast<float>(i));
    for (int64_t i = 0; i < rows; ++i) m.push_back(start);
    const Tensor x1 = plain.device(x, {rows, 3}), m1 = plain.device(m);
    const Tensor x2 = graph.device(x, {rows, 3}), m2 = graph.device(m);
    REQUIRE(plain.message_of({x1, m1}) == "(succeeded)");
    REQUIRE(graph.message_of({x2, m2}) == "(succeeded)");
    CHECK(graph.host(graph.outputs[0]) == plain.host(plain.outputs[0]));
    CHECK(graph.host(m2) == plain.host(m1));
    CHECK(values<float>(graph.session.state("cache")) ==
          values<float>(plain.session.state("cache")));
    kept.push_back(graph.outputs[0]);  // so that addresses differ from call to call
  }
  std::vector<Tensor> kept;
};

}  // namespace

TEST_CASE("graphs with changing addresses and sizes") {
  Both b;
  for (int round = 0; round < 4; ++round)
    for (const int64_t rows : {4, 2, 0, 7}) b.call(rows, static_cast<float>(round));
  CHECK(b.graph.session.graph_trouble() == "");
}

TEST_CASE("more sizes than graphs are kept for") {
  Both b;
  for (int round = 0; round < 2; ++round)
    for (int64_t rows = 1; rows < 24; ++rows) b.call(rows, 1);
  CHECK(b.graph.session.graph_trouble() == "");
}

TEST_CASE("sizes that never come again end in plain launches") {
  Both b;
  for (int64_t rows = 1; rows < 70; ++rows) b.call(rows, 1);
  CHECK(b.graph.session.graph_trouble() == "nearly every call has sizes of its own");
}

TEST_CASE("graphs, other layouts and failing checks") {
  DeviceProgram p(aotc_affine_get_api, kGraphs);
  Floats x = {0, 3, 1, 4, 2, 5}, m = {1, -9, 2}, bad = {-1, 0, 0, 0, 0, 0};
  const Tensor x_base = p.device(x), m_base = p.device(m);
  for (int i = 0; i < 3; ++i) {
    REQUIRE(p.message_of({p.view(x_base, {2, 3}, {1, 2}), p.view(m_base, {2}, {2})}) ==
            "(succeeded)");
    const float steps = 5 + static_cast<float>(i);
    CHECK(p.host(p.outputs[0]) ==
          Floats{0 + steps, 2 + steps, 6 + steps, 3 + steps, 8 + steps, 15 + steps});
  }
  CHECK(p.host(m_base) == Floats{4, -9, 5});
  CHECK(p.message_of({p.device(bad, {2, 3}), p.view(m_base, {2}, {2})}) ==
        "x must not be -1 (affine.py:3), found 0");
  CHECK(p.host(m_base) == Floats{4, -9, 5});
  p.session.reset_states();
  REQUIRE(p.run({p.view(x_base, {2, 3}, {1, 2}), p.view(m_base, {2}, {2})}) == AOTC_OK);
  CHECK(p.host(m_base) == Floats{5, -9, 6});
}

TEST_CASE("graphs with copies from and to the host") {
  DeviceProgram p(aotc_straight_get_api, kGraphs);
  Floats a = {1, 2, 3};
  std::vector<Tensor> given = {p.model.device_empty(DLDataType{kDLFloat, 32, 1}, {3}), Tensor()};
  for (int i = 0; i < 5; ++i) {
    a[1] = static_cast<float>(i);
    REQUIRE(p.run({over(a)}, given) == AOTC_OK);
    CHECK(values<float>(p.outputs[1]) == Floats{2, a[1] + 1, 4});
    CHECK(p.host(given[0]) == Floats{2, a[1] + 1, 4});
  }
  CHECK(p.session.graph_trouble() == "");
}

TEST_CASE("copies whose addresses change end in plain launches") {
  DeviceProgram p(aotc_straight_get_api, kGraphs);
  Floats a = {1, 2, 3};
  std::vector<Tensor> kept;
  for (int i = 0; i < 20; ++i) {
    a[0] = static_cast<float>(i);
    REQUIRE(p.run({over(a)}) == AOTC_OK);
    CHECK(values<float>(p.outputs[1]) == Floats{a[0] + 1, 3, 4});
    CHECK(p.host(p.outputs[0]) == Floats{a[0] + 1, 3, 4});
    kept.push_back(p.outputs[0]);
  }
  CHECK(p.session.graph_trouble() == "the copies of a call differ from one call to the next");
}

TEST_CASE("programs that wait have no graphs, and say so") {
  DeviceProgram p(aotc_hybrid_get_api, kGraphs);
  Floats a = {1, 2, 3}, b = {4, -5, 6}, total = {100};
  CHECK(p.session.graph_trouble() ==
        "the program waits for data of the device or has sizes that depend on data");
  REQUIRE(p.run({over(a), p.device(b), over(total)}) == AOTC_OK);
  CHECK(total == Floats{109});
  CHECK(DeviceProgram(aotc_affine_get_api).session.graph_trouble() == "");
}
