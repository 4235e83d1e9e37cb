// One program written by nine torch releases, in three container layouts, reads the same.
#include <catch2/catch.hpp>

#include "support.h"

using namespace aotc;
using namespace aotc::pt2;

namespace {

struct Release {
  const char* torch;
  int major, minor;
};

constexpr Release kReleases[] = {{"2.5.1", 7, 3},   {"2.6.0", 8, 2},   {"2.7.1", 8, 7},
                                 {"2.8.0", 8, 8},   {"2.9.1", 8, 14},  {"2.10.0", 8, 15},
                                 {"2.12.1", 8, 20}, {"2.14.1", 8, 20}, {"2.15.0", 8, 20}};

ExportedProgram read(const std::string& release, const std::string& name) {
  return read_pt2(test::data_path("torch-" + release + "/" + name));
}

std::string bits(const ExportedProgram& program, const StoredTensor& tensor) {
  return test::dense(program, tensor).data;
}

}  // namespace

TEST_CASE("nine releases write one program") {
  const ExportedProgram newest = read("2.15.0", "mlp_dyn.pt2");
  for (const Release& release : kReleases) {
    INFO(release.torch);
    const ExportedProgram p = read(release.torch, "mlp_dyn.pt2");
    CHECK(p.schema_major == release.major);
    CHECK(p.schema_minor == release.minor);
    CHECK(p.torch_version.substr(0, p.torch_version.find('+')) == release.torch);
    CHECK(p.name == "mlp_dyn");
    CHECK(p.opset_version.at("aten") == 10);
    CHECK(p.notes.empty());
    verify_weights(p);

    REQUIRE(p.graph.nodes.size() == 5);
    CHECK(p.graph.nodes[0].target == "torch.ops.aten.linear.default");
    CHECK(p.graph.nodes[1].inputs[0].name == "self");
    CHECK(p.input_specs.size() == 7);
    CHECK(p.input_specs[0].kind == InputKind::Parameter);
    CHECK(p.input_specs[0].target == "fc1.weight");
    CHECK(p.input_specs[4].kind == InputKind::Buffer);
    CHECK_FALSE(p.input_specs[4].persistent);
    CHECK(p.input_specs[5].kind == InputKind::TensorConstant);
    CHECK(p.input_specs[6].kind == InputKind::UserInput);
    CHECK(p.output_specs.size() == 1);

    REQUIRE(p.range_constraints.size() == 1);
    CHECK(p.range_constraints.begin()->second.min == 1);
    CHECK(p.range_constraints.begin()->second.max == 32);
    const TensorMeta& x = p.graph.tensor_values.at("x");
    CHECK_FALSE(x.sizes[0].expr.empty());
    CHECK((x.sizes[0].has_hint && x.sizes[0].value == 3));
    CHECK((x.sizes[1].expr.empty() && x.sizes[1].value == 16));

    CHECK(p.state_dict.size() == 4);
    CHECK(p.constants.size() == 2);
    for (const auto& [name, tensor] : newest.state_dict) {
      INFO(name);
      CHECK(p.state_dict.at(name).requires_grad);
      CHECK(p.state_dict.at(name).sizes == tensor.sizes);
    }
    REQUIRE((p.has_sample_inputs && p.sample_inputs.size() == 1));
    CHECK(std::get<StoredTensor>(p.sample_inputs[0]).sizes == std::vector<int64_t>{3, 16});
    CHECK(to_text(p).find("input buffer 'scale' (not persistent)") != std::string::npos);
  }
}

TEST_CASE("a bfloat16 cache in a mutated buffer") {
  for (const char* release : {"2.5.1", "2.7.1", "2.8.0", "2.9.1", "2.15.0"}) {
    INFO(release);
    const ExportedProgram p = read(release, "cache_bf16.decomp.pt2");
    REQUIRE(p.output_specs.size() == 2);
    CHECK(p.output_specs[0].kind == OutputKind::BufferMutation);
    CHECK(p.output_specs[0].target == "k");
    CHECK(p.output_specs[1].kind == OutputKind::UserOutput);
    const StoredTensor& k = p.state_dict.at("k");
    CHECK(k.dtype == DType::BFloat16);
    CHECK(bits(p, k) == std::string(128, '\0'));
    CHECK(std::get<StoredTensor>(p.sample_inputs[1]).dtype == DType::Int64);
    verify_weights(p);
  }
}

TEST_CASE("mutated inputs and integer buffers") {
  const ExportedProgram inplace = read("2.8.0", "inplace.decomp.pt2");
  CHECK(inplace.output_specs[0].kind == OutputKind::UserInputMutation);
  CHECK(inplace.output_specs[0].target ==
        std::get<TensorName>(inplace.input_specs[0].arg.value).name);
  const ExportedProgram counter = read("2.6.0", "counter.pt2");
  CHECK(counter.input_specs[0].kind == InputKind::Buffer);
}

TEST_CASE("sample inputs that are fake tensors leave none, with a note") {
  const ExportedProgram p = read("2.15.0", "cache_index_copy_cuda.pt2");
  CHECK_FALSE(p.has_sample_inputs);
  CHECK(p.sample_inputs.empty());
  REQUIRE(p.notes.size() == 1);
  CHECK(p.notes[0].find("fake tensor") != std::string::npos);
  const TensorMeta& meta = p.graph.tensor_values.begin()->second;
  CHECK((meta.device == Device{"cuda", 0}));
}
