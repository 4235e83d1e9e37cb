// The C++ face: tensors, errors, ownership.
#include "catch2/catch.hpp"
#include "packages.h"

using namespace aotc;
using namespace aotc::test;

static_assert(dtype_of<float>().code == kDLFloat && dtype_of<float>().bits == 32);
static_assert(dtype_of<bool>().code == kDLBool && dtype_of<bool>().bits == 8);
static_assert(dtype_of<uint16_t>().code == kDLUInt && dtype_of<int8_t>().code == kDLInt);
static_assert(dtype_of<std::complex<double>>().code == kDLComplex &&
              dtype_of<std::complex<double>>().bits == 128);

TEST_CASE("tensors borrow and own memory") {
  std::vector<int32_t> memory = {1, 2, 3, 4, 5, 6};
  const Tensor borrowed = Tensor::borrow(memory.data(), {2, 3}, {1, 2});
  CHECK(borrowed.data<int32_t>() == memory.data());
  CHECK(borrowed.count() == 6);
  CHECK(values<int32_t>(borrowed) == std::vector<int32_t>{1, 3, 5, 2, 4, 6});
  const Tensor contiguous = Tensor::borrow(memory.data(), {3, 1, 2});
  CHECK(contiguous.strides() == std::vector<int64_t>{2, 2, 1});
  Tensor owned = Tensor::zeros<double>({2, 2});
  const Tensor copy = owned;
  owned = Tensor();
  CHECK_FALSE(owned.defined());
  CHECK(values<double>(copy) == std::vector<double>(4, 0));
  CHECK(Tensor::zeros<float>({0, 3}).count() == 0);
  CHECK(Tensor::zeros<float>({}).item<float>() == 0);
}

TEST_CASE("misuse of tensors throws") {
  const Tensor floats = Tensor::zeros<float>({2});
  CHECK_THROWS_AS(floats.data<double>(), Error);
  CHECK_THROWS_AS(floats.item<float>(), Error);
  CHECK_THROWS_AS(Tensor().sizes(), Error);
  CHECK_THROWS_AS(Tensor::zeros<float>({-1}), Error);
  CHECK_THROWS_AS(Tensor::zeros<float>({INT64_MAX, INT64_MAX}), Error);
  float one = 0;
  CHECK_THROWS_AS(Tensor::borrow(&one, {1, 1}, {1}), Error);
}

TEST_CASE("a managed tensor is released once, with its last copy") {
  static int released = 0;
  DLManagedTensor managed = *Tensor::zeros<float>({1}).managed();
  managed.deleter = [](DLManagedTensor*) { ++released; };
  {
    Tensor first(&managed);
    const Tensor second = first;
    first = Tensor();
    CHECK(released == 0);
  }
  CHECK(released == 1);
  CHECK_FALSE(Tensor(nullptr).defined());
}

TEST_CASE("models, sessions and errors") {
  const TemporaryFolder folder;
  write_file(folder / "c.aotc", make_zip(counter_members()));
  const Model model(folder / "c.aotc");
  CHECK(model.output_names() == std::vector<std::string>{"y", "cache_out", "count_out"});
  CHECK(model.aliased_state(1) == "cache");
  CHECK(model.input_spec(0).sizes == std::vector<int64_t>{3});
  Session session(model);
  try {
    session.run({Tensor::zeros<double>({3})});
    FAIL("a wrong dtype was accepted");
  } catch (const Error& error) {
    CHECK(error.status() == AOTC_INVALID_ARGUMENT);
    CHECK(std::string(error.what()) == "input 'x' is float64, expected float32");
  }
  CHECK_THROWS_AS(session.state("nope"), Error);
  CHECK_THROWS_AS(Model("/nowhere.aotc"), Error);
  CHECK_THROWS_AS(Model("/nowhere.aotc", "{}", nullptr), Error);

  // A bound tensor is kept alive by the session.
  session.bind_state("cache", Tensor::zeros<float>({2, 3}));
  session.run({Tensor::zeros<float>({3})});
  CHECK(values<float>(session.state("cache")) == Floats{0, 0, 0, 1, 2, 3});
  Session moved = std::move(session);
  CHECK(moved.state("count").item<int64_t>() == 6);
  CHECK(moved.scratch_size() == 0);
}

TEST_CASE("a session of a package is profiled") {
  const TemporaryFolder folder;
  write_file(folder / "s.aotc", make_zip(plain_members("steps")));
  Session session(Model(folder / "s.aotc"));
  CHECK_THROWS_AS(session.profile_stop(folder / "t.json"), Error);
  session.profile_start("{\"active\": 1}");
  CHECK_THROWS_AS(session.profile_start(), Error);
  CHECK_FALSE(session.run({Tensor::zeros<float>({3})}).empty());
  session.profile_stop(folder / "t.json");
  CHECK(read_file(folder / "t.json").find("\"name\":\"finish\"") != std::string::npos);
  session.profile_start();
  session.profile_discard();
  CHECK_THROWS_AS(session.profile_start("{\"calls\": 1}"), Error);
}
