// Stage 0 as text: signature, symbols, nodes with their Python lines, stored tensors, sample
// inputs.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ir/pt2/exported_program.h"
#include "ir/pt2/quote.h"

namespace aotc::pt2 {
namespace {

// sympy's srepr, shortened: Symbol('s77', positive=True, integer=True) is s77, Integer(3) is 3.
std::string short_expr(std::string_view expr) {
  constexpr std::string_view kSymbol = "Symbol('", kInteger = "Integer(";
  std::string out;
  while (!expr.empty()) {
    const bool symbol = expr.starts_with(kSymbol);
    const size_t open = symbol ? kSymbol.size() : kInteger.size();
    const size_t stop = expr.find(symbol ? '\'' : ')', open);
    const size_t close = symbol && stop != expr.npos ? expr.find(')', stop) : stop;
    if ((symbol || expr.starts_with(kInteger)) && close != expr.npos) {
      out += expr.substr(open, stop - open);
      expr.remove_prefix(close + 1);
    } else {
      out += expr.front();
      expr.remove_prefix(1);
    }
  }
  return out;
}

std::string to_string(const SymIntExpr& size) {
  return size.expr.empty() ? std::to_string(size.value) : short_expr(size.expr);
}

std::string to_string(const std::vector<SymIntExpr>& sizes) {
  std::string out = "[";
  for (const SymIntExpr& size : sizes) out += (out.size() > 1 ? ", " : "") + to_string(size);
  return out + "]";
}

std::string to_string(const Device& device) {
  return device.index < 0 ? device.type : fmt::format("{}:{}", device.type, device.index);
}

// As Python writes it: 0.5, 1.0, inf, nan.
std::string to_string(double value) {
  const std::string text = fmt::format("{}", value);
  const bool plain = text.find_first_not_of("-0123456789") == std::string::npos;
  return plain ? text + ".0" : text;
}

// Strides that follow from the sizes are left out.
bool is_contiguous(const std::vector<SymIntExpr>& sizes, const std::vector<SymIntExpr>& strides) {
  int64_t expected = 1;
  for (size_t d = sizes.size(); d-- > 0;) {
    if (!sizes[d].expr.empty() || !strides[d].expr.empty())
      return d == 0 && strides[d].value == expected;
    if (sizes[d].value != 1 && strides[d].value != expected) return false;
    if (__builtin_mul_overflow(expected, std::max<int64_t>(sizes[d].value, 1), &expected))
      return false;
  }
  return true;
}

std::string to_string(const TensorMeta& meta) {
  std::string out = fmt::format("{}{}", name(meta.dtype), to_string(meta.sizes));
  if (!is_contiguous(meta.sizes, meta.strides)) out += " strides " + to_string(meta.strides);
  const std::string offset = to_string(meta.storage_offset);
  if (offset != "0") out += " offset " + offset;
  if (meta.layout != 7) out += fmt::format(" layout {}", meta.layout);
  return out + " " + to_string(meta.device);
}

std::string to_string(const StoredTensor& t) {
  return fmt::format("{}[{}] strides [{}] offset {} storage {}{}", name(t.dtype),
                     fmt::join(t.sizes, ", "), fmt::join(t.strides, ", "), t.offset, t.storage,
                     t.requires_grad ? " requires_grad" : "");
}

std::string to_string(const std::optional<int64_t>& bound) {
  return bound ? std::to_string(*bound) : "unbounded";
}

class Printer {
 public:
  std::string print(const ExportedProgram& program) {
    header(program);
    signature(program);
    line("graph");
    graph(program.graph, 1);
    for (const auto& [kind, tensors] :
         {std::pair{"state", &program.state_dict}, std::pair{"constant", &program.constants}})
      for (const auto& [key, tensor] : *tensors)
        line("{} {}: {}", kind, quote(key), to_string(tensor));
    for (size_t i = 0; i < program.storages.size(); ++i) storage(program, i);
    samples(program);
    for (const std::string& note : program.notes) line("note: {}", note);
    return std::move(out_);
  }

 private:
  template <typename... T>
  void line(fmt::format_string<T...> format, T&&... args) {
    out_ += fmt::format(format, std::forward<T>(args)...);
    out_ += '\n';
  }

  // The same text wherever the archive lies: without its path.
  void storage(const ExportedProgram& program, size_t i) {
    std::string_view origin = program.storages[i].origin;
    if (origin.starts_with(program.path + ": ")) origin.remove_prefix(program.path.size() + 2);
    line("storage {}: {} bytes, {}", i, program.storages[i].bytes.size(), origin);
  }

  void header(const ExportedProgram& program) {
    line("program {}: schema {}.{}, torch {}", quote(program.name), program.schema_major,
         program.schema_minor, quote(program.torch_version));
    for (const auto& [opset, version] : program.opset_version)
      line("opset {}: {}", quote(opset), version);
    if (!program.verifiers.empty()) line("dialect {}", fmt::join(program.verifiers, ", "));
  }

  void signature(const ExportedProgram& program) {
    for (const InputSpec& spec : program.input_specs) input(program, spec);
    for (const OutputSpec& spec : program.output_specs) output(spec);
    for (const auto& [symbol, range] : program.range_constraints)
      line("symbol {}: {} to {}", symbol, to_string(range.min), to_string(range.max));
    for (const std::string& guard : program.guards_code) line("guard {}", guard);
  }

  void input(const ExportedProgram& program, const InputSpec& spec) {
    constexpr const char* kKinds[] = {"user",          "parameter", "buffer",     "constant",
                                      "custom object", "token",     "specialised"};
    std::string text = fmt::format("input {}", kKinds[static_cast<size_t>(spec.kind)]);
    if (!spec.target.empty()) text += " " + quote(spec.target);
    if (!spec.name.empty()) text += " " + quote(spec.name);
    if (!spec.persistent) text += " (not persistent)";
    text += ": " + argument(spec.arg);
    text += type_of(program.graph, spec.arg);
    line("{}", text);
  }

  void output(const OutputSpec& spec) {
    constexpr const char* kKinds[] = {"user",
                                      "loss",
                                      "writes buffer",
                                      "gradient of parameter",
                                      "gradient of input",
                                      "writes input",
                                      "writes parameter",
                                      "token"};
    const std::string target = spec.target.empty() ? "" : " " + quote(spec.target);
    line("output {}{}: {}", kKinds[static_cast<size_t>(spec.kind)], target, argument(spec.arg));
  }

  void graph(const Graph& g, int depth) {
    const std::string indent(static_cast<size_t>(depth) * 2, ' ');
    line("{}({})", indent, list(g.inputs));
    for (const Node& n : g.nodes) node(g, n, indent, depth);
    line("{}return {}", indent, list(g.outputs));
  }

  void node(const Graph& g, const Node& n, const std::string& indent, int depth) {
    std::string results, inputs;
    for (const Argument& result : n.outputs)
      results += (results.empty() ? "" : ", ") + argument(result) + type_of(g, result);
    for (const NamedArgument& input : n.inputs) {
      inputs += inputs.empty() ? "" : ", ";
      inputs += (input.name.empty() ? "" : input.name + "=") + argument(input.arg);
    }
    const std::string place = python_line(n);
    if (!results.empty()) results += " = ";
    line("{}{}{}({}){}", indent, results, n.target, inputs, place.empty() ? "" : "  # " + place);
    for (const NamedArgument& input : n.inputs) subgraphs(input.arg, indent, depth);
  }

  void subgraphs(const Argument& arg, const std::string& indent, int depth) {
    const auto* inner = std::get_if<GraphArg>(&arg.value);
    if (inner == nullptr || inner->graph == nullptr) return;
    line("{}  graph {}", indent, inner->name);
    graph(*inner->graph, depth + 2);
  }

  // ": float32[3, 4] cpu" of a tensor, " = s0 + 1" of a size; a list shows each element's.
  std::string type_of(const Graph& g, const Argument& arg) const {
    if (const auto* tensor = std::get_if<TensorName>(&arg.value)) {
      const auto meta = g.tensor_values.find(tensor->name);
      return meta == g.tensor_values.end() ? "" : ": " + to_string(meta->second);
    }
    if (const auto* symbol = std::get_if<SymIntName>(&arg.value)) {
      const auto value = g.sym_int_values.find(symbol->name);
      return value == g.sym_int_values.end() ? "" : ": int " + to_string(value->second.expr);
    }
    std::string out;
    if (const auto* elements = std::get_if<std::vector<Argument>>(&arg.value))
      for (const Argument& element : *elements) out += type_of(g, element);
    return out;
  }

  // "model.py:12", of the innermost frame of the stack trace.
  static std::string python_line(const Node& n) {
    constexpr std::string_view kFile = "File \"", kLine = "\", line ";
    const auto trace = n.metadata.find("stack_trace");
    if (trace == n.metadata.end()) return "";
    const std::string_view text = trace->second;
    const size_t file = text.rfind(kFile);
    const size_t line = file == text.npos ? text.npos : text.find(kLine, file);
    if (line == text.npos) return "";
    const std::string_view path = text.substr(file + kFile.size(), line - file - kFile.size());
    const std::string_view rest = text.substr(line + kLine.size());
    const size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
    return fmt::format("{}:{}", path, rest.substr(0, digits));
  }

  std::string list(const std::vector<Argument>& elements) const {
    std::string out;
    for (const Argument& element : elements) out += (out.empty() ? "" : ", ") + argument(element);
    return out;
  }

  std::string argument(const Argument& arg) const {
    return std::visit([this](const auto& value) { return show(value); }, arg.value);
  }

  std::string show(const None&) const { return "None"; }
  std::string show(bool value) const { return value ? "True" : "False"; }
  std::string show(int64_t value) const { return std::to_string(value); }
  std::string show(double value) const { return to_string(value); }
  std::string show(const std::string& value) const { return quote(value); }
  std::string show(const ComplexValue& v) const {
    return fmt::format("complex({}, {})", to_string(v.real), to_string(v.imag));
  }
  std::string show(const TensorName& v) const { return "%" + v.name; }
  std::string show(const SymIntName& v) const { return "%" + v.name; }
  std::string show(const SymFloatName& v) const { return "%" + v.name; }
  std::string show(const SymBoolName& v) const { return "%" + v.name; }
  std::string show(const CustomObjName& v) const {
    return fmt::format("object {} of {}", quote(v.name), quote(v.class_fqn));
  }
  std::string show(const ScalarTypeArg& v) const { return name(v.dtype); }
  std::string show(const MemoryFormatArg& v) const {
    constexpr const char* kNames[] = {"unknown_format", "contiguous_format", "channels_last",
                                      "channels_last_3d", "preserve_format"};
    const auto i = static_cast<size_t>(v.value);
    return i < std::size(kNames) ? kNames[i] : fmt::format("memory_format({})", v.value);
  }
  std::string show(const LayoutArg& v) const {
    return v.value == 7 ? "strided" : fmt::format("layout({})", v.value);
  }
  std::string show(const Device& v) const { return to_string(v); }
  std::string show(const OperatorName& v) const { return v.name; }
  std::string show(const GraphArg& v) const { return "graph " + v.name; }
  std::string show(const std::vector<Argument>& v) const { return "[" + list(v) + "]"; }
  std::string show(const std::map<std::string, Argument>& v) const {
    std::string out;
    for (const auto& [key, value] : v)
      out += (out.empty() ? "" : ", ") + quote(key) + ": " + argument(value);
    return "{" + out + "}";
  }
  std::string show(const StoredTensor& v) const { return to_string(v); }

  void samples(const ExportedProgram& program) {
    for (size_t i = 0; i < program.sample_inputs.size(); ++i)
      line("sample {}: {}", i,
           std::visit([this](const auto& v) { return show(v); }, program.sample_inputs[i]));
  }

  std::string out_;
};

}  // namespace

std::string to_text(const ExportedProgram& program) { return Printer().print(program); }

}  // namespace aotc::pt2
