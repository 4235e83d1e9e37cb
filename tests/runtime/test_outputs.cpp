// Kinds of outputs, storage that the caller gives, and results that share storage.
#include <algorithm>

#include "catch2/catch.hpp"
#include "support.h"

using namespace aotc;
using namespace aotc::test;

namespace {
struct Kinds : Program {
  Kinds() : Program(aotc_kinds_get_api) {}
  std::vector<Tensor> inputs() {
    return {over(x), scalar(n), scalar(three), scalar(half), scalar(yes)};
  }
  std::vector<Tensor> nothing() const { return std::vector<Tensor>(9); }
  // The call with storage for output `i`.
  std::string failure(size_t i, const Tensor& given) {
    std::vector<Tensor> all = nothing();
    all[i] = given;
    return run(inputs(), all) ? message : "(succeeded)";
  }
  Floats x = {-1, 2, 0, 3};
  int64_t n = 5, three = 3;
  double half = 0.5;
  bool yes = true;
};
}  // namespace

TEST_CASE_METHOD(Kinds, "every kind of output") {
  REQUIRE(run(inputs()) == AOTC_OK);
  CHECK(values<float>(outputs[0]) == Floats{-5, 10, 0, 15});
  CHECK_FALSE(outputs[1].defined());
  CHECK(outputs[2].item<int64_t>() == 13);
  CHECK(outputs[3].item<int64_t>() == 7);
  CHECK(outputs[4].item<double>() == 0.25);
  CHECK(outputs[5].item<bool>());
  CHECK(outputs[6].sizes() == Integers{4, 1});
  CHECK(outputs[6].raw() == outputs[0].raw());
  CHECK(values<float>(outputs[7]) == Floats{2, 3});
  CHECK(values<int64_t>(outputs[8]) == Integers{0, 1, 2, 3, 4});
}

TEST_CASE_METHOD(Kinds, "data-dependent sizes, with none as with all") {
  for (const Floats& next :
       {Floats{1, 2, 3}, Floats{-1}, Floats{}, Floats{4, 4, 4, 4, 4}, Floats{5}}) {
    x = next;
    n = 0;
    REQUIRE(run(inputs()) == AOTC_OK);
    const int64_t positive = std::count_if(x.begin(), x.end(), [](float v) { return v > 0; });
    CHECK(outputs[7].sizes() == Integers{positive});
    CHECK(outputs[8].sizes() == Integers{0});
    CHECK(outputs[8].raw() == nullptr);
  }
}

TEST_CASE_METHOD(Kinds, "shared storage lives until its last result, in any order") {
  for (const bool view_first : {false, true}) {
    REQUIRE(run(inputs()) == AOTC_OK);
    outputs[view_first ? 6 : 0] = Tensor();
    CHECK(values<float>(outputs[view_first ? 0 : 6]) == Floats{-5, 10, 0, 15});
    outputs.clear();
  }
}

TEST_CASE("results outlive session and model") {
  std::vector<Tensor> results;
  {
    Kinds kinds;
    REQUIRE(kinds.run(kinds.inputs()) == AOTC_OK);
    results = kinds.outputs;
  }
  CHECK(values<float>(results[6]) == Floats{-5, 10, 0, 15});
}

TEST_CASE_METHOD(Kinds, "storage that the caller gives is written and kept") {
  Floats y(4), positive(2);
  Integers range(5);
  int64_t sum = 0, seven = 0;
  double quarter = 0;
  bool truth = false;
  const std::vector<Tensor> given = {over(y),         Tensor(),        scalar(sum),
                                     scalar(seven),   scalar(quarter), scalar(truth),
                                     over(y, {4, 1}), over(positive),  over(range)};
  REQUIRE(run(inputs(), given) == AOTC_OK);
  CHECK(y == Floats{-5, 10, 0, 15});
  CHECK(positive == Floats{2, 3});
  CHECK(range == Integers{0, 1, 2, 3, 4});
  CHECK((sum == 13 && seven == 7 && quarter == 0.25 && truth));
  for (size_t i = 0; i < given.size(); ++i) CHECK(outputs[i].managed() == given[i].managed());
}

TEST_CASE_METHOD(Kinds, "storage of another layout or alignment is written through its strides") {
  Floats strided(8, -1);
  Integers strided_range = {9, 9, 9, 9, 9};
  std::vector<Tensor> given = nothing();
  given[7] = over(strided, {2}, {3});
  given[8] = Tensor::borrow(&strided_range[4], {5}, {-1});
  REQUIRE(run(inputs(), given) == AOTC_OK);
  CHECK(strided == Floats{2, -1, -1, 3, -1, -1, -1, -1});
  CHECK(strided_range == Integers{4, 3, 2, 1, 0});

  Program pointwise(aotc_pointwise_get_api);
  std::vector<char> bytes(17, 'x');
  Floats four = {1, 2, 3, 4}, w = {2}, result(4);
  REQUIRE(pointwise.run({over(four, {1, 4}), over(w)},
                        {Tensor::borrow_raw(bytes.data() + 1, {kDLFloat, 32, 1}, {1, 4})}) ==
          AOTC_OK);
  std::memcpy(result.data(), bytes.data() + 1, 16);
  CHECK(result == Floats{2, 4, 6, 8});
  CHECK(bytes[0] == 'x');
}

TEST_CASE_METHOD(Kinds, "wrong storage for an output is refused") {
  Floats memory(12);
  double wide[4];
  CHECK(failure(0, Tensor::borrow(wide, {4})) ==
        "the storage given for output 'y' is float64, expected float32");
  CHECK(failure(0, over(memory, {2, 2})) ==
        "the storage given for output 'y' has rank 2, expected 1");
  CHECK(failure(0, over(memory, {5})) ==
        "the storage given for output 'y' has sizes [5], expected [4]");
  CHECK(failure(0, over(memory, {4}, {0})) ==
        "the storage given for output 'y' has sizes [4] and strides [0]: elements share memory");
  CHECK(failure(0, Tensor::borrow(static_cast<float*>(nullptr), {4})) ==
        "the storage given for output 'y' is NULL");
  CHECK(failure(7, over(memory, {3})) ==
        "the storage given for output 'positive' has sizes [3], expected [2]");
  CHECK(failure(7, over(memory, {2})) == "(succeeded)");
  CHECK(failure(1, over(memory, {})) == "output 'none' is None: its entry must be NULL");
  CHECK(failure(2, over(memory, {1})) ==
        "the storage given for output 'sum' is float32, expected int64");
  DLManagedTensor managed = *over(memory, {4}).managed();
  managed.deleter = nullptr;
  managed.dl_tensor.device = {kDLCUDA, 0};
  int64_t four[] = {4};
  managed.dl_tensor.shape = four;
  CHECK(failure(0, Tensor(&managed)) ==
        "the storage given for output 'y' is on cuda:0, expected cpu");
}

TEST_CASE_METHOD(Kinds, "a view of an output goes where the output goes") {
  Floats memory(12);
  CHECK(failure(6, over(memory, {4, 1})) ==
        "output 'column' is a view of output 'y': give storage for both or for neither");
  std::vector<Tensor> given = nothing();
  given[0] = over(memory, {4}, {2});
  CHECK(run(inputs(), given) == AOTC_INVALID_ARGUMENT);
  CHECK(message ==
        "the storage given for output 'y' must have strides [1]: output 'column' is a view of it");
  given[0] = over(memory, {4});
  REQUIRE(run(inputs(), given) == AOTC_OK);
  CHECK(outputs[6].raw() == memory.data());
  given[6] = Tensor::borrow(&memory[1], {4, 1});
  CHECK(run(inputs(), given) == AOTC_INVALID_ARGUMENT);
  CHECK(message ==
        "output 'column' points into another output: its entry must be NULL or that very storage");
}

TEST_CASE_METHOD(Kinds, "a refused call hands out nothing") {
  Floats memory(12);
  std::vector<Tensor> given = nothing();
  given[7] = over(memory, {3});  // found out only while the program runs
  REQUIRE(run(inputs(), given) == AOTC_INVALID_ARGUMENT);
  CHECK_FALSE(outputs[0].defined());
  CHECK(outputs[7].managed() == given[7].managed());
  CHECK(memory == Floats(12));
}
