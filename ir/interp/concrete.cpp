// Copies of nodes with numbers for symbols.
#include "ir/interp/concrete.h"

namespace aotc::interp {
namespace {

std::vector<Sym> concrete_list(const std::vector<Sym>& list, const Symbols& symbols) {
  std::vector<Sym> out;
  for (const Sym& s : list) out.push_back(concrete(s, symbols));
  return out;
}

}  // namespace

TensorType concrete(const TensorType& t, const Symbols& symbols) {
  return {t.dtype, concrete_list(t.sizes, symbols), concrete_list(t.strides, symbols), t.device};
}

ConcreteNode::ConcreteNode(const Node& n, const Symbols& symbols) : symbols_(symbols) {
  node.op = n.op;
  node.name = n.name;
  node.source = n.source;
  for (const Arg& a : n.args) node.args.push_back(convert(a));
  for (const Value* v : n.outputs) {
    Value* c = v ? add(*v) : nullptr;
    if (c) c->producer = &node;
    node.outputs.push_back(c);
  }
}

Value* ConcreteNode::add(const Value& v) {
  Value& c = values_.emplace_back(v);
  c.type = concrete(v.type, symbols_);
  c.sym = concrete(v.sym, symbols_);
  return &c;
}

Arg ConcreteNode::convert(const Arg& a) {
  auto value = [&](Value* v) -> Value* {
    if (!v) return nullptr;
    Value*& c = operands[v];
    if (!c) c = add(*v);
    return c;
  };
  if (auto* s = std::get_if<Sym>(&a)) return concrete(*s, symbols_);
  if (auto* v = std::get_if<Value*>(&a)) return value(*v);
  if (auto* list = std::get_if<std::vector<Sym>>(&a)) return concrete_list(*list, symbols_);
  if (auto* list = std::get_if<std::vector<Value*>>(&a)) {
    std::vector<Value*> out;
    for (Value* v : *list) out.push_back(value(v));
    return out;
  }
  return a;
}

}  // namespace aotc::interp
