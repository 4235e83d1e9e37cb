// Putting regions in line: every name of the subgraph is mapped to an operand or to a name that is
// free outside.
#include "ir/pt2/inliner.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/error.h"

namespace aotc::pt2 {
namespace {

constexpr int kMaxRegions = 64;  // nested

// The position of the subgraph among the inputs of a node that can be put in line.
std::optional<size_t> region_of(const Node& n) {
  const std::string prefix = "torch.ops.higher_order.";
  if (!n.target.starts_with(prefix)) return std::nullopt;
  const std::string name = n.target.substr(prefix.size());
  const std::set<std::string> known = {
      "wrap_with_set_grad_enabled", "wrap_with_autocast",        "wrap", "strict_mode",
      "tag_activation_checkpoint",  "wrap_activation_checkpoint"};
  if (!known.contains(name)) return std::nullopt;
  if (name == "wrap_with_autocast" && !autocast_of(n)) return std::nullopt;
  for (size_t i = 0; i < n.inputs.size(); ++i)
    if (const auto* g = std::get_if<GraphArg>(&n.inputs[i].arg.value); g && g->graph) return i;
  return std::nullopt;
}

}  // namespace

std::string* name_in(Argument& a) {
  if (auto* t = std::get_if<TensorName>(&a.value)) return &t->name;
  if (auto* s = std::get_if<SymIntName>(&a.value)) return &s->name;
  if (auto* s = std::get_if<SymFloatName>(&a.value)) return &s->name;
  if (auto* s = std::get_if<SymBoolName>(&a.value)) return &s->name;
  return nullptr;
}

// Lists flattened.
std::vector<Argument> flat(const std::vector<Argument>& list) {
  std::vector<Argument> out;
  for (const Argument& a : list)
    if (auto* inner = std::get_if<std::vector<Argument>>(&a.value))
      for (const Argument& b : flat(*inner)) out.push_back(b);
    else
      out.push_back(a);
  return out;
}

std::map<std::string, Argument> bind_inputs(const Graph& inner,
                                            const std::vector<Argument>& given) {
  std::map<std::string, Argument> names;
  for (size_t i = 0; i < given.size(); ++i) {
    Argument formal = inner.inputs[i];
    if (const std::string* name = name_in(formal)) names.insert_or_assign(*name, given[i]);
  }
  return names;
}

FlatGraph Inliner::run(const std::vector<Node>& nodes) {
  for (const Node& n : nodes) add(n, 0);
  return {std::move(out_), std::move(same_as_), std::move(counters_)};
}

void Inliner::add(const Node& n, int depth) {
  if (depth == kMaxRegions)
    user_error("{}: node '{}': more than {} regions inside each other", path_, n.name, kMaxRegions);
  if (const auto bare = without_token(n)) return out_.nodes.push_back(*bare);
  if (const auto region = region_of(n)) return add_region(n, *region, depth);
  if (add_control(n, depth)) return;
  if (autocast_.enabled) return add_with_casts(n);
  out_.nodes.push_back(n);
}

void Inliner::add_region(const Node& n, size_t region, int depth) {
  const Graph& inner = *std::get<GraphArg>(n.inputs[region].arg.value).graph;
  std::vector<Argument> given;
  for (size_t i = region + 1; i < n.inputs.size(); ++i)
    if (n.inputs[i].name.empty()) given.push_back(n.inputs[i].arg);  // the rest are options
  if (given.size() != inner.inputs.size()) given = flat(given);
  if (given.size() != inner.inputs.size()) misfit(n, "inputs", given.size(), inner.inputs.size());
  Names names = bind_inputs(inner, given);
  results(n, inner, names);
  merge_values(inner, names);
  const Autocast outside = autocast_;
  if (n.target.ends_with("wrap_with_autocast")) autocast_ = *autocast_of(n);
  for (const Node& m : inner.nodes) add(renamed(m, names), depth + 1);
  autocast_ = outside;
}

void Inliner::misfit(const Node& n, const char* what, size_t found, size_t expected) const {
  user_error("{}: node '{}' ({}): its subgraph has {} {}, the node {}; export the program again",
             path_, n.name, n.target, expected, what, found);
}

// Gives the values that leave the region their names outside. One that is an operand, or leaves
// twice, is another name of that value.
void Inliner::results(const Node& n, const Graph& inner, Names& names) {
  std::vector<Argument> outside = flat(n.outputs), inside = flat(inner.outputs);
  if (outside.size() != inside.size()) misfit(n, "outputs", outside.size(), inside.size());
  for (size_t i = 0; i < outside.size(); ++i) {
    const std::string* from = name_in(inside[i]);
    if (!from || !name_in(outside[i])) continue;
    if (names.emplace(*from, outside[i]).second) continue;
    if (!std::holds_alternative<TensorName>(outside[i].value)) continue;  // its expression says all
    if (const std::string* value = name_in(names.at(*from)))
      same_as_[*name_in(outside[i])] = *value;
  }
}

bool Inliner::is_taken(const std::string& name) const {
  return out_.tensor_values.contains(name) || out_.sym_int_values.contains(name) ||
         out_.sym_bool_values.contains(name) || out_.sym_float_values.contains(name);
}

std::string Inliner::free_name(const std::string& name) const {
  std::string free = name;
  for (int k = 1; is_taken(free); ++k) free = fmt::format("{}_{}", name, k);
  return free;
}

// Brings the subgraph's tables of values along, under names that are free.
void Inliner::merge_values(const Graph& inner, Names& names) {
  const auto merge = [&](const auto& from, auto& to, const auto& argument) {
    for (const auto& [name, value] : from) {
      if (names.contains(name)) continue;
      const std::string free = free_name(name);
      to.emplace(free, value);
      names.emplace(name, argument(free));
    }
  };
  merge(inner.tensor_values, out_.tensor_values,
        [](const std::string& s) { return Argument{TensorName{s}, "as_tensor"}; });
  merge(inner.sym_int_values, out_.sym_int_values,
        [](const std::string& s) { return Argument{SymIntName{s}, "as_sym_int"}; });
  merge(inner.sym_bool_values, out_.sym_bool_values,
        [](const std::string& s) { return Argument{SymBoolName{s}, "as_sym_bool"}; });
  merge(inner.sym_float_values, out_.sym_float_values,
        [](const std::string& s) { return Argument{SymFloatName{s}, "as_sym_float"}; });
}

Argument Inliner::renamed(const Argument& a, const Names& names) {
  Argument out = a;
  if (auto* list = std::get_if<std::vector<Argument>>(&out.value)) {
    for (Argument& item : *list) item = renamed(item, names);
  } else if (const std::string* name = name_in(out)) {
    if (auto it = names.find(*name); it != names.end()) return it->second;
  }
  return out;
}

Node Inliner::renamed(const Node& n, const Names& names) {
  Node out = n;
  for (NamedArgument& a : out.inputs) a.arg = renamed(a.arg, names);
  for (Argument& a : out.outputs) a = renamed(a, names);
  return out;
}

FlatGraph inline_regions(const Graph& graph, const std::string& path) {
  return Inliner(graph, path).run(graph.nodes);
}

}  // namespace aotc::pt2
