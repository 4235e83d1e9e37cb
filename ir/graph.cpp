// Graph editing: new values and nodes, operands, dead code.
#include "ir/graph.h"

#include <algorithm>
#include <set>

#include "ir/ops/op.h"

namespace aotc {

Value* Graph::new_value(const std::string& name, TensorType type) {
  auto v = std::make_unique<Value>();
  int uses = name_uses_[name]++;
  std::string unique = name;
  while (uses > 0) {
    unique = name + "_" + std::to_string(uses);
    if (!name_uses_.contains(unique)) {
      name_uses_[unique] = 1;
      break;
    }
    uses = name_uses_[name]++;
  }
  v->name = unique;
  v->type = std::move(type);
  values.push_back(std::move(v));
  return values.back().get();
}

Value* Graph::new_symbol_value(const std::string& name, const Sym& symbol) {
  Value* v = new_value(name, {});
  v->kind = ValueKind::SymInt;
  v->sym = symbol;
  return v;
}

Node* Graph::insert(std::list<std::unique_ptr<Node>>::iterator at, const OpDef* op,
                    std::vector<Arg> args, const std::vector<TensorType>& types,
                    const std::string& name, const Source& source) {
  auto n = std::make_unique<Node>();
  n->op = op;
  n->name = name;
  n->args = std::move(args);
  n->source = source;
  for (size_t i = 0; i < types.size(); ++i) {
    Value* v = new_value(name, types[i]);
    v->producer = n.get();
    v->output_index = static_cast<int>(i);
    n->outputs.push_back(v);
  }
  return nodes.insert(at, std::move(n))->get();
}

Assumptions Graph::assumptions() const {
  Assumptions a;
  for (const auto& [name, info] : symbols)
    a.set_range(name, Sym(info.min.value_or(INT64_MIN / 4)),
                info.max ? std::optional<Sym>(Sym(*info.max)) : std::nullopt);
  return a;
}

void Graph::for_each_operand(const Node& node, const std::function<void(Value*)>& f) {
  for (const Arg& a : node.args) {
    if (auto* v = std::get_if<Value*>(&a)) {
      if (*v) f(*v);
    } else if (auto* list = std::get_if<std::vector<Value*>>(&a)) {
      for (Value* v : *list)
        if (v) f(v);
    }
  }
}

void Graph::replace_operands(Node& node, const std::function<Value*(Value*)>& f) {
  for (Arg& a : node.args) {
    if (auto* v = std::get_if<Value*>(&a)) {
      if (*v) *v = f(*v);
    } else if (auto* list = std::get_if<std::vector<Value*>>(&a)) {
      for (Value*& v : *list)
        if (v) v = f(v);
    }
  }
}

// Symbols defined by nodes count as used: sizes everywhere may mention them.
namespace {

void collect_symbols(const Sym& s, std::set<std::string>& names) { names.merge(s.symbols()); }
void collect_symbols(const TensorType& t, std::set<std::string>& names) {
  for (const Sym& s : t.sizes) collect_symbols(s, names);
}
// Those that a node's arguments or operands mention.
std::set<std::string> symbols_read(const Node& n) {
  std::set<std::string> names;
  for (const Arg& a : n.args) {
    if (auto* s = std::get_if<Sym>(&a)) collect_symbols(*s, names);
    if (auto* list = std::get_if<std::vector<Sym>>(&a))
      for (const Sym& s : *list) collect_symbols(s, names);
  }
  Graph::for_each_operand(n, [&](Value* v) { collect_symbols(v->type, names); });
  return names;
}

// The node finds the value of one of these symbols in data.
bool defines_one(const Node& n, const std::set<std::string>& symbols) {
  if (symbols.empty()) return false;
  std::set<std::string> made;
  const std::set<std::string> read = symbols_read(n);
  for (const Value* v : n.outputs) collect_symbols(v->type, made);
  return std::any_of(made.begin(), made.end(), [&](const std::string& s) {
    return symbols.contains(s) && !read.contains(s);
  });
}

}  // namespace

void Graph::remove_dead_nodes() {
  std::set<const Value*> live;
  std::set<std::string> live_symbols;  // found in data, and mentioned by a live node
  auto mention = [&](const std::set<std::string>& names) {
    for (const std::string& s : names)
      if (auto it = symbols.find(s); it != symbols.end() && it->second.unbacked)
        live_symbols.insert(s);
  };
  for (const Output& o : outputs)
    if (auto* s = std::get_if<Sym>(&o.scalar)) mention(s->symbols());
  for (const Output& o : outputs)
    if (o.value) live.insert(o.value);
  for (const WriteBack& w : write_backs) live.insert(w.value);
  for (const OutputAlias& a : aliases) live.insert(a.view);
  for (auto it = nodes.end(); it != nodes.begin();) {
    auto current = std::prev(it);
    Node& n = **current;
    bool needed = n.op->is_check() || n.op->mutates() || n.outputs.empty();
    for (Value* v : n.outputs) needed |= live.contains(v) || v->kind == ValueKind::SymInt;
    needed |= defines_one(n, live_symbols);
    if (needed) {
      mention(symbols_read(n));
      for_each_operand(n, [&](Value* v) { live.insert(v); });
      it = current;
    } else {
      it = nodes.erase(current);
    }
  }
}

}  // namespace aotc
