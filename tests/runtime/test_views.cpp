// Outputs that point into inputs: the caller's storage, with the strides that the view has there.
#include "catch2/catch.hpp"
#include "support.h"

using namespace aotc;
using namespace aotc::test;

namespace {
constexpr size_t kT = 0, kSlice = 1, kFlat = 2, kM = 3, kExpanded = 4, kX = 5, kLast = 6,
                 kDiagonal = 7;
Floats counted(int64_t n) {
  Floats out;
  for (int64_t i = 0; i < n; ++i) out.push_back(static_cast<float>(i));
  return out;
}
}  // namespace

TEST_CASE("views of an input in the exported layout") {
  Program program(aotc_views_get_api);
  Floats x = counted(12), m = {1, 2, 3, 4, 5, 6};
  REQUIRE(program.run({over(x, {4, 3}), over(m, {2, 3})}) == AOTC_OK);
  const std::vector<Tensor>& out = program.outputs;
  CHECK(out[kT].raw() == x.data());
  CHECK(out[kT].sizes() == Integers{3, 4});
  CHECK(out[kT].strides() == Integers{1, 3});
  CHECK(values<float>(out[kSlice]) == Floats{3, 5, 6, 8});
  CHECK(out[kSlice].raw() == &x[3]);
  CHECK(out[kFlat].sizes() == Integers{12});
  CHECK(values<float>(out[kExpanded]) == Floats{6, 7, 8, 6, 7, 8, 6, 7, 8});
  CHECK(out[kExpanded].strides() == Integers{0, 1});
  CHECK(out[kX].raw() == x.data());
  CHECK(out[kM].raw() == m.data());
  CHECK(out[kLast].raw() == &m[5]);
  CHECK(out[kDiagonal].strides() == Integers{4});
  CHECK(values<float>(out[kDiagonal]) == Floats{2, 10});
  CHECK(m == Floats{2, 4, 6, 8, 10, 12});
}

TEST_CASE("names of what outputs alias") {
  const Model model = Model::built_in(aotc_views_get_api(AOTC_ABI_VERSION));
  CHECK(model.aliased_input(kT) == "x");
  CHECK(model.aliased_input(kM) == "m");
  CHECK(model.aliased_state(kM) == std::nullopt);
  CHECK(model.aliased_input(8) == std::nullopt);
  CHECK(model.aliased_input(-1) == std::nullopt);
  const Model counter = Model::built_in(aotc_counter_get_api(AOTC_ABI_VERSION));
  CHECK(counter.aliased_state(1) == "cache");
  CHECK(counter.aliased_state(0) == std::nullopt);
  CHECK(counter.aliased_input(1) == std::nullopt);
}

TEST_CASE("a reshape of an input of another layout shares its storage where one stride fits") {
  Program program(aotc_views_get_api);
  Floats x = counted(24), m = {1, 2, 3, 4, 5, 6};
  REQUIRE(program.run({over(x, {4, 3}, {6, 2}), over(m, {2, 3})}) == AOTC_OK);
  CHECK(program.outputs[kFlat].raw() == x.data());
  CHECK(program.outputs[kFlat].strides() == Integers{2});
  CHECK(values<float>(program.outputs[kFlat]) == Floats{0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22});
  REQUIRE(program.run({over(x, {4, 1}, {5, 99}), over(m, {2, 3})}) == AOTC_OK);
  CHECK(program.outputs[kFlat].strides() == Integers{5});
  CHECK(values<float>(program.outputs[kFlat]) == Floats{0, 5, 10, 15});
}

TEST_CASE("a reshape that an input's layout has no strides for is a copy") {
  Program program(aotc_views_get_api);
  Floats x = counted(12), m = {1, 2, 3, 4, 5, 6};
  REQUIRE(program.run({over(x, {4, 3}, {1, 4}), over(m, {2, 3})}) == AOTC_OK);
  const Tensor& flat = program.outputs[kFlat];
  CHECK(flat.strides() == Integers{1});
  CHECK(values<float>(flat) == Floats{0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11});
  x[0] = -1;
  CHECK(values<float>(flat)[0] == 0);
  CHECK(program.outputs[kT].raw() == x.data());  // other views of it share its storage

  std::vector<Tensor> given(8);
  given[kFlat] = over(x);
  m = {1, 2, 3, 4, 5, 6};
  CHECK(program.run({over(x, {4, 3}, {1, 4}), over(m, {2, 3})}, given) == AOTC_INVALID_ARGUMENT);
  CHECK(program.message ==
        "output 'flat' is a view that input 'x' has no strides for: its entry must be NULL");
  CHECK(m == Floats{1, 2, 3, 4, 5, 6});
}

TEST_CASE("views of an input of another layout have the strides of the real one") {
  Program program(aotc_strict_views_get_api);  // the same without the reshape
  Floats x = counted(12), m(12, -1);
  REQUIRE(program.run({over(x, {4, 3}, {1, 4}), over(m, {2, 3}, {6, 2})}) == AOTC_OK);
  const std::vector<Tensor>& out = program.outputs;
  CHECK(out[0].strides() == Integers{4, 1});
  CHECK(values<float>(out[0]) == counted(12));
  CHECK(out[1].raw() == &x[1]);
  CHECK(out[1].strides() == Integers{1, 8});
  CHECK(values<float>(out[1]) == Floats{1, 9, 2, 10});
  CHECK(out[2].strides() == Integers{6, 2});  // m, through staging
  CHECK(values<float>(out[2]) == Floats(6, -2));
  CHECK(m == Floats{-2, -1, -2, -1, -2, -1, -2, -1, -2, -1, -2, -1});
  CHECK(values<float>(out[3]) == Floats{2, 6, 10, 2, 6, 10, 2, 6, 10});
  CHECK(out[4].raw() == x.data());
  CHECK(out[6].strides() == Integers{8});
  CHECK(out[6].raw() == m.data());
  CHECK(out[5].raw() == &m[10]);  // one element, at its place in the caller's strides
}

TEST_CASE("views of an unaligned input point to the caller's bytes") {
  Program program(aotc_views_get_api);
  std::vector<char> bytes(4 * 12 + 1);
  Floats m(6);
  const Tensor x = Tensor::borrow_raw(bytes.data() + 1, {kDLFloat, 32, 1}, {4, 3});
  REQUIRE(program.run({x, over(m, {2, 3})}) == AOTC_OK);
  CHECK(program.outputs[kSlice].raw() == bytes.data() + 1 + 12);
}

TEST_CASE("views of inputs without elements") {
  Program program(aotc_views_get_api);
  Floats m(6);
  const Tensor x = Tensor::borrow(static_cast<float*>(nullptr), {4, 0});
  REQUIRE(program.run({x, over(m, {2, 3})}) == AOTC_OK);
  CHECK(program.outputs[kT].sizes() == Integers{0, 4});
  CHECK(program.outputs[kFlat].sizes() == Integers{0});
  CHECK(program.outputs[kSlice].raw() == nullptr);
}

TEST_CASE("only the very storage may be given for an output that points into an input") {
  Program program(aotc_views_get_api);
  Floats x = counted(12), m = {1, 2, 3, 4, 5, 6}, other(12);
  std::vector<Tensor> given(8);
  given[kM] = over(m, {2, 3});
  given[kT] = over(x, {3, 4}, {1, 3});
  REQUIRE(program.run({over(x, {4, 3}), over(m, {2, 3})}, given) == AOTC_OK);
  CHECK(m == Floats{2, 4, 6, 8, 10, 12});
  given[kM] = over(other, {2, 3});
  CHECK(program.run({over(x, {4, 3}), over(m, {2, 3})}, given) == AOTC_INVALID_ARGUMENT);
  CHECK(program.message ==
        "output 'm_out' points into an input: its entry must be NULL or that very storage");
  given[kM] = Tensor();
  given[kT] = over(x, {3, 4});
  CHECK(program.run({over(x, {4, 3}), over(m, {2, 3})}, given) == AOTC_INVALID_ARGUMENT);
  CHECK(m == Floats{2, 4, 6, 8, 10, 12});
}

TEST_CASE("sizes that do not fit are refused by the program's own arithmetic") {
  Program program(aotc_views_get_api);
  Floats m(6);
  const Tensor x = Tensor::borrow(static_cast<float*>(nullptr), {4, INT64_MAX});
  CHECK(program.run({x, over(m, {2, 3})}) == AOTC_INVALID_ARGUMENT);
}
