// Drawing tensors and taking nodes.
#include "pool.h"

#include <algorithm>
#include <numeric>

#include "ir/interp/concrete.h"
#include "ir/interp/interp.h"
#include "ir/interp/views.h"
#include "ir/lowering.h"
#include "ir/ops/rewriter.h"
#include "ir/ops/shape_math.h"
#include "ir/text/text.h"
#include "ir/text/verify.h"

namespace aotc::random_graphs {
namespace {

constexpr int64_t kMaxElements = 600;  // sorting is quadratic in the interpreter
constexpr size_t kMaxRank = 6;

int category(DType t) { return is_bool(t) ? 0 : is_integer(t) ? 1 : is_floating(t) ? 2 : 3; }

bool has_empty(const Graph& g) {
  return std::any_of(g.inputs.begin(), g.inputs.end(), [](const Input& in) {
    return std::any_of(in.value->type.sizes.begin(), in.value->type.sizes.end(),
                       [](const Sym& s) { return s.is(0); });
  });
}

// Nothing is computed of empty tensors, so the kernels are looked at instead.
bool lowers(const std::string& program) {
  verify(lower(decompose(functionalize({parse_graph(program, "node.ir")}))));
  return true;
}

bool shares_memory(const Node& n, const Types& types) {
  return view_strides(std::get<Value*>(n.args[0])->type, types[0].sizes).has_value();
}

bool same(const std::vector<Sym>& a, const std::vector<Sym>& b) { return a == b; }

}  // namespace

Pool::Pool(uint64_t seed, DrawLog& log)
    : random_(seed), log_(log), graph_(std::make_unique<Graph>()) {
  graph_->name = "random";
  samples_.resize(3);
  draw_sizes();
  int64_t inputs = integer(1, 4);
  for (int64_t i = 0; i < inputs; ++i) new_input(dtype(), shape());
  for (const auto& [name, info] : std::map(graph_->symbols)) bind(Sym::symbol(name));
}

// Every symbol is a size of some input.
void Pool::bind(const Sym& symbol) {
  for (const Input& in : graph_->inputs)
    for (const Sym& s : in.value->type.sizes)
      if (s == symbol) return;
  new_input(dtype(), {symbol});
}

// A few sizes, so that shapes often agree; at times symbols.
void Pool::draw_sizes() {
  for (int i = 0; i < 3; ++i) sizes_.push_back(Sym(integer(2, chance(4) ? 9 : 5)));
  if (chance(3)) sizes_.push_back(Sym(1));
  if (chance(12)) sizes_.push_back(Sym(0));
  int64_t symbols = percent(35) ? integer(1, 2) : 0;
  for (int64_t i = 0; i < symbols; ++i) {
    std::string name = "s" + std::to_string(i);
    int64_t min = chance(4) ? integer(0, 1) : 2;
    SymbolInfo info{min, std::nullopt, false};
    if (chance(2)) info.max = min + integer(1, 6);
    graph_->symbols[name] = info;
    sizes_.push_back(Sym::symbol(name));
    // No two symbols, and no symbol and a constant, agree in all, and none is 1 in all.
    samples_[0][name] = i == 0 ? min + 1 : min;
    samples_[1][name] = i == 0 ? min : min + 1;
    samples_[2][name] = min + 1;
  }
  size_t rank = static_cast<size_t>(integer(1, 4));
  for (size_t d = 0; d < rank; ++d) base_.push_back(size());
  keep_small(base_);
}

void Pool::keep_small(std::vector<Sym>& sizes) const {
  for (Sym& s : sizes)
    if (sample(product(sizes)) > kMaxElements) s = Sym(2);
}

DType Pool::dtype() {
  static const std::vector<DType> usual = {
      DType::Float32, DType::Float32, DType::Float32, DType::Float32, DType::Float32,
      DType::Float32, DType::Float32, DType::Int64,   DType::Int64,   DType::Bool,
      DType::Float64, DType::Int32,   DType::Float16, DType::BFloat16};
  static const std::vector<DType> rare = {DType::UInt8,     DType::Int8,   DType::Int16,
                                          DType::Complex64, DType::UInt16, DType::UInt32};
  return chance(10) ? pick(rare) : pick(usual);
}

Sym Pool::size() { return pick(sizes_); }

std::vector<Sym> Pool::shape_of_rank(size_t rank) {
  std::vector<Sym> sizes = base_;
  while (sizes.size() > rank) sizes.erase(sizes.begin());
  while (sizes.size() < rank) sizes.insert(sizes.begin(), size());
  for (Sym& s : sizes)
    if (chance(8)) s = chance(3) ? Sym(1) : size();
  keep_small(sizes);
  return sizes;
}

std::vector<Sym> Pool::shape() {
  if (percent(45)) return base_;
  return shape_of_rank(static_cast<size_t>(integer(0, chance(4) ? 5 : 3)));
}

int64_t Pool::least(const Sym& s) const {
  return std::min(sample(s), interp::eval(s, samples_[1]));
}

int64_t Pool::sample(const Sym& s) const { return interp::eval(s, samples_[0]); }

// ---- tensors

Value* Pool::any() {
  auto last = static_cast<int64_t>(tensors_.size()) - 1;
  if (percent(40))
    return tensors_[static_cast<size_t>(integer(std::max<int64_t>(0, last - 3), last))];
  return pick(tensors_);
}

Value* Pool::any(const Wanted& wanted) {
  for (int i = 0; i < 4; ++i)
    if (Value* v = any(); wanted(*v)) return v;
  std::vector<Value*> found;
  for (Value* v : tensors_)
    if (wanted(*v)) found.push_back(v);
  return found.empty() ? nullptr : pick(found);
}

Value* Pool::like(DType dtype, const std::vector<Sym>& sizes) {
  Value* v =
      any([&](const Value& x) { return x.type.dtype == dtype && same(x.type.sizes, sizes); });
  if (v && !chance(8)) return v;
  return new_input(dtype, sizes);
}

Value* Pool::indices(const std::vector<Sym>& sizes, const Sym& bound, bool negative) {
  Value* from = like(DType::Int64, sizes);
  Node* n = emit(*find_op("aten.remainder.Scalar"), {from, bound});
  if (!n) return nullptr;
  if (negative && chance(3)) n = emit(*find_op("aten.sub.Scalar"), {n->output(), bound, Sym(1)});
  return n ? n->output() : nullptr;
}

bool Pool::may_write(const Value* v) const {
  const Facts& f = facts_.at(v);
  return !facts_.at(f.root).fixed && !overlaps_itself(v->type);
}

Value* Pool::writable() {
  Value* chosen = nullptr;
  for (int i = 0; i < 6; ++i) {
    Value* v = any();
    if (!may_write(v)) continue;
    chosen = v;
    bool interesting =
        facts_.at(v).root != v || !v->producer || mutated_.contains(facts_.at(v).root);
    if (interesting) break;
  }
  return chosen;
}

bool Pool::is_fresh(const Value* v) const { return facts_.at(v).root == v && v->producer; }

// Dense strides, at times in another order of dimensions.
std::vector<Sym> Pool::layout(const std::vector<Sym>& sizes) {
  std::vector<Sym> strides = contiguous_strides(sizes);
  if (sizes.size() < 2 || !chance(5)) return strides;
  std::vector<size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::swap(order[0],
            order[static_cast<size_t>(integer(1, static_cast<int64_t>(order.size()) - 1))]);
  Sym step = 1;
  for (size_t i = order.size(); i-- > 0;) {
    strides[order[i]] = step;
    step = step * (sizes[order[i]].is(0) ? Sym(1) : sizes[order[i]]);
  }
  return strides;
}

// A size that a node finds in data is none of an input.
Sym Pool::size_of_input(const Sym& s) const {
  auto names = s.symbols();
  bool known = std::none_of(names.begin(), names.end(), [&](const std::string& name) {
    return graph_->symbols.at(name).unbacked;
  });
  return known ? s : Sym(2);
}

Value* Pool::new_input(DType dtype, std::vector<Sym> sizes) {
  for (Sym& s : sizes) s = size_of_input(s);
  auto number = std::to_string(graph_->inputs.size());
  bool is_static =
      std::all_of(sizes.begin(), sizes.end(), [](const Sym& s) { return s.constant(); });
  Input in;
  TensorType t{dtype, sizes, layout(sizes), {}};
  in.kind = is_static && percent(45)
                ? pick(std::vector<InputKind>{InputKind::Parameter, InputKind::Buffer,
                                              InputKind::Buffer, InputKind::Constant})
                : InputKind::User;
  const char* prefix = in.kind == InputKind::User ? "x" : in.kind == InputKind::Buffer ? "b" : "p";
  in.value = graph_->new_value(prefix + number, t);
  in.name = in.value->name;
  Facts f{in.value, in.kind == InputKind::Parameter || in.kind == InputKind::Constant};
  if (in.kind != InputKind::User) {
    in.target = in.name;
    store(in);
  }
  facts_[in.value] = f;
  for (const Input& other : graph_->inputs)
    if (in.kind != InputKind::User && other.stored.storage == in.stored.storage) {
      bool tied = other.stored.offset == in.stored.offset &&
                  other.stored.strides == in.stored.strides &&
                  other.stored.sizes == in.stored.sizes && other.kind == in.kind;
      if (tied) facts_[in.value].root = facts_[other.value].root;
      if (!tied) facts_[in.value].fixed = facts_[facts_[other.value].root].fixed = true;
    }
  graph_->inputs.push_back(in);
  tensors_.push_back(in.value);
  return in.value;
}

// A storage of its own; at times the same view, or another window, of an earlier one.
void Pool::store(Input& in) {
  const TensorType& t = in.value->type;
  std::vector<int64_t> sizes = interp::eval(t.sizes, samples_[0]),
                       strides = interp::eval(t.strides, samples_[0]);
  in.stored = {next_storage_, sizes, strides, chance(4) ? integer(1, 3) : 0};
  if (chance(6))
    for (const Input& other : graph_->inputs)
      if (other.stored.storage >= 0 && other.value->type.dtype == t.dtype) {
        in.stored.storage = other.stored.storage;
        if (other.stored.sizes == sizes && other.stored.strides == strides)
          in.stored.offset = other.stored.offset;
        return;
      }
  ++next_storage_;
}

// ---- nodes

Types Pool::infer(const Node& n) const {
  Types types = n.op->infer ? n.op->infer(n) : infer_by_rewriting(*graph_, n);
  const Assumptions known = graph_->assumptions();
  for (TensorType& t : types)
    for (Index* list : {&t.sizes, &t.strides})
      for (Sym& s : *list) s = known.simplify(s);
  return types;
}

Types Pool::types_of(const OpDef& op, const std::vector<Arg>& args) {
  Node n;
  n.op = &op;
  n.args = args;
  n.name = "n" + std::to_string(next_node_);
  try {
    return infer(n);
  } catch (const UserError&) {
    ++log_.rejected[op.name()];
  } catch (const std::exception& e) {
    ++log_.rejected[op.name()];
    log_.internal[op.name()] = e.what();
  }
  return {};
}

bool Pool::acceptable(const Node& n, const Types& types) {
  if (types.empty() || types.size() > 12) return false;
  for (const Value* v : written_by(n))
    if (!may_write(v)) return false;
  for (const TensorType& t : types) {
    if (t.rank() > kMaxRank) return false;
    int64_t elements = 1;
    for (const Sym& s : t.sizes) {
      auto unknown = s.symbols();
      if (std::any_of(unknown.begin(), unknown.end(),
                      [&](const std::string& u) { return !samples_[0].contains(u); }))
        continue;
      if (sample(s) < 0 || interp::eval(s, samples_[1]) < 0) return false;
      elements *= std::max<int64_t>(1, sample(s));
    }
    if (elements > kMaxElements) return false;
  }
  return holds_for_samples(n, types);
}

// Sizes that are symbols fit each other whatever their values: the types are those that the sample
// values yield, and a view that may copy does so for all of them or for none.
bool Pool::holds_for_samples(const Node& n, const Types& types) {
  bool may_copy = n.op->is_view() && !n.op->as<ViewMeaning>()->always_aliases;
  for (const interp::Symbols& s : samples_) {
    interp::ConcreteNode c(n, s);
    Types here = infer(c.node);
    if (here.size() != types.size()) return false;
    if (may_copy && shares_memory(c.node, here) != shares_memory(n, types)) return false;
    for (size_t i = 0; i < here.size(); ++i)
      for (size_t d = 0; d < types[i].rank(); ++d) {
        Sym size = interp::concrete(types[i], s).sizes[d];
        if (here[i].rank() != types[i].rank() || (size.constant() && !(size == here[i].sizes[d])))
          return false;
      }
  }
  return true;
}

// Eager casts the result to the target's type only upwards in category, and never broadcasts the
// target.
bool Pool::fits_in_place(const Node& n) {
  auto* target = std::get_if<Value*>(&n.args.at(0));
  if (!target || !*target || !may_write(*target)) return false;
  Node twin;
  twin.op = n.op->twin;
  twin.args = n.args;
  twin.name = n.name;
  Types types = infer(twin);
  return !types.empty() && category(types[0].dtype) <= category((*target)->type.dtype) &&
         same(types[0].sizes, (*target)->type.sizes) && acceptable(twin, types);
}

bool Pool::overlaps_itself(const TensorType& t) const {
  for (const interp::Symbols& s : samples_) {
    TensorType c = interp::concrete(t, s);
    interp::Tensor view{t.dtype, {}, {}, 0, nullptr};
    for (const Sym& size : c.sizes) {
      if (!size.constant()) return true;
      view.sizes.push_back(*size.constant());
    }
    for (const Sym& stride : strides_of(c)) view.strides.push_back(stride.constant().value_or(0));
    std::vector<int64_t> at = interp::positions(view);
    std::sort(at.begin(), at.end());
    if (std::adjacent_find(at.begin(), at.end()) != at.end()) return true;
  }
  return false;
}

// A view that always shares storage must be a walk of it with the strides that its type says.
bool Pool::aliases_as_declared(const Node& n) {
  if (!n.op->is_view() || !n.op->as<ViewMeaning>()->always_aliases || !n.op->schema.args[0].aliased)
    return true;
  const Value* base = std::get<Value*>(n.args[0]);
  for (const interp::Symbols& s : samples_) {
    for (const Sym& size : base->type.sizes)
      if (!interp::concrete(size, s).constant()) return false;
    interp::Tensor t = interp::empty_strided(base->type.dtype, interp::eval(base->type.sizes, s),
                                             interp::eval(strides_of(base->type), s));
    for (size_t k = 0; k < n.outputs.size(); ++k)
      if (!interp::alias_view(n, static_cast<int>(k), t, s)) return false;
  }
  return true;
}

// The node by itself, on numbers: the table's type rules accept some types that neither eager torch
// nor the op's formula takes.
bool Pool::can_run(const Node& n) {
  try {
    return aliases_as_declared(n) && runs_alone(n);
  } catch (const UserError&) {
  } catch (const std::exception& e) {
    log_.internal[n.op->name()] = e.what();
  }
  return false;
}

bool Pool::runs_alone(const Node& n) {
  interp::ConcreteNode c(n, samples_[0]);
  Graph g;
  std::map<Value*, Value*> inputs;
  for (const auto& [_, operand] : c.operands) {
    Input in;
    in.value = inputs[operand] = g.new_value(operand->name, operand->type);
    in.name = in.value->name;
    g.inputs.push_back(in);
  }
  for (const auto& [name, info] : graph_->symbols)
    if (info.unbacked) g.symbols[name] = info;
  Types types;
  for (Value* o : c.node.outputs) types.push_back(o->type);
  for (const TensorType& t : types)
    for (const Sym& s : t.sizes)
      for (const std::string& name : s.symbols()) g.symbols[name] = {0, std::nullopt, true};
  Node* only = g.insert(g.nodes.end(), n.op, c.node.args, types, n.name, {});
  Graph::replace_operands(*only, [&](Value* v) { return inputs.at(v); });
  for (Value* o : only->outputs) g.outputs.push_back({OutputKind::Tensor, o, {}, o->name});
  if (has_empty(g) && !lowers(print(g))) return false;
  interp::RandomOptions o;
  interp::RunInputs drawn = interp::random_inputs(g, 1, o);
  return interp::run(g, drawn).failure.empty();
}

// Sizes that the node finds in data.
void Pool::declare_symbols(const Types& types) {
  for (const TensorType& t : types)
    for (const Sym& size : t.sizes)
      for (const std::string& name : size.symbols())
        if (graph_->symbols.try_emplace(name, SymbolInfo{0, std::nullopt, true}).second)
          for (size_t i = 0; i < samples_.size(); ++i)
            samples_[i][name] = 2 + static_cast<int64_t>(i);
}

void Pool::learn(Node& n) {
  bool shares = n.op->mutates() || n.op->is_view();
  for (const SchemaArg& a : n.op->schema.args) shares |= a.aliased;
  auto* first = n.args.empty() ? nullptr : std::get_if<Value*>(&n.args[0]);
  for (Value* o : n.outputs) {
    facts_[o] = {shares && first && *first ? facts_.at(*first).root : o, false};
    if (!shares && o->type.sizes.size() > 1) o->type.strides = layout(o->type.sizes);
    tensors_.push_back(o);
  }
  for (const Value* v : written_by(n)) mutated_.insert(facts_.at(v).root);
}

// Of an in-place op its target; of a batch norm in training its running statistics.
std::vector<Value*> Pool::written_by(const Node& n) {
  if (n.op->mutates()) return {std::get<Value*>(n.args[0])};
  std::vector<Value*> written;
  auto* rewrite = n.op->as<RewriteMeaning>();
  if (!rewrite || !rewrite->writes_arguments) return written;
  for (const char* name : {"running_mean", "running_var"})
    if (Value* v = tensor_arg(n, name)) written.push_back(v);
  return written;
}

Node* Pool::emit(const OpDef& op, std::vector<Arg> args) {
  Node n;
  n.op = &op;
  n.args = std::move(args);
  n.name = "n" + std::to_string(next_node_);
  Types types = types_of(op, n.args);
  if (types.empty()) return nullptr;
  try {
    bool taken = op.mutates() ? fits_in_place(n) : acceptable(n, types);
    if (!taken) {
      ++log_.rejected[op.name()];
      return nullptr;
    }
  } catch (const UserError&) {
    ++log_.rejected[op.name()];
    return nullptr;
  } catch (const std::exception& e) {
    log_.internal[op.name()] = e.what();
    return nullptr;
  }
  Node* added = graph_->insert(graph_->nodes.end(), &op, n.args, types, n.name, {});
  if (!can_run(*added)) {
    graph_->nodes.pop_back();
    ++log_.rejected[op.name()];
    return nullptr;
  }
  ++next_node_;
  ++log_.taken[op.name()];
  declare_symbols(types);
  learn(*added);
  return added;
}

}  // namespace aotc::random_graphs
