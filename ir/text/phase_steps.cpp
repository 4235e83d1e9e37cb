// Which expressions a phase needs, and when its accumulators are fed.
#include "ir/text/phase_steps.h"

#include <algorithm>
#include <charconv>
#include <set>

namespace aotc::loops {
namespace {

void add_symbols(const std::vector<Sym>& at, std::vector<ExprId>& out) {
  for (const Sym& s : at)
    for (const std::string& name : s.symbols())
      if (ExprId e = expr_of_symbol(name); e >= 0) out.push_back(e);
}

bool is_id(const Kernel& k, int id) { return id >= 0 && id < static_cast<int>(k.exprs.size()); }

std::set<ExprId> closure(const Kernel& k, std::vector<ExprId> work) {
  std::set<ExprId> needed;
  while (!work.empty()) {
    ExprId e = work.back();
    work.pop_back();
    if (!is_id(k, e) || !needed.insert(e).second) continue;
    for (ExprId o : operands(k.exprs[static_cast<size_t>(e)])) work.push_back(o);
  }
  return needed;
}

// The expression after which `a` can be fed: the later of its value and its companion's.
ExprId feed_point(const Kernel& k, int a) {
  const auto& all = k.accumulators;
  if (a < 0 || a >= static_cast<int>(all.size())) return -1;
  const Accumulator& acc = all[static_cast<size_t>(a)];
  ExprId point = acc.value;
  if (acc.companion >= 0 && acc.companion < static_cast<int>(all.size()))
    point = std::max(point, all[static_cast<size_t>(acc.companion)].value);
  return point;
}

}  // namespace

ExprId expr_of_symbol(const std::string& symbol) {
  if (symbol.size() < 2 || symbol[0] != '%') return -1;
  ExprId id = -1;
  auto [end, error] = std::from_chars(symbol.data() + 1, symbol.data() + symbol.size(), id);
  return error == std::errc() && end == symbol.data() + symbol.size() ? id : -1;
}

std::vector<ExprId> operands(const Expr& e) {
  std::vector<ExprId> ids = e.args;
  if (e.guard >= 0) ids.push_back(e.guard);
  if (e.otherwise >= 0) ids.push_back(e.otherwise);
  add_symbols(e.at, ids);
  add_symbols({e.index}, ids);
  return ids;
}

std::vector<ExprId> phase_roots(const Kernel& k, size_t phase) {
  std::vector<ExprId> roots;
  const Phase& p = k.phases.at(phase);
  for (int a : p.accumulators)
    if (a >= 0 && a < static_cast<int>(k.accumulators.size()))
      roots.push_back(k.accumulators[static_cast<size_t>(a)].value);
  for (const Store& s : p.stores) {
    roots.push_back(s.value);
    roots.push_back(s.guard);
    add_symbols(s.at, roots);
  }
  if (phase == 0) {
    roots.push_back(k.condition);
    roots.push_back(k.report);
    if (k.kind == KernelKind::Host) roots.push_back(0);
  }
  return roots;
}

std::vector<PhaseStep> phase_steps(const Kernel& k, size_t phase) {
  std::vector<PhaseStep> steps;
  const std::vector<int>& fed = k.phases.at(phase).accumulators;
  std::set<int> waiting(fed.begin(), fed.end());
  for (ExprId e : closure(k, phase_roots(k, phase))) {
    steps.push_back({false, e});
    for (int a : fed)
      if (feed_point(k, a) == e && waiting.erase(a)) steps.push_back({true, a});
  }
  for (int a : fed)
    if (waiting.erase(a)) steps.push_back({true, a});
  return steps;
}

}  // namespace aotc::loops
