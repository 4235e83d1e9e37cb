// The rules of level 1.
#include <algorithm>
#include <set>

#include "ir/declared_types.h"
#include "ir/ops/arguments.h"
#include "ir/text/format.h"
#include "ir/text/print_graph.h"
#include "ir/text/verify.h"
#include "ir/text/violations.h"

namespace aotc {

const char* name(GraphStage stage) {
  switch (stage) {
    case GraphStage::Graph:
      return "graph";
    case GraphStage::Functional:
      return "functional";
    case GraphStage::Core:
      return "core";
  }
  return "graph";
}

namespace text {
namespace {

class GraphVerifier {
 public:
  GraphVerifier(const Graph& g, GraphStage stage, Violations& v)
      : graph_(g), stage_(stage), found_(v), known_(g.assumptions()) {}

  void run() {
    for (const Input& i : graph_.inputs) input(i);
    for (const Guard& g : graph_.guards) {
      found_.at("guard " + g.text);
      symbols(g.condition);
    }
    for (const auto& n : graph_.nodes) node(*n);
    for (const WriteBack& w : graph_.write_backs) write_back(w);
    for (const Output& o : graph_.outputs) output(o);
    for (const OutputAlias& a : graph_.aliases) alias(a);
    refused_.throw_if_any();
  }

 private:
  // ---- values and symbols

  void define(const Value* v) {
    found_.require(!v->name.empty(), "a value has no name");
    found_.require(names_.insert(v->name).second, "the name %{} is taken", v->name);
    defined_.insert(v);
    if (v->kind == ValueKind::SymInt) {
      defines(v->sym);
      return symbols(v->sym);
    }
    const TensorType& t = v->type;
    found_.require(t.strides.empty() || t.strides.size() == t.sizes.size(),
                   "%{} has {} sizes and {} strides", v->name, t.sizes.size(), t.strides.size());
    for (const Sym& s : t.sizes) {
      defines(s);
      symbols(s);
      auto c = s.constant();
      found_.require(!c || *c >= 0, "%{} has the size {}", v->name, s.str());
    }
    for (const Sym& s : t.strides) symbols(s);
  }

  // A data-dependent symbol exists from the first result on that mentions it.
  void defines(const Sym& s) {
    for (const std::string& name : s.symbols()) live_.insert(name);
  }

  void symbols(const Sym& s) {
    for (const std::string& name : s.symbols()) {
      auto it = graph_.symbols.find(name);
      if (!found_.require(it != graph_.symbols.end(), "symbol {} is not declared", name)) continue;
      found_.require(!it->second.unbacked || live_.contains(name),
                     "symbol {} is used before a node defines it", name);
    }
  }

  void use(const Value* v) {
    found_.require(defined_.contains(v),
                   "%{} is used before it is defined, or is no value of this graph", v->name);
  }

  bool differ(const Sym& a, const Sym& b) const {
    Sym d = known_.simplify(a - b);
    if (auto c = d.constant()) return *c != 0;
    return known_.proves_nonnegative(d - 1) || known_.proves_nonnegative(Sym(-1) - d);
  }

  bool differ(const std::vector<Sym>& a, const std::vector<Sym>& b) const {
    return !std::equal(a.begin(), a.end(), b.begin(), b.end(),
                       [&](const Sym& x, const Sym& y) { return !differ(x, y); });
  }

  // ---- inputs

  void input(const Input& i) {
    found_.at(fmt::format("input '{}'", i.name));
    if (i.value) {
      found_.require(!i.value->producer, "its value has a producer");
      define(i.value);
    }
    switch (i.kind) {
      case InputKind::User:
        found_.require(i.value, "a user input has no value");
        break;
      case InputKind::Parameter:
      case InputKind::Buffer:
      case InputKind::Constant:
        stored(i);
        break;
      case InputKind::UserScalar:
        found_.require(i.value || !std::holds_alternative<None>(i.scalar),
                       "a scalar has neither symbol nor value");
        if (auto* s = std::get_if<Sym>(&i.scalar)) {
          defines(*s);
          symbols(*s);
        }
        break;
      case InputKind::UserNone:
        found_.require(!i.value, "None has a value");
        break;
    }
  }

  void stored(const Input& i) {
    if (!found_.require(i.value && i.value->kind == ValueKind::Tensor, "it has no tensor")) return;
    const StorageRef& s = i.stored;
    found_.require(s.sizes.size() == i.value->type.rank() && s.strides.size() == s.sizes.size(),
                   "its storage is seen with rank {}, its type has rank {}", s.sizes.size(),
                   i.value->type.rank());
    if (!graph_.program) return;
    const auto& storages = graph_.program->storages;
    if (!found_.require(s.storage >= 0 && s.storage < static_cast<int>(storages.size()),
                        "storage {} does not exist", s.storage))
      return;
    int64_t end = byte_of(end_of_view(s), i.value->type.dtype);
    auto size = static_cast<int64_t>(storages[static_cast<size_t>(s.storage)].bytes.size());
    found_.require(s.offset >= 0 && end <= size, "its view ends at byte {} of a storage of {}", end,
                   size);
  }

  // ---- nodes

  void node(const Node& n) {
    found_.at(
        fmt::format("node '{}' ({}, {})", n.name, n.op ? n.op->name() : "no op", n.source.str()));
    if (!found_.require(n.op, "it has no op")) return;
    if (!has_right_kinds(n)) return;
    size_t before = found_.count();
    Graph::for_each_operand(n, [&](Value* v) { use(v); });
    arguments(n);
    bool sound = found_.count() == before;  // else the op's own rules cannot be asked
    for (size_t i = 0; i < n.outputs.size(); ++i) {
      const Value* o = n.outputs[i];
      if (!o) continue;
      found_.require(o->producer == &n && o->output_index == static_cast<int>(i),
                     "result %{} does not name it as its producer", o->name);
      define(o);
    }
    meaning(n);
    if (sound) results(n);
  }

  void arguments(const Node& n) {
    const auto& schema = n.op->schema.args;
    if (!found_.require(n.args.size() == schema.size(), "it has {} arguments, the schema {}",
                        n.args.size(), schema.size()))
      return;
    for (size_t i = 0; i < schema.size(); ++i) argument(schema[i], n.args[i]);
  }

  void argument(const SchemaArg& schema, const Arg& a) {
    if (auto* s = std::get_if<Sym>(&a)) symbols(*s);
    if (auto* list = std::get_if<std::vector<Sym>>(&a))
      for (const Sym& s : *list) symbols(s);
    if (auto* g = std::get_if<std::shared_ptr<Graph>>(&a)) return subgraph(*g);
    if (!schema.is_tensor()) return;
    bool optional = schema.type.ends_with("?"), list = schema.type.find('[') != std::string::npos;
    if (std::holds_alternative<None>(a)) {
      found_.require(optional, "argument '{}' is none, expected {}", schema.name, schema.type);
    } else if (auto* v = std::get_if<Value*>(&a)) {
      found_.require(*v && !list, "argument '{}' is no {}", schema.name, schema.type);
    } else if (auto* values = std::get_if<std::vector<Value*>>(&a)) {
      bool holes = schema.type.starts_with("Tensor?");
      bool complete = std::find(values->begin(), values->end(), nullptr) == values->end();
      found_.require(list && (holes || complete), "argument '{}' is no {}", schema.name,
                     schema.type);
    }
  }

  void subgraph(const std::shared_ptr<Graph>& g) {
    if (!found_.require(g != nullptr, "a subgraph is missing")) return;
    GraphVerifier(*g, stage_, found_).run();
  }

  void meaning(const Node& n) {
    if (stage_ == GraphStage::Graph) return;
    for (const SchemaArg& a : n.op->schema.args)
      found_.require(!a.mutated || n.op->is_view(), "it mutates its argument '{}'", a.name);
    found_.require(!n.op->mutates(), "it is an in-place op");
    if (stage_ == GraphStage::Core)
      found_.require(!n.op->as<RewriteMeaning>(), "it is a composition of other ops");
  }

  // What eager refuses is an error of whoever wrote the program, as long as no stage has made its
  // nodes.
  void refuse(const UserError& e) {
    if (stage_ == GraphStage::Graph)
      refused_.add(e.what());
    else
      found_.add("its types cannot be inferred: {}", e.what());
  }

  bool has_right_kinds(const Node& n) {
    if (stage_ != GraphStage::Graph) return true;
    try {
      check_kinds(n);
      return true;
    } catch (const UserError& e) {
      refuse(e);
    }
    for (const Value* o : n.outputs)
      if (o) define(o);
    return false;
  }

  std::optional<std::vector<TensorType>> inferred(const Node& n) {
    try {
      if (n.op->infer) return n.op->infer(n);
    } catch (const UserError& e) {
      refuse(e);
    }
    return std::nullopt;
  }

  void results(const Node& n) {
    auto of_operands = inferred(n);
    if (!of_operands || n.op->mutates()) return;
    const std::vector<TensorType>& types = *of_operands;
    size_t tensors = 0;
    for (const Value* o : n.outputs) tensors += o && o->kind == ValueKind::Tensor;
    if (types.empty() || types.size() != n.outputs.size()) {
      found_.require(types.empty() || tensors <= types.size(),
                     "it has {} results, the op yields {}", tensors, types.size());
      return;
    }
    for (size_t i = 0; i < types.size(); ++i)
      if (n.outputs[i] && n.outputs[i]->kind == ValueKind::Tensor)
        result(n, *n.outputs[i], types[i]);
  }

  void result(const Node& n, const Value& v, const TensorType& inferred) {
    try {
      check_complex(n, v.type, inferred);
    } catch (const UserError& e) {
      return refuse(e);
    }
    found_.require(v.type.dtype == inferred.dtype, "%{} is declared as {}, aotc infers {}", v.name,
                   aotc::name(v.type.dtype), aotc::name(inferred.dtype));
    found_.require(!differ(v.type.sizes, inferred.sizes),
                   "%{} is declared with the sizes [{}], aotc infers [{}]", v.name,
                   list_text(v.type.sizes), list_text(inferred.sizes));
  }

  // ---- signature

  const Input* input_at(int index) {
    bool ok = index >= 0 && index < static_cast<int>(graph_.inputs.size());
    found_.require(ok, "input {} does not exist", index);
    return ok ? &graph_.inputs[static_cast<size_t>(index)] : nullptr;
  }

  void write_back(const WriteBack& w) {
    found_.at(
        fmt::format("write-back of %{} ({})", w.value ? w.value->name : "none", w.source.str()));
    const Input* in = input_at(w.input);
    if (!in || !found_.require(w.value, "it has no value")) return;
    use(w.value);
    found_.require(in->kind == InputKind::User || in->kind == InputKind::Buffer,
                   "input '{}' must not be written", in->name);
    found_.require(written_.insert(w.input).second, "input '{}' is written back twice", in->name);
    if (!found_.require(in->value && in->value->kind == ValueKind::Tensor,
                        "input '{}' is no tensor", in->name))
      return;
    const TensorType &to = in->value->type, &from = w.value->type;
    found_.require(to.dtype == from.dtype, "{} goes to {}", aotc::name(from.dtype),
                   aotc::name(to.dtype));
    found_.require(!differ(to.sizes, from.sizes), "sizes [{}] go to [{}]", list_text(from.sizes),
                   list_text(to.sizes));
  }

  void output(const Output& o) {
    found_.at(fmt::format("output '{}'", o.name));
    switch (o.kind) {
      case OutputKind::Tensor:
        if (found_.require(o.value, "it has no value")) use(o.value);
        break;
      case OutputKind::Scalar:
        if (auto* s = std::get_if<Sym>(&o.scalar))
          symbols(*s);
        else
          found_.require(
              std::holds_alternative<double>(o.scalar) || std::holds_alternative<bool>(o.scalar),
              "it is no number");
        break;
      case OutputKind::None:
        break;
    }
  }

  void alias(const OutputAlias& a) {
    found_.at(fmt::format("alias of output {}", a.output));
    bool ok = a.output >= 0 && a.output < static_cast<int>(graph_.outputs.size()) &&
              graph_.outputs[static_cast<size_t>(a.output)].kind == OutputKind::Tensor;
    found_.require(ok, "it is no tensor output");
    const Input* in = input_at(a.input);
    if (!in || !found_.require(a.view, "it has no view")) return;
    use(a.view);
    if (stage_ == GraphStage::Graph) return;
    const Value* v = a.view;
    while (v && !is_state_of(a.input, v)) {
      const Node* n = v->producer;
      bool view = n && n->op && n->op->is_view() && !n->args.empty() &&
                  std::holds_alternative<Value*>(n->args[0]);
      v = view ? std::get<Value*>(n->args[0]) : nullptr;
    }
    found_.require(v, "%{} is no chain of views of input '{}'", a.view->name, in->name);
  }

  // The input's value, or what is written back to it.
  bool is_state_of(int input, const Value* v) const {
    if (graph_.inputs[static_cast<size_t>(input)].value == v) return true;
    return std::any_of(graph_.write_backs.begin(), graph_.write_backs.end(),
                       [&](const WriteBack& w) { return w.input == input && w.value == v; });
  }

  const Graph& graph_;
  GraphStage stage_;
  Violations& found_;
  ErrorList refused_;
  Assumptions known_;
  std::set<std::string> names_, live_;
  std::set<const Value*> defined_;
  std::set<int> written_;
};

}  // namespace
}  // namespace text

void verify(const Graph& graph, GraphStage stage) {
  text::Violations found;
  text::GraphVerifier(graph, stage, found).run();
  found.throw_if_any(name(stage));
}

}  // namespace aotc
