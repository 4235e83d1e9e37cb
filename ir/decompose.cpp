// Stage 3: expands `rewrite` ops until only core meanings are left.
#include <map>

#include "ir/declared_types.h"
#include "ir/graph.h"
#include "ir/ops/op.h"
#include "ir/ops/rewriter.h"
#include "ir/runtime_conditions.h"

namespace aotc {
namespace {

// Symbols that rows made and that got the program's own names, or went with dead nodes.
void drop_unused_symbols(Graph& g, const std::map<std::string, SymbolInfo>& declared) {
  std::set<std::string> used;
  for (const auto& n : g.nodes)
    for (const Value* v : n->outputs) {
      used.merge(v->sym.symbols());
      for (const Sym& s : v->type.sizes) used.merge(s.symbols());
    }
  std::erase_if(g.symbols, [&](const auto& symbol) {
    return !declared.contains(symbol.first) && !used.contains(symbol.first);
  });
}

// What the inner nodes of an op yield has the layout that eager gives the op's results, for ops
// that ask how elements lie in memory.
void keep_layouts(const Node& n, const std::vector<Value*>& results,
                  const std::set<const Node*>& inner) {
  for (size_t i = 0; i < n.outputs.size(); ++i) {
    Value* v = results[i];
    if (!v || !n.outputs[i] || !v->producer || !inner.contains(v->producer)) continue;
    if (v->type.sizes == n.outputs[i]->type.sizes && !n.outputs[i]->type.strides.empty())
      v->type.strides = n.outputs[i]->type.strides;
  }
}

}  // namespace

CoreGraph decompose(FunctionalGraph functional) {
  Graph& g = *functional.graph;
  const std::set<const Value*> used = used_values(g);
  const std::map<std::string, SymbolInfo> declared = g.symbols;
  std::map<Value*, Value*> replaced;
  auto current = [&](Value* v) {
    for (auto it = replaced.find(v); it != replaced.end(); it = replaced.find(v)) v = it->second;
    return v;
  };
  std::list<std::unique_ptr<Node>> retired;
  for (auto it = g.nodes.begin(); it != g.nodes.end();) {
    Node& n = **it;
    Graph::replace_operands(n, current);
    const auto* rewrite = n.op->as<RewriteMeaning>();
    if (!rewrite) {
      ++it;
      continue;
    }
    auto before = it == g.nodes.begin() ? g.nodes.end() : std::prev(it);
    Rewriter r(g, it, n);
    std::vector<Value*> results = rewrite->fn(r);
    AOTC_CHECK(results.size() >= n.outputs.size(), "{} yields {} values, {} are needed",
               n.op->name(), results.size(), n.outputs.size());
    check_declared(n, results, used);
    std::set<const Node*> inner;
    for (auto k = before == g.nodes.end() ? g.nodes.begin() : std::next(before); k != it; ++k)
      inner.insert(k->get());
    keep_layouts(n, results, inner);
    for (size_t i = 0; i < n.outputs.size(); ++i)
      if (results[i]) replaced[n.outputs[i]] = results[i];
    auto next = std::next(it);
    retired.splice(retired.end(), g.nodes, it);
    it = before == g.nodes.end() ? g.nodes.begin() : std::next(before);  // visit what was inserted
    if (it == g.nodes.end()) it = next;
  }
  for (Output& o : g.outputs)
    if (o.value) {
      Value* v = current(o.value);
      // The caller gets the layout that the exported program has, also from an expanded op.
      if (v != o.value && v->producer && v->type.sizes == o.value->type.sizes)
        v->type.strides = o.value->type.strides;
      o.value = v;
    }
  for (WriteBack& w : g.write_backs) w.value = current(w.value);
  for (OutputAlias& a : g.aliases) a.view = current(a.view);
  g.remove_dead_nodes();
  drop_unused_symbols(g, declared);
  add_runtime_conditions(g);
  return {std::move(functional.graph)};
}

}  // namespace aotc
