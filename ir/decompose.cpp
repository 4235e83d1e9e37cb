// Stage 3: expands `rewrite` ops until only core meanings are left.
#include <map>

#include "ir/declared_types.h"
#include "ir/graph.h"
#include "ir/ops/op.h"
#include "ir/ops/rewriter.h"

namespace aotc {

CoreGraph decompose(FunctionalGraph functional) {
  Graph& g = *functional.graph;
  const std::set<const Value*> used = used_values(g);
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
  return {std::move(functional.graph)};
}

}  // namespace aotc
