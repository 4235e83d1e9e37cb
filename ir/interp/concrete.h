// A node with the symbols of a call replaced by their values, apart from its graph: views are
// computed and single nodes are lowered from it.
#pragma once
#include <deque>
#include <map>
#include <memory>

#include "ir/graph.h"
#include "ir/interp/bind.h"

namespace aotc::interp {

class ConcreteNode {
 public:
  // Operands keep their producers (rows look at them); results have this node as theirs.
  ConcreteNode(const Node& n, const Symbols& symbols);
  ConcreteNode(const ConcreteNode&) = delete;
  ConcreteNode& operator=(const ConcreteNode&) = delete;

  Node node;
  std::map<const Value*, Value*> operands;  // original -> here

 private:
  Value* add(const Value& v);
  Arg convert(const Arg& a);
  const Symbols& symbols_;
  std::deque<Value> values_;
};

TensorType concrete(const TensorType& t, const Symbols& symbols);

}  // namespace aotc::interp
