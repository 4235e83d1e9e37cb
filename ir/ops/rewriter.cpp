// Node building for `rewrite` rows.
#include "ir/ops/rewriter.h"

#include <map>
#include <set>

namespace aotc {

Node* Rewriter::emit(std::string_view name, std::vector<Arg> args) {
  const OpDef* op = find_op(name);
  AOTC_CHECK(op, "rewrite of {} uses the unknown op '{}'", node.op->name(), std::string(name));
  for (size_t i = args.size(); i < op->schema.args.size(); ++i) {
    const SchemaArg& a = op->schema.args[i];
    AOTC_CHECK(a.has_default || a.type.ends_with("?"), "{}: argument '{}' is missing", op->name(),
               a.name);
    args.push_back(a.default_value);
  }
  Node typed;
  typed.op = op;
  typed.args = args;
  typed.name = node.name;
  typed.source = node.source;
  std::vector<TensorType> types;
  if (op->infer) {
    types = op->infer(typed);
  } else {
    types = infer_by_rewriting(graph, typed);
  }
  name_new_symbols(types, args);
  if (!graph.symbols.empty()) simplify_sizes(types);
  return graph.insert(at_, op, std::move(args), types, node.name, node.source);
}

// Sizes that depend on data are symbols of their own in the graph.
void Rewriter::name_new_symbols(std::vector<TensorType>& types, const std::vector<Arg>& args) {
  std::set<std::string> met;
  for (const TensorType& t : types)
    for (const Sym& s : t.sizes) met.merge(s.symbols());
  if (met.empty()) return;
  Node reader;
  reader.args = args;
  auto forget = [&](const Sym& s) {
    for (const std::string& name : s.symbols()) met.erase(name);
  };
  Graph::for_each_operand(reader, [&](Value* v) {
    forget(v->sym);
    for (const Sym& s : v->type.sizes) forget(s);
  });
  for (const Arg& a : args) {
    if (auto* s = std::get_if<Sym>(&a)) forget(*s);
    if (auto* list = std::get_if<std::vector<Sym>>(&a))
      for (const Sym& s : *list) forget(s);
  }
  std::map<std::string, Sym> names;
  for (const std::string& symbol : met) {
    std::string unique = symbol;
    for (int i = 1; graph.symbols.contains(unique); ++i) unique = fmt::format("{}_{}", symbol, i);
    graph.symbols[unique] = {.min = 0, .max = std::nullopt, .unbacked = true};
    names[symbol] = Sym::symbol(unique);
  }
  for (TensorType& t : types)
    for (std::vector<Sym>* list : {&t.sizes, &t.strides})
      for (Sym& s : *list) s = s.substitute(names);
}

// As the ranges of the symbols allow, so that rules see sizes of 1.
void Rewriter::simplify_sizes(std::vector<TensorType>& types) const {
  const Assumptions known = graph.assumptions();
  for (TensorType& t : types)
    for (std::vector<Sym>* list : {&t.sizes, &t.strides})
      for (Sym& s : *list)
        if (!s.constant() && !s.symbol_name()) s = known.simplify(s);
}

const Sym& Rewriter::size(Value* v, int64_t dim) const {
  int64_t rank = this->rank(v);
  return v->type.sizes.at(static_cast<size_t>(dim < 0 ? dim + rank : dim));
}

bool Rewriter::is_found_in_data(const Sym& s) const {
  const auto name = s.symbol_name();
  auto it = name ? graph.symbols.find(*name) : graph.symbols.end();
  return it != graph.symbols.end() && it->second.unbacked;
}

Value* Rewriter::cast(Value* v, DType to) {
  return v->type.dtype == to ? v : (*this)("aten._to_copy.default", {v, to});
}

Value* Rewriter::reshape(Value* v, std::vector<Sym> sizes) {
  return v->type.sizes == sizes ? v : (*this)("aten.view.default", {v, std::move(sizes)});
}

Value* Rewriter::permute(Value* v, std::vector<int64_t> dims) {
  return (*this)("aten.permute.default", {v, std::vector<Sym>(dims.begin(), dims.end())});
}

Value* Rewriter::transpose(Value* v, int64_t a, int64_t b) {
  return (*this)("aten.transpose.int", {v, Sym(a), Sym(b)});
}

Value* Rewriter::expand(Value* v, std::vector<Sym> sizes) {
  return v->type.sizes == sizes ? v : (*this)("aten.expand.default", {v, std::move(sizes)});
}

Value* Rewriter::unsqueeze(Value* v, int64_t dim) {
  return (*this)("aten.unsqueeze.default", {v, Sym(dim)});
}

Value* Rewriter::slice(Value* v, int64_t dim, Sym start, Sym end, Sym step) {
  return (*this)("aten.slice.Tensor", {v, Sym(dim), start, end, step});
}

Value* Rewriter::add(Value* a, Value* b) { return (*this)("aten.add.Tensor", {a, b}); }
Value* Rewriter::mul(Value* a, Value* b) { return (*this)("aten.mul.Tensor", {a, b}); }

Value* Rewriter::full(std::vector<Sym> sizes, double value, DType dtype) {
  return (*this)("aten.full.default", {std::move(sizes), value, dtype});
}

// Output types of a rewrite row: expand it in a scratch graph and read the types of what it yields.
std::vector<TensorType> infer_by_rewriting(const Graph& g, const Node& n) {
  Graph scratch;
  scratch.symbols = g.symbols;
  Rewriter r(scratch, scratch.nodes.end(), n);
  std::vector<TensorType> types;
  const auto* m = n.op->as<RewriteMeaning>();
  AOTC_CHECK(m, "{} has no type rule", n.op->name());
  for (Value* v : m->fn(r)) types.push_back(v ? v->type : TensorType{});
  return types;
}

}  // namespace aotc
