// Prints level 1. Must never throw: broken graphs are printed to be looked at.
#include <algorithm>
#include <cstring>

#include "ir/ops/op.h"
#include "ir/text/format.h"
#include "ir/text/print_graph.h"
#include "ir/text/text.h"

namespace aotc {
namespace text {
namespace {

template <typename T, typename F>
std::string joined(const std::vector<T>& items, F f) {
  std::string s;
  for (size_t i = 0; i < items.size(); ++i) s += (i ? ", " : "") + std::string(f(items[i]));
  return s;
}

struct ArgPrinter {
  const std::string& indent;

  std::string operator()(const None&) const { return "none"; }
  std::string operator()(bool b) const { return b ? "true" : "false"; }
  std::string operator()(const Sym& s) const { return s.str(); }
  std::string operator()(double v) const { return double_text(v); }
  std::string operator()(const Complex& c) const {
    return fmt::format("complex({}, {})", double_text(c.real), double_text(c.imag));
  }
  std::string operator()(const std::string& s) const { return quoted(s); }
  std::string operator()(DType t) const { return name(t); }
  std::string operator()(const Device& d) const {
    std::string s = device_text(d);
    return s.empty() ? "@cpu" : s;
  }
  std::string operator()(Value* v) const { return value_text(v); }
  std::string operator()(const std::vector<Value*>& v) const {
    return "[" + joined(v, [](Value* x) { return value_text(x); }) + "]";
  }
  std::string operator()(const std::vector<Sym>& v) const { return "[" + list_text(v) + "]"; }
  std::string operator()(const std::vector<bool>& v) const {
    return "[" + joined(v, [](bool b) { return b ? "true" : "false"; }) + "]";
  }
  std::string operator()(const std::vector<double>& v) const {
    return "[" + joined(v, double_text) + "]";
  }
  std::string operator()(const std::shared_ptr<Graph>& g) const {
    return g ? print_graph(*g, indent) : "none";
  }
};

bool same_bits(double a, double b) { return std::memcmp(&a, &b, sizeof a) == 0; }

// Core graphs drop the strides of results: there, "no braces" reads back as no strides.
bool drops_strides(const Graph& g) {
  bool any = false;
  for (const auto& n : g.nodes)
    for (const Value* v : n->outputs) {
      if (!v || v->kind != ValueKind::Tensor || v->type.rank() == 0) continue;
      if (!v->type.strides.empty()) return false;
      any = true;
    }
  return any;
}

const char* kind_name(InputKind k) {
  switch (k) {
    case InputKind::User:
      return "input";
    case InputKind::Parameter:
      return "parameter";
    case InputKind::Buffer:
      return "buffer";
    case InputKind::Constant:
      return "constant";
    case InputKind::UserScalar:
      return "scalar";
    case InputKind::UserNone:
      return "none";
  }
  return "input";
}

std::string typed_value(const Value* v) {
  if (!v) return "_";
  std::string type = v->kind == ValueKind::SymInt ? "symbol " + v->sym.str() : type_text(v->type);
  return value_text(v) + ": " + type;
}

bool views_its_type(const StorageRef& s, const TensorType& t) {
  auto equal = [](const std::vector<int64_t>& a, const std::vector<Sym>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](int64_t x, const Sym& y) { return y.is(x); });
  };
  return equal(s.sizes, t.sizes) &&
         equal(s.strides, t.strides.empty() ? contiguous_strides(t.sizes) : t.strides);
}

std::string plain_list(const std::vector<int64_t>& v) {
  return joined(v, [](int64_t i) { return std::to_string(i); });
}

std::string storage_text(const Input& i) {
  const StorageRef& s = i.stored;
  if (s.storage < 0) return "";
  TensorType type = i.value ? i.value->type : TensorType{};
  std::string text =
      fmt::format(", storage {} bytes {}..{}", s.storage, byte_of(s.offset, type.dtype),
                  byte_of(end_of_view(s), type.dtype));
  if (!views_its_type(s, type))
    text += fmt::format(" view [{}]{{{}}}", plain_list(s.sizes), plain_list(s.strides));
  return text;
}

std::string input_line(const Input& i, const std::string& indent) {
  std::string s = std::string(kind_name(i.kind)) + " ";
  s += i.value ? typed_value(i.value) : name_text(i.name);
  if (i.value && i.name != i.value->name) s += ", as " + name_text(i.name);
  if (!i.target.empty()) s += ", target " + quoted(i.target);
  s += storage_text(i);
  if (!std::holds_alternative<None>(i.scalar)) s += ", value " + arg_text(i.scalar, indent);
  return s;
}

std::string symbol_line(const std::string& name, const SymbolInfo& info) {
  std::string s = "symbol " + name_text(name);
  if (info.min || info.max) {
    s += " in " + (info.min ? std::to_string(*info.min) : "") + "..";
    if (info.max) s += std::to_string(*info.max);
  }
  return info.unbacked ? s + " unbacked" : s;
}

std::string output_line(const Output& o, const std::string& indent) {
  std::string s = "output ";
  switch (o.kind) {
    case OutputKind::Tensor:
      s += value_text(o.value);
      break;
    case OutputKind::Scalar:
      s += "scalar " + arg_text(o.scalar, indent);
      break;
    case OutputKind::None:
      s += "none";
      break;
  }
  std::string implied = o.kind == OutputKind::Tensor && o.value ? o.value->name : "";
  if (o.by_user) s += ", by user";
  return o.name == implied ? s : s + ", as " + name_text(o.name);
}

std::string input_name(const Graph& g, int index) {
  if (index < 0 || index >= static_cast<int>(g.inputs.size())) return "none";
  return value_text(g.inputs[static_cast<size_t>(index)].value);
}

void print_signature_end(const Graph& g, const std::string& in, std::string& out) {
  for (const WriteBack& w : g.write_backs) {
    std::string line =
        fmt::format("write back {} = {}", input_name(g, w.input), value_text(w.value));
    if (!w.op.empty()) line += " by " + name_text(w.op);
    out += with_source(in + line, w.source) + "\n";
  }
  for (const Output& o : g.outputs) out += in + output_line(o, in) + "\n";
  for (const OutputAlias& a : g.aliases)
    out += fmt::format("{}alias output {} of {} by {}\n", in, a.output, input_name(g, a.input),
                       value_text(a.view));
}

}  // namespace

// Unsigned, so that nonsense from a text wraps instead of being undefined.
int64_t end_of_view(const StorageRef& s) {
  uint64_t end = static_cast<uint64_t>(s.offset) + 1;
  for (size_t i = 0; i < s.sizes.size(); ++i) {
    if (s.sizes[i] == 0) return s.offset;
    if (i < s.strides.size())
      end += static_cast<uint64_t>(s.sizes[i] - 1) * static_cast<uint64_t>(s.strides[i]);
  }
  return static_cast<int64_t>(end);
}

int64_t byte_of(int64_t element, DType dtype) {
  return static_cast<int64_t>(static_cast<uint64_t>(element) *
                              static_cast<uint64_t>(element_size(dtype)));
}

std::string arg_text(const Arg& a, const std::string& indent) {
  return std::visit(ArgPrinter{indent}, a);
}

bool same_arg(const Arg& a, const Arg& b) {
  if (a.index() != b.index()) return false;
  if (auto* d = std::get_if<double>(&a)) return same_bits(*d, std::get<double>(b));
  return a == b;
}

bool is_implied(const SchemaArg& schema, const Arg& a) {
  if (schema.has_default) return same_arg(schema.default_value, a);
  return schema.type.ends_with("?") && std::holds_alternative<None>(a);
}

std::string node_text(const Node& n, const std::string& indent) {
  std::string s = joined(n.outputs, typed_value);
  if (!s.empty()) s += " = ";
  s += (n.op ? n.op->name() : "unknown.op") + "(";
  bool first = true, by_position = true;
  for (size_t i = 0; i < n.args.size(); ++i) {
    const SchemaArg* schema =
        n.op && i < n.op->schema.args.size() ? &n.op->schema.args[i] : nullptr;
    bool optional = schema && (schema->has_default || schema->type.ends_with("?"));
    by_position &= !optional;
    if (schema && is_implied(*schema, n.args[i])) continue;
    s += first ? "" : ", ";
    if (schema && !by_position) s += schema->name + "=";
    s += arg_text(n.args[i], indent);
    first = false;
  }
  s += ")";
  std::string implied = n.outputs.empty() || !n.outputs[0] ? "" : n.outputs[0]->name;
  return n.name == implied ? s : s + " as " + name_text(n.name);
}

std::string print_graph(const Graph& g, const std::string& indent) {
  std::string in = indent + "  ", out = drops_strides(g) ? "core graph " : "graph ";
  out += (g.name.empty() ? "" : name_text(g.name) + " ") + "{\n";
  auto section = [&, size = out.size()]() mutable {
    if (out.size() != size) out += "\n";
    size = out.size();
  };
  for (const auto& [name, info] : g.symbols) out += in + symbol_line(name, info) + "\n";
  for (const Guard& guard : g.guards) {
    out += in + "guard " + guard.condition.str();
    out += (guard.text == guard.condition.str() ? "" : " " + quoted(guard.text)) + "\n";
  }
  section();
  for (const Input& i : g.inputs) out += in + input_line(i, in) + "\n";
  section();
  for (const auto& n : g.nodes) out += with_source(in + node_text(*n, in), n->source) + "\n";
  section();
  print_signature_end(g, in, out);
  return out + indent + "}";
}

}  // namespace text

std::string print(const Graph& graph) { return text::print_graph(graph, "") + "\n"; }

}  // namespace aotc
