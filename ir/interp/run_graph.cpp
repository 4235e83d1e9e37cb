// Level 1 of the interpreter: tensors with true aliasing, nodes in order.
#include <unordered_map>

#include "ir/interp/call.h"
#include "ir/interp/concrete.h"
#include "ir/interp/kernel.h"
#include "ir/interp/outputs.h"
#include "ir/interp/run_loops.h"
#include "ir/interp/single_node.h"
#include "ir/interp/views.h"
#include "ir/ops/control.h"
#include "ir/ops/op.h"
#include "ir/ops/rewriter.h"

namespace aotc::interp {
namespace {

class GraphRun {
 public:
  GraphRun(const Graph& g, Call& call, const RunOptions& options)
      : graph_(g), call_(call), options_(options) {
    for (size_t i = 0; i < g.inputs.size(); ++i)
      if (call.input(i).memory) env_[g.inputs[i].value] = call.input(i);
  }

  void run() {
    std::vector<const Node*> nodes;
    for (const auto& n : graph_.nodes) nodes.push_back(n.get());
    const auto bound = [&](size_t i) {
      return eval(std::get<Sym>(nodes[i]->args.at(0)), call_.symbols);
    };
    run_blocks(
        controls_of(graph_), [&](size_t i) { node(*nodes[i]); },
        [&](size_t i) {
          const bool goes_on = bound(i) != 0;
          if (goes_on && control_of(*nodes[i]->op) == Control::Test &&
              ++iterations_ > options_.max_iterations)
            throw CheckFailed("a loop goes on for too long");
          return goes_on;
        },
        bound,
        [&](size_t i, int64_t n) { call_.symbols[*nodes[i]->output()->sym.symbol_name()] = n; });
  }

  // Outputs that are no aliases are read before the write-backs, which may change what they are
  // views of.
  void finish(RunResult& r) {
    std::vector<Tensor> values;
    for (const WriteBack& w : graph_.write_backs) values.push_back(copy(tensor(w.value)));
    for (size_t i = 0; i < graph_.outputs.size(); ++i)
      r.outputs.push_back(output(static_cast<int>(i)));
    for (size_t i = 0; i < values.size(); ++i)
      assign(call_.input(static_cast<size_t>(graph_.write_backs[i].input)), values[i]);
    for (size_t i = 0; i < graph_.outputs.size(); ++i) {
      if (alias_of_output(graph_, static_cast<int>(i)))
        r.outputs[i] = signature_output(call_, static_cast<int>(i));
      auto* t = std::get_if<Tensor>(&r.outputs[i]);
      r.alias_of.push_back(t ? call_.owner_of(*t) : -1);
    }
  }

 private:
  const Tensor& tensor(const Value* v) {
    if (auto image = images_.find(v); image != images_.end()) refresh(v, image->second);
    auto it = env_.find(place_of(v));
    if (it == env_.end()) internal_error("%{} has no value", v ? v->name : "none");
    return it->second;
  }

  RunValue output(int i) {
    const Output& o = graph_.outputs[static_cast<size_t>(i)];
    if (o.kind != OutputKind::Tensor || alias_of_output(graph_, i))
      return o.kind == OutputKind::Tensor ? RunValue{} : signature_output(call_, i);
    const Tensor& t = tensor(o.value);
    bool overwritten = !graph_.write_backs.empty() && call_.owner_of(t) >= 0;
    return overwritten ? copy(t) : t;
  }

  void node(const Node& n) {
    if (!n.op) internal_error("node '{}' has no op", n.name);
    for (const Arg& a : n.args)
      if (std::holds_alternative<std::shared_ptr<Graph>>(a))
        user_error("node '{}' ({}): subgraphs cannot be interpreted yet", n.name, n.op->name());
    try {
      require_conditions(n);
      dispatch(n);
    } catch (const InternalError& e) {
      internal_error("node '{}' ({}): {}", n.name, n.op->name(), e.what());
    }
  }

  std::unordered_map<const Node*, Symbols> met_;  // nodes whose conditions hold for these

  // What eager refuses of these sizes, where the compiler could not tell.
  void require_conditions(const Node& n) {
    if (call_.symbols.empty() || (!n.op->infer && !n.op->as<RewriteMeaning>())) return;
    auto [met, fresh] = met_.try_emplace(&n, call_.symbols);
    if (!fresh && met->second == call_.symbols) return;
    met->second = call_.symbols;
    const ConcreteNode here(n, call_.symbols);
    try {
      if (n.op->infer)
        n.op->infer(here.node);
      else
        infer_by_rewriting(graph_, here.node);
    } catch (const UserError& e) {
      throw CheckFailed(e.what());
    }
  }

  void dispatch(const Node& n) {
    if (n.op->mutates()) return mutate(n);
    if (n.op->put) return image(n);
    if (n.op->is_view()) return view(n);
    if (n.op->as<RewriteMeaning>()) return rewrite(n);
    if (n.op == find_op("aotc.write_view")) return write_view(n);
    if (n.op == find_op("aotc.assign")) return assign_value(n);
    if (n.op == find_op("aotc.next")) return next(n);
    if (n.op == find_op("aotc.rows")) return rows(n);
    if (n.op == find_op("aotc.set_row")) return set_row(n);
    leaf(n);
  }

  // ---- values of blocks

  // The parts of an if assign the same value; one of them runs.
  static const Value* place_of(const Value* v) {
    while (v && v->producer && v->producer->op == find_op("aotc.assign") &&
           tensor_arg(*v->producer, "previous"))
      v = tensor_arg(*v->producer, "previous");
    return v;
  }

  void assign_value(const Node& n) {
    env_[place_of(n.output())] = with_layout(copy(tensor(tensor_arg(n, "value"))), *n.output());
  }

  void next(const Node& n) {
    const auto& carried = std::get<std::vector<Value*>>(arg(n, "carried"));
    const auto& values = std::get<std::vector<Value*>>(arg(n, "next"));
    std::vector<Tensor> now;
    for (Value* v : values) now.push_back(copy(tensor(v)));
    for (size_t i = 0; i < carried.size(); ++i) env_[carried[i]] = with_layout(now[i], *carried[i]);
  }

  void rows(const Node& n) {
    const TensorType& t = n.output()->type;
    env_[n.output()] = empty(t.dtype, eval(t.sizes, call_.symbols));
  }

  void set_row(const Node& n) {
    Tensor row = tensor(tensor_arg(n, "rows"));
    row.offset += eval(sym_arg(n, "index"), call_.symbols) * row.strides.at(0);
    row.sizes.erase(row.sizes.begin());
    row.strides.erase(row.strides.begin());
    assign(row, tensor(tensor_arg(n, "row")));
  }

  void view(const Node& n) {
    auto* self = std::get<Value*>(n.args.at(0));
    const Tensor base = tensor(self);
    for (size_t k = 0; k < n.outputs.size(); ++k) {
      if (!n.outputs[k]) continue;
      Tensor seen = eager_view(n, static_cast<int>(k), base, call_.symbols);
      if (images_.contains(self) && seen.memory == base.memory)
        images_[n.outputs[k]] = {self, &n, static_cast<int>(k)};
      env_[n.outputs[k]] = std::move(seen);
    }
  }

  // ---- storages under other numbers (OpDef::put) and views of them: memory cannot say what they
  // are, so they are computed whenever they are read, and written through what they come from

  struct Image {
    Value* from = nullptr;
    const Node* node = nullptr;  // the view or image; nullptr: the same value
    int result = 0;
  };

  void image(const Node& n) {
    leaf(n);
    images_[n.output()] = {std::get<Value*>(n.args.at(0)), &n, 0};
  }

  void refresh(const Value* v, const Image& i) {
    if (i.node && i.node->op->put) return leaf(*i.node);
    const Tensor from = tensor(i.from);
    env_[v] = i.node ? eager_view(*i.node, i.result, from, call_.symbols) : from;
  }

  void store(Value* target, const Tensor& value) {
    auto it = images_.find(target);
    if (it == images_.end()) return assign(tensor(target), value);
    const Image i = it->second;
    if (!i.node) return store(i.from, value);
    if (i.node->op->put) return store(i.from, put(*i.node, i.from, value));
    Tensor whole = with_layout(copy(tensor(i.from)), *i.from);  // or the view could be a copy
    assign(eager_view(*i.node, i.result, whole, call_.symbols), value);
    store(i.from, whole);
  }

  Tensor put(const Node& n, Value* self, const Tensor& value) {
    Graph& g = scratch();
    Value* written = g.new_value("written", n.output()->type);
    env_[written] = value;
    Rewriter r(g, g.nodes.end(), n);
    Value* result = n.op->put(r, self, written);
    for (const auto& inner : g.nodes) node(*inner);
    return tensor(result);
  }

  // Nodes of an expansion live as long as the run: values are keys.
  Graph& scratch() {
    scratch_.push_back(std::make_unique<Graph>());
    scratch_.back()->symbols = graph_.symbols;
    return *scratch_.back();
  }

  void rewrite(const Node& n) {
    Graph& g = scratch();
    Rewriter r(g, g.nodes.end(), n);
    std::vector<Value*> results = n.op->as<RewriteMeaning>()->fn(r);
    AOTC_CHECK(results.size() >= n.outputs.size(), "an expansion yields {} values", results.size());
    for (const auto& inner : g.nodes) node(*inner);
    bool may_alias = false;
    for (const SchemaArg& a : n.op->schema.args) may_alias |= a.aliased || a.mutated;
    for (size_t i = 0; i < n.outputs.size(); ++i)
      if (n.outputs[i] && results[i]) {
        if (may_alias && images_.contains(results[i])) images_[n.outputs[i]] = {results[i]};
        env_[n.outputs[i]] =
            may_alias ? tensor(results[i]) : with_layout(copy(tensor(results[i])), *n.outputs[i]);
      }
  }

  // The functional twin, all of it read, cast to the target's dtype and stored into its memory.
  void mutate(const Node& n) {
    auto* target = std::get<Value*>(n.args.at(0));
    Tensor self = tensor(target);
    if (overlaps_itself(self))
      user_error(
          "node '{}' ({}) writes a tensor of which several elements share memory; clone it first",
          n.name, n.op->name());
    Graph& g = scratch();
    Rewriter r(g, g.nodes.end(), n);
    Value* result = r.emit(n.op->twin->name(), n.args)->output(0);
    result = r.cast(result, target->type.dtype);
    if (result->type.sizes != target->type.sizes) result = r.expand(result, target->type.sizes);
    for (const auto& inner : g.nodes) node(*inner);
    store(target, copy(tensor(result)));
    for (Value* o : n.outputs) {
      if (!o) continue;
      if (images_.contains(target)) images_[o] = {target};
      env_[o] = self;
    }
  }

  // write_view(base, view, value): base with the elements that `view` sees replaced. The chain of
  // views is replayed on the numbers of base's elements.
  void write_view(const Node& n) {
    auto* base = std::get<Value*>(n.args.at(0));
    Tensor out = copy(tensor(base));
    Tensor numbers = empty(DType::Int64, out.sizes);
    for (int64_t i = 0; i < out.numel(); ++i) write(numbers, i, ScalarValue::of(i));
    Tensor seen = replay(std::get<Value*>(n.args.at(1)), base, numbers);
    Tensor value = broadcast(copy(tensor(std::get<Value*>(n.args.at(2)))), seen.sizes);
    std::vector<int64_t> from = positions(value);
    size_t i = 0;
    for (int64_t p : positions(seen)) write(out, as_int64(read(seen, p)), read(value, from[i++]));
    env_[n.output()] = out;
  }

  static Tensor broadcast(Tensor t, const std::vector<int64_t>& sizes) {
    AOTC_CHECK(t.sizes.size() <= sizes.size(), "a value of higher rank than the view it goes to");
    std::vector<int64_t> strides(sizes.size(), 0);
    size_t added = sizes.size() - t.sizes.size();
    for (size_t d = 0; d < t.sizes.size(); ++d) {
      bool repeats = t.sizes[d] == 1 && sizes[added + d] != 1;
      AOTC_CHECK(repeats || t.sizes[d] == sizes[added + d],
                 "the value has other sizes than the view");
      strides[added + d] = repeats ? 0 : t.strides[d];
    }
    t.sizes = sizes;
    t.strides = std::move(strides);
    return t;
  }

  Tensor replay(Value* v, Value* base, const Tensor& numbers) {
    if (v == base) return numbers;
    const Node* producer = v->producer;
    AOTC_CHECK(producer && producer->op && producer->op->is_view(), "%{} is no view of %{}",
               v->name, base->name);
    Tensor from = replay(std::get<Value*>(producer->args.at(0)), base, numbers);
    return gather_view(*producer, v->output_index, from, call_.symbols);
  }

  // Any other op: lowered by itself.
  void leaf(const Node& n) {
    std::map<const Value*, Tensor> operands;
    Graph::for_each_operand(n, [&](Value* v) {
      if (v->kind == ValueKind::Tensor) operands[v] = tensor(v);
    });
    // In a loop, the value that the node defined last time is void.
    std::erase_if(call_.symbols, [&](const auto& s) {
      auto it = definer_.find(s.first);
      return it != definer_.end() && it->second == &n;
    });
    const Symbols before = call_.symbols;
    std::vector<Tensor> results =
        run_single_node(n, operands, graph_.symbols, call_.symbols, options_.jitter);
    for (const auto& [name, _] : call_.symbols)
      if (!before.contains(name)) definer_[name] = &n;
    for (size_t i = 0; i < n.outputs.size(); ++i)
      if (n.outputs[i] && n.outputs[i]->kind == ValueKind::Tensor)
        env_[n.outputs[i]] = with_layout(results[i], *n.outputs[i]);
  }

  // Eager's strides for a fresh result, where they are dense in some order.
  Tensor with_layout(const Tensor& t, const Value& v) {
    if (v.type.strides.empty()) return t;
    std::vector<int64_t> strides = eval(v.type.strides, call_.symbols);
    if (same_strides(t.sizes, t.strides, strides)) return t;
    Tensor out = empty_strided(t.dtype, t.sizes, strides);
    if (overlaps_itself(out)) return t;
    assign(out, t);
    return out;
  }

  const Graph& graph_;
  Call& call_;
  const RunOptions options_;
  int64_t iterations_ = 0;
  std::unordered_map<const Value*, Tensor> env_;
  std::unordered_map<const Value*, Image> images_;
  std::vector<std::unique_ptr<Graph>> scratch_;
  std::map<std::string, const Node*> definer_;  // of symbols found in data
};

}  // namespace

// A call that fails leaves everything as it was.
RunResult run(const Graph& graph, const RunInputs& inputs, const RunOptions& options) {
  Call call(graph, inputs);
  call.stage([](size_t) { return false; }, true);
  RunResult outputs;
  try {
    GraphRun run(graph, call, options);
    run.run();
    run.finish(outputs);
    call.unstage();
  } catch (const CheckFailed& e) {
    RunResult failed = Call(graph, inputs).result();
    failed.failure = e.what();
    return failed;
  }
  RunResult r = call.result();
  r.outputs = std::move(outputs.outputs);
  r.alias_of = std::move(outputs.alias_of);
  return r;
}

}  // namespace aotc::interp
