// Putting back the copies into mutated buffers that run_decompositions() drops.
#include "ir/import/dropped_copies.h"

#include <algorithm>

#include "ir/ops/require.h"
#include "ir/ops/rewriter.h"

namespace aotc {
namespace {

using ReplacedValues = std::map<Value*, Value*>;  // what is written -> its copy

bool same_type(const TensorType& a, const TensorType& b) {
  return a.dtype == b.dtype && can_be_equal(a.sizes, b.sizes);
}

bool can_be_expanded(const TensorType& from, const TensorType& to) {
  return from.rank() <= to.rank() &&
         std::equal(from.sizes.rbegin(), from.sizes.rend(), to.sizes.rbegin(),
                    [](const Sym& a, const Sym& b) { return a.is(1) || can_be_equal(a, b); });
}

std::list<std::unique_ptr<Node>>::iterator after_producer(Graph& g, const Value* v) {
  auto at = g.nodes.begin();
  if (!v->producer) return at;
  while (at->get() != v->producer) ++at;
  return std::next(at);
}

Value* copy_into(Graph& g, Value* input, const WriteBack& w) {
  Node place;
  place.op = w.value->producer ? w.value->producer->op : nullptr;
  place.name = input->name + "_written";
  place.source = w.source;
  Rewriter r(g, after_producer(g, w.value), place);
  return r.copy(input, w.value);
}

// Whether the node, reading what `replaced` says, yields what the archive declares for it.
bool yields_declared(const Graph& g, const Node& n, const ReplacedValues& replaced) {
  Node read;
  read.op = n.op;
  read.args = n.args;
  read.name = n.name;
  read.source = n.source;
  Graph::replace_operands(read, [&](Value* v) {
    auto it = replaced.find(v);
    return it == replaced.end() ? v : it->second;
  });
  try {
    const auto types = n.op->infer ? n.op->infer(read) : infer_by_rewriting(g, read);
    for (size_t i = 0; i < std::min(types.size(), n.outputs.size()); ++i)
      if (n.outputs[i]->kind == ValueKind::Tensor && !same_type(types[i], n.outputs[i]->type))
        return false;
    return true;
  } catch (const UserError&) {
    return false;  // the op refuses such operands
  }
}

void read_copies(const Graph& g, Node& n, const ReplacedValues& copies) {
  ReplacedValues read;
  Graph::for_each_operand(n, [&](Value* v) {
    if (auto it = copies.find(v); it != copies.end()) read.insert(*it);
  });
  if (read.empty() || n.op->mutates() || yields_declared(g, n, {})) return;
  std::vector<ReplacedValues> choices = {read};
  for (const auto& one : read) choices.push_back({one});
  for (const ReplacedValues& choice : choices) {
    if (!yields_declared(g, n, choice)) continue;
    Graph::replace_operands(n, [&](Value* v) {
      auto it = choice.find(v);
      return it == choice.end() ? v : it->second;
    });
    return;
  }
}

}  // namespace

void restore_dropped_copies(Graph& g) {
  ReplacedValues copies;
  for (WriteBack& w : g.write_backs) {
    Value* input = g.inputs[static_cast<size_t>(w.input)].value;
    if (same_type(w.value->type, input->type) || !can_be_expanded(w.value->type, input->type))
      continue;
    Value* written = w.value;
    w.value = copy_into(g, input, w);
    copies.emplace(written, w.value);
  }
  if (copies.empty()) return;
  for (auto& n : g.nodes) {
    const bool is_copy = std::any_of(copies.begin(), copies.end(),
                                     [&](const auto& c) { return c.second->producer == n.get(); });
    if (!is_copy) read_copies(g, *n, copies);
  }
}

void refuse_reshaped_inputs(const Graph& g, const std::string& path) {
  ErrorList errors;
  for (const WriteBack& w : g.write_backs) {
    const Input& in = g.inputs[static_cast<size_t>(w.input)];
    if (can_be_equal(w.value->type.sizes, in.value->type.sizes)) continue;
    const char* kind = in.is_user() ? "input" : "buffer";
    errors.add(fmt::format(
        "{}: {}: the {} '{}' has the sizes {}, the value that it is given has {}: an op that "
        "changes the shape of the {} itself (as transpose_ does) is not supported; use the form "
        "without '_' and return the result",
        path, w.source.str(), kind, in.is_user() ? in.name : in.target,
        sizes_text(in.value->type.sizes), sizes_text(w.value->type.sizes), kind));
  }
  errors.throw_if_any();
}

}  // namespace aotc
