// The export schema, piece by piece: every argument kind, signature entries, ranges, versions.
#include <catch2/catch.hpp>
#include <cmath>

#include "ir/error.h"
#include "ir/pt2/schema.h"
#include "support.h"

using namespace aotc;
using namespace aotc::pt2;
using Catch::Contains;

namespace {

Argument argument(const std::string& json) {
  const JsonDocument document(json, "a.pt2: 'model.json'");
  return parse_argument(document.root());
}

template <typename T>
T value(const std::string& json) {
  return std::get<T>(argument(json).value);
}

std::vector<Argument> list(const std::string& json) { return value<std::vector<Argument>>(json); }

template <typename F>
std::string error_of(F&& f) {
  try {
    f();
    return "";
  } catch (const UserError& e) {
    return e.what();
  }
}

// A program with nothing in it but what `more` says.
std::string program_json(const std::string& version, const std::string& more = "") {
  return R"({"graph_module": {"graph": {"inputs": [], "outputs": [], "nodes": [], "tensor_values": {}},
             "signature": {"input_specs": [], "output_specs": []}}, "schema_version": )" +
         version + more + "}";
}

ExportedProgram program(const std::string& json) {
  JsonDocument document(json, "a.pt2: 'model.json'");
  ExportedProgram p;
  parse_program(document, p);
  return p;
}

const std::string kCurrent = R"({"major": 8, "minor": 20})";

}  // namespace

TEST_CASE("scalar arguments") {
  CHECK(std::holds_alternative<None>(argument(R"({"as_none": true})").value));
  CHECK(std::holds_alternative<None>(argument(R"({"as_none": []})").value));
  CHECK(value<bool>(R"({"as_bool": false})") == false);
  CHECK(value<int64_t>(R"({"as_int": -9223372036854775808})") == INT64_MIN);
  CHECK(value<double>(R"({"as_float": 1.5})") == 1.5);
  CHECK(value<double>(R"({"as_float": 2})") == 2.0);
  CHECK(value<double>(R"({"as_float": "Infinity"})") == INFINITY);
  CHECK(value<double>(R"({"as_float": "-Infinity"})") == -INFINITY);
  CHECK(std::isnan(value<double>(R"({"as_float": "NaN"})")));
  CHECK(std::signbit(value<double>(R"({"as_float": -0.0})")));
  CHECK(value<std::string>(R"({"as_string": "N\u0041\"I"})") == "NA\"I");
  const auto z = value<ComplexValue>(R"({"as_complex": {"real": 1.0, "imag": "NaN"}})");
  CHECK((z.real == 1.0 && std::isnan(z.imag)));
  CHECK(value<ScalarTypeArg>(R"({"as_scalar_type": 13})").dtype == DType::BFloat16);
  CHECK(value<MemoryFormatArg>(R"({"as_memory_format": 2})").value == 2);
  CHECK(value<LayoutArg>(R"({"as_layout": 7})").value == 7);
  CHECK((value<Device>(R"({"as_device": {"type": "cuda", "index": 1}})") == Device{"cuda", 1}));
  CHECK((value<Device>(R"({"as_device": {"type": "cpu", "index": null}})") == Device{"cpu", -1}));
  CHECK((value<Device>(R"({"as_device": {"type": "cpu"}})") == Device{"cpu", -1}));
  CHECK(value<OperatorName>(R"({"as_operator": "torch.ops.aten.add.Tensor"})").name ==
        "torch.ops.aten.add.Tensor");
}

TEST_CASE("Python's bare words for what JSON lacks") {
  CHECK(value<double>(R"({"as_float": Infinity})") == INFINITY);
  CHECK(value<double>(R"({"as_float": -Infinity})") == -INFINITY);
  const auto numbers = list(R"({"as_floats": [NaN, 1.0, -Infinity, 2.0]})");
  CHECK(std::isnan(std::get<double>(numbers[0].value)));
  CHECK(std::get<double>(numbers[2].value) == -INFINITY);
  CHECK(std::get<double>(numbers[3].value) == 2.0);
  CHECK(value<std::string>(R"({"as_string": "NaN \\\" Infinity"})") == "NaN \\\" Infinity");
}

TEST_CASE("names") {
  CHECK(value<TensorName>(R"({"as_tensor": {"name": "x"}})").name == "x");
  CHECK(value<SymIntName>(R"({"as_sym_int": {"as_name": "s"}})").name == "s");
  CHECK(value<int64_t>(R"({"as_sym_int": {"as_int": 4}})") == 4);
  CHECK(value<SymFloatName>(R"({"as_sym_float": {"as_name": "f"}})").name == "f");
  CHECK(value<double>(R"({"as_sym_float": {"as_float": 0.5}})") == 0.5);
  CHECK(value<SymBoolName>(R"({"as_sym_bool": {"as_name": "b"}})").name == "b");
  CHECK(value<bool>(R"({"as_sym_bool": {"as_bool": true}})"));
  CHECK(value<TensorName>(R"({"as_optional_tensor": {"as_tensor": {"name": "t"}}})").name == "t");
  CHECK(
      std::holds_alternative<None>(argument(R"({"as_optional_tensor": {"as_none": true}})").value));
  const auto object =
      value<CustomObjName>(R"({"as_custom_obj": {"name": "o", "class_fqn": "my.Class"}})");
  CHECK((object.name == "o" && object.class_fqn == "my.Class"));
}

TEST_CASE("lists carry the kind of their elements") {
  for (const auto& [json, kind] : std::vector<std::pair<const char*, const char*>>{
           {R"({"as_tensors": [{"name": "x"}, {"name": "y"}]})", "as_tensor"},
           {R"({"as_ints": [1, 2]})", "as_int"},
           {R"({"as_floats": [1.0, 2.0]})", "as_float"},
           {R"({"as_strings": ["a", "b"]})", "as_string"},
           {R"({"as_bools": [true, false]})", "as_bool"},
           {R"({"as_sym_ints": [{"as_int": 1}, {"as_name": "s"}]})", "as_sym_int"},
           {R"({"as_sym_floats": [{"as_float": 1.0}, {"as_name": "s"}]})", "as_sym_float"},
           {R"({"as_sym_bools": [{"as_bool": true}, {"as_name": "s"}]})", "as_sym_bool"},
           {R"({"as_optional_tensors": [{"as_none": true}, {"as_tensor": {"name": "x"}}]})",
            "as_optional_tensor"},
           {R"({"as_nested_tensors": [[{"name": "x"}], []]})", "as_tensors"},
           {R"({"as_int_lists": [[1], [2, 3]]})", "as_ints"},
           {R"({"as_float_lists": [[1.0], []]})", "as_floats"}}) {
    INFO(json);
    const auto elements = list(json);
    REQUIRE(elements.size() == 2);
    CHECK(elements[0].kind == kind);
    CHECK(elements[1].kind == kind);
  }
  CHECK(list(R"({"as_ints": []})").empty());
  CHECK(std::get<SymIntName>(list(R"({"as_sym_ints": [{"as_int": 1}, {"as_name": "s"}]})")[1].value)
            .name == "s");
  CHECK(
      std::get<std::vector<Argument>>(list(R"({"as_int_lists": [[1], [2, 3]]})")[1].value).size() ==
      2);
}

TEST_CASE("dictionaries and graphs nest") {
  const auto dict = value<std::map<std::string, Argument>>(
      R"({"as_string_to_argument": {"a": {"as_int": 1}, "b": {"as_string_to_argument": {}}}})");
  CHECK(std::get<int64_t>(dict.at("a").value) == 1);
  const auto graph = value<GraphArg>(
      R"({"as_graph": {"name": "body", "graph": {"inputs": [{"as_tensor": {"name": "x"}}],
          "outputs": [{"as_int": 1}], "nodes": [], "tensor_values": {},
          "sym_int_values": {"s": {"as_expr": {"expr_str": "s0", "hint": {"as_int": 3}}}},
          "sym_float_values": {"f": {"as_float": 0.5}},
          "sym_bool_values": {"b": {"as_expr": {"expr_str": "s0 < 3", "hint": null}}},
          "is_single_tensor_return": true}}})");
  CHECK(graph.name == "body");
  CHECK(graph.graph->is_single_tensor_return);
  CHECK(graph.graph->sym_int_values.at("s").expr.value == 3);
  CHECK(graph.graph->sym_float_values.at("f").value == 0.5);
  CHECK_FALSE(graph.graph->sym_bool_values.at("b").has_hint);
}

TEST_CASE("what is used must have its type; the message gives the path") {
  for (const char* bad : {R"({"as_int": 1.0})",
                          R"({"as_int": true})",
                          R"({"as_int": "1"})",
                          R"({"as_int": 9223372036854775808})",
                          R"({"as_bool": 1})",
                          R"({"as_float": true})",
                          R"({"as_float": "inf"})",
                          R"({"as_string": 1})",
                          R"({"as_tensor": "x"})",
                          R"({"as_tensor": {}})",
                          R"({"as_ints": 1})",
                          R"({"as_ints": [true]})",
                          R"({"as_scalar_type": 33})",
                          R"({"as_scalar_type": 4294967303})",
                          R"({"as_sym_int": {"as_float": 1.0}})",
                          R"({"as_device": {}})",
                          R"({"as_device": {"type": "cuda", "index": -5}})",
                          R"({"as_nothing_known": 1})",
                          R"({"as_int": 1, "as_bool": true})",
                          "{}",
                          "[]",
                          "1",
                          "null"}) {
    INFO(bad);
    CHECK_THAT(error_of([&] { argument(bad); }), Contains("a.pt2: 'model.json'"));
  }
  CHECK_THAT(error_of([] { argument(R"({"as_sym_ints": [{"as_int": 1}, {"as_int": null}]})"); }),
             Contains("'as_sym_ints[1].as_int': expected an integer of 64 bits, found null"));
}

TEST_CASE("JSON that is none, or too deep") {
  const auto parse = [](const std::string& text) {
    return error_of([&] { JsonDocument(text, "x: 'y'"); });
  };
  for (const char* bad :
       {"", "{", "nul", "{\"a\":}", "\"", "\"\\", "\xff", "[1,]", "1e999", "NaN1", "In", "-"})
    CHECK_THAT(parse(bad), Contains("x: 'y': not valid JSON"));
  CHECK_THAT(parse(std::string(100'000, '[')), Contains("512 levels"));
  CHECK(parse(std::string(500, '[') + std::string(500, ']')) == "");
}

TEST_CASE(
    "schema versions: others are refused, newer minor ones are read as far as they are known") {
  CHECK(program(program_json(kCurrent)).schema_minor == 20);
  CHECK(program(program_json(R"({"major": 7, "minor": 3})")).torch_version == "<=2.4");
  const auto future = error_of([] {
    program(program_json(R"({"major": 9, "minor": 0})", R"(, "torch_version": "3.0.0")"));
  });
  CHECK_THAT(future, Contains("schema 9.0") && Contains("'3.0.0'") && Contains("8.x") &&
                         Contains("newer aotc"));
  CHECK_THAT(error_of([] { program(program_json(R"({"major": 5, "minor": 1})")); }),
             Contains("newer torch"));
  CHECK(program(program_json(R"({"major": 8, "minor": 99})", R"(, "new_field": {"x": 1})"))
            .schema_minor == 99);
  const auto unknown = error_of([] {
    std::string json = program_json(R"({"major": 8, "minor": 99})");
    test::replace_all(json, R"("outputs": [])", R"("outputs": [{"as_new": 1}])");
    program(json);
  });
  CHECK_THAT(unknown, Contains("'as_new'") && Contains("schema 8.99") && Contains("newer aotc"));
}

TEST_CASE("ranges of symbols, bounded and not") {
  const ExportedProgram p = program(program_json(kCurrent, R"(, "range_constraints": {
      "a": {"min_val": 2, "max_val": 64}, "b": {"min_val": null, "max_val": null}, "c": {},
      "d": {"min_val": "-int_oo", "max_val": "int_oo"}, "e": {"min_val": -Infinity, "max_val": Infinity},
      "f": {"min_val": 0, "max_val": 9223372036854775806}, "g": {"min_val": -9223372036854775808, "max_val": 9223372036854775807},
      "h": {"min_val": 1.0, "max_val": 1e30}, "i": {"min_val": 0, "max_val": 18446744073709551615}})"));
  CHECK((p.range_constraints.at("a").min == 2 && p.range_constraints.at("a").max == 64));
  for (const char* name : {"b", "c", "d", "e", "g"}) {
    INFO(name);
    CHECK_FALSE((p.range_constraints.at(name).min || p.range_constraints.at(name).max));
  }
  CHECK((p.range_constraints.at("f").min == 0 && !p.range_constraints.at("f").max));
  CHECK((p.range_constraints.at("h").min == 1 && !p.range_constraints.at("h").max));
  CHECK_FALSE(p.range_constraints.at("i").max);
  CHECK(error_of([] {
          program(program_json(kCurrent, R"(, "range_constraints": {"a": {"min_val": 1.5}})"));
        }) != "");
}

TEST_CASE("every kind of input and output") {
  const JsonDocument in(R"([{"user_input": {"arg": {"as_sym_int": {"as_name": "n"}}}},
    {"parameter": {"arg": {"name": "p"}, "parameter_name": "w"}},
    {"buffer": {"arg": {"name": "b"}, "buffer_name": "k", "persistent": false}},
    {"tensor_constant": {"arg": {"name": "c"}, "tensor_constant_name": "t"}},
    {"custom_obj": {"arg": {"name": "o", "class_fqn": "C"}, "custom_obj_name": "obj"}},
    {"token": {"arg": {"name": "tok"}}},
    {"constant_input": {"name": "flag", "value": {"as_bool": true}}}])",
                        "x");
  const std::vector<InputSpec> inputs = parse_input_specs(in.root());
  CHECK(inputs[0].kind == InputKind::UserInput);
  CHECK((inputs[1].kind == InputKind::Parameter && inputs[1].target == "w"));
  CHECK((inputs[2].kind == InputKind::Buffer && inputs[2].target == "k" && !inputs[2].persistent));
  CHECK((inputs[3].kind == InputKind::TensorConstant && inputs[3].target == "t"));
  CHECK((inputs[4].kind == InputKind::CustomObj && inputs[4].target == "obj"));
  CHECK(inputs[5].kind == InputKind::Token);
  CHECK((inputs[6].kind == InputKind::ConstantInput && inputs[6].name == "flag"));
  CHECK(std::get<bool>(inputs[6].arg.value));

  const JsonDocument out(
      R"([{"user_output": {"arg": {"as_none": true}}}, {"loss_output": {"arg": {"name": "l"}}},
    {"buffer_mutation": {"arg": {"name": "m"}, "buffer_name": "k"}},
    {"gradient_to_parameter": {"arg": {"name": "g"}, "parameter_name": "w"}},
    {"gradient_to_user_input": {"arg": {"name": "g"}, "user_input_name": "x"}},
    {"user_input_mutation": {"arg": {"name": "m"}, "user_input_name": "x"}},
    {"token": {"arg": {"name": "t"}}}, {"parameter_mutation": {"arg": {"name": "m"}, "parameter_name": "w"}}])",
      "x");
  const std::vector<OutputSpec> outputs = parse_output_specs(out.root());
  const OutputKind kinds[] = {OutputKind::UserOutput,
                              OutputKind::LossOutput,
                              OutputKind::BufferMutation,
                              OutputKind::GradientToParameter,
                              OutputKind::GradientToUserInput,
                              OutputKind::UserInputMutation,
                              OutputKind::Token,
                              OutputKind::ParameterMutation};
  const char* targets[] = {"", "", "k", "w", "x", "x", "", "w"};
  for (size_t i = 0; i < std::size(kinds); ++i) {
    CHECK(outputs[i].kind == kinds[i]);
    CHECK(outputs[i].target == targets[i]);
  }
}
