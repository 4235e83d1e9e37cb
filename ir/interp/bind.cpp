// Solving sizes for symbols.
#include "ir/interp/bind.h"

#include "ir/symbol_sources.h"

namespace aotc::interp {
namespace {

struct Equation {
  Sym expression;
  int64_t value;
  std::string where;
};

// The one unknown of an expression that is linear in it, solved; nullopt if it is not that simple.
std::optional<std::pair<std::string, int64_t>> solve(const Equation& e, const Symbols& known) {
  const auto linear = linear_size(concrete(e.expression, known));
  int64_t product;
  if (!linear || __builtin_sub_overflow(e.value, linear->offset, &product)) return std::nullopt;
  if (product == INT64_MIN || product % linear->factor != 0) return std::nullopt;
  return std::pair(linear->symbol, product / linear->factor);
}

class Binder {
 public:
  Binder(const Graph& g, const RunInputs& inputs) : graph_(g), inputs_(inputs) {}

  Symbols run() {
    if (inputs_.inputs.size() != graph_.inputs.size())
      user_error("{} inputs are given, the program has {}", inputs_.inputs.size(),
                 graph_.inputs.size());
    for (size_t i = 0; i < graph_.inputs.size(); ++i) collect(graph_.inputs[i], inputs_.inputs[i]);
    solve_all();
    check();
    return symbols_;
  }

 private:
  void collect(const Input& in, const RunValue& v) {
    if (in.kind == InputKind::User && in.value && in.value->kind == ValueKind::Tensor)
      return tensor(in, v);
    if (in.kind != InputKind::UserScalar && !(in.value && in.value->kind == ValueKind::SymInt))
      return;
    Sym expected = in.value ? in.value->sym : Sym(0);
    if (auto* s = std::get_if<Sym>(&in.scalar))
      expected = *s;
    else if (!in.value)
      return constant(in, v);
    if (auto* given = std::get_if<int64_t>(&v))
      equations_.push_back({expected, *given, fmt::format("input '{}'", in.name)});
    else if (!expected.constant())
      user_error("input '{}' needs an integer", in.name);
  }

  void constant(const Input& in, const RunValue& v) {
    bool differs = false;
    if (auto* d = std::get_if<double>(&v)) differs = in.scalar != Arg(*d);
    if (auto* b = std::get_if<bool>(&v)) differs = in.scalar != Arg(*b);
    if (differs) user_error("input '{}' differs from the exported value", in.name);
  }

  void tensor(const Input& in, const RunValue& v) {
    auto* t = std::get_if<Tensor>(&v);
    if (!t) user_error("input '{}' needs a tensor", in.name);
    const TensorType& type = in.value->type;
    if (t->dtype != type.dtype)
      user_error("input '{}' is {}, expected {}", in.name, name(t->dtype), name(type.dtype));
    if (t->sizes.size() != type.rank())
      user_error("input '{}' has rank {}, expected {}", in.name, t->sizes.size(), type.rank());
    if (!fits(*t)) user_error("input '{}' does not fit into its memory", in.name);
    for (size_t d = 0; d < type.rank(); ++d)
      equations_.push_back(
          {type.sizes[d], t->sizes[d], fmt::format("input '{}' dimension {}", in.name, d)});
  }

  // Sizes that are just a symbol come first: a contradiction is then reported where the expression
  // is.
  void solve_all() {
    for (const Equation& e : equations_)
      if (auto name = e.expression.symbol_name()) symbols_.emplace(*name, e.value);
    bool progress = true;
    while (progress) {
      progress = false;
      for (const Equation& e : equations_)
        if (auto s = solve(e, symbols_)) progress |= symbols_.insert(*s).second;
    }
  }

  void check() {
    for (const Equation& e : equations_) {
      auto expected = concrete(e.expression, symbols_).constant();
      if (!expected)
        user_error("{} is {}, expected {} with integers {}", e.where, e.value, e.expression.str(),
                   fmt::join(e.expression.symbols(), ", "));
      if (*expected != e.value)
        user_error("{} is {}, expected {}{}", e.where, e.value, *expected,
                   e.expression.constant() ? "" : fmt::format(" ({})", e.expression.str()));
    }
    std::string broken = broken_condition(graph_, symbols_);
    if (!broken.empty()) user_error("{}", broken);
  }

  const Graph& graph_;
  const RunInputs& inputs_;
  std::vector<Equation> equations_;
  Symbols symbols_;
};

}  // namespace

Symbols bind_symbols(const Graph& graph, const RunInputs& inputs) {
  return Binder(graph, inputs).run();
}

std::string broken_condition(const Graph& graph, const Symbols& symbols) {
  for (const auto& [name, value] : symbols) {
    auto it = graph.symbols.find(name);
    if (it == graph.symbols.end()) continue;
    const SymbolInfo& info = it->second;
    if ((info.min && value < *info.min) || (info.max && value > *info.max))
      return fmt::format("symbol {} is {}, expected {}..{}", name, value,
                         info.min ? std::to_string(*info.min) : "",
                         info.max ? std::to_string(*info.max) : "");
  }
  for (const Guard& g : graph.guards)
    if (concrete(g.condition, symbols).is(0))
      return fmt::format("the condition {} does not hold", g.text);
  return "";
}

int64_t eval(const Sym& s, const Symbols& symbols) {
  if (auto c = s.constant()) return *c;
  return s.eval([&](const std::string& name) {
    auto it = symbols.find(name);
    if (it == symbols.end()) internal_error("symbol {} is used before it has a value", name);
    return it->second;
  });
}

std::vector<int64_t> eval(const std::vector<Sym>& list, const Symbols& symbols) {
  std::vector<int64_t> values;
  for (const Sym& s : list) values.push_back(eval(s, symbols));
  return values;
}

Sym concrete(const Sym& s, const Symbols& symbols) {
  if (s.constant()) return s;
  return s.substitute([&](const std::string& name) -> std::optional<Sym> {
    auto it = symbols.find(name);
    return it == symbols.end() ? std::nullopt : std::optional<Sym>(Sym(it->second));
  });
}

}  // namespace aotc::interp
