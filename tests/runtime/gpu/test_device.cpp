// Calls of a program that is wholly on the device: inputs, outputs, layouts, states.
#include "catch2/catch.hpp"
#include "support.h"

using namespace aotc;
using namespace aotc::test;

namespace {

// x is [rows, 3] = 0, 1, 2, ...; m is 0, 10, 20, ...
struct Affine : DeviceProgram {
  explicit Affine(const std::string& options = "{}", int64_t rows = 4)
      : DeviceProgram(aotc_affine_get_api, options), n(rows) {
    for (int64_t i = 0; i < 3 * n; ++i) x_values.push_back(static_cast<float>(i));
    for (int64_t i = 0; i < n; ++i) m_values.push_back(static_cast<float>(10 * i));
    x = device(x_values, {n, 3});
    m = device(m_values);
  }
  Floats expected_y(float steps = 5) const {
    Floats y;
    for (size_t i = 0; i < x_values.size(); ++i)
      y.push_back(x_values[i] * static_cast<float>(i % 3 + 1) + steps);
    return y;
  }
  Floats expected_m(float calls = 1) const {
    Floats out = m_values;
    for (float& v : out) v += calls;
    return out;
  }
  int64_t n;
  Floats x_values, m_values;
  Tensor x, m;
};

}  // namespace

TEST_CASE("a call on the device") {
  Affine p;
  REQUIRE(p.message_of({p.x, p.m}) == "(succeeded)");
  CHECK(p.outputs[0].device().device_type == kDLCUDA);
  CHECK(p.host(p.outputs[0]) == p.expected_y());
  CHECK(p.outputs[1].raw() == p.outputs[0].raw());
  CHECK(p.outputs[1].strides() == Integers{1, 3});
  CHECK(p.outputs[1].device().device_type == kDLCUDA);
  CHECK(p.outputs[2].raw() == p.m.raw());
  CHECK(p.outputs[2].device().device_type == kDLCUDA);
  CHECK(p.host(p.m) == p.expected_m());
  CHECK(p.outputs[3].raw() == p.x.raw());
  CHECK(p.outputs[4].device().device_type == kDLCUDA);
  CHECK(p.host<int64_t>(p.outputs[4]) == Integers{6});
  CHECK(p.host(p.outputs[5]) == Floats{0, 0, 0, 1, 2, 3});
  CHECK(p.outputs[6].item<int64_t>() == 4);
  CHECK(p.outputs[7].item<int64_t>() == 7);
  REQUIRE(p.run({p.x, p.m}) == AOTC_OK);
  CHECK(p.host(p.outputs[0]) == p.expected_y(6));
  CHECK(p.host(p.m) == p.expected_m(2));
  CHECK(values<float>(p.session.state("cache")) == Floats{1, 2, 3, 1, 2, 3});
}

TEST_CASE("other sizes, also none") {
  for (const int64_t rows : {0, 1, 2, 100}) {
    Affine p("{}", rows);
    REQUIRE(p.message_of({p.x, p.m}) == "(succeeded)");
    CHECK(p.outputs[0].sizes() == Integers{rows, 3});
    CHECK(p.outputs[0].device().device_type == kDLCUDA);
    CHECK(p.host(p.outputs[0]) == p.expected_y());
    CHECK(p.host(p.m) == p.expected_m());
    CHECK(values<int64_t>(p.session.state("steps")) == Integers{6});
  }
}

TEST_CASE("specs say where tensors are") {
  const Model model = Model::built_in(aotc_affine_get_api(AOTC_ABI_VERSION));
  CHECK(model.input_spec(0).device.device_type == kDLCUDA);
  CHECK(model.output_spec(0).device.device_type == kDLCUDA);
  CHECK(model.output_spec(6).device.device_type == kDLCPU);
  CHECK(model.state_spec(0).device.device_type == kDLCUDA);
}

TEST_CASE("tensors in other places are refused by name") {
  Affine p;
  Floats host_x = p.x_values, host_m = p.m_values;
  CHECK(p.message_of({over(host_x, {4, 3}), p.m}) ==
        "input 'x' is on cpu, expected cuda:0: copy it there first (device_copy), or make the "
        "session with host_io");
  const Tensor elsewhere =
      Tensor::borrow_raw(p.x.raw(), p.x.dtype(), {4, 3}, {}, DLDevice{kDLCUDA, 1});
  CHECK(p.message_of({elsewhere, p.m}).find("input 'x' is on cuda:1, expected cuda:0") == 0);
  std::vector<Tensor> given(8);
  Floats y(12);
  given[0] = over(y, {4, 3});
  CHECK(p.run({p.x, p.m}, given) == AOTC_INVALID_ARGUMENT);
  CHECK(p.message.find("the storage given for output 'y' is on cpu, expected cuda:0") == 0);
  CHECK(p.host(p.m) == p.m_values);
  const Tensor managed =
      Tensor::borrow_raw(p.x.raw(), p.x.dtype(), {4, 3}, {}, DLDevice{kDLCUDAManaged, 0});
  CHECK(p.message_of({managed, p.m}) == "(succeeded)");
}

TEST_CASE("inputs of other strides and alignment are staged on the device") {
  Affine p;
  Floats spread(40, -7);
  SECTION("transposed") {
    for (int64_t i = 0; i < 12; ++i)
      spread[static_cast<size_t>(i % 3 * 4 + i / 3)] = p.x_values[static_cast<size_t>(i)];
    const Tensor base = p.device(spread);
    REQUIRE(p.message_of({p.view(base, {4, 3}, {1, 4}), p.m}) == "(succeeded)");
    CHECK(p.outputs[3].raw() != base.raw());  // x.view(-1) has no strides there: a copy
    CHECK(p.outputs[3].device().device_type == kDLCUDA);
    CHECK(p.host(p.outputs[3]) == p.x_values);
  }
  SECTION("expanded and reversed") {
    spread = {2, 1, 0};
    const Tensor base = p.device(spread);
    REQUIRE(p.message_of({p.view(base, {4, 3}, {0, -1}, 2), p.m}) == "(succeeded)");
    CHECK(p.host(p.outputs[0]) == Floats{5, 7, 11, 5, 7, 11, 5, 7, 11, 5, 7, 11});
    return;
  }
  SECTION("unaligned") {
    std::vector<char> bytes(50);
    memcpy(bytes.data() + 1, p.x_values.data(), 48);
    const Tensor base =
        p.model.to_device(Tensor::borrow_raw(bytes.data(), DLDataType{kDLInt, 8, 1}, {50}));
    const Tensor x =
        Tensor::borrow_raw(static_cast<char*>(base.raw()) + 1, p.x.dtype(), {4, 3}, {}, kGpu);
    REQUIRE(p.message_of({x, p.m}) == "(succeeded)");
  }
  SECTION("a mutated one is written through its strides") {
    for (size_t i = 0; i < 4; ++i) spread[3 * i + 2] = p.m_values[i];
    const Tensor base = p.device(spread);
    REQUIRE(p.message_of({p.x, p.view(base, {4}, {3}, 2)}) == "(succeeded)");
    for (size_t i = 0; i < 4; ++i) spread[3 * i + 2] += 1;
    CHECK(p.host(base) == spread);
    CHECK(p.outputs[2].strides() == Integers{3});
  }
  CHECK(p.host(p.outputs[0]) == p.expected_y());
}

TEST_CASE("storage for outputs on the device") {
  Affine p;
  std::vector<Tensor> given(8);
  const Tensor y = p.model.device_empty(p.x.dtype(), {4, 3});
  SECTION("written in place") {
    given[0] = y;
    given[1] = p.view(y, {3, 4}, {1, 3});
    REQUIRE(p.run({p.x, p.m}, given) == AOTC_OK);
    CHECK(p.host(y) == p.expected_y());
  }
  SECTION("the aliased storage itself") {
    given[2] = p.m;
    REQUIRE(p.run({p.x, p.m}, given) == AOTC_OK);
    given[2] = y;
    CHECK(p.run({p.x, p.m}, given) == AOTC_INVALID_ARGUMENT);
  }
  SECTION("overlaps are refused") {
    given[0] = p.x;
    given[1] = p.view(p.x, {3, 4}, {1, 3});
    CHECK(p.run({p.x, p.m}, given) == AOTC_INVALID_ARGUMENT);
    CHECK(p.message.find("share memory") != std::string::npos);
    CHECK(p.message_of({p.x, p.view(p.x, {4}, {1}, 2)})
              .find("input 'x' and input 'm' share memory") == 0);
    CHECK(p.host(p.x) == p.x_values);
  }
  SECTION("a state is no input") {
    REQUIRE(p.run({p.x, p.m}) == AOTC_OK);
    const Tensor cache = p.outputs[5];
    CHECK(p.message_of({p.view(cache, {4, 3}, {0, 1}), p.m}).find("the states of this session") !=
          std::string::npos);
  }
}

TEST_CASE("storage of other strides for an output") {
  DeviceProgram p(aotc_straight_get_api);
  Floats a = {1, 2, 3};
  const Tensor base = p.model.device_empty(DLDataType{kDLFloat, 32, 1}, {6});
  Floats minus(6, -1);
  p.model.copy(base, over(minus));
  REQUIRE(p.run({over(a)}, {p.view(base, {3}, {2}), Tensor()}) == AOTC_OK);
  CHECK(p.host(base) == Floats{2, -1, 3, -1, 4, -1});
  CHECK(values<float>(p.outputs[1]) == Floats{2, 3, 4});
}

TEST_CASE("results outlive session and model") {
  const uint64_t before = settled("live_allocations");
  Tensor kept, view;
  {
    Affine p;
    REQUIRE(p.run({p.x, p.m}) == AOTC_OK);
    kept = p.outputs[0];
    view = p.outputs[1];
  }
  if (is_simulated()) CHECK(settled("live_allocations") == before + 1);
  kept = Tensor();
  if (is_simulated()) CHECK(settled("live_allocations") == before + 1);
  view = Tensor();
  if (is_simulated()) CHECK(settled("live_allocations") == before);
}

TEST_CASE("weights are uploaded once") {
  Affine p;
  const uint64_t before = settled("live_allocations"), bytes = counter("bytes_to_device");
  Session second(p.model), third(p.model);
  if (is_simulated()) CHECK(settled("live_allocations") == before + 2);
  if (is_simulated()) CHECK(counter("bytes_to_device") == bytes + 2 * 8);  // the initial `steps`
  Floats w(3);
  p.session.get_state("w", over(w));
  CHECK(w == Floats{1, 2, 3});
  p.session.get_state("b", over(w));
  CHECK(w == Floats{0, 0, 0});
}

TEST_CASE("states on the device") {
  Affine p;
  REQUIRE(p.run({p.x, p.m}) == AOTC_OK);
  SECTION("read and written with host and device tensors of any strides") {
    Floats wide(12, -1), cache = {9, 8, 7, 6, 5, 4};
    p.session.get_state("cache", over(wide, {2, 3}, {1, 4}));
    CHECK(wide == Floats{0, 1, -1, -1, 0, 2, -1, -1, 0, 3, -1, -1});
    p.session.set_state("cache", over(cache, {2, 3}));
    p.session.get_state("row", Tensor::borrow(&wide[6], {3}, {-2}));
    CHECK(wide == Floats{0, 1, 4, -1, 5, 2, 6, -1, 0, 3, -1, -1});
  }
  SECTION("device tensors") {
    Floats other = {1, 4, 2, 5, 3, 6};
    const Tensor transposed = p.device(other, {3, 2});
    p.session.set_state("cache", p.view(transposed, {2, 3}, {1, 2}));
    CHECK(values<float>(p.session.state("cache")) == Floats{1, 2, 3, 4, 5, 6});
    const Tensor out = p.model.device_empty(p.x.dtype(), {6});
    p.session.get_state("cache", p.view(out, {2, 3}, {3, 1}));
    CHECK(p.host(out) == Floats{1, 2, 3, 4, 5, 6});
    p.session.get_state("row", p.view(out, {3}, {2}, 1));
    CHECK(p.host(out) == Floats{1, 4, 3, 5, 5, 6});
  }
  SECTION("reset") {
    p.session.reset_states();
    CHECK(values<int64_t>(p.session.state("steps")) == Integers{5});
    CHECK(values<float>(p.session.state("cache")) == Floats(6, 0));
  }
  SECTION("fork") {
    Session fork = p.session.fork();
    REQUIRE(p.run({p.x, p.m}) == AOTC_OK);
    CHECK(values<int64_t>(fork.state("steps")) == Integers{6});
    fork.run({p.x, p.m});
    CHECK(values<float>(fork.state("cache")) == Floats{1, 2, 3, 1, 2, 3});
  }
  SECTION("bind and unbind") {
    Floats bound = {1, 1, 1, 1, 1, 1};
    const Tensor storage = p.device(bound, {2, 3});
    Floats on_host(6);
    CHECK_THROWS_WITH(p.session.bind_state("cache", over(on_host, {2, 3})),
                      "session_state_bind: the storage for 'cache' is on cpu, expected cuda:0");
    p.session.bind_state("cache", storage);
    REQUIRE(p.run({p.x, p.m}) == AOTC_OK);
    CHECK(p.host(storage) == Floats{2, 3, 4, 1, 1, 1});
    CHECK(p.outputs[5].raw() == storage.raw());
    CHECK(p.message_of({p.x, p.view(storage, {4}, {1})}).find("bound to state") !=
          std::string::npos);
    CHECK(p.model.api()->session_state_bind(p.session.handle(), "cache", nullptr) == AOTC_OK);
    REQUIRE(p.run({p.x, p.m}) == AOTC_OK);
    CHECK(p.host(storage) == Floats{2, 3, 4, 1, 1, 1});
    CHECK(values<float>(p.session.state("cache")) == Floats{2, 3, 4, 2, 3, 4});
  }
  SECTION("save and load") {
    const std::string path = "gpu_states.bin";
    p.session.save(path);
    REQUIRE(p.run({p.x, p.m}) == AOTC_OK);
    p.session.load(path);
    CHECK(values<int64_t>(p.session.state("steps")) == Integers{6});
    CHECK(values<float>(p.session.state("cache")) == Floats{0, 0, 0, 1, 2, 3});
    remove(path.c_str());
  }
}

TEST_CASE("host_io: host tensors drive a program on the device") {
  Affine p("{\"host_io\": true}");
  Floats x = p.x_values, m = p.m_values;
  SECTION("results are host tensors") {
    REQUIRE(p.message_of({over(x, {4, 3}), over(m)}) == "(succeeded)");
    CHECK(p.outputs[0].device().device_type == kDLCPU);
    CHECK(values<float>(p.outputs[0]) == p.expected_y());
    CHECK(p.outputs[1].raw() == p.outputs[0].raw());
    CHECK(m == p.expected_m());
    CHECK(p.outputs[2].raw() == m.data());
    CHECK(p.outputs[3].raw() == x.data());
    CHECK(p.outputs[4].device().device_type == kDLCPU);
    CHECK(p.outputs[4].item<int64_t>() == 6);
    CHECK(values<float>(p.outputs[5]) == Floats{0, 0, 0, 1, 2, 3});
  }
  SECTION("any strides, also of given outputs") {
    Floats transposed(12), spread(8, -1), y(24, -2);
    for (size_t i = 0; i < 12; ++i) transposed[i % 3 * 4 + i / 3] = x[i];
    for (size_t i = 0; i < 4; ++i) spread[2 * i] = m[i];
    std::vector<Tensor> given(8);
    REQUIRE(p.run({over(transposed, {4, 3}, {1, 4}), over(spread, {4}, {2})}, given) == AOTC_OK);
    CHECK(values<float>(p.outputs[0]) == p.expected_y());
    for (size_t i = 0; i < 4; ++i) CHECK(spread[2 * i] == p.expected_m()[i]);
    CHECK(spread[1] == -1);
    CHECK(values<float>(p.outputs[3]) == x);
    CHECK(p.outputs[3].device().device_type == kDLCPU);
  }
  SECTION("storage for an output and for its view") {
    Floats y(12);
    std::vector<Tensor> given(8);
    given[0] = over(y, {4, 3});
    given[1] = over(y, {3, 4}, {1, 3});
    REQUIRE(p.run({over(x, {4, 3}), over(m)}, given) == AOTC_OK);
    CHECK(y == p.expected_y());
  }
  SECTION("device tensors are refused") {
    CHECK(p.message_of({p.x, over(m)}) ==
          "input 'x' is on cuda:0, expected cpu: the session was made with host_io, all its "
          "tensors are host tensors");
  }
  SECTION("a failed call leaves mutated inputs alone") {
    x[4] = -1;
    CHECK(p.message_of({over(x, {4, 3}), over(m)}) == "x must not be -1 (affine.py:3), found 4");
    CHECK(m == p.m_values);
  }
}

TEST_CASE("checks on the device") {
  Affine p;
  p.x_values[7] = -1;
  const Tensor bad = p.device(p.x_values, {4, 3});
  const uint64_t before = settled("live_allocations");
  CHECK(p.run({bad, p.m}) == AOTC_FAILED_CHECK);
  CHECK(p.message == "x must not be -1 (affine.py:3), found 7");
  if (is_simulated()) CHECK(settled("live_allocations") == before + 1);  // the arena
  CHECK(p.host(p.m) == p.m_values);
  const std::string refusal =
      "a call of this session has failed on the GPU (x must not be -1 (affine.py:3), found 7), and "
      "its states are not what they should be: reset, set or load them first";
  CHECK(p.message_of({p.x, p.m}) == refusal);
  Floats cache(6), new_cache(6, 4);
  CHECK_NOTHROW(p.session.get_state("cache", over(cache, {2, 3})));  // looking is allowed
  CHECK_THROWS_WITH(p.session.fork(), refusal);
  CHECK_THROWS_WITH(p.session.save("nowhere"), refusal);
  CHECK_THROWS_WITH(p.session.synchronize(), refusal);
  SECTION("reset") { p.session.reset_states(); }
  SECTION("set") { p.session.set_state("cache", over(new_cache, {2, 3})); }
  REQUIRE(p.message_of({p.x, p.m}) == "(succeeded)");
  CHECK(p.host(p.m) == p.expected_m());
  CHECK(p.host<int64_t>(p.outputs[4]) == Integers{6});
}
