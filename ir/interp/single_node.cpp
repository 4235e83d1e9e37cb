// A graph of one node, its lowering, its run.
#include "ir/interp/single_node.h"

#include "ir/interp/jitter.h"
#include "ir/interp/run_loops.h"
#include "ir/lowering.h"

namespace aotc::interp {
namespace {

TensorType contiguous(const Tensor& t, const TensorType& type) {
  return contiguous_type(t.dtype, std::vector<Sym>(t.sizes.begin(), t.sizes.end()), type.device);
}

class SingleNode {
 public:
  SingleNode(const Node& n, const std::map<const Value*, Tensor>& operands,
             const std::map<std::string, SymbolInfo>& declared, Symbols& symbols)
      : concrete_(n, symbols), symbols_(symbols), graph_(std::make_shared<Graph>()) {
    for (const auto& [name, info] : declared)
      if (!symbols.contains(name)) graph_->symbols[name] = info;
    for (const auto& [original, here] : concrete_.operands) operand(original, here, operands);
    insert();
  }

  std::vector<Tensor> run(uint64_t jitter) {
    Lowering lowering(graph_);
    lowering.lower_node(*node_);
    lowering.add_write_backs_and_outputs();
    loops::LoopProgram& program = lowering.program();
    const bool inexact = jitter && depends_on_order(program);
    if (inexact)
      for (Tensor& t : inputs_) t = jittered(t, jitter, false);
    auto no_storage = [](int) -> std::shared_ptr<Memory> {
      internal_error("an operand is no storage");
    };
    Buffers buffers(program, inputs_, no_storage, symbols_);
    RunOptions options;
    options.reverse_reductions = inexact && jitter % 2 == 1;
    run_kernels(program, buffers, symbols_, options);
    std::vector<Tensor> results(node_->outputs.size());
    for (size_t i = 0; i < outputs_.size(); ++i)
      results[outputs_[i]] =
          output_buffer(buffers, program.output_buffers[i], graph_->outputs[i].name);
    if (inexact)
      for (size_t i : outputs_) results[i] = jittered(results[i], jitter, true);
    return results;
  }

 private:
  void operand(const Value* original, Value* here, const std::map<const Value*, Tensor>& operands) {
    auto it = operands.find(original);
    Value* v = nullptr;
    if (it == operands.end()) {
      v = graph_->new_symbol_value(here->name, here->sym);
    } else {
      Input in;
      in.value = v = graph_->new_value(here->name, contiguous(it->second, here->type));
      in.name = v->name;
      graph_->inputs.push_back(in);
      bool dense = same_strides(it->second.sizes, it->second.strides,
                                interp::contiguous_strides(it->second.sizes));
      inputs_.push_back(dense ? it->second : copy(it->second));
    }
    values_[here] = v;
  }

  void insert() {
    const Node& n = concrete_.node;
    node_ = graph_->insert(graph_->nodes.end(), n.op, n.args, {}, n.name, n.source);
    Graph::replace_operands(*node_, [&](Value* v) { return values_.at(v); });
    for (size_t i = 0; i < n.outputs.size(); ++i) {
      const Value* o = n.outputs[i];
      AOTC_CHECK(o, "a node without one of its outputs cannot be lowered");
      Value* v = nullptr;
      if (o->kind == ValueKind::SymInt) {
        v = graph_->new_symbol_value(o->name, o->sym);
      } else {
        TensorType t = o->type;
        t.strides = aotc::contiguous_strides(t.sizes);
        v = graph_->new_value(o->name, t);
        graph_->outputs.push_back({OutputKind::Tensor, v, {}, v->name});
        outputs_.push_back(i);
      }
      v->producer = node_;
      v->output_index = static_cast<int>(i);
      node_->outputs.push_back(v);
    }
  }

  ConcreteNode concrete_;
  Symbols& symbols_;
  std::shared_ptr<Graph> graph_;
  Node* node_ = nullptr;
  std::map<const Value*, Value*> values_;  // of concrete_ -> of graph_
  std::vector<Tensor> inputs_;
  std::vector<size_t> outputs_;  // which of the node's outputs are graph outputs
};

}  // namespace

std::vector<Tensor> run_single_node(const Node& n, const std::map<const Value*, Tensor>& operands,
                                    const std::map<std::string, SymbolInfo>& declared,
                                    Symbols& symbols, uint64_t jitter) {
  return SingleNode(n, operands, declared, symbols).run(jitter);
}

}  // namespace aotc::interp
