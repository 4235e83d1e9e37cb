// The argument union of the export schema: one row per tag.
#include <fmt/format.h>

#include <limits>

#include "ir/pt2/quote.h"
#include "ir/pt2/schema.h"

namespace aotc::pt2 {
namespace {

using Value = decltype(Argument::value);

Value tensor(JsonRef json) { return TensorName{json.require("name").text()}; }

// A list whose elements are of one kind; they carry that kind's tag.
template <typename Parse>
Value list_of(JsonRef json, const char* element_kind, Parse parse) {
  std::vector<Argument> out;
  for (const JsonRef element : json.elements()) out.push_back({parse(element), element_kind});
  return out;
}

Value integer(JsonRef json) { return json.integer(); }
Value number(JsonRef json) { return json.number(); }
Value boolean(JsonRef json) { return json.boolean(); }
Value string(JsonRef json) { return json.text(); }

// The unions SymIntArgument, SymFloatArgument, SymBoolArgument: a name in the graph or a value.
template <typename Name>
Value symbolic(JsonRef json, std::string_view value_tag, Value (*parse_value)(JsonRef)) {
  const auto [tag, inside] = json.only_member();
  if (tag == "as_name") return Name{inside.text()};
  if (tag == value_tag) return parse_value(inside);
  json.fail(fmt::format("expected 'as_name' or '{}', found {}", value_tag, quote(tag)));
}

Value sym_int(JsonRef json) { return symbolic<SymIntName>(json, "as_int", integer); }
Value sym_float(JsonRef json) { return symbolic<SymFloatName>(json, "as_float", number); }
Value sym_bool(JsonRef json) { return symbolic<SymBoolName>(json, "as_bool", boolean); }

Value optional_tensor(JsonRef json) {
  const auto [tag, inside] = json.only_member();
  if (tag == "as_none") return None{};
  if (tag == "as_tensor") return tensor(inside);
  json.fail(fmt::format("expected 'as_tensor' or 'as_none', found {}", quote(tag)));
}

int small_integer(JsonRef json) {
  const int64_t value = json.integer();
  if (value < 0 || value > std::numeric_limits<int>::max()) json.fail("expected a small number");
  return static_cast<int>(value);
}

Value device(JsonRef json) {
  Device d{json.require("type").text()};
  if (const auto index = json.find("index")) d.index = small_integer(*index);
  return d;
}

Value graph(JsonRef json) {
  return GraphArg{json.require("name").text(),
                  std::make_shared<Graph>(parse_graph(json.require("graph")))};
}

Value dictionary(JsonRef json) {
  std::map<std::string, Argument> out;
  for (const auto& [key, value] : json.members()) out.emplace(key, parse_argument(value));
  return out;
}

struct Row {
  std::string_view tag;
  Value (*parse)(JsonRef);
};

// as_none's content is not looked at: true in all schemas read here, a tuple in older ones.
constexpr Row kRows[] = {
    {"as_none", [](JsonRef) -> Value { return None{}; }},
    {"as_tensor", tensor},
    {"as_tensors", [](JsonRef j) { return list_of(j, "as_tensor", tensor); }},
    {"as_int", integer},
    {"as_ints", [](JsonRef j) { return list_of(j, "as_int", integer); }},
    {"as_float", number},
    {"as_floats", [](JsonRef j) { return list_of(j, "as_float", number); }},
    {"as_string", string},
    {"as_strings", [](JsonRef j) { return list_of(j, "as_string", string); }},
    {"as_sym_int", sym_int},
    {"as_sym_ints", [](JsonRef j) { return list_of(j, "as_sym_int", sym_int); }},
    {"as_scalar_type", [](JsonRef j) -> Value { return ScalarTypeArg{parse_dtype(j)}; }},
    {"as_memory_format", [](JsonRef j) -> Value { return MemoryFormatArg{small_integer(j)}; }},
    {"as_layout", [](JsonRef j) -> Value { return LayoutArg{small_integer(j)}; }},
    {"as_device", device},
    {"as_bool", boolean},
    {"as_bools", [](JsonRef j) { return list_of(j, "as_bool", boolean); }},
    {"as_sym_bool", sym_bool},
    {"as_sym_bools", [](JsonRef j) { return list_of(j, "as_sym_bool", sym_bool); }},
    {"as_graph", graph},
    {"as_optional_tensors",
     [](JsonRef j) { return list_of(j, "as_optional_tensor", optional_tensor); }},
    {"as_custom_obj",
     [](JsonRef j) -> Value {
       return CustomObjName{j.require("name").text(), j.require("class_fqn").text()};
     }},
    {"as_operator", [](JsonRef j) -> Value { return OperatorName{j.text()}; }},
    {"as_sym_float", sym_float},
    {"as_sym_floats", [](JsonRef j) { return list_of(j, "as_sym_float", sym_float); }},
    {"as_optional_tensor", optional_tensor},
    {"as_complex",
     [](JsonRef j) -> Value {
       return ComplexValue{j.require("real").number(), j.require("imag").number()};
     }},
    {"as_nested_tensors",
     [](JsonRef j) {
       return list_of(j, "as_tensors", [](JsonRef k) { return list_of(k, "as_tensor", tensor); });
     }},
    {"as_int_lists",
     [](JsonRef j) {
       return list_of(j, "as_ints", [](JsonRef k) { return list_of(k, "as_int", integer); });
     }},
    {"as_string_to_argument", dictionary},
    {"as_float_lists",
     [](JsonRef j) {
       return list_of(j, "as_floats", [](JsonRef k) { return list_of(k, "as_float", number); });
     }},
};

}  // namespace

DType parse_dtype(JsonRef json) {
  const int64_t number = json.integer();
  const bool fits = number >= 0 && number <= std::numeric_limits<int>::max();
  const auto dtype = fits ? dtype_from_schema(static_cast<int>(number)) : std::nullopt;
  if (!dtype)
    json.fail(fmt::format("scalar type number {} is not one that aotc knows{}", number,
                          number == 33 ? " (float8_e8m0fnu)" : ""));
  return *dtype;
}

Argument parse_argument(JsonRef json) {
  const auto [tag, inside] = json.only_member();
  for (const Row& row : kRows)
    if (tag == row.tag) return {row.parse(inside), std::string(tag)};
  json.fail(fmt::format("argument kind {} is not one that aotc knows", quote(tag)));
}

}  // namespace aotc::pt2
