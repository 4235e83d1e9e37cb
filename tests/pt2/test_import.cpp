// What the importer says of programs that it cannot take.
#include <catch2/catch.hpp>

#include "ir/graph.h"
#include "ir/ops/op.h"

using namespace aotc;
using Catch::Matchers::Contains;

namespace {

pt2::TensorMeta float_vector() {
  pt2::TensorMeta m;
  m.dtype = DType::Float32;
  m.layout = 7;
  m.sizes = {{"", 4}};
  m.strides = {{"", 1}};
  return m;
}

pt2::Argument tensor(const std::string& name) { return {pt2::TensorName{name}, "as_tensor"}; }

pt2::InputSpec input(pt2::InputKind kind, const std::string& name) {
  pt2::InputSpec spec;
  spec.kind = kind;
  spec.arg = tensor(name);
  return spec;
}

pt2::OutputSpec output(pt2::OutputKind kind, const std::string& name) {
  pt2::OutputSpec spec;
  spec.kind = kind;
  spec.arg = tensor(name);
  return spec;
}

pt2::Node node(const std::string& target, const std::string& result, int line) {
  pt2::Node n;
  n.target = target;
  n.name = result;
  n.inputs = {{"self", tensor("x")}};
  n.outputs = {tensor(result)};
  n.metadata["stack_trace"] =
      "File \"model.py\", line " + std::to_string(line) + ", in forward\n    y = f(x)";
  return n;
}

// x -> two ops that nobody has -> y
std::shared_ptr<pt2::ExportedProgram> program() {
  auto p = std::make_shared<pt2::ExportedProgram>();
  p->path = "m.pt2";
  for (const char* name : {"x", "y", "z"}) p->graph.tensor_values[name] = float_vector();
  p->graph.nodes = {node("torch.ops.mine.first.default", "y", 7),
                    node("torch.ops.mine.second.default", "z", 9)};
  p->input_specs.push_back(input(pt2::InputKind::UserInput, "x"));
  p->output_specs.push_back(output(pt2::OutputKind::UserOutput, "z"));
  return p;
}

std::string refusal(const std::shared_ptr<pt2::ExportedProgram>& p) {
  try {
    import_graph(p);
  } catch (const UserError& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("every unsupported op is named with its line", "[import]") {
  const std::string text = refusal(program());
  CHECK_THAT(text, Contains("m.pt2: unsupported op torch.ops.mine.first.default"));
  CHECK_THAT(text, Contains("model.py:7"));
  CHECK_THAT(text, Contains("m.pt2: unsupported op torch.ops.mine.second.default"));
  CHECK_THAT(text, Contains("model.py:9"));
}

TEST_CASE("random ops are named with a remedy, beside all others", "[import]") {
  auto p = program();
  p->graph.tensor_values["r"] = float_vector();
  p->graph.tensor_values["d"] = float_vector();
  p->graph.nodes.push_back(node("torch.ops.aten.rand_like.default", "r", 11));
  pt2::Node dropout = node("torch.ops.aten.dropout.default", "d", 12);
  dropout.inputs = {{"input", tensor("x")}, {"p", {0.5, "as_float"}}, {"train", {true, "as_bool"}}};
  p->graph.nodes.push_back(dropout);
  const std::string text = refusal(p);
  CHECK_THAT(text, Contains("torch.ops.mine.first.default"));
  CHECK_THAT(text, Contains("torch.ops.aten.rand_like.default at model.py:11"));
  CHECK_THAT(text, Contains("pass them as inputs of the model"));
  CHECK_THAT(text, Contains("torch.ops.aten.dropout.default at model.py:12"));
  CHECK_THAT(text, Contains("model.eval()"));
  p->graph.nodes.back().inputs[1].arg = {0.0, "as_float"};  // the identity
  CHECK_THAT(refusal(p), !Contains("dropout"));
}

TEST_CASE("only a program that is not decomposed is told to be", "[import]") {
  auto p = program();
  CHECK_THAT(refusal(p), Contains("run_decompositions()"));  // old archives do not say
  p->verifiers = {"TRAINING"};
  CHECK_THAT(refusal(p), Contains("run_decompositions()"));
  p->verifiers = {"ATEN"};
  CHECK_THAT(refusal(p), !Contains("run_decompositions()"));
  CHECK_THAT(refusal(p), Contains("replace it in the model"));
}

TEST_CASE("an op with side effects does without its token", "[import]") {
  auto p = program();
  p->graph.nodes.resize(1);
  p->output_specs = {output(pt2::OutputKind::UserOutput, "y")};
  p->graph.tensor_values["token_1"] = float_vector();
  p->input_specs.push_back(input(pt2::InputKind::Token, "token_1"));
  p->output_specs.push_back(output(pt2::OutputKind::Token, "token_1"));
  pt2::Node& n = p->graph.nodes[0];
  n.target = "torch.ops.higher_order.with_effects";
  n.inputs = {{"", tensor("token_1")},
              {"", {pt2::OperatorName{"torch.ops.aten._print.default"}, "as_operator"}}};
  const pt2::Argument result = n.outputs.at(0);
  n.outputs = {tensor("token_2"), {pt2::None{}, "as_none"}};
  const std::string text = refusal(p);
  CHECK_THAT(text, Contains("unsupported op torch.ops.aten._print.default"));
  CHECK_THAT(text, !Contains("oken"));

  n.inputs[1].arg.value = pt2::OperatorName{"torch.ops.aten.relu.default"};
  n.inputs.push_back({"", tensor("x")});
  n.outputs = {tensor("token_2"), result};
  const ImportedGraph imported = import_graph(p);
  REQUIRE(imported.graph->nodes.size() == 1);
  const Node& relu = *imported.graph->nodes.front();
  CHECK(relu.op->name() == "aten.relu.default");
  CHECK(relu.args.size() == 1);
  CHECK(relu.outputs.size() == 1);
  CHECK(imported.graph->inputs.size() == 1);
  CHECK(imported.graph->outputs.size() == 1);
}

TEST_CASE("side effects of what is no op are named", "[import]") {
  auto p = program();
  p->graph.nodes[0].target = "torch.ops.higher_order.with_effects";
  CHECK_THAT(refusal(p), Contains("unsupported op torch.ops.higher_order.with_effects"));
}

TEST_CASE("a custom object is named", "[import]") {
  auto p = program();
  pt2::InputSpec object;
  object.kind = pt2::InputKind::CustomObj;
  object.target = "tokenizer";
  p->input_specs.push_back(object);
  CHECK_THAT(refusal(p), Contains("input 'tokenizer' is a custom (TorchBind) object"));
}

namespace {

pt2::OutputSpec mutation(pt2::OutputKind kind, const std::string& name, const std::string& target) {
  pt2::OutputSpec spec = output(kind, name);
  spec.target = target;
  return spec;
}

// x [4] -> y = -x, with y written to something.
std::shared_ptr<pt2::ExportedProgram> writing(pt2::OutputKind kind, const std::string& target) {
  auto p = program();
  p->graph.nodes = {node("torch.ops.aten.neg.default", "y", 7)};
  p->output_specs = {mutation(kind, "y", target), output(pt2::OutputKind::UserOutput, "y")};
  return p;
}

constexpr char kZeros[64] = {};

// The same with an input `w` of this kind and type, which has a value in the archive.
std::shared_ptr<pt2::ExportedProgram> writing_state(pt2::InputKind kind, DType dtype,
                                                    std::vector<int64_t> sizes) {
  auto p = writing(kind == pt2::InputKind::Parameter ? pt2::OutputKind::ParameterMutation
                                                     : pt2::OutputKind::BufferMutation,
                   "layer.w");
  pt2::InputSpec spec = input(kind, "w");
  spec.target = "layer.w";
  p->input_specs.push_back(spec);
  pt2::TensorMeta m = float_vector();
  m.dtype = dtype;
  m.sizes.clear();
  m.strides.clear();
  pt2::StoredTensor stored;
  stored.dtype = dtype;
  stored.sizes = sizes;
  int64_t stride = 1;
  for (size_t d = sizes.size(); d-- > 0; stride *= sizes[d]) {
    m.sizes.insert(m.sizes.begin(), {"", sizes[d]});
    m.strides.insert(m.strides.begin(), {"", stride});
    stored.strides.insert(stored.strides.begin(), stride);
  }
  p->graph.tensor_values["w"] = m;
  stored.storage = 0;
  p->storages.push_back({std::string_view(kZeros, sizeof kZeros), "data/w", std::nullopt});
  p->state_dict["layer.w"] = stored;
  return p;
}

}  // namespace

TEST_CASE("a mutated parameter is named with a remedy", "[import]") {
  const std::string text = refusal(writing_state(pt2::InputKind::Parameter, DType::Float32, {4}));
  CHECK_THAT(text, Contains("model.py:7: node 'y' mutates 'layer.w', a parameter"));
  CHECK_THAT(text, Contains("register it as a buffer"));
}

TEST_CASE("what is written to a buffer is cast and broadcast to it", "[import]") {
  auto p = writing_state(pt2::InputKind::Buffer, DType::Float16, {2, 4});
  const ImportedGraph g = import_graph(p);
  const TensorType& written = g.graph->write_backs.at(0).value->type;
  CHECK(written.dtype == DType::Float16);
  CHECK(written.sizes == std::vector<Sym>{2, 4});
  CHECK(g.graph->outputs.at(0).value->type.sizes == std::vector<Sym>{4});
}

TEST_CASE("a node made for what a buffer holds reads the copy", "[import]") {
  auto p = writing_state(pt2::InputKind::Buffer, DType::Float16, {4});
  for (const auto& [name, dtype] : {std::pair("a", DType::Float16), {"b", DType::Float32}}) {
    pt2::Node n = node("torch.ops.aten.abs.default", name, 9);
    n.inputs[0].arg = tensor("y");
    p->graph.nodes.push_back(n);
    p->graph.tensor_values[name] = float_vector();
    p->graph.tensor_values[name].dtype = dtype;
    p->output_specs.push_back(output(pt2::OutputKind::UserOutput, name));
  }
  const ImportedGraph g = import_graph(p);
  auto operand = [&](size_t i) {
    return std::get<Value*>(g.graph->outputs.at(i).value->producer->args[0]);
  };
  CHECK(operand(1) == g.graph->write_backs.at(0).value);
  CHECK(operand(2) == g.graph->outputs.at(0).value);
}

TEST_CASE("an input that gets another shape is refused in both forms", "[import]") {
  auto written = writing(pt2::OutputKind::UserInputMutation, "x");
  pt2::Node& unsqueezed = written->graph.nodes[0];
  unsqueezed.target = "torch.ops.aten.unsqueeze.default";
  unsqueezed.inputs.push_back({"dim", {int64_t{0}, "as_int"}});
  pt2::TensorMeta& m = written->graph.tensor_values["y"];
  m.sizes = {{"", 1}, {"", 4}};
  m.strides = {{"", 4}, {"", 1}};
  CHECK_THAT(refusal(written), Contains("the input 'x' has the sizes [4], the value that it is "
                                        "given has [1, 4]"));
  written->output_specs.erase(written->output_specs.begin());
  unsqueezed.target = "torch.ops.aten.unsqueeze_.default";
  CHECK_THROWS_WITH(functionalize(import_graph(written)),
                    Contains("changes the shape of the input 'x' itself"));
}
