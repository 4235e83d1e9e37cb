// Sym: integer expressions over named symbols. One kind of expression serves sizes, strides, index
// maps and conditions. Values are mathematical integers (evaluation checks for overflow of int64);
// floordiv rounds towards minus infinity. Comparisons and and/or/not yield 0 or 1.
//
// A Sym is immutable and canonical: a polynomial whose variables are atoms (symbols, floordiv, min,
// max, comparisons). mod(a, d) is stored as a - d*floordiv(a, d), so (i//6)*6 + i%6 is i by
// construction.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace aotc {

enum class SymOp : uint8_t {
  Symbol,
  FloorDiv,
  Min,
  Max,
  Eq,
  Lt,
  Le,
  And,
  Or,
  Not,
  // of floats (sym_float.h): a constant, whose text is the atom's name, and functions
  Float,
  ToFloat,
  FAdd,
  FMul,
  FDiv,
  FPow,
  FMin,
  FMax,
  FSqrt,
  FEq,
  FLt,
  FLe,
  Trunc,
  Floor,
  Ceil,
  Round
};

bool yields_float(SymOp op);
int arity(SymOp op);
// The value of a function of these operands; floats as their bits. Throws UserError for a division
// by zero and for a float that is no int64.
int64_t apply(SymOp op, const int64_t* operands);

class Sym {
 public:
  Sym() : Sym(int64_t{0}) {}
  Sym(int64_t value);  // NOLINT: integers are expressions
  Sym(int value) : Sym(static_cast<int64_t>(value)) {}
  static Sym symbol(const std::string& name);
  // Parses the text that str() prints, and also sympy's srepr and str forms of the export schema.
  // Throws UserError naming what cannot be read.
  static Sym parse(std::string_view text);

  std::optional<int64_t> constant() const;  // the value, if it has no symbols
  bool is(int64_t value) const { return constant() == value; }
  std::optional<std::string> symbol_name() const;  // if it is just one symbol
  const std::string& str() const;                  // canonical text, parsed back by parse()
  std::set<std::string> symbols() const;

  // Value under an assignment; throws UserError for an unknown symbol or overflow.
  int64_t eval(const std::function<int64_t(const std::string&)>& value_of) const;
  Sym substitute(const std::function<std::optional<Sym>(const std::string&)>& replacement) const;
  Sym substitute(const std::map<std::string, Sym>& replacement) const;
  // If this is c*name + rest with name in neither c nor rest: {c, rest}.
  struct Linear;
  std::optional<Linear> linear_in(const std::string& name) const;

  bool operator==(const Sym& o) const { return poly_ == o.poly_ || str() == o.str(); }
  bool operator<(const Sym& o) const { return str() < o.str(); }

  // Structure, for emitters and evaluators: a sum of terms; a term is coefficient * product of
  // atoms.
  struct Atom {
    SymOp op;
    std::string name;       // Symbol, Float
    std::vector<Sym> args;  // others
    std::string key;        // canonical text
  };
  using AtomPtr = std::shared_ptr<const Atom>;
  struct Term {
    int64_t coefficient;
    std::vector<AtomPtr> factors;  // sorted by key, repeated for powers
  };
  const std::vector<Term>& terms() const;

  friend Sym operator+(const Sym&, const Sym&);
  friend Sym operator-(const Sym&, const Sym&);
  friend Sym operator*(const Sym&, const Sym&);
  static Sym from_atom(SymOp op, std::string name, std::vector<Sym> args);

 private:
  struct Poly;
  explicit Sym(std::shared_ptr<const Poly> p) : poly_(std::move(p)) {}
  static Sym from_terms(std::vector<Term> terms);
  std::shared_ptr<const Poly> poly_;
};

struct Sym::Linear {
  Sym coefficient, rest;
};

Sym floordiv(const Sym& a, const Sym& d);
Sym mod(const Sym& a, const Sym& d);
Sym ceildiv(const Sym& a, const Sym& d);
Sym sym_min(const Sym& a, const Sym& b);
Sym sym_max(const Sym& a, const Sym& b);
Sym sym_eq(const Sym& a, const Sym& b);
Sym sym_ne(const Sym& a, const Sym& b);
Sym sym_lt(const Sym& a, const Sym& b);
Sym sym_le(const Sym& a, const Sym& b);
Sym sym_and(const Sym& a, const Sym& b);
Sym sym_or(const Sym& a, const Sym& b);
Sym sym_not(const Sym& a);
Sym product(const std::vector<Sym>& factors);
// Row-major strides of these sizes.
std::vector<Sym> contiguous_strides(const std::vector<Sym>& sizes);

// What is known about symbols: inclusive bounds, themselves expressions. Proofs are sound, not
// complete.
class Assumptions {
 public:
  void set_range(const std::string& name, std::optional<Sym> lo, std::optional<Sym> hi);
  // 0 <= name < extent
  void set_axis(const std::string& name, const Sym& extent) { set_range(name, Sym(0), extent - 1); }
  bool proves_nonnegative(const Sym& e) const;
  bool proves_le(const Sym& a, const Sym& b) const { return proves_nonnegative(b - a); }
  bool proves_lt(const Sym& a, const Sym& b) const { return proves_nonnegative(b - a - 1); }
  // Rewrites floordiv, min, max and comparisons whose operands' ranges decide them.
  Sym simplify(const Sym& e) const;
  struct Range {
    std::optional<Sym> lo, hi;
  };
  const std::map<std::string, Range>& ranges() const { return ranges_; }

 private:
  bool prove(const Sym& e, int depth) const;
  bool prove_float(const Sym& f, int depth) const;
  Sym divide(const Sym& a, const Sym& d) const;
  std::map<std::string, Range> ranges_;
};

}  // namespace aotc
