// The top of the export schema: versions, signature, ranges of symbols, tree specs.
#include "ir/error.h"
#include "ir/pt2/quote.h"
#include "ir/pt2/schema.h"

namespace aotc::pt2 {
namespace {

constexpr int64_t kOldestMajor = 7, kNewestMajor = 8, kNewestMinor = 20;

Argument tensor_argument(JsonRef json, const char* kind = "as_tensor") {
  return {TensorName{json.require("name").text()}, kind};
}

InputSpec named_tensor_input(InputKind kind, JsonRef json, const char* target_key) {
  InputSpec spec;
  spec.kind = kind;
  spec.arg = tensor_argument(json.require("arg"));
  spec.target = json.require(target_key).text();
  return spec;
}

InputSpec buffer_input(JsonRef json) {
  InputSpec spec = named_tensor_input(InputKind::Buffer, json, "buffer_name");
  if (const auto persistent = json.find("persistent")) spec.persistent = persistent->boolean();
  return spec;
}

InputSpec custom_object_input(JsonRef json) {
  InputSpec spec;
  spec.kind = InputKind::CustomObj;
  const JsonRef arg = json.require("arg");
  spec.arg = {CustomObjName{arg.require("name").text(), arg.require("class_fqn").text()},
              "as_custom_obj"};
  spec.target = json.require("custom_obj_name").text();
  return spec;
}

// schema.ConstantValue has the tags of schema.Argument's scalars.
InputSpec constant_input(JsonRef json) {
  InputSpec spec;
  spec.kind = InputKind::ConstantInput;
  spec.name = json.require("name").text();
  const JsonRef value = json.require("value");
  spec.arg = parse_argument(value);
  const bool scalar = spec.arg.kind == "as_none" || spec.arg.kind == "as_int" ||
                      spec.arg.kind == "as_float" || spec.arg.kind == "as_string" ||
                      spec.arg.kind == "as_bool";
  if (!scalar) value.fail("expected None, a bool, a number or a string");
  return spec;
}

InputSpec parse_input_spec(JsonRef json) {
  const auto [tag, inside] = json.only_member();
  InputSpec spec;
  if (tag == "user_input") {
    spec.arg = parse_argument(inside.require("arg"));
    return spec;
  }
  if (tag == "token") {
    spec.kind = InputKind::Token;
    spec.arg = tensor_argument(inside.require("arg"), "token");
    return spec;
  }
  if (tag == "parameter") return named_tensor_input(InputKind::Parameter, inside, "parameter_name");
  if (tag == "tensor_constant")
    return named_tensor_input(InputKind::TensorConstant, inside, "tensor_constant_name");
  if (tag == "buffer") return buffer_input(inside);
  if (tag == "custom_obj") return custom_object_input(inside);
  if (tag == "constant_input") return constant_input(inside);
  json.fail(fmt::format("input kind {} is not one that aotc knows", quote(tag)));
}

struct OutputRow {
  std::string_view tag;
  OutputKind kind;
  const char* target_key;  // nullptr: it has no target
};

constexpr OutputRow kOutputRows[] = {
    {"loss_output", OutputKind::LossOutput, nullptr},
    {"token", OutputKind::Token, nullptr},
    {"buffer_mutation", OutputKind::BufferMutation, "buffer_name"},
    {"parameter_mutation", OutputKind::ParameterMutation, "parameter_name"},
    {"gradient_to_parameter", OutputKind::GradientToParameter, "parameter_name"},
    {"gradient_to_user_input", OutputKind::GradientToUserInput, "user_input_name"},
    {"user_input_mutation", OutputKind::UserInputMutation, "user_input_name"},
};

OutputSpec parse_output_spec(JsonRef json) {
  const auto [tag, inside] = json.only_member();
  OutputSpec spec;
  if (tag == "user_output") {
    spec.arg = parse_argument(inside.require("arg"));
    return spec;
  }
  for (const OutputRow& row : kOutputRows) {
    if (tag != row.tag) continue;
    spec.kind = row.kind;
    spec.arg = tensor_argument(inside.require("arg"), tag == "token" ? "token" : "as_tensor");
    if (row.target_key != nullptr) spec.target = inside.require(row.target_key).text();
    return spec;
  }
  json.fail(fmt::format("output kind {} is not one that aotc knows", quote(tag)));
}

std::string optional_text(JsonRef json, const char* key, const char* otherwise) {
  const auto value = json.find(key);
  return value ? value->text() : otherwise;
}

std::vector<std::string> optional_texts(JsonRef json, const char* key) {
  std::vector<std::string> out;
  if (const auto list = json.find(key))
    for (const JsonRef element : list->elements()) out.push_back(element.text());
  return out;
}

void parse_versions(JsonDocument& document, ExportedProgram& program) {
  const JsonRef root = document.root();
  program.torch_version = optional_text(root, "torch_version", "<=2.4");
  const JsonRef version = root.require("schema_version");
  const int64_t major = version.require("major").integer();
  const int64_t minor = version.require("minor").integer();
  if (major < kOldestMajor || major > kNewestMajor || minor < 0 || minor > 0xffff) {
    user_error(
        "{}: export schema {}.{}, written by torch {}; this aotc reads schema {}.x and {}.x (torch "
        "2.5 to 2.15); {}",
        document.where(), major, minor, quote(program.torch_version, 40), kOldestMajor,
        kNewestMajor,
        major > kNewestMajor ? "use a newer aotc, or export with torch 2.15 or older"
                             : "export the program again with a newer torch");
  }
  program.schema_major = static_cast<int>(major);
  program.schema_minor = static_cast<int>(minor);
  if (major == kNewestMajor && minor > kNewestMinor) {
    document.set_hint(
        fmt::format(" (the archive has schema {}.{}, written by torch {}; this aotc knows {}.{}: a "
                    "newer aotc may read it)",
                    major, minor, quote(program.torch_version, 40), kNewestMajor, kNewestMinor));
  }
}

void parse_ranges(JsonRef json, ExportedProgram& program) {
  for (const auto& [symbol, range] : json.members()) {
    Range& r = program.range_constraints[std::string(symbol)];
    if (const auto min = range.find("min_val")) r.min = min->bound();
    if (const auto max = range.find("max_val")) r.max = max->bound();
  }
}

// The root module's entry of the call graph says how Python arguments flatten.
void parse_tree_specs(JsonRef graph_module, ExportedProgram& program) {
  const auto entries = graph_module.find("module_call_graph");
  if (!entries) return;
  for (const JsonRef entry : entries->elements()) {
    const auto signature = entry.find("signature");
    if (!signature || optional_text(entry, "fqn", "") != "") continue;
    program.in_spec = optional_text(*signature, "in_spec", "");
    program.out_spec = optional_text(*signature, "out_spec", "");
    program.arg_names = optional_texts(*signature, "forward_arg_names");
    return;
  }
}

void check_counts(JsonRef graph_module, const ExportedProgram& program) {
  if (program.input_specs.size() != program.graph.inputs.size())
    graph_module.fail(fmt::format("the signature has {} inputs, the graph {}",
                                  program.input_specs.size(), program.graph.inputs.size()));
  if (program.output_specs.size() != program.graph.outputs.size())
    graph_module.fail(fmt::format("the signature has {} outputs, the graph {}",
                                  program.output_specs.size(), program.graph.outputs.size()));
}

}  // namespace

std::vector<InputSpec> parse_input_specs(JsonRef json) {
  std::vector<InputSpec> out;
  for (const JsonRef spec : json.elements()) out.push_back(parse_input_spec(spec));
  return out;
}

std::vector<OutputSpec> parse_output_specs(JsonRef json) {
  std::vector<OutputSpec> out;
  for (const JsonRef spec : json.elements()) out.push_back(parse_output_spec(spec));
  return out;
}

void parse_program(JsonDocument& document, ExportedProgram& program) {
  parse_versions(document, program);
  const JsonRef root = document.root();
  const JsonRef graph_module = root.require("graph_module");
  program.graph = parse_graph(graph_module.require("graph"));
  const JsonRef signature = graph_module.require("signature");
  program.input_specs = parse_input_specs(signature.require("input_specs"));
  program.output_specs = parse_output_specs(signature.require("output_specs"));
  check_counts(graph_module, program);
  parse_tree_specs(graph_module, program);
  if (const auto ranges = root.find("range_constraints")) parse_ranges(*ranges, program);
  if (const auto opsets = root.find("opset_version")) {
    for (const auto& [name, version] : opsets->members())
      program.opset_version[std::string(name)] = static_cast<int>(version.integer() & 0x7fffffff);
  }
  program.verifiers = optional_texts(root, "verifiers");
  program.guards_code = optional_texts(root, "guards_code");
}

}  // namespace aotc::pt2
