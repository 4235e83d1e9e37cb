// Reads level 1 text: symbols, guards, inputs, nodes, write-backs, outputs. Arguments are in
// parse_arg.cpp.
#include "ir/text/parse_graph.h"

#include "ir/text/format.h"
#include "ir/text/parse_arg.h"
#include "ir/text/print_graph.h"
#include "ir/text/text.h"

namespace aotc {
namespace text {
namespace {

std::optional<InputKind> input_kind(const std::string& word) {
  if (word == "input") return InputKind::User;
  if (word == "parameter") return InputKind::Parameter;
  if (word == "buffer") return InputKind::Buffer;
  if (word == "constant") return InputKind::Constant;
  if (word == "scalar") return InputKind::UserScalar;
  if (word == "none") return InputKind::UserNone;
  return std::nullopt;
}

class GraphParser {
 public:
  GraphParser(Reader& in, Graph& g) : in_(in), graph_(g) {}

  void parse() {
    strided_ = !in_.accept_word("core");
    in_.expect_word("graph");
    if (in_.peek() != '{') graph_.name = in_.name("the graph's name");
    in_.expect("{");
    in_.end_of_line();
    for (;;) {
      if (!in_.next_line()) in_.fail("the graph has no closing '}'");
      if (in_.accept("}")) return;
      statement();
    }
  }

 private:
  void statement() {
    std::string w = in_.peek_word();
    if (in_.peek() == '%' || w == "_" || w.find('.') != std::string::npos) return node();
    if (auto kind = input_kind(w)) {
      in_.word("");
      return input(*kind);
    }
    if (in_.accept_word("symbol")) return symbol();
    if (in_.accept_word("guard")) return guard();
    if (in_.accept_word("write")) return write_back();
    if (in_.accept_word("output")) return output();
    if (in_.accept_word("alias")) return alias();
    in_.fail(
        "expected a statement: symbol, guard, input, parameter, buffer, constant, scalar, none, "
        "%node, "
        "write back, output, alias or '}'");
  }

  void symbol() {
    size_t begin = in_.mark();
    std::string name = in_.name("a symbol's name");
    SymbolInfo info;
    if (in_.accept_word("in")) {
      if (!in_.accept("..")) {
        info.min = in_.integer("a lower bound");
        in_.expect("..");
      }
      if (!in_.at_line_end() && in_.peek_word() != "unbacked")
        info.max = in_.integer("an upper bound");
    }
    info.unbacked = in_.accept_word("unbacked");
    if (!graph_.symbols.emplace(name, info).second)
      in_.fail_at(begin, fmt::format("symbol '{}' is declared twice", name));
    in_.end_of_line();
  }

  void guard() {
    Guard g;
    g.condition = in_.sym("");
    g.text = in_.peek() == '"' ? in_.string("the condition") : g.condition.str();
    graph_.guards.push_back(std::move(g));
    in_.end_of_line();
  }

  Value* define(bool result) {
    in_.expect("%");
    size_t begin = in_.mark();
    std::string name = in_.name("a value's name");
    if (values_.contains(name)) in_.fail_at(begin, fmt::format("%{} is defined twice", name));
    in_.expect(":");
    Value* v = nullptr;
    if (in_.accept_word("symbol")) {
      v = graph_.new_symbol_value(name, in_.sym(",="));
    } else {
      TensorType type = in_.type();
      if (result && !strided_ && !in_.strides_given()) type.strides.clear();
      v = graph_.new_value(name, std::move(type));
    }
    if (v->name != name) in_.fail_at(begin, fmt::format("%{} is defined twice", name));
    return values_[name] = v;
  }

  void input(InputKind kind) {
    Input i;
    i.kind = kind;
    if (in_.peek() == '%') {
      i.value = define(false);
      i.name = i.value->name;
    } else {
      i.name = in_.name("an input's name");
    }
    while (in_.accept(",")) input_attribute(i);
    graph_.inputs.push_back(std::move(i));
    in_.end_of_line();
  }

  void input_attribute(Input& i) {
    if (in_.accept_word("as")) {
      i.name = in_.name("the input's name");
    } else if (in_.accept_word("target")) {
      i.target = in_.string("the target");
    } else if (in_.accept_word("storage")) {
      storage(i);
    } else if (in_.accept_word("value")) {
      i.scalar = ArgParser(in_, values_).parse("");
    } else {
      in_.fail("expected as, target, storage or value");
    }
  }

  void storage(Input& i) {
    if (!i.value) in_.fail("only an input with a value has a storage");
    StorageRef& s = i.stored;
    s.storage = in_.index("a storage number");
    in_.expect_word("bytes");
    size_t begin = in_.mark();
    int64_t first = in_.integer("the first byte");
    in_.expect("..");
    int64_t end = in_.integer("the end of the bytes");
    const TensorType& t = i.value->type;
    int64_t size = element_size(t.dtype);
    if (first < 0 || first % size)
      in_.fail_at(begin, fmt::format("the first byte must be a multiple of {}", size));
    s.offset = first / size;
    if (in_.accept_word("view"))
      stored_view(s);
    else
      view_of_type(s, t, begin);
    for (size_t d = 0; d < s.sizes.size(); ++d)
      if (s.sizes[d] < 0 || s.strides[d] < 0) in_.fail_at(begin, "a size or stride is negative");
    if (byte_of(end_of_view(s), t.dtype) != end)
      in_.fail_at(begin, fmt::format("the view ends at byte {}", byte_of(end_of_view(s), t.dtype)));
  }

  void stored_view(StorageRef& s) {
    in_.expect("[");
    in_.list("]", [&] { s.sizes.push_back(in_.integer("a size")); });
    in_.expect("{");
    in_.list("}", [&] { s.strides.push_back(in_.integer("a stride")); });
    if (s.sizes.size() != s.strides.size()) in_.fail("as many strides as sizes are needed");
  }

  void view_of_type(StorageRef& s, const TensorType& t, size_t begin) {
    for (size_t d = 0; d < t.rank(); ++d) {
      auto size = t.sizes[d].constant(), stride = t.strides[d].constant();
      if (!size || !stride) in_.fail_at(begin, "a symbolic type needs view [sizes]{strides}");
      s.sizes.push_back(*size);
      s.strides.push_back(*stride);
    }
  }

  void node() {
    std::vector<Value*> outputs;
    if (in_.peek() == '%' || in_.peek_word() == "_") {
      do outputs.push_back(in_.accept_word("_") ? nullptr : define(true));
      while (in_.accept(","));
      in_.expect("=");
    }
    size_t begin = in_.mark();
    std::string op_name = in_.word("an op, like aten.add.Tensor");
    const OpDef* op = find_op(op_name);
    if (!op) unknown_op(begin, op_name);
    in_.expect("(");
    std::vector<Arg> args = arguments(*op);
    std::string name = outputs.empty() || !outputs[0] ? "" : outputs[0]->name;
    if (in_.accept_word("as")) name = in_.name("the node's name");
    Source source = in_.end_of_line();
    Node* n = graph_.insert(graph_.nodes.end(), op, std::move(args), {}, name, source);
    n->outputs = outputs;
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (!outputs[i]) continue;
      outputs[i]->producer = n;
      outputs[i]->output_index = static_cast<int>(i);
    }
  }

  [[noreturn]] void unknown_op(size_t position, const std::string& op) {
    std::string near = fmt::format("{}", fmt::join(similar_ops(op), ", "));
    in_.fail_at(position,
                fmt::format("unknown op '{}'{}", op, near.empty() ? "" : "; nearest: " + near));
  }

  // Up to the closing parenthesis; by position, then by name; what is left out takes its default.
  std::vector<Arg> arguments(const OpDef& op) {
    const auto& schema = op.schema.args;
    std::vector<std::optional<Arg>> given(schema.size());
    size_t next = 0;
    in_.list(")", [&] {
      size_t begin = in_.mark();
      std::string w = in_.peek_word();
      int index = w.empty() ? -1 : op.schema.index_of(w);
      if (index >= 0 && in_.accept_word(w) && in_.accept("=")) {
        next = static_cast<size_t>(index);
      } else {
        in_.rewind(begin);
      }
      if (next >= schema.size())
        in_.fail(fmt::format("{} takes {} arguments", op.name(), schema.size()));
      if (given[next])
        in_.fail_at(begin, fmt::format("argument '{}' is given twice", schema[next].name));
      given[next] = ArgParser(in_, values_).parse(schema[next].type);
      ++next;
    });
    std::vector<Arg> args;
    for (size_t i = 0; i < schema.size(); ++i) {
      bool optional = schema[i].has_default || schema[i].type.ends_with("?");
      if (!given[i] && !optional)
        in_.fail(fmt::format("argument '{}' of {} is missing", schema[i].name, op.name()));
      args.push_back(given[i] ? *given[i] : schema[i].default_value);
    }
    return args;
  }

  Value* value() { return ArgParser(in_, values_).value(); }

  // An input by its value.
  int input_index() {
    size_t begin = in_.mark();
    Value* v = value();
    for (size_t i = 0; i < graph_.inputs.size(); ++i)
      if (graph_.inputs[i].value == v) return static_cast<int>(i);
    in_.fail_at(begin, fmt::format("%{} is no input", v->name));
  }

  void write_back() {
    in_.expect_word("back");
    WriteBack w;
    w.input = input_index();
    in_.expect("=");
    w.value = value();
    if (in_.accept_word("by")) w.op = in_.name("an op");
    w.source = in_.end_of_line();
    graph_.write_backs.push_back(std::move(w));
  }

  void output() {
    Output o;
    if (in_.accept_word("none")) {
      o.kind = OutputKind::None;
    } else if (in_.accept_word("scalar")) {
      o.kind = OutputKind::Scalar;
      o.scalar = ArgParser(in_, values_).parse("");
    } else {
      o.value = value();
      o.name = o.value->name;
    }
    while (in_.accept(",")) {
      if (in_.accept_word("by")) {
        in_.expect_word("user");
        o.by_user = true;
        continue;
      }
      in_.expect_word("as");
      o.name = in_.name("the output's name");
    }
    graph_.outputs.push_back(std::move(o));
    in_.end_of_line();
  }

  void alias() {
    OutputAlias a;
    in_.expect_word("output");
    a.output = in_.index("an output's position");
    in_.expect_word("of");
    a.input = input_index();
    in_.expect_word("by");
    a.view = value();
    graph_.aliases.push_back(a);
    in_.end_of_line();
  }

  Reader& in_;
  Graph& graph_;
  Values values_;
  bool strided_ = true;
};

}  // namespace

std::unique_ptr<Graph> parse_graph(Reader& in) {
  auto g = std::make_unique<Graph>();
  Reader::Nesting nesting(in);
  GraphParser(in, *g).parse();
  return g;
}

}  // namespace text

std::unique_ptr<Graph> parse_graph(std::string_view text, const std::string& file) {
  text::Reader in(text, file);
  if (!in.next_line()) in.fail("the file is empty; expected a graph");
  auto g = text::parse_graph(in);
  in.end_of_line();
  if (in.next_line()) in.fail("unexpected text after the graph");
  return g;
}

}  // namespace aotc
