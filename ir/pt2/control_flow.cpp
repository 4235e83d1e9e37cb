// torch.cond, while_loop and map in line: markers of ir/control.h, and nodes that carry values in
// and out (ir/ops/control.cpp).
#include <fmt/format.h>

#include "ir/error.h"
#include "ir/pt2/inliner.h"

namespace aotc::pt2 {
namespace {

const std::string kHigherOrder = "torch.ops.higher_order.";

Argument tensors(const std::vector<Argument>& list) { return {list, "as_tensors"}; }

}  // namespace

bool Inliner::add_control(const Node& n, int depth) {
  if (!n.target.starts_with(kHigherOrder)) return false;
  const std::string name = n.target.substr(kHigherOrder.size());
  if (name == "cond")
    add_cond(n, depth);
  else if (name == "while_loop")
    add_while_loop(n, depth);
  else if (name == "map_impl")
    add_map(n, depth);
  else
    return false;
  return true;
}

// ---- torch.cond(predicate, true graph, false graph, operands)

void Inliner::add_cond(const Node& n, int depth) {
  if (n.inputs.size() < 4) misfit(n, "arguments", n.inputs.size(), 4);
  const std::vector<Argument> operands = list(n, 3);
  emit(n, "aotc.if", {condition(n, n.inputs[0].arg)}, {});
  const std::vector<Argument> first = branch(n, subgraph(n, 1), operands, {}, false, depth);
  emit(n, "aotc.else", {}, {});
  branch(n, subgraph(n, 2), operands, first, true, depth);
  emit(n, "aotc.end_if", {}, {});
}

// The results of the branch: as new tensors, or in the last one under the names outside.
std::vector<Argument> Inliner::branch(const Node& n, const Graph& inner,
                                      const std::vector<Argument>& operands,
                                      const std::vector<Argument>& previous, bool last, int depth) {
  const std::vector<Argument> inside = body(n, inner, operands, depth), outside = flat(n.outputs);
  if (inside.size() != outside.size()) misfit(n, "outputs", outside.size(), inside.size());
  std::vector<Argument> results;
  for (size_t i = 0; i < outside.size(); ++i) {
    if (std::holds_alternative<None>(outside[i].value)) {
      results.push_back(outside[i]);
      continue;
    }
    const std::string name = tensor_of(n, outside[i]);
    tensor_of(n, inside[i]);
    results.push_back(last ? outside[i] : new_tensor(name, out_.tensor_values.at(name)));
    emit(n, "aotc.assign",
         {previous.empty() ? Argument{None{}, "as_none"} : previous[i], inside[i]},
         {results.back()});
  }
  return results;
}

// ---- while_loop(condition graph, body graph, carried, others)

void Inliner::add_while_loop(const Node& n, int depth) {
  if (n.inputs.size() < 4) misfit(n, "arguments", n.inputs.size(), 4);
  const std::vector<Argument> initial = list(n, 2), others = list(n, 3), outside = flat(n.outputs);
  if (initial.size() != outside.size()) misfit(n, "results", outside.size(), initial.size());
  std::vector<Argument> carried;
  for (size_t i = 0; i < initial.size(); ++i) {
    const std::string name = tensor_of(n, initial[i]), result = tensor_of(n, outside[i]);
    carried.push_back(new_tensor(result + "_carried", out_.tensor_values.at(result)));
    emit(n, "aotc.carry", {initial[i]}, {carried.back()});
    same_as_[result] = tensor_of(n, carried.back());
  }
  std::vector<Argument> operands = carried;
  operands.insert(operands.end(), others.begin(), others.end());
  emit(n, "aotc.while", {}, {});
  const std::vector<Argument> goes_on = body(n, subgraph(n, 0), operands, depth);
  if (goes_on.size() != 1) misfit(n, "conditions", 1, goes_on.size());
  emit(n, "aotc.test", {condition(n, goes_on[0])}, {});
  const std::vector<Argument> next = body(n, subgraph(n, 1), operands, depth);
  if (next.size() != carried.size()) misfit(n, "results", carried.size(), next.size());
  for (const Argument& a : next) tensor_of(n, a);
  emit(n, "aotc.next", {tensors(carried), tensors(next)}, {});
  emit(n, "aotc.end_while", {}, {});
}

// ---- map(graph, tensors whose rows it gets, others)

void Inliner::add_map(const Node& n, int depth) {
  if (n.inputs.size() < 3) misfit(n, "arguments", n.inputs.size(), 3);
  const std::vector<Argument> stacked = list(n, 1), others = list(n, 2), outside = flat(n.outputs);
  if (stacked.empty()) misfit(n, "mapped tensors", 0, 1);
  const Graph& inner = subgraph(n, 0);
  for (const Argument& result : outside) {
    const TensorMeta meta = out_.tensor_values.at(tensor_of(n, result));
    std::vector<Argument> sizes;
    for (const SymIntExpr& s : meta.sizes) sizes.push_back(size_argument(s));
    emit(n, "aotc.rows",
         {{sizes, "as_sym_ints"},
          {ScalarTypeArg{meta.dtype}, "as_scalar_type"},
          {meta.device, "as_device"}},
         {result});
  }
  const std::vector<SymIntExpr> sizes = out_.tensor_values.at(tensor_of(n, stacked[0])).sizes;
  if (sizes.empty()) misfit(n, "dimensions to map over", 0, 1);
  const Argument count = size_argument(sizes[0]);
  const Argument counter = new_symbol(n.name + "_row");
  counters_.insert(std::get<SymIntName>(counter.value).name);
  emit(n, "aotc.for", {count}, {counter});
  std::vector<Argument> operands;
  for (const Argument& a : stacked) {
    TensorMeta row = out_.tensor_values.at(tensor_of(n, a));
    if (row.sizes.empty()) misfit(n, "dimensions to map over", 0, 1);
    row.sizes.erase(row.sizes.begin());
    row.strides.erase(row.strides.begin());
    operands.push_back(new_tensor(tensor_of(n, a) + "_row", row));
    emit(n, "aten.select.int", {a, {int64_t{0}, "as_int"}, counter}, {operands.back()});
  }
  operands.insert(operands.end(), others.begin(), others.end());
  const std::vector<Argument> rows = body(n, inner, operands, depth);
  if (rows.size() != outside.size()) misfit(n, "results", outside.size(), rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    tensor_of(n, rows[i]);
    emit(n, "aotc.set_row", {outside[i], rows[i], counter}, {});
  }
  emit(n, "aotc.end_for", {}, {});
}

// ---- parts

const Graph& Inliner::subgraph(const Node& n, size_t input) const {
  const auto* g = std::get_if<GraphArg>(&n.inputs[input].arg.value);
  if (!g || !g->graph)
    user_error("{}: node '{}' ({}): argument {} is no subgraph; export the program again", path_,
               n.name, n.target, input);
  return *g->graph;
}

std::vector<Argument> Inliner::list(const Node& n, size_t input) const {
  return flat({n.inputs[input].arg});
}

std::vector<Argument> Inliner::body(const Node& n, const Graph& inner,
                                    const std::vector<Argument>& given, int depth) {
  if (given.size() != inner.inputs.size()) misfit(n, "inputs", given.size(), inner.inputs.size());
  Names names = bind_inputs(inner, given);
  merge_values(inner, names);
  for (const Node& m : inner.nodes) add(renamed(m, names), depth + 1);
  std::vector<Argument> outputs;
  for (const Argument& a : flat(inner.outputs)) outputs.push_back(renamed(a, names));
  return outputs;
}

Argument Inliner::condition(const Node& n, const Argument& predicate) {
  if (auto* b = std::get_if<bool>(&predicate.value)) return {int64_t{*b}, "as_int"};
  if (std::holds_alternative<SymBoolName>(predicate.value)) return predicate;
  tensor_of(n, predicate);
  const Argument value = new_symbol(n.name + "_condition");
  emit(n, "aten._local_scalar_dense.default", {predicate}, {value});
  return value;
}

std::string Inliner::tensor_of(const Node& n, const Argument& a) const {
  const auto* t = std::get_if<TensorName>(&a.value);
  if (!t)
    user_error(
        "{}: node '{}' ({}): an argument or result of kind {} is not supported; use a tensor",
        path_, n.name, n.target, a.kind);
  // The name under which the table of values knows it.
  if (!out_.tensor_values.contains(t->name))
    user_error("{}: node '{}' ({}): tensor '{}' has no metadata; export the program again", path_,
               n.name, n.target, t->name);
  return t->name;
}

void Inliner::emit(const Node& from, const std::string& target, std::vector<Argument> inputs,
                   std::vector<Argument> outputs) {
  Node n;
  n.target = target;
  n.name = from.name;
  n.metadata = from.metadata;
  for (Argument& a : inputs) n.inputs.push_back({"", std::move(a)});
  n.outputs = std::move(outputs);
  out_.nodes.push_back(std::move(n));
}

Argument Inliner::new_tensor(const std::string& like, const TensorMeta& meta) {
  const std::string name = free_name(like);
  out_.tensor_values.emplace(name, meta);
  return {TensorName{name}, "as_tensor"};
}

// An integer that only the run knows; its symbol has the same name.
Argument Inliner::new_symbol(const std::string& like) {
  const std::string name = free_name(like);
  SymInt value;
  value.expr.expr = fmt::format("Symbol('{}', integer=True)", name);
  out_.sym_int_values.emplace(name, value);
  return {SymIntName{name}, "as_sym_int"};
}

Argument Inliner::size_argument(const SymIntExpr& size) {
  if (size.expr.empty()) return {size.value, "as_int"};
  const std::string name = free_name("size");
  out_.sym_int_values.emplace(name, SymInt{size});
  return {SymIntName{name}, "as_sym_int"};
}

}  // namespace aotc::pt2
