// Graphs, nodes and the metadata of values of the export schema.
#include <fmt/format.h>

#include <limits>

#include "ir/pt2/quote.h"
#include "ir/pt2/schema.h"

namespace aotc::pt2 {
namespace {

// The parts of SymExpr that SymInt, SymFloat and SymBool share.
struct ParsedExpr {
  std::string expr;
  std::optional<JsonRef> hint;  // the value inside SymExprHint
};

ParsedExpr parse_expr(JsonRef json) {
  ParsedExpr parsed{json.require("expr_str").text(), std::nullopt};
  if (parsed.expr.empty()) json.fail("expected an expression, found an empty string");
  if (const auto hint = json.find("hint")) parsed.hint = hint->only_member().second;
  return parsed;
}

// A value that is either `value_tag` or as_expr.
template <typename Result, typename ReadValue>
Result parse_symbolic(JsonRef json, std::string_view value_tag, ReadValue read_value) {
  const auto [tag, inside] = json.only_member();
  Result result;
  if (tag == value_tag) {
    result.value = read_value(inside);
  } else if (tag == "as_expr") {
    const ParsedExpr parsed = parse_expr(inside);
    result.expr = parsed.expr;
    result.has_hint = parsed.hint.has_value();
    if (parsed.hint) result.value = read_value(*parsed.hint);
  } else {
    json.fail(fmt::format("expected '{}' or 'as_expr', found {}", value_tag, quote(tag)));
  }
  return result;
}

SymIntExpr parse_sym_int(JsonRef json) {
  return parse_symbolic<SymIntExpr>(json, "as_int", [](JsonRef j) { return j.integer(); });
}

// A size, stride or offset: where it is a number, it is not negative.
SymIntExpr parse_extent(JsonRef json) {
  const SymIntExpr extent = parse_sym_int(json);
  if (extent.expr.empty() && extent.value < 0)
    json.fail(fmt::format("expected no negative number, found {}", extent.value));
  return extent;
}

std::vector<SymIntExpr> parse_extents(JsonRef json) {
  std::vector<SymIntExpr> out;
  for (const JsonRef element : json.elements()) out.push_back(parse_extent(element));
  return out;
}

template <typename T, typename Parse>
std::map<std::string, T> parse_map(std::optional<JsonRef> json, Parse parse) {
  std::map<std::string, T> out;
  if (!json) return out;
  for (const auto& [key, value] : json->members()) out.emplace(key, parse(value));
  return out;
}

std::vector<Argument> parse_arguments(JsonRef json) {
  std::vector<Argument> out;
  for (const JsonRef element : json.elements()) out.push_back(parse_argument(element));
  return out;
}

NamedArgument parse_named_argument(JsonRef json) {
  const auto name = json.find("name");
  return {name ? name->text() : "", parse_argument(json.require("arg"))};
}

Node parse_node(JsonRef json) {
  Node node;
  node.target = json.require("target").text();
  for (const JsonRef input : json.require("inputs").elements())
    node.inputs.push_back(parse_named_argument(input));
  node.outputs = parse_arguments(json.require("outputs"));
  node.metadata = parse_map<std::string>(json.find("metadata"), [](JsonRef j) { return j.text(); });
  if (const auto flag = json.find("is_hop_single_tensor_return"))
    node.is_hop_single_tensor_return = flag->boolean();
  if (const auto name = json.find("name")) node.name = name->text();
  return node;
}

}  // namespace

int64_t parse_concrete_size(JsonRef json) {
  const SymIntExpr size = parse_sym_int(json);
  if (!size.expr.empty())
    json.fail(fmt::format("expected a number, found the expression {}", quote(size.expr)));
  return size.value;
}

TensorMeta parse_tensor_meta(JsonRef json) {
  TensorMeta meta;
  meta.dtype = parse_dtype(json.require("dtype"));
  meta.sizes = parse_extents(json.require("sizes"));
  meta.strides = parse_extents(json.require("strides"));
  meta.storage_offset = parse_extent(json.require("storage_offset"));
  const JsonRef device = json.require("device");
  meta.device.type = device.require("type").text();
  if (const auto index = device.find("index")) {
    const int64_t value = index->integer();
    if (value < 0 || value > 0xffff) index->fail("expected the number of a device");
    meta.device.index = static_cast<int>(value);
  }
  const int64_t layout = json.require("layout").integer();
  meta.layout = layout < 0 || layout > 0xff ? 0 : static_cast<int>(layout);
  if (const auto flag = json.find("requires_grad")) meta.requires_grad = flag->boolean();
  if (meta.sizes.size() != meta.strides.size())
    json.fail(fmt::format("{} sizes but {} strides", meta.sizes.size(), meta.strides.size()));
  return meta;
}

Graph parse_graph(JsonRef json) {
  Graph graph;
  graph.inputs = parse_arguments(json.require("inputs"));
  graph.outputs = parse_arguments(json.require("outputs"));
  for (const JsonRef node : json.require("nodes").elements())
    graph.nodes.push_back(parse_node(node));
  graph.tensor_values = parse_map<TensorMeta>(json.require("tensor_values"), parse_tensor_meta);
  graph.sym_int_values = parse_map<SymInt>(json.find("sym_int_values"),
                                           [](JsonRef j) { return SymInt{parse_sym_int(j)}; });
  graph.sym_float_values = parse_map<SymFloat>(json.find("sym_float_values"), [](JsonRef j) {
    return parse_symbolic<SymFloat>(j, "as_float", [](JsonRef k) { return k.number(); });
  });
  graph.sym_bool_values = parse_map<SymBool>(json.find("sym_bool_values"), [](JsonRef j) {
    return parse_symbolic<SymBool>(j, "as_bool", [](JsonRef k) { return k.boolean(); });
  });
  if (const auto flag = json.find("is_single_tensor_return"))
    graph.is_single_tensor_return = flag->boolean();
  return graph;
}

}  // namespace aotc::pt2
