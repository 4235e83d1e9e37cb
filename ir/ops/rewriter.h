// Building graph nodes while expanding a `rewrite` op: arguments by name, new ops by name, common shapes.
#pragma once
#include "ir/ops/op.h"

namespace aotc {

class Rewriter {
 public:
  Rewriter(Graph& g, std::list<std::unique_ptr<Node>>::iterator at, const Node& n) : graph(g), at_(at), node(n) {}

  Graph& graph;

 private:
  void name_new_symbols(std::vector<TensorType>& types, const std::vector<Arg>& args);
  void simplify_sizes(std::vector<TensorType>& types) const;

  std::list<std::unique_ptr<Node>>::iterator at_;

 public:
  const Node& node;

  // A copy with storage of its own.
  Value* clone(Value* v) { return (*this)("aten.clone.default", {v}); }
  // `v` with the element type and sizes of `into`.
  Value* copy(Value* into, Value* v) { return (*this)("aten.copy.default", {into, v}); }
  // A new node; missing trailing arguments take the schema's defaults. The results carry inferred types.
  Node* emit(std::string_view op, std::vector<Arg> args);
  Value* operator()(std::string_view op, std::vector<Arg> args) { return emit(op, std::move(args))->output(0); }

  Value* tensor(std::string_view arg) const { return tensor_arg(node, arg); }
  const TensorType& type(Value* v) const { return v->type; }
  DType dtype(Value* v) const { return v->type.dtype; }
  int64_t rank(Value* v) const { return static_cast<int64_t>(v->type.rank()); }
  const Sym& size(Value* v, int64_t dim) const;
  // A symbol that a node of the graph defines.
  bool is_found_in_data(const Sym& s) const;

  // Frequent ops, types inferred.
  Value* cast(Value* v, DType to);
  Value* reshape(Value* v, std::vector<Sym> sizes);
  Value* permute(Value* v, std::vector<int64_t> dims);
  Value* transpose(Value* v, int64_t a, int64_t b);
  Value* expand(Value* v, std::vector<Sym> sizes);
  Value* unsqueeze(Value* v, int64_t dim);
  Value* slice(Value* v, int64_t dim, Sym start, Sym end, Sym step = 1);
  Value* add(Value* a, Value* b);
  Value* mul(Value* a, Value* b);
  Value* full(std::vector<Sym> sizes, double value, DType dtype);
};

// Types of a rewrite node's outputs, found by expanding it beside the graph.
std::vector<TensorType> infer_by_rewriting(const Graph& g, const Node& n);

}  // namespace aotc
