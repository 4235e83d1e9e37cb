// Programs that work on the host and the device in turns.
#include "catch2/catch.hpp"
#include "support.h"

using namespace aotc;
using namespace aotc::test;

TEST_CASE("host and device in turns") {
  DeviceProgram p(aotc_hybrid_get_api);
  Floats a = {1, 2, 3}, b = {4, -5, 6}, total = {100};
  REQUIRE(p.message_of({over(a), p.device(b), over(total)}) == "(succeeded)");
  CHECK(p.host(p.outputs[0]) == Floats{2, 3, 4});
  CHECK(p.outputs[1].sizes() == Integers{2});
  CHECK(p.host(p.outputs[1]) == Floats{4, 6});
  CHECK(values<float>(p.outputs[2]) == Floats{4, 6, 8});
  CHECK(total == Floats{109});
  CHECK(p.outputs[3].raw() == total.data());
  CHECK(p.outputs[3].device().device_type == kDLCPU);
  Floats none = {-1, -2, -3};
  REQUIRE(p.message_of({over(a), p.device(none), over(total)}) == "(succeeded)");
  CHECK(p.outputs[1].sizes() == Integers{0});
  CHECK(p.session.scratch_size() > 0);
}

TEST_CASE("a check on the host leaves everything as it was") {
  DeviceProgram p(aotc_hybrid_get_api);
  Floats a = {-1, 2, 3}, b = {4, -5, 6}, total = {100};
  const Tensor device_b = p.device(b);
  const uint64_t before = settled("live_allocations");
  CHECK(p.message_of({over(a), device_b, over(total)}) == "a[0] must not be -1, found -1");
  CHECK(total == Floats{100});
  if (is_simulated()) CHECK(settled("live_allocations") == before + 2);  // arena and scratch
  a[0] = 1;
  CHECK(p.message_of({over(a), device_b, over(total)}) == "(succeeded)");
}

TEST_CASE("hybrid with host_io and strided host inputs") {
  DeviceProgram p(aotc_hybrid_get_api, "{\"host_io\": true}");
  Floats a = {1, -9, 2, -9, 3}, b = {4, -5, 6}, total = {100};
  REQUIRE(p.message_of({over(a, {3}, {2}), over(b), over(total)}) == "(succeeded)");
  CHECK(values<float>(p.outputs[0]) == Floats{2, 3, 4});
  CHECK(values<float>(p.outputs[1]) == Floats{4, 6});
  CHECK(total == Floats{109});
}

TEST_CASE("device tensors for host inputs are refused") {
  DeviceProgram p(aotc_hybrid_get_api);
  Floats a = {1}, b = {2}, total = {3};
  CHECK(p.message_of({p.device(a), p.device(b), over(total)}) ==
        "input 'a' is on cuda:0, expected cpu: copy it there first");
}

TEST_CASE("copies larger than the pinned memory") {
  DeviceProgram p(aotc_straight_get_api);
  Floats a(3 << 20);
  for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i % 1000);
  REQUIRE(p.message_of({over(a)}) == "(succeeded)");
  const Floats d = values<float>(p.outputs[1]);
  bool same = true;
  for (size_t i = 0; i < a.size(); ++i) same &= d[i] == a[i] + 1;
  CHECK(same);
}
