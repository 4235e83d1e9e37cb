// Case folders: memory layouts, what meta.json may say, and where outputs lie.
#include <catch2/catch.hpp>

#include "codegen/cli/case_folder.h"
#include "codegen/cli/check_places.h"
#include "codegen/cli/numbers.h"
#include "ir/error.h"
#include "support.h"

namespace aotc::cli::test {
namespace {

CaseMeta meta_of(const Folder& folder, const std::string& text) {
  write_text(folder / "meta.json", text);
  return read_case_meta(folder.path());
}

// A result whose memory the test owns.
struct Result {
  DLManagedTensor tensor{};
  std::vector<int64_t> shape, strides;
  Result(void* data, std::vector<int64_t> sizes, std::vector<int64_t> steps)
      : shape(std::move(sizes)), strides(std::move(steps)) {
    tensor.dl_tensor.data = data;
    tensor.dl_tensor.device = {kDLCPU, 0};
    tensor.dl_tensor.ndim = static_cast<int32_t>(shape.size());
    tensor.dl_tensor.dtype = dl_dtype(DType::Float32);
    tensor.dl_tensor.shape = shape.data();
    tensor.dl_tensor.strides = strides.data();
  }
};

std::vector<std::string> places(const std::string& outputs, bool strict,
                                const std::vector<HostTensor>& inputs,
                                const std::vector<Result*>& tensors) {
  const Folder folder;
  const CaseMeta meta = meta_of(folder, "{\"outputs\": " + outputs + "}");
  Results results(tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i)
    results.data()[i] = tensors[i] ? &tensors[i]->tensor : nullptr;
  std::vector<std::string> problems;
  check_places(meta, strict, inputs, results, problems);
  return problems;
}

}  // namespace

TEST_CASE("without meta.json nothing is special", "[cases]") {
  const Folder folder;
  write_array(folder.path(), "in0", floats({1, 2}, {2}));
  const CaseMeta meta = read_case_meta(folder.path());
  CHECK_FALSE(meta.sequence);
  CHECK_FALSE(meta.must_refuse);
  const std::vector<HostTensor> inputs = read_case_inputs(folder.path(), meta);
  REQUIRE(inputs.size() == 1);
  CHECK(value_of(inputs[0]).data == floats({1, 2}, {2}).data);
}

TEST_CASE("inputs are rebuilt as views of their storages", "[cases]") {
  const Folder folder;
  write_array(folder.path(), "in0", floats({1, 2, 3, 4}, {2, 2}));
  write_array(folder.path(), "in1", floats({5, 6}, {2}));
  write_array(folder.path(), "in2", floats({7}, {1}));
  const CaseMeta meta = meta_of(folder, R"({"inputs": [
    {"size": [2, 2], "stride": [1, 3], "offset": 1, "storage": 12, "storage_id": 7},
    {"size": [2], "stride": [1], "offset": 9, "storage": 12, "storage_id": 7}, null],
    "other": {"ignored": true}})");
  const std::vector<HostTensor> inputs = read_case_inputs(folder.path(), meta);
  REQUIRE(inputs.size() == 3);
  CHECK(inputs[0].storage == inputs[1].storage);
  CHECK(inputs[0].storage != inputs[2].storage);
  CHECK(inputs[0].storage->size() == 48);
  CHECK(to_doubles(value_of(inputs[0])) == std::vector<double>{1, 2, 3, 4});
  CHECK(to_doubles(value_of(inputs[1])) == std::vector<double>{5, 6});
  const DLTensor t = inputs[0].dl();
  CHECK(t.byte_offset == 4);
  CHECK(t.strides[1] == 3);
}

TEST_CASE("the other keys are read", "[cases]") {
  const Folder folder;
  const CaseMeta meta = meta_of(folder, R"({"sequence": true, "may_refuse": true,
    "outputs": [null, {"alias_in": 1}, {"alias_out": 0}, {}], "ambiguous_outputs": [3]})");
  CHECK(meta.sequence);
  CHECK(meta.may_refuse);
  CHECK(meta.has_outputs);
  CHECK(meta.outputs.at(1).input == 1);
  CHECK(meta.outputs.at(2).output == 0);
  CHECK_FALSE(meta.outputs.at(0).input);
  CHECK(meta.ambiguous_outputs.contains(3));
  write_text(folder / "error.txt", "why");
  CHECK(read_case_meta(folder.path()).must_refuse);
}

TEST_CASE("impossible layouts and broken files are refused", "[cases]") {
  const Folder folder;
  write_array(folder.path(), "in0", floats({1, 2}, {2}));
  const auto refused = [&](const std::string& layout) {
    const CaseMeta meta = meta_of(folder, "{\"inputs\": [" + layout + "]}");
    CHECK_THROWS_AS(read_case_inputs(folder.path(), meta), UserError);
  };
  refused(R"({"size": [2], "stride": [1], "offset": 1, "storage": 2})");
  refused(R"({"size": [3], "stride": [1], "offset": 0, "storage": 9})");
  refused(R"({"size": [2], "stride": [-1], "offset": 1, "storage": 9})");
  refused(R"({"size": [2], "stride": [1, 1], "offset": 0, "storage": 9})");
  refused(R"({"size": [2], "stride": [1], "offset": -1, "storage": 9})");
  CHECK_THROWS_AS(meta_of(folder, "{"), UserError);
  CHECK_THROWS_AS(meta_of(folder, R"({"sequence": 3})"), UserError);
  CHECK_THROWS_AS(meta_of(folder, R"({"inputs": [{"stride": [1]}]})"), UserError);
}

TEST_CASE("a gap between inputs is refused", "[cases]") {
  const Folder folder;
  write_array(folder.path(), "in0", floats({1}, {1}));
  write_array(folder.path(), "in2", floats({1}, {1}));
  CHECK_THROWS_WITH(read_case_inputs(folder.path(), {}), Catch::Contains("no in1.npy"));
}

TEST_CASE("an output must lie in the input that it aliases", "[cases]") {
  const std::vector<HostTensor> inputs = {make_tensor(floats({1, 2, 3, 4}, {4}))};
  float elsewhere[4] = {1, 2, 3, 4};
  Result inside(inputs[0].storage->data() + 4, {2}, {1}), outside(elsewhere, {2}, {1});
  CHECK(places("[{\"alias_in\": 0}]", true, inputs, {&inside}).empty());
  CHECK(places("[{\"alias_in\": 0}]", true, inputs, {&outside}).size() == 1);
  CHECK(places("[{\"alias_in\": 0}]", false, inputs, {&outside}).empty());
}

TEST_CASE("an output that aliases nothing has storage of its own", "[cases]") {
  const std::vector<HostTensor> inputs = {make_tensor(floats({1, 2, 3, 4}, {4}))};
  float a[4] = {1, 2, 3, 4}, b[4] = {1, 2, 3, 4};
  Result inside(inputs[0].storage->data(), {2}, {1}), first(a, {4}, {1}), second(b, {4}, {1});
  CHECK(places("[null]", true, inputs, {&inside}).size() == 1);
  CHECK(places("[null, null]", true, inputs, {&first, &second}).empty());
  CHECK(places("[null, null]", true, inputs, {&first, &first}).size() == 1);
}

TEST_CASE("outputs that alias one another overlap", "[cases]") {
  float a[4] = {1, 2, 3, 4}, b[4] = {1, 3, 2, 4};
  Result whole(a, {2, 2}, {2, 1}), transposed(a, {2, 2}, {1, 2}), copy(b, {2, 2}, {2, 1});
  CHECK(places("[null, {\"alias_out\": 0}]", true, {}, {&whole, &transposed}).empty());
  CHECK(places("[null, {\"alias_out\": 0}]", true, {}, {&whole, &copy}).size() == 1);
  Result left(a, {2}, {1}), right(a + 2, {2}, {1});
  CHECK(places("[null, {\"alias_out\": 0}]", true, {}, {&left, &right}).empty());
  CHECK(places("[null, {\"alias_out\": 0}]", true, {}, {&whole, nullptr}).empty());
}

}  // namespace aotc::cli::test
