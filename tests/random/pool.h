// A graph under construction: its tensors, what may be written, and a way to add nodes that takes
// only those that eager torch would take.
#pragma once
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "ir/interp/bind.h"
#include "ir/interp/random_data.h"
#include "ir/ops/op.h"

namespace aotc::random_graphs {

// How often the draws for each op were taken and rejected.
struct DrawLog {
  std::map<std::string, int> taken, rejected;
  std::map<std::string, std::string> internal;  // op -> the last InternalError of its type rule
};

class Pool {
 public:
  Pool(uint64_t seed, DrawLog& log);

  Graph& graph() { return *graph_; }
  std::unique_ptr<Graph> release() { return std::move(graph_); }

  // ---- draws
  int64_t integer(int64_t low, int64_t high) { return random_.integer(low, high); }
  bool chance(int one_in) { return random_.chance(one_in); }
  bool percent(int p) { return random_.integer(1, 100) <= p; }
  double unit() { return random_.unit(); }
  template <typename T>
  const T& pick(const std::vector<T>& list) {
    return list[static_cast<size_t>(integer(0, static_cast<int64_t>(list.size()) - 1))];
  }
  DType dtype();
  Sym size();                // one of the graph's few sizes
  std::vector<Sym> shape();  // related to the graph's own shape, or any
  std::vector<Sym> shape_of_rank(size_t rank);

  // ---- tensors
  using Wanted = std::function<bool(const Value&)>;
  Value* any();                      // recent ones and views of inputs more often
  Value* any(const Wanted& wanted);  // nullptr: there is none
  Value* like(DType dtype, const std::vector<Sym>& sizes);  // one of the pool, or a new input
  // int64 values in 0..bound-1 (with `negative`, at times -bound..-1) of these sizes; bound > 0.
  Value* indices(const std::vector<Sym>& sizes, const Sym& bound, bool negative);
  Value* writable();  // a tensor that an in-place op may write; nullptr: there is none
  bool may_write(const Value* v) const;
  bool is_mutated(const Value* v) const { return mutated_.contains(facts_.at(v).root); }
  bool is_fresh(const Value* v) const;  // no view of an input or of a mutated tensor
  const std::vector<Value*>& tensors() const { return tensors_; }

  // The value of an expression for the first of the sample assignments of the symbols.
  int64_t sample(const Sym& s) const;
  int64_t least(const Sym& s) const;  // the lower one of both

  // ---- nodes
  // The types that the op yields; empty: it refuses these arguments.
  Types types_of(const OpDef& op, const std::vector<Arg>& args);
  // Adds the node; nullptr when its arguments are refused.
  Node* emit(const OpDef& op, std::vector<Arg> args);

 private:
  struct Facts {
    const Value* root = nullptr;  // owns the storage
    bool fixed = false;           // (root) must not be written
  };
  void draw_sizes();
  void keep_small(std::vector<Sym>& sizes) const;
  void bind(const Sym& symbol);
  Sym size_of_input(const Sym& s) const;
  Value* new_input(DType dtype, std::vector<Sym> sizes);
  void store(Input& in);
  std::vector<Sym> layout(const std::vector<Sym>& sizes);
  Types infer(const Node& n) const;
  bool acceptable(const Node& n, const Types& types);
  bool fits_in_place(const Node& n);
  bool holds_for_samples(const Node& n, const Types& types);
  bool can_run(const Node& n);
  bool runs_alone(const Node& n);
  bool aliases_as_declared(const Node& n);
  void declare_symbols(const Types& types);
  bool overlaps_itself(const TensorType& t) const;
  void learn(Node& n);
  static std::vector<Value*> written_by(const Node& n);

  interp::Random random_;
  DrawLog& log_;
  std::unique_ptr<Graph> graph_;
  std::vector<Value*> tensors_;
  std::map<const Value*, Facts> facts_;
  std::set<const Value*> mutated_;  // roots
  std::vector<Sym> sizes_, base_;
  std::vector<interp::Symbols> samples_;
  int next_node_ = 0, next_storage_ = 0;
};

}  // namespace aotc::random_graphs
