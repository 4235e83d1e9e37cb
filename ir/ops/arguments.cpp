// The conditions of all families joined to their rows, and those that follow from a schema alone.
#include "ir/ops/arguments.h"

#include <algorithm>

#include "ir/ops/number_fit.h"

namespace aotc {
namespace {

std::string without_overload(const std::string& name) {
  size_t family = name.find('.'), overload = name.rfind('.');
  return overload == family ? name : name.substr(0, overload);
}

ArgumentRules all_rules() {
  ArgumentRules all;
  for (ArgumentRules (*part)() :
       {matrix_rules, view_rules, index_rules, join_rules, pool_rules, convolution_rules,
        image_rules, norm_rules, gradient_rules, loss_rules, order_rules, number_rules})
    for (const ArgumentRule& r : part()) all.push_back(r);
  return all;
}

// ---- results

void require_sizes_exist(const Node& n, const Types& types) {
  for (const TensorType& t : types)
    for (const Sym& s : t.sizes)
      require(n, can_be_within(s, 0), "its result would have the sizes {}", sizes_text(t.sizes));
}

// Arguments that eager's kernels convert to the result's element type, which must hold them; others
// become 0-d tensors, whose conversion wraps. An empty overload stands for all.
std::vector<std::string_view> converted_numbers(const std::string& op) {
  static const std::multimap<std::string_view, std::string_view> kNumbers = {
      {"aten.full", "fill_value"},
      {"aten.full_like", "fill_value"},
      {"aten.new_full", "fill_value"},
      {"aten.scalar_tensor", "s"},
      {"aten.fill.Scalar", "value"},
      {"aten.masked_fill.Scalar", "value"},
      {"aten.where.ScalarSelf", "self"},
      {"aten.where.ScalarOther", "other"},
      {"aten.index_fill.int_Scalar", "value"},
      {"aten.scatter.value", "value"},
      {"aten.scatter.value_reduce", "value"},
      {"aten.constant_pad_nd", "value"},
      {"aten.threshold", "threshold"},
      {"aten.threshold", "value"},
      {"aten.add", "alpha"},
      {"aten.sub", "alpha"},
      {"aten.subtract", "alpha"},
      {"aten.rsub", "alpha"},
      {"aten.addcmul", "value"},
      {"aten.pow.Tensor_Scalar", "exponent"},
  };
  std::vector<std::string_view> names;
  for (const std::string& key : {op, without_overload(op)})
    for (auto [it, end] = kNumbers.equal_range(key); it != end; ++it) names.push_back(it->second);
  return names;
}

void run_before(OpDef& op, void (*check)(const Node&)) {
  if (op.infer)
    op.infer = [check, infer = std::move(op.infer),
                numbers = converted_numbers(op.name())](const Node& n) {
      if (check) check(n);
      Types types = infer(n);
      for (std::string_view number : numbers) require_fits(n, number, types.at(0).dtype);
      require_sizes_exist(n, types);
      return types;
    };
  if (auto* m = std::get_if<RewriteMeaning>(&op.meaning); m && check)
    m->fn = [check, fn = std::move(m->fn)](Rewriter& r) {
      check(r.node);
      return fn(r);
    };
}

// ---- kinds

bool is_number(const Arg& a) {
  return std::holds_alternative<Sym>(a) || std::holds_alternative<double>(a) ||
         std::holds_alternative<bool>(a) || std::holds_alternative<Complex>(a);
}

bool is_tensor_list(const Arg& a, bool with_holes) {
  auto* list = std::get_if<Values>(&a);
  return list && (with_holes || std::find(list->begin(), list->end(), nullptr) == list->end());
}

// Elementwise ops take numbers in place of tensors.
bool is_tensor(const Arg& a, bool first, const OpDef& op) {
  if (auto* v = std::get_if<Value*>(&a)) return *v != nullptr;
  bool elementwise = op.as<ScalarMeaning>() || op.as<RewriteMeaning>();
  return is_number(a) && (!first || elementwise);
}

bool has_kind(const SchemaArg& s, const Arg& a, bool first, const OpDef& op) {
  const std::string& t = s.type;
  bool list = t.find('[') != std::string::npos;
  if (t.starts_with("Tensor"))
    return list ? is_tensor_list(a, t.starts_with("Tensor?")) : is_tensor(a, first, op);
  if (t.starts_with("SymInt") || (t.starts_with("int") && !t.starts_with("internal")))
    return is_whole(a) || (list && std::holds_alternative<Index>(a));
  if (t.starts_with("ScalarType"))
    return std::holds_alternative<DType>(a) || (s.has_default && a == s.default_value);
  if (t.starts_with("Scalar["))
    return std::holds_alternative<std::vector<double>>(a) || std::holds_alternative<Index>(a);
  if (t.starts_with("Scalar")) return is_number(a) || std::holds_alternative<Value*>(a);
  if (t.starts_with("float"))
    return is_number(a) || (list && (std::holds_alternative<std::vector<double>>(a) ||
                                     std::holds_alternative<Index>(a)));
  if (t.starts_with("bool") && !list) return is_whole(a);
  if (t.starts_with("str")) return std::holds_alternative<std::string>(a);
  return true;
}

// "int[2]": 2; no number, or 1: any length.
size_t length_of(const std::string& type) {
  size_t open = type.find('[');
  if (open == std::string::npos || !std::isdigit(static_cast<unsigned char>(type[open + 1])))
    return 1;
  return static_cast<size_t>(std::atoi(type.c_str() + open + 1));
}

void check_kind(const Node& n, size_t i) {
  const SchemaArg& s = n.op->schema.args[i];
  const Arg& a = n.args[i];
  if (std::holds_alternative<None>(a)) {
    bool may =
        s.type.ends_with("?") || (s.has_default && std::holds_alternative<None>(s.default_value));
    return require(n, may, "argument '{}' is None, expected {}", s.name, s.type);
  }
  require(n, has_kind(s, a, i == 0, *n.op), "argument '{}' is no {}", s.name, s.type);
  auto* list = std::get_if<Index>(&a);
  size_t length = length_of(s.type);
  if (!list || length == 1 || list->size() == 1) return;
  // A pool's stride is then its window.
  bool none = list->empty() && ((s.has_default && a == s.default_value) || s.name == "stride");
  require(n, none || list->size() == length, "argument '{}' has {} numbers, expected {}", s.name,
          list->size(), length);
}

// ---- in place

int kind_of(DType t) { return is_bool(t) ? 0 : is_integer(t) ? 1 : is_floating(t) ? 2 : 3; }

}  // namespace

void add_argument_checks(Rows& rows) {
  std::map<std::string_view, void (*)(const Node&)> by_name;
  std::map<std::string_view, bool> used;
  for (const ArgumentRule& r : all_rules()) {
    AOTC_CHECK(by_name.emplace(r.op, r.check).second, "'{}' has two argument rules",
               std::string(r.op));
    used[r.op] = false;
  }
  for (OpDef& op : rows) {
    std::string base = without_overload(op.name());
    auto it = by_name.find(op.name());
    if (it == by_name.end()) it = by_name.find(base);
    if (it != by_name.end()) used[it->first] = true;
    run_before(op, it == by_name.end() ? nullptr : it->second);
  }
  for (auto [name, found] : used)
    AOTC_CHECK(found, "argument rule '{}' has no row", std::string(name));
}

void check_kinds(const Node& n) {
  for (size_t i = 0; i < n.op->schema.args.size() && i < n.args.size(); ++i) check_kind(n, i);
}

Types in_place_types(const Node& n) {
  const TensorType& target = std::get<Value*>(n.args[0])->type;
  Node twin;
  twin.op = n.op->twin;
  twin.args = n.args;
  twin.name = n.name;
  twin.source = n.source;
  Types types = twin.op->infer ? twin.op->infer(twin) : infer_by_rewriting(Graph{}, twin);
  require(
      n, !types.empty() && can_be_equal(types[0].sizes, target.sizes),
      "its result has the sizes {}, which do not fit into the tensor of sizes {} that it changes",
      types.empty() ? "none" : sizes_text(types[0].sizes), sizes_text(target.sizes));
  require(n, kind_of(types[0].dtype) <= kind_of(target.dtype),
          "its result is {}, which is not cast to the {} of the tensor that it changes",
          name(types[0].dtype), name(target.dtype));
  return {target};
}

}  // namespace aotc
