// Canonical polynomials over atoms, their arithmetic, and evaluation. See sym.h for the semantics.
#include "ir/sym.h"

#include <algorithm>
#include <numeric>

#include "ir/error.h"
#include "ir/sym_float.h"
#include "ir/sym_op.h"

namespace aotc {

struct Sym::Poly {
  std::vector<Term> terms;
  std::string text;
};

namespace {

// Products of sums grow; programs have sums of a few terms, only hostile archives reach this.
constexpr size_t kMaxTerms = 10'000;

int64_t checked_add(int64_t a, int64_t b) {
  int64_t r;
  if (__builtin_add_overflow(a, b, &r))
    user_error("size expression overflows 64 bits: {} + {}", a, b);
  return r;
}

int64_t checked_mul(int64_t a, int64_t b) {
  int64_t r;
  if (__builtin_mul_overflow(a, b, &r))
    user_error("size expression overflows 64 bits: {} * {}", a, b);
  return r;
}

std::string factors_text(const std::vector<Sym::AtomPtr>& factors) {
  std::string s;
  for (const auto& f : factors) s += (s.empty() ? "" : "*") + f->key;
  return s;
}

std::string terms_text(const std::vector<Sym::Term>& terms) {
  std::string s;
  for (const auto& t : terms) {
    int64_t c = t.coefficient;
    bool negative = c < 0;
    s += s.empty() ? (negative ? "-" : "") : (negative ? " - " : " + ");
    std::string magnitude = negative ? std::to_string(c).substr(1) : std::to_string(c);
    if (t.factors.empty())
      s += magnitude;
    else
      s += (magnitude == "1" ? "" : magnitude + "*") + factors_text(t.factors);
  }
  return s.empty() ? "0" : s;
}

// Terms with symbols first (by text), the constant last.
bool term_less(const Sym::Term& a, const Sym::Term& b) {
  if (a.factors.empty() != b.factors.empty()) return b.factors.empty();
  return factors_text(a.factors) < factors_text(b.factors);
}

bool same_factors(const std::vector<Sym::AtomPtr>& a, const std::vector<Sym::AtomPtr>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& x, const auto& y) { return x == y || x->key == y->key; });
}

std::optional<std::vector<int64_t>> constants(const std::vector<Sym>& args) {
  std::vector<int64_t> v;
  for (const Sym& a : args) {
    auto c = a.constant();
    if (!c) return std::nullopt;
    v.push_back(*c);
  }
  return v;
}

// The quotient of `t` by the single-term divisor `d`, if exact.
std::optional<Sym::Term> divide_term(const Sym::Term& t, const Sym::Term& d) {
  if (d.coefficient == 0 || t.coefficient % d.coefficient != 0) return std::nullopt;
  std::vector<Sym::AtomPtr> rest = t.factors;
  for (const auto& f : d.factors) {
    auto it =
        std::find_if(rest.begin(), rest.end(), [&](const auto& r) { return r->key == f->key; });
    if (it == rest.end()) return std::nullopt;
    rest.erase(it);
  }
  return Sym::Term{t.coefficient / d.coefficient, rest};
}

Sym term_sym(const Sym::Term& t) {
  Sym s(t.coefficient);
  for (const auto& f : t.factors) s = s * Sym::from_atom(f->op, f->name, f->args);
  return s;
}

}  // namespace

Sym Sym::from_terms(std::vector<Term> terms) {
  std::sort(terms.begin(), terms.end(), term_less);
  std::vector<Term> merged;
  for (auto& t : terms) {
    if (!merged.empty() && same_factors(merged.back().factors, t.factors))
      merged.back().coefficient = checked_add(merged.back().coefficient, t.coefficient);
    else
      merged.push_back(std::move(t));
  }
  std::erase_if(merged, [](const Term& t) { return t.coefficient == 0; });
  auto poly = std::make_shared<Poly>();
  poly->text = terms_text(merged);
  poly->terms = std::move(merged);
  return Sym(std::shared_ptr<const Poly>(poly));
}

Sym::Sym(int64_t value) {
  auto poly = std::make_shared<Poly>();
  if (value != 0) poly->terms.push_back({value, {}});
  poly->text = std::to_string(value);
  poly_ = poly;
}

Sym Sym::symbol(const std::string& name) { return from_atom(SymOp::Symbol, name, {}); }

// An atom without simplification beyond constant folding (the functions below simplify first).
Sym Sym::from_atom(SymOp op, std::string name, std::vector<Sym> args) {
  if (!args.empty())
    if (auto v = constants(args)) return Sym(apply(op, v->data()));
  auto atom = std::make_shared<Atom>();
  atom->op = op;
  atom->name = name;
  atom->key = name;
  if (op == SymOp::Float) {
    atom->key = "float(" + name + ")";
  } else if (op != SymOp::Symbol) {
    atom->key = std::string(name_of(op)) + "(";
    for (size_t i = 0; i < args.size(); ++i) atom->key += (i ? ", " : "") + args[i].str();
    atom->key += ")";
  }
  atom->args = std::move(args);
  return from_terms({{1, {atom}}});
}

std::optional<int64_t> Sym::constant() const {
  if (poly_->terms.empty()) return 0;
  if (poly_->terms.size() == 1 && poly_->terms[0].factors.empty())
    return poly_->terms[0].coefficient;
  return std::nullopt;
}

std::optional<std::string> Sym::symbol_name() const {
  if (poly_->terms.size() != 1) return std::nullopt;
  const Term& t = poly_->terms[0];
  if (t.coefficient != 1 || t.factors.size() != 1 || t.factors[0]->op != SymOp::Symbol)
    return std::nullopt;
  return t.factors[0]->name;
}

const std::string& Sym::str() const { return poly_->text; }
const std::vector<Sym::Term>& Sym::terms() const { return poly_->terms; }

std::set<std::string> Sym::symbols() const {
  std::set<std::string> names;
  for (const auto& t : poly_->terms)
    for (const auto& f : t.factors) {
      if (f->op == SymOp::Symbol) names.insert(f->name);
      for (const Sym& a : f->args) names.merge(a.symbols());
    }
  return names;
}

int64_t Sym::eval(const std::function<int64_t(const std::string&)>& value_of) const {
  int64_t sum = 0;
  for (const auto& t : poly_->terms) {
    int64_t p = t.coefficient;
    for (const auto& f : t.factors) {
      int64_t v;
      if (f->op == SymOp::Symbol) {
        v = value_of(f->name);
      } else if (f->op == SymOp::Float) {
        v = float_bits(std::strtod(f->name.c_str(), nullptr));
      } else {
        std::vector<int64_t> args;
        for (const Sym& a : f->args) args.push_back(a.eval(value_of));
        v = apply(f->op, args.data());
      }
      p = checked_mul(p, v);
    }
    sum = checked_add(sum, p);
  }
  return sum;
}

Sym Sym::substitute(
    const std::function<std::optional<Sym>(const std::string&)>& replacement) const {
  Sym sum(0);
  for (const auto& t : poly_->terms) {
    Sym p(t.coefficient);
    for (const auto& f : t.factors) {
      if (f->op == SymOp::Symbol) {
        auto r = replacement(f->name);
        const bool bits = r && r->constant() && is_float(Sym::symbol(f->name));
        if (bits) r = float_number(float_of_bits(*r->constant()));
        p = p * (r ? *r : Sym::symbol(f->name));
        continue;
      }
      std::vector<Sym> args;
      for (const Sym& a : f->args) args.push_back(a.substitute(replacement));
      p = p * rebuild(*f, args);
    }
    sum = sum + p;
  }
  return sum;
}

Sym Sym::substitute(const std::map<std::string, Sym>& replacement) const {
  return substitute([&](const std::string& n) -> std::optional<Sym> {
    auto it = replacement.find(n);
    return it == replacement.end() ? std::nullopt : std::optional<Sym>(it->second);
  });
}

std::optional<Sym::Linear> Sym::linear_in(const std::string& name) const {
  Sym coefficient(0), rest(0);
  for (const auto& t : poly_->terms) {
    std::vector<AtomPtr> others;
    int count = 0;
    for (const auto& f : t.factors) {
      if (f->op == SymOp::Symbol && f->name == name) {
        ++count;
        continue;
      }
      for (const Sym& a : f->args)
        if (a.symbols().contains(name)) return std::nullopt;
      others.push_back(f);
    }
    if (count > 1) return std::nullopt;
    Sym part = term_sym({t.coefficient, others});
    (count ? coefficient : rest) = (count ? coefficient : rest) + part;
  }
  return Linear{coefficient, rest};
}

Sym operator+(const Sym& a, const Sym& b) {
  std::vector<Sym::Term> terms = a.terms();
  terms.insert(terms.end(), b.terms().begin(), b.terms().end());
  return Sym::from_terms(std::move(terms));
}

Sym operator-(const Sym& a, const Sym& b) { return a + Sym(-1) * b; }

Sym operator*(const Sym& a, const Sym& b) {
  if (a.terms().size() * b.terms().size() > kMaxTerms)
    user_error("a size expression has more than {} terms", kMaxTerms);
  std::vector<Sym::Term> terms;
  for (const auto& x : a.terms())
    for (const auto& y : b.terms()) {
      std::vector<Sym::AtomPtr> factors = x.factors;
      factors.insert(factors.end(), y.factors.begin(), y.factors.end());
      std::sort(factors.begin(), factors.end(),
                [](const auto& p, const auto& q) { return p->key < q->key; });
      terms.push_back({checked_mul(x.coefficient, y.coefficient), std::move(factors)});
    }
  return Sym::from_terms(std::move(terms));
}

// Pulls exact multiples of a single-term divisor out: floordiv(d*q + r, d) = q + floordiv(r, d).
Sym floordiv(const Sym& a, const Sym& d) {
  if (d.is(1) || a.is(0)) return a;
  if (a == d) return Sym(1);
  if (a.constant() && d.constant()) return Sym(floor_divide(*a.constant(), *d.constant()));
  if (d.terms().size() != 1) return Sym::from_atom(SymOp::FloorDiv, "", {a, d});
  Sym quotient(0), rest(0);
  for (const auto& t : a.terms()) {
    auto q = divide_term(t, d.terms()[0]);
    if (q)
      quotient = quotient + term_sym(*q);
    else
      rest = rest + term_sym(t);
  }
  if (rest.is(0)) return quotient;
  int64_t g = std::abs(d.terms()[0].coefficient);
  for (const auto& t : rest.terms()) g = std::gcd(g, std::abs(t.coefficient));
  if (g > 1) {
    auto shrink = [&](const Sym& s) {
      Sym r(0);
      for (const auto& t : s.terms()) r = r + term_sym({t.coefficient / g, t.factors});
      return r;
    };
    return quotient + floordiv(shrink(rest), shrink(d));
  }
  // floordiv(floordiv(x, b), c) = floordiv(x, b*c) for positive constants.
  if (rest.terms().size() == 1 && rest.terms()[0].coefficient == 1 &&
      rest.terms()[0].factors.size() == 1 && d.constant() && *d.constant() > 0) {
    const auto& f = rest.terms()[0].factors[0];
    if (f->op == SymOp::FloorDiv && f->args[1].constant() && *f->args[1].constant() > 0)
      return quotient + floordiv(f->args[0], f->args[1] * d);
  }
  return quotient + Sym::from_atom(SymOp::FloorDiv, "", {rest, d});
}

Sym mod(const Sym& a, const Sym& d) { return a - d * floordiv(a, d); }
Sym ceildiv(const Sym& a, const Sym& d) { return floordiv(a + d - 1, d); }

namespace {
Sym commutative(SymOp op, const Sym& a, const Sym& b) {
  return b < a ? Sym::from_atom(op, "", {b, a}) : Sym::from_atom(op, "", {a, b});
}
}  // namespace

Sym sym_min(const Sym& a, const Sym& b) {
  if (auto c = (a - b).constant()) return *c <= 0 ? a : b;
  return commutative(SymOp::Min, a, b);
}
Sym sym_max(const Sym& a, const Sym& b) {
  if (auto c = (a - b).constant()) return *c >= 0 ? a : b;
  return commutative(SymOp::Max, a, b);
}
Sym sym_eq(const Sym& a, const Sym& b) {
  if (auto c = (a - b).constant()) return Sym(*c == 0);
  return commutative(SymOp::Eq, a, b);
}
Sym sym_ne(const Sym& a, const Sym& b) { return sym_not(sym_eq(a, b)); }
Sym sym_lt(const Sym& a, const Sym& b) {
  if (auto c = (a - b).constant()) return Sym(*c < 0);
  return Sym::from_atom(SymOp::Lt, "", {a, b});
}
Sym sym_le(const Sym& a, const Sym& b) {
  if (auto c = (a - b).constant()) return Sym(*c <= 0);
  return Sym::from_atom(SymOp::Le, "", {a, b});
}
Sym sym_and(const Sym& a, const Sym& b) {
  if (auto c = a.constant()) return *c ? b : Sym(0);
  if (auto c = b.constant()) return *c ? a : Sym(0);
  return commutative(SymOp::And, a, b);
}
Sym sym_or(const Sym& a, const Sym& b) {
  if (auto c = a.constant()) return *c ? Sym(1) : b;
  if (auto c = b.constant()) return *c ? Sym(1) : a;
  return commutative(SymOp::Or, a, b);
}
Sym sym_not(const Sym& a) {
  if (auto c = a.constant()) return Sym(*c == 0);
  return Sym::from_atom(SymOp::Not, "", {a});
}

Sym product(const std::vector<Sym>& factors) {
  Sym p(1);
  for (const Sym& f : factors) p = p * f;
  return p;
}

std::vector<Sym> contiguous_strides(const std::vector<Sym>& sizes) {
  std::vector<Sym> strides(sizes.size());
  Sym step(1);
  for (size_t i = sizes.size(); i-- > 0;) {
    strides[i] = step;
    step = step * sizes[i];
  }
  return strides;
}

}  // namespace aotc
