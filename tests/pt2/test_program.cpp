// Whole programs: inputs of every kind, subgraphs, shared storages, every element type, other
// packings.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "ir/error.h"
#include "support.h"

using namespace aotc;
using namespace aotc::pt2;
using Catch::Contains;

namespace {

ExportedProgram read(const char* name) { return read_pt2(test::data_path(name)); }

const Node& node(const Graph& graph, std::string_view target) {
  for (const Node& n : graph.nodes)
    if (n.target == target) return n;
  FAIL("no node " << target);
  return graph.nodes.front();
}

const Argument& input(const Node& n, std::string_view name) {
  for (const NamedArgument& a : n.inputs)
    if (a.name == name) return a.arg;
  FAIL("no argument " << name);
  return n.inputs.front().arg;
}

}  // namespace

TEST_CASE("samples are flattened in the order of the inputs, keyword arguments in the program's") {
  const ExportedProgram p = read("arguments.pt2");
  REQUIRE(p.has_sample_inputs);
  REQUIRE(p.sample_inputs.size() == 11);
  REQUIRE(p.input_specs.size() == 11);
  CHECK(std::get<StoredTensor>(p.sample_inputs[0]).sizes == std::vector<int64_t>{3, 4});
  CHECK(std::get<double>(p.sample_inputs[1]) == 0.5);
  CHECK(std::get<bool>(p.sample_inputs[2]));
  CHECK(std::get<std::string>(p.sample_inputs[3]) == "mode");
  CHECK(std::holds_alternative<None>(p.sample_inputs[4]));
  CHECK(std::get<StoredTensor>(p.sample_inputs[5]).sizes == std::vector<int64_t>{2, 4});
  CHECK(std::get<StoredTensor>(p.sample_inputs[7]).sizes == std::vector<int64_t>{3, 2});
  CHECK(std::get<int64_t>(p.sample_inputs[8]) == 5);
  for (const size_t i : {9U, 10U}) {
    const auto& declared =
        p.graph.tensor_values.at(std::get<TensorName>(p.input_specs[i].arg.value).name);
    const auto& sample = std::get<StoredTensor>(p.sample_inputs[i]);
    CHECK(sample.sizes.size() == declared.sizes.size());
  }
  CHECK_THAT(p.in_spec, Contains("builtins.tuple"));
  CHECK_THAT(p.out_spec, Contains("builtins.dict"));
}

TEST_CASE("constants among the inputs keep their Python values") {
  const ExportedProgram p = read("arguments.pt2");
  for (size_t i = 1; i <= 4; ++i) CHECK(p.input_specs[i].kind == InputKind::ConstantInput);
  CHECK(p.input_specs[1].name == "scale");
  CHECK(std::get<double>(p.input_specs[1].arg.value) == 0.5);
  CHECK(std::get<bool>(p.input_specs[2].arg.value));
  CHECK(std::get<std::string>(p.input_specs[3].arg.value) == "mode");
  CHECK(std::holds_alternative<None>(p.input_specs[4].arg.value));
  CHECK(std::get<SymIntName>(p.input_specs[8].arg.value).name == "count");
}

TEST_CASE("arguments of nodes, subgraphs and symbols") {
  const ExportedProgram p = read("arguments.pt2");
  const Node& pad = node(p.graph, "torch.ops.aten.pad.default");
  CHECK(std::get<double>(input(pad, "value").value) == -INFINITY);
  CHECK(std::get<std::string>(input(pad, "mode").value) == "constant");
  CHECK(std::get<std::vector<Argument>>(input(pad, "pad").value).size() == 2);

  const auto& indices = std::get<std::vector<Argument>>(p.graph.nodes[10].inputs[1].arg.value);
  CHECK(std::holds_alternative<None>(indices[0].value));
  CHECK(std::holds_alternative<TensorName>(indices[1].value));

  const Node& cond = node(p.graph, "torch.ops.higher_order.cond");
  const auto& branch = std::get<GraphArg>(cond.inputs[1].arg.value);
  REQUIRE(branch.graph != nullptr);
  CHECK(branch.graph->nodes[0].target == "torch.ops.aten.sin.default");
  CHECK(std::get<GraphArg>(cond.inputs[2].arg.value).graph->nodes.size() == 1);
  CHECK(cond.is_hop_single_tensor_return.has_value());

  const Node& zeros = node(p.graph, "torch.ops.aten.new_zeros.default");
  const auto& size = std::get<std::vector<Argument>>(input(zeros, "size").value);
  CHECK(std::get<SymIntName>(size[1].value).name == "count");
  CHECK(std::get<LayoutArg>(input(zeros, "layout").value).value == 7);

  const Node& split = node(p.graph, "torch.ops.aten.split_with_sizes.default");
  CHECK(std::get<std::vector<Argument>>(split.outputs[0].value).size() == 2);
  CHECK_THAT(split.metadata.at("stack_trace"), Contains("make_data.py"));

  bool unbounded = false;
  for (const auto& [symbol, range] : p.range_constraints) unbounded |= range.min == 0 && !range.max;
  CHECK(unbounded);
  CHECK(p.guards_code.size() == 4);
}

TEST_CASE("tied weights and views share their storage") {
  const ExportedProgram p = read("storages.pt2");
  verify_weights(p);
  const auto& state = p.state_dict;
  CHECK(state.at("head").storage == state.at("embed").storage);
  for (const char* view : {"tail", "turned", "wide", "skipping", "empty"})
    CHECK(state.at(view).storage == state.at("pool").storage);
  CHECK(state.at("one").storage != state.at("pool").storage);
  CHECK(test::floats(p, state.at("turned")) ==
        std::vector<float>{0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11});
  CHECK(test::floats(p, state.at("wide")) == std::vector<float>(7, 5.0F));
  CHECK(test::floats(p, state.at("skipping")) == std::vector<float>{1, 4, 7, 10, 13, 16, 19});
  CHECK(test::floats(p, state.at("tail")).front() == 6.0F);
  CHECK(test::floats(p, p.constants.at("passing")) == std::vector<float>{2, 3});
  CHECK(state.at("empty").offset == 0);
}

TEST_CASE("weights are windows of the mapped file") {
  const ExportedProgram p = read("storages.pt2");
  const ExportedProgram moved = p;  // copies share the mapping
  for (size_t i = 0; i < p.storages.size(); ++i)
    CHECK(moved.storages[i].bytes.data() == p.storages[i].bytes.data());
  CHECK(p.mapping.use_count() == 2);
}

TEST_CASE("every element type is read from raw files") {
  const ExportedProgram p = read("dtypes.pt2");
  verify_weights(p);
#define X(enumerator, text, ...) CHECK(p.state_dict.at("of_" text).dtype == DType::enumerator);
  AOTC_DTYPES(X)
#undef X
  CHECK(test::floats(p, p.state_dict.at("of_float32")) == std::vector<float>{0, 1, -2});
  CHECK(test::dense(p, p.state_dict.at("of_float8_e4m3fn")).data == std::string("\0\x38\xc0", 3));
}

TEST_CASE("an archive packed again by another zip program reads the same") {
  for (const char* name :
       {"arguments.pt2", "storages.pt2", "torch-2.8.0/mlp_dyn.pt2", "torch-2.5.1/mlp_dyn.pt2"}) {
    INFO(name);
    const ExportedProgram original = read(name);
    auto files = test::unzip(test::read_file(test::data_path(name)));
    for (auto& f : files) f.deflate = true;
    const test::TempFile packed(test::make_zip(files, true, "packed again"));
    const ExportedProgram p = read_pt2(packed.path());
    verify_weights(p);
    CHECK(p.graph.nodes.size() == original.graph.nodes.size());
    REQUIRE(p.state_dict.size() == original.state_dict.size());
    for (const auto& [key, tensor] : original.state_dict)
      CHECK(test::dense(p, p.state_dict.at(key)).data == test::dense(original, tensor).data);
  }
}

TEST_CASE("raw files of a big-endian machine are turned") {
  auto files = test::unzip(test::read_file(test::data_path("storages.pt2")));
  test::member_ending(files, "/byteorder").data = "big";
  for (auto& f : files) {
    const bool raw = f.name.find("/data/weights/weight_") != f.name.npos;
    const size_t unit = f.name.ends_with("weight_2") ? 8 : 4;
    for (size_t i = 0; raw && i < f.data.size(); i += unit)
      std::reverse(&f.data[i], &f.data[i] + unit);
  }
  const test::TempFile file(test::make_zip(files));
  const ExportedProgram p = read_pt2(file.path()), little = read("storages.pt2");
  for (const auto& [key, tensor] : little.state_dict) {
    INFO(key);
    CHECK(test::dense(p, p.state_dict.at(key)).data == test::dense(little, tensor).data);
  }
}

TEST_CASE("a weight may be pickled alone, as those of tensor subclasses are") {
  auto files = test::unzip(test::read_file(test::data_path("torch-2.15.0/mlp_dyn.pt2")));
  auto saved = test::unzip(test::read_file(test::data_path("saved_2.pt")));
  // The pickle of a float32 tensor of shape [5]: 4 + 1 elements of storage 0.
  const std::string pickle =
      "\x80\2"
      "ctorch._utils\n_rebuild_tensor_v2\n((X\7" +
      std::string(3, '\0') + "storagectorch\nFloatStorage\nX\1" + std::string(3, '\0') + "0X\3" +
      std::string(3, '\0') + "cpuK\5tQK" + '\0' +
      "K\5\x85K\1\x85\x89"
      "ccollections\nOrderedDict\n)RtR.";
  const std::string data(20, '\0');
  test::member_ending(files, "/weight_3").data =
      test::make_zip({{"archive/data.pkl", pickle}, {"archive/data/0", data}});
  std::string& config = test::member_ending(files, "weights_config.json").data;
  const size_t at = config.find("\"use_pickle\": false", config.find("\"weight_3\""));
  REQUIRE(at != std::string::npos);
  config.replace(at, 19, "\"use_pickle\": true ");
  const test::TempFile file(test::make_zip(files));
  const ExportedProgram p = read_pt2(file.path());
  CHECK(test::floats(p, p.state_dict.at("fc2.bias")) == std::vector<float>(5, 0.0F));
}

TEST_CASE("the text of a program") {
  const std::string text = to_text(read("arguments.pt2"));
  CHECK_THAT(text, Contains("program 'arguments': schema 8.20, torch '2.15.0"));
  CHECK_THAT(text, Contains("input specialised 'scale': 0.5"));
  CHECK_THAT(text, Contains("%x: float32[s77, 4] cpu"));
  CHECK_THAT(
      text,
      Contains("torch.ops.aten.pad.default(self=%cat, pad=[1, 1], mode='constant', value=-inf)"));
  CHECK_THAT(text, Contains("    graph true_graph_0\n"));
  CHECK_THAT(text, Contains("# make_data.py:"));
  CHECK_THAT(text, Contains("sample 3: 'mode'"));
  CHECK_THAT(text, !Contains(AOTC_TESTS_DIR));
  CHECK(text == to_text(read("arguments.pt2")));
}
