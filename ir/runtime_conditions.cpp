// The rules of each node run once more, to hear what they leave open.
#include "ir/runtime_conditions.h"

#include <algorithm>

#include "ir/ops/control.h"
#include "ir/ops/open_conditions.h"
#include "ir/ops/rewriter.h"

namespace aotc {
namespace {

class RuntimeConditions {
 public:
  explicit RuntimeConditions(Graph& g) : g_(g), known_(g.assumptions()) {
    for (const auto& [name, info] : g.symbols)
      if (!info.unbacked) defined_.insert(name);
  }

  void run() {
    const std::vector<Control> controls = controls_of(g_);
    const Blocks blocks(controls);
    size_t i = 0;
    for (auto it = g_.nodes.begin(); it != g_.nodes.end(); ++it, ++i) {
      if ((*it)->op == kAssert && blocks.depth(i) == 0)
        if (auto* s = std::get_if<Sym>(&(*it)->args[0])) added_.insert(known_.simplify(*s));
      if (controls[i] == Control::None) conditions_of(it, blocks.depth(i) > 0);
      for (const Value* v : (*it)->outputs)
        for (const Sym& s : v->type.sizes)
          for (const std::string& name : s.symbols()) defined_.insert(name);
      for (const Value* v : (*it)->outputs)
        if (v->kind == ValueKind::SymInt)
          for (const std::string& name : v->sym.symbols()) defined_.insert(name);
    }
  }

 private:
  using Place = std::list<std::unique_ptr<Node>>::iterator;

  void conditions_of(Place at, bool in_block) {
    const Node& n = **at;
    OpenConditions open;
    if (n.op->infer)
      n.op->infer(n);
    else
      infer_by_rewriting(g_, n);
    for (const Sym& s : numbers_of(n))
      for (const Sym& condition : operation_conditions(s, known_)) add(at, condition, in_block);
    for (const Sym& condition : open.list()) {
      for (const Sym& inner : operation_conditions(condition, known_)) add(at, inner, in_block);
      add(at, known_.simplify(condition), in_block);
    }
  }

  static std::vector<Sym> numbers_of(const Node& n) {
    std::vector<Sym> numbers;
    for (const Arg& a : n.args) {
      if (auto* s = std::get_if<Sym>(&a)) numbers.push_back(*s);
      if (auto* list = std::get_if<std::vector<Sym>>(&a))
        numbers.insert(numbers.end(), list->begin(), list->end());
    }
    return numbers;
  }

  void add(Place at, const Sym& condition, bool in_block) {
    const auto constant = condition.constant();
    if (constant && *constant != 0) return;
    const auto names = condition.symbols();
    // Symbols of an op's inner nodes are not known here.
    if (!std::ranges::all_of(names, [&](const std::string& s) { return defined_.contains(s); }))
      return;
    if (added_.contains(condition)) return;
    if (!in_block) added_.insert(condition);
    require_in_call(g_, at, **at, condition, "", in_block);
  }

  const OpDef* const kAssert = find_op("aten._assert_scalar.default");
  Graph& g_;
  const Assumptions known_;
  std::set<std::string> defined_;  // symbols that have a value before the node at hand
  std::set<Sym> added_;            // asserted where every call gets to
};

}  // namespace

void require_in_call(Graph& g, std::list<std::unique_ptr<Node>>::iterator before, const Node& n,
                     const Sym& condition, const std::string& why, bool in_block) {
  if (std::ranges::any_of(g.guards, [&](const Guard& x) { return x.condition == condition; }))
    return;
  const std::set<std::string> names = condition.symbols();
  const bool of_inputs =
      std::ranges::none_of(names, [&](const std::string& s) { return g.symbols.at(s).unbacked; });
  const std::string reason = why.empty() ? "" : ": " + why;
  if (of_inputs && !in_block)
    g.guards.push_back({condition, fmt::format("{} ({}: node '{}', {}{})", condition.str(),
                                               n.source.str(), n.name, n.op->name(), reason)});
  else
    g.insert(before, find_op("aten._assert_scalar.default"),
             {condition, fmt::format("{} needs {}{}", n.op->name(), condition.str(), reason)}, {},
             n.name, n.source);
}

namespace {

// Grows with every size, since none is negative and no factor is.
bool grows(const Sym& f) {
  for (const Sym::Term& term : f.terms()) {
    if (term.coefficient < 0) return false;
    for (const Sym::AtomPtr& atom : term.factors) {
      switch (atom->op) {
        case SymOp::Symbol:
          if (is_float(Sym::symbol(atom->name))) return false;  // data
          break;
        case SymOp::Float:
          if (!(float_constant(Sym::from_atom(atom->op, atom->name, {})).value_or(-1) >= 0))
            return false;
          break;
        case SymOp::ToFloat:
        case SymOp::FAdd:
        case SymOp::FMul:
        case SymOp::FMin:
        case SymOp::FMax:
        case SymOp::FSqrt:
          break;
        default:
          return false;
      }
      if (!std::ranges::all_of(atom->args, grows)) return false;
    }
  }
  return true;
}

// Far from what an int64 cannot hold, for tensors that fit into memory.
bool stays_small(const Sym& f, const Assumptions& known) {
  constexpr int64_t kLargestSize = int64_t{1} << 40;
  if (!grows(f)) return false;
  for (const std::string& name : f.symbols()) {
    auto range = known.ranges().find(name);
    if (range == known.ranges().end() || !known.proves_nonnegative(Sym::symbol(name))) return false;
  }
  const int64_t most = f.eval([&](const std::string& name) {
    const auto& hi = known.ranges().at(name).hi;
    return std::min(hi ? hi->constant().value_or(kLargestSize) : kLargestSize, kLargestSize);
  });
  return float_of_bits(most) < 0x1p62;
}

}  // namespace

std::vector<Sym> operation_conditions(const Sym& s, const Assumptions& known) {
  std::vector<Sym> list;
  auto add = [&](const Sym& condition) {
    if (!known.simplify(condition).is(1)) list.push_back(known.simplify(condition));
  };
  for (const Sym::Term& term : s.terms())
    for (const Sym::AtomPtr& atom : term.factors) {
      for (const Sym& arg : atom->args)
        for (const Sym& inner : operation_conditions(arg, known)) list.push_back(inner);
      switch (atom->op) {
        case SymOp::FloorDiv:
          if (!known.proves_lt(atom->args[1], Sym(0))) add(sym_ne(atom->args[1], Sym(0)));
          break;
        case SymOp::FDiv:
          add(sym_not(float_eq(atom->args[1], float_number(0))));
          break;
        case SymOp::Trunc:
        case SymOp::Floor:
        case SymOp::Ceil:
        case SymOp::Round:
          if (stays_small(atom->args[0], known)) break;
          add(sym_and(float_le(float_number(-0x1p63), atom->args[0]),
                      float_lt(atom->args[0], float_number(0x1p63))));
          break;
        default:
          break;
      }
    }
  return list;
}

void add_runtime_conditions(Graph& g) {
  if (!g.symbols.empty()) RuntimeConditions(g).run();
}

}  // namespace aotc
