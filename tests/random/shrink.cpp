// Greedy: each change that keeps the failure stays, until none does.
#include "shrink.h"

#include <algorithm>
#include <set>

#include "ir/ops/op.h"
#include "ir/ops/rewriter.h"
#include "ir/text/text.h"
#include "ir/text/verify.h"

namespace aotc::random_graphs {
namespace {

using Nodes = std::list<std::unique_ptr<Node>>;

std::set<const Value*> used(const Graph& g) {
  std::set<const Value*> values;
  for (const auto& n : g.nodes) Graph::for_each_operand(*n, [&](Value* v) { values.insert(v); });
  for (const Output& o : g.outputs) values.insert(o.value);
  for (const WriteBack& w : g.write_backs) values.insert(w.value);
  return values;
}

void replace_everywhere(Graph& g, Value* from, Value* to) {
  for (auto& n : g.nodes) Graph::replace_operands(*n, [&](Value* v) { return v == from ? to : v; });
  for (Output& o : g.outputs)
    if (o.value == from) o.value = to;
  for (WriteBack& w : g.write_backs)
    if (w.value == from) w.value = to;
}

Nodes::iterator node_at(Graph& g, size_t i) {
  return std::next(g.nodes.begin(), static_cast<std::ptrdiff_t>(i));
}

Value* add_input(Graph& g, const TensorType& type) {
  Input in;
  std::string name = "y" + std::to_string(g.inputs.size());
  auto taken = [&] {
    return std::any_of(g.inputs.begin(), g.inputs.end(),
                       [&](const Input& i) { return i.name == name; });
  };
  while (taken()) name += "x";
  in.value = g.new_value(name, type);
  in.name = in.value->name;
  g.inputs.push_back(in);
  return in.value;
}

// Unused nodes that write nothing, and unused inputs, go.
void tidy(Graph& g) {
  for (bool changed = true; changed;) {
    changed = false;
    std::set<const Value*> live = used(g);
    for (auto it = g.nodes.begin(); it != g.nodes.end();) {
      const Node& n = **it;
      bool effect =
          n.op->mutates() || std::any_of(n.op->schema.args.begin(), n.op->schema.args.end(),
                                         [](const SchemaArg& a) { return a.mutated; });
      bool needed = effect || std::any_of(n.outputs.begin(), n.outputs.end(),
                                          [&](Value* v) { return live.contains(v); });
      changed |= !needed;
      it = needed ? std::next(it) : g.nodes.erase(it);
    }
  }
  std::set<const Value*> live = used(g);
  std::set<int> written;
  for (const WriteBack& w : g.write_backs) written.insert(w.input);
  std::vector<Input> kept;
  std::map<int, int> moved;
  for (size_t i = 0; i < g.inputs.size(); ++i) {
    const Input& in = g.inputs[i];
    if (!live.contains(in.value) && !written.contains(static_cast<int>(i))) continue;
    moved[static_cast<int>(i)] = static_cast<int>(kept.size());
    kept.push_back(in);
  }
  g.inputs = kept;
  for (WriteBack& w : g.write_backs) w.input = moved.at(w.input);
}

// Types as the ops infer them, after sizes have changed.
void retype(Graph& g) {
  for (auto& n : g.nodes) {
    std::vector<TensorType> types = n->op->infer ? n->op->infer(*n) : infer_by_rewriting(g, *n);
    if (types.size() != n->outputs.size()) user_error("another number of results");
    for (size_t i = 0; i < types.size(); ++i) n->outputs[i]->type = types[i];
  }
}

class Shrinker {
 public:
  Shrinker(std::string text, const std::function<bool(const std::string&)>& still_fails)
      : text_(std::move(text)), still_fails_(still_fails) {}

  std::string run() {
    attempt([](Graph&) { return true; });
    for (bool changed = true; changed && tries_ < kMaxTries;) {
      changed = false;
      changed |= each([](Graph& g, size_t i) { return drop(g.outputs, i); });
      changed |= each([](Graph& g, size_t i) { return drop(g.write_backs, i); });
      changed |= each(make_node_input);
      changed |= each(bypass_node);
      changed |= each([](Graph& g, size_t i) { return contiguous_input(g, i); });
      for (int64_t size : {1, 2})
        changed |= each([size](Graph& g, size_t i) { return set_size(g, i, size); });
    }
    return text_;
  }

 private:
  static constexpr int kMaxTries = 1500;

  template <typename T>
  static bool drop(std::vector<T>& list, size_t i) {
    if (i >= list.size()) return false;
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(i));
    return true;
  }

  // The results of the i-th node from the end become inputs.
  static bool make_node_input(Graph& g, size_t i) {
    if (i >= g.nodes.size()) return false;
    auto it = node_at(g, g.nodes.size() - 1 - i);
    for (Value* v : (*it)->outputs) {
      TensorType t = v->type;
      for (const Sym& s : t.strides)
        if (s.is(0)) t.strides = contiguous_strides(t.sizes);
      Value* first = (*it)->args.empty() || !std::holds_alternative<Value*>((*it)->args[0])
                         ? nullptr
                         : std::get<Value*>((*it)->args[0]);
      replace_everywhere(g, v, (*it)->op->mutates() ? first : add_input(g, t));
    }
    g.nodes.erase(it);
    return true;
  }

  // Uses of its result become uses of an operand of the same type.
  static bool bypass_node(Graph& g, size_t i) {
    if (i >= g.nodes.size()) return false;
    auto it = node_at(g, g.nodes.size() - 1 - i);
    Value* found = nullptr;
    if ((*it)->outputs.size() == 1)
      Graph::for_each_operand(**it, [&](Value* v) {
        const TensorType &a = v->type, &b = (*it)->outputs[0]->type;
        if (!found && a.dtype == b.dtype && a.sizes == b.sizes) found = v;
      });
    if (!found) return true;
    replace_everywhere(g, (*it)->outputs[0], found);
    g.nodes.erase(it);
    return true;
  }

  static bool contiguous_input(Graph& g, size_t i) {
    if (i >= g.inputs.size()) return false;
    Input& in = g.inputs[i];
    if (in.value) in.value->type.strides = contiguous_strides(in.value->type.sizes);
    in.kind = InputKind::User;
    in.stored = {};
    in.target.clear();
    retype(g);
    return true;
  }

  // The i-th different size of the inputs, wherever an input has it, becomes `size`.
  static bool set_size(Graph& g, size_t i, int64_t size) {
    std::vector<Sym> sizes;
    for (const Input& in : g.inputs)
      for (const Sym& s : in.value ? in.value->type.sizes : std::vector<Sym>{})
        if (std::find(sizes.begin(), sizes.end(), s) == sizes.end()) sizes.push_back(s);
    if (i >= sizes.size()) return false;
    if (auto c = sizes[i].constant(); c && *c <= size) return true;
    auto change = [&](Sym& s) {
      if (s == sizes[i]) s = Sym(size);
    };
    for (Input& in : g.inputs) {
      if (!in.value) continue;
      for (Sym& s : in.value->type.sizes) change(s);
      in.value->type.strides = contiguous_strides(in.value->type.sizes);
      if (in.stored.storage < 0) continue;
      in.stored.sizes.clear();
      for (const Sym& s : in.value->type.sizes) in.stored.sizes.push_back(s.constant().value_or(1));
      in.stored.strides.clear();
      for (const Sym& s : in.value->type.strides)
        in.stored.strides.push_back(s.constant().value_or(1));
    }
    for (auto& n : g.nodes)
      for (Arg& a : n->args) {
        if (auto* list = std::get_if<std::vector<Sym>>(&a))
          for (Sym& s : *list) change(s);
        if (auto* s = std::get_if<Sym>(&a)) change(*s);
      }
    retype(g);
    return true;
  }

  // Tries f for i = 0, 1, ... until it says that there is no such i.
  bool each(const std::function<bool(Graph&, size_t)>& f) {
    bool changed = false;
    for (size_t i = 0; tries_ < kMaxTries;) {
      bool exists = true;
      bool kept = attempt([&](Graph& g) {
        try {
          return exists = f(g, i);
        } catch (const std::exception&) {
          return false;  // f(g, i) exists, but leads to no valid program
        }
      });
      if (!exists) return changed;
      changed |= kept;
      if (!kept) ++i;
    }
    return changed;
  }

  bool attempt(const std::function<bool(Graph&)>& change) {
    std::string candidate;
    try {
      auto g = parse_graph(text_, "shrink.ir");
      if (!change(*g)) return false;
      tidy(*g);
      verify(*g, GraphStage::Graph);
      candidate = print(*g);
      parse_graph(candidate, "shrink.ir");
    } catch (const std::exception&) {
      return false;
    }
    if (candidate == text_) return false;
    ++tries_;
    if (!still_fails_(candidate)) return false;
    text_ = candidate;
    return true;
  }

  std::string text_;
  const std::function<bool(const std::string&)>& still_fails_;
  int tries_ = 0;
};

}  // namespace

std::string shrink(std::string text, const std::function<bool(const std::string&)>& still_fails) {
  return Shrinker(std::move(text), still_fails).run();
}

}  // namespace aotc::random_graphs
