// Proofs about expressions from bounds on their symbols, and the simplifications that they allow.
#include <algorithm>

#include "ir/error.h"
#include "ir/sym_float.h"
#include "ir/sym_op.h"

namespace aotc {

namespace {

constexpr int kMaxDepth = 12;

// A sum of terms with nonnegative coefficients over atoms that are themselves nonnegative.
bool nonnegative_by_terms(const Sym& e,
                          const std::function<bool(const Sym::Atom&)>& atom_nonnegative) {
  for (const auto& t : e.terms()) {
    if (t.coefficient < 0) return false;
    for (size_t i = 0; i < t.factors.size(); ++i) {
      bool square = i + 1 < t.factors.size() && t.factors[i]->key == t.factors[i + 1]->key;
      if (square) {
        ++i;
        continue;
      }
      if (!atom_nonnegative(*t.factors[i])) return false;
    }
  }
  return true;
}

}  // namespace

void Assumptions::set_range(const std::string& name, std::optional<Sym> lo, std::optional<Sym> hi) {
  ranges_[name] = {std::move(lo), std::move(hi)};
}

bool Assumptions::proves_nonnegative(const Sym& e) const { return prove(e, 0); }

// Replaces one symbol at a time by the bound that makes `e` smallest (its sign must be known),
// until only manifestly nonnegative terms are left.
bool Assumptions::prove(const Sym& e, int depth) const {
  if (auto c = e.constant()) return *c >= 0;
  if (depth > kMaxDepth) return false;
  auto atom_nonnegative = [&](const Sym::Atom& a) {
    switch (a.op) {
      case SymOp::Symbol: {
        auto it = ranges_.find(a.name);
        return it != ranges_.end() && it->second.lo && prove(*it->second.lo, depth + 1);
      }
      case SymOp::FloorDiv:
        return prove(a.args[0], depth + 1) && prove(a.args[1] - 1, depth + 1);
      case SymOp::Min:
        return prove(a.args[0], depth + 1) && prove(a.args[1], depth + 1);
      case SymOp::Max:
        return prove(a.args[0], depth + 1) || prove(a.args[1], depth + 1);
      case SymOp::Trunc:
      case SymOp::Floor:
      case SymOp::Ceil:
      case SymOp::Round:
        return prove_float(a.args[0], depth + 1);
      default:
        return !yields_float(a.op);  // comparisons are 0 or 1
    }
  };
  if (nonnegative_by_terms(e, atom_nonnegative)) return true;
  // Symbols with symbolic upper bounds (axes) go first, so that their extents can cancel.
  for (int pass = 0; pass < 2; ++pass)
    for (const std::string& name : e.symbols()) {
      auto it = ranges_.find(name);
      if (it == ranges_.end()) continue;
      bool axis = it->second.hi && !it->second.hi->constant();
      if (axis != (pass == 0)) continue;
      auto linear = e.linear_in(name);
      if (!linear || linear->coefficient.is(0)) continue;
      if (it->second.lo && prove(linear->coefficient, depth + 1)) {
        if (it->second.lo->is(0) && !axis && !linear->coefficient.constant()) continue;
        if (prove(linear->rest + linear->coefficient * *it->second.lo, depth + 1)) return true;
      } else if (it->second.hi && prove(Sym(0) - linear->coefficient, depth + 1)) {
        if (prove(linear->rest + linear->coefficient * *it->second.hi, depth + 1)) return true;
      }
    }
  // floordiv(x, d) with d > 0 lies in [(x - d + 1) / d, x / d]: bound it through its defining
  // inequality.
  for (const auto& t : e.terms())
    for (const auto& f : t.factors) {
      if (f->op == SymOp::Min && t.factors.size() == 1 && t.coefficient < 0) {
        Sym rest = e - Sym(t.coefficient) * Sym::from_atom(f->op, "", f->args);
        for (const Sym& a : f->args)
          if (prove(rest + Sym(t.coefficient) * a, depth + 1)) return true;
        return false;
      }
      if (f->op == SymOp::Max && t.factors.size() == 1 && t.coefficient > 0) {
        Sym rest = e - Sym(t.coefficient) * Sym::from_atom(f->op, "", f->args);
        for (const Sym& a : f->args)
          if (prove(rest + Sym(t.coefficient) * a, depth + 1)) return true;
        return false;
      }
      if (f->op != SymOp::FloorDiv || t.factors.size() != 1) continue;
      auto d = f->args[1].constant();
      if (!d || *d <= 0) continue;
      Sym rest = e - Sym(t.coefficient) * Sym::from_atom(f->op, "", f->args);
      Sym numerator = t.coefficient > 0 ? f->args[0] - (*d - 1) : f->args[0];
      return prove(rest * Sym(*d) + Sym(t.coefficient) * numerator, depth + 1);
    }
  return false;
}

// Of the float `f`: it is a number that is not negative, and not NaN.
bool Assumptions::prove_float(const Sym& f, int depth) const {
  if (auto c = float_constant(f)) return *c >= 0;
  if (depth > kMaxDepth || !is_float(f)) return false;
  const Sym::Atom& a = *f.terms()[0].factors[0];
  switch (a.op) {
    case SymOp::ToFloat:
      return prove(a.args[0], depth + 1);
    case SymOp::FAdd:
    case SymOp::FMin:
    case SymOp::FMax:
      return prove_float(a.args[0], depth + 1) && prove_float(a.args[1], depth + 1);
    case SymOp::FSqrt:
      return prove_float(a.args[0], depth + 1);
    case SymOp::FMul:
    case SymOp::FDiv: {  // of a finite integer and a constant: no 0 * inf, 0 / 0
      const bool constant = float_constant(a.args[0]) || float_constant(a.args[1]);
      const bool by_zero = a.op == SymOp::FDiv && float_constant(a.args[1]).value_or(0) == 0;
      return constant && !by_zero && prove_float(a.args[0], depth + 1) &&
             prove_float(a.args[1], depth + 1);
    }
    default:
      return false;
  }
}

// floordiv whose remainder is provably in [0, d) is its exact quotient.
Sym Assumptions::divide(const Sym& a, const Sym& d) const {
  Sym q = floordiv(a, d);
  if (q.terms().empty()) return q;
  for (const auto& t : q.terms())
    for (const auto& f : t.factors) {
      if (f->op != SymOp::FloorDiv || t.factors.size() != 1 || t.coefficient != 1) continue;
      const Sym &x = f->args[0], &y = f->args[1];
      Sym rest = q - Sym::from_atom(f->op, "", f->args);
      if (proves_nonnegative(x) && proves_lt(x, y)) return rest;
      if (proves_lt(x, Sym(0)) && proves_le(Sym(0) - y, x)) return rest - 1;
    }
  return q;
}

Sym Assumptions::simplify(const Sym& e) const {
  Sym sum(0);
  for (const auto& t : e.terms()) {
    Sym p(t.coefficient);
    for (const auto& f : t.factors) {
      if (f->op == SymOp::Symbol) {  // an axis of one iteration is 0
        auto it = ranges_.find(f->name);
        bool fixed = it != ranges_.end() && it->second.lo && it->second.hi &&
                     it->second.lo->constant() && *it->second.lo == *it->second.hi;
        p = p * (fixed ? *it->second.lo : Sym::symbol(f->name));
        continue;
      }
      std::vector<Sym> args;
      for (const Sym& a : f->args) args.push_back(simplify(a));
      Sym atom = f->op == SymOp::FloorDiv                           ? divide(args[0], args[1])
                 : f->op == SymOp::Trunc && prove_float(args[0], 0) ? floor_to_int(args[0])
                                                                    : rebuild(*f, args);
      if (f->op == SymOp::Min || f->op == SymOp::Max) {
        bool min = f->op == SymOp::Min;
        if (proves_le(args[0], args[1]))
          atom = min ? args[0] : args[1];
        else if (proves_le(args[1], args[0]))
          atom = min ? args[1] : args[0];
      } else if (f->op == SymOp::Lt || f->op == SymOp::Le) {
        Sym less = args[1] - args[0] - (f->op == SymOp::Lt ? 1 : 0);
        if (proves_nonnegative(less))
          atom = Sym(1);
        else if (proves_nonnegative(Sym(-1) - less))
          atom = Sym(0);
      } else if (f->op == SymOp::Eq) {
        if (proves_lt(args[0], args[1]) || proves_lt(args[1], args[0])) atom = Sym(0);
      }
      p = p * atom;
    }
    sum = sum + p;
  }
  return sum;
}

}  // namespace aotc
