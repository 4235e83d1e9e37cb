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
    for (const Sym& condition : open.list()) {
      for (const Sym& divisor : nonzero_divisors(condition, known_)) add(at, divisor, in_block);
      add(at, known_.simplify(condition), in_block);
    }
  }

  void add(Place at, const Sym& condition, bool in_block) {
    const auto constant = condition.constant();
    if (constant && *constant != 0) return;
    const auto names = condition.symbols();
    // Symbols of an op's inner nodes are not known here.
    if (!std::ranges::all_of(names, [&](const std::string& s) { return defined_.contains(s); }))
      return;
    const bool of_inputs = std::ranges::none_of(
        names, [&](const std::string& s) { return g_.symbols.at(s).unbacked; });
    const bool guarded = std::ranges::any_of(
        g_.guards, [&](const Guard& g) { return g.condition == condition; });
    if (guarded || added_.contains(condition)) return;
    const Node& n = **at;
    if (of_inputs && !in_block) {
      g_.guards.push_back({condition, fmt::format("{} ({}: node '{}', {})", condition.str(),
                                                  n.source.str(), n.name, n.op->name())});
      return;
    }
    if (!in_block) added_.insert(condition);
    g_.insert(at, kAssert,
              {condition, fmt::format("{} needs {}", n.op->name(), condition.str())}, {}, n.name,
              n.source);
  }

  const OpDef* const kAssert = find_op("aten._assert_scalar.default");
  Graph& g_;
  const Assumptions known_;
  std::set<std::string> defined_;  // symbols that have a value before the node at hand
  std::set<Sym> added_;            // asserted where every call gets to
};

}  // namespace

std::vector<Sym> nonzero_divisors(const Sym& condition, const Assumptions& known) {
  std::vector<Sym> list;
  for (const Sym::Term& term : condition.terms())
    for (const Sym::AtomPtr& atom : term.factors) {
      for (const Sym& arg : atom->args)
        for (const Sym& inner : nonzero_divisors(arg, known)) list.push_back(inner);
      if (atom->op != SymOp::FloorDiv) continue;
      const Sym& divisor = atom->args[1];
      if (!known.proves_lt(Sym(0), divisor) && !known.proves_lt(divisor, Sym(0)))
        list.push_back(known.simplify(sym_ne(divisor, Sym(0))));
    }
  return list;
}

void add_runtime_conditions(Graph& g) {
  if (!g.symbols.empty()) RuntimeConditions(g).run();
}

}  // namespace aotc
