// Building float atoms, folding constants, and the roundings that are integer arithmetic.
#include "ir/sym_float.h"

#include <bit>
#include <cctype>
#include <cmath>

#include "ir/error.h"

namespace aotc {
namespace {

// Integers up to here and their products by small factors are exact doubles.
constexpr double kSmall = 1 << 20;

bool is_float_symbol(const std::string& name) {
  const size_t digit = name.starts_with("zuf") ? 3 : name.starts_with("zf") ? 2 : 0;
  return digit > 0 && digit < name.size() && std::isdigit(static_cast<unsigned char>(name[digit]));
}

const Sym::Atom* only_atom(const Sym& s) {
  if (s.terms().size() != 1) return nullptr;
  const Sym::Term& t = s.terms()[0];
  return t.coefficient == 1 && t.factors.size() == 1 ? t.factors[0].get() : nullptr;
}

// The atom, or its value where all operands are constants.
Sym float_atom(SymOp op, const std::vector<Sym>& args) {
  std::vector<int64_t> bits;
  for (const Sym& a : args)
    if (auto v = float_constant(a)) bits.push_back(float_bits(*v));
  if (bits.size() < args.size()) return Sym::from_atom(op, "", args);
  const int64_t v = apply(op, bits.data());
  return yields_float(op) ? float_number(float_of_bits(v)) : Sym(v);
}

Sym commuting(SymOp op, const Sym& a, const Sym& b) {
  const Sym x = to_float(a), y = to_float(b);
  return y < x ? float_atom(op, {y, x}) : float_atom(op, {x, y});
}

// n * p / 2^k as integers, where `f` is the float of an integer n times that number.
struct Scaled {
  Sym numerator;
  int64_t denominator;
};

std::optional<Scaled> scaled_integer(const Sym& f) {
  const Sym::Atom* a = only_atom(f);
  if (!a) return std::nullopt;
  if (a->op == SymOp::ToFloat) return Scaled{a->args[0], 1};
  if (a->op != SymOp::FMul && a->op != SymOp::FDiv) return std::nullopt;
  for (size_t i = 0; i < 2; ++i) {
    const auto factor = float_constant(a->args[i]);
    const Sym::Atom* n = only_atom(a->args[1 - i]);
    if (!factor || !n || n->op != SymOp::ToFloat) continue;
    const bool whole = std::trunc(*factor) == *factor && std::fabs(*factor) <= kSmall;
    // A quotient that is no integer is far enough from one to stay on its side when rounded.
    if (a->op == SymOp::FDiv)
      return i == 1 && whole && *factor > 0
                 ? std::optional(Scaled{n->args[0], static_cast<int64_t>(*factor)})
                 : std::nullopt;
    int64_t denominator = 1;
    double p = *factor;
    while (std::trunc(p) != p && denominator < static_cast<int64_t>(kSmall))
      p *= 2, denominator *= 2;
    if (std::trunc(p) != p || std::fabs(p) > kSmall) return std::nullopt;
    return Scaled{n->args[0] * Sym(static_cast<int64_t>(p)), denominator};
  }
  return std::nullopt;
}

}  // namespace

bool is_float(const Sym& s) {
  const Sym::Atom* a = only_atom(s);
  return a && (a->op == SymOp::Symbol ? is_float_symbol(a->name) : yields_float(a->op));
}

int64_t float_bits(double v) { return std::bit_cast<int64_t>(v); }
double float_of_bits(int64_t bits) { return std::bit_cast<double>(bits); }

Sym float_number(double v) { return Sym::from_atom(SymOp::Float, fmt::format("{}", v), {}); }

std::optional<double> float_constant(const Sym& s) {
  const Sym::Atom* a = only_atom(s);
  if (!a || a->op != SymOp::Float) return std::nullopt;
  return std::strtod(a->name.c_str(), nullptr);
}

Sym to_float(const Sym& s) {
  if (is_float(s)) return s;
  if (auto c = s.constant()) return float_number(static_cast<double>(*c));
  return Sym::from_atom(SymOp::ToFloat, "", {s});
}

Sym float_add(const Sym& a, const Sym& b) { return commuting(SymOp::FAdd, a, b); }
Sym float_sub(const Sym& a, const Sym& b) { return float_add(a, float_mul(float_number(-1), b)); }
Sym float_mul(const Sym& a, const Sym& b) { return commuting(SymOp::FMul, a, b); }
Sym float_div(const Sym& a, const Sym& b) {
  return float_atom(SymOp::FDiv, {to_float(a), to_float(b)});
}
Sym float_pow(const Sym& a, const Sym& b) {
  return float_atom(SymOp::FPow, {to_float(a), to_float(b)});
}
Sym float_min(const Sym& a, const Sym& b) { return commuting(SymOp::FMin, a, b); }
Sym float_max(const Sym& a, const Sym& b) { return commuting(SymOp::FMax, a, b); }
Sym float_sqrt(const Sym& a) { return float_atom(SymOp::FSqrt, {to_float(a)}); }

Sym float_eq(const Sym& a, const Sym& b) { return commuting(SymOp::FEq, a, b); }
Sym float_lt(const Sym& a, const Sym& b) {
  return float_atom(SymOp::FLt, {to_float(a), to_float(b)});
}
Sym float_le(const Sym& a, const Sym& b) {
  return float_atom(SymOp::FLe, {to_float(a), to_float(b)});
}

Sym trunc_to_int(const Sym& f) {
  if (!is_float(f)) return f;
  auto s = scaled_integer(f);
  return s && s->denominator == 1 ? s->numerator : float_atom(SymOp::Trunc, {f});
}

Sym floor_to_int(const Sym& f) {
  if (!is_float(f)) return f;
  auto s = scaled_integer(f);
  return s ? floordiv(s->numerator, Sym(s->denominator)) : float_atom(SymOp::Floor, {f});
}

Sym ceil_to_int(const Sym& f) {
  if (!is_float(f)) return f;
  auto s = scaled_integer(f);
  return s ? ceildiv(s->numerator, Sym(s->denominator)) : float_atom(SymOp::Ceil, {f});
}

Sym round_to_int(const Sym& f) {
  if (!is_float(f)) return f;
  auto s = scaled_integer(f);
  return s && s->denominator == 1 ? s->numerator : float_atom(SymOp::Round, {f});
}

}  // namespace aotc
