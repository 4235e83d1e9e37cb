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
