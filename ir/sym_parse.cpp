// Reads expressions: the canonical text of Sym::str(), and what torch writes into archives (sympy's
// srepr since 2.7, its str before): Symbol('s0', ...), Integer(3), Add(...), FloorDiv(...),
// (s0//2), Mod(s0, 8). Arithmetic with a float makes floats of its operands, as in Python.
#include <cctype>

#include "ir/error.h"
#include "ir/sym_float.h"

namespace aotc {
namespace {

// Bounds recursion; torch nests a few levels.
constexpr int kMaxNesting = 400;

using Binary = Sym (*)(const Sym&, const Sym&);

// The function of integers, or that of floats where an operand is one.
Sym either(const Sym& a, const Sym& b, Binary of_integers, Binary of_floats) {
  return is_float(a) || is_float(b) ? of_floats(a, b) : of_integers(a, b);
}

Sym plus(const Sym& a, const Sym& b) {
  return either(a, b, [](const Sym& x, const Sym& y) { return x + y; }, float_add);
}
Sym minus(const Sym& a, const Sym& b) {
  return either(a, b, [](const Sym& x, const Sym& y) { return x - y; }, float_sub);
}
Sym times(const Sym& a, const Sym& b) {
  return either(a, b, [](const Sym& x, const Sym& y) { return x * y; }, float_mul);
}
Sym least(const Sym& a, const Sym& b) { return either(a, b, sym_min, float_min); }
Sym greatest(const Sym& a, const Sym& b) { return either(a, b, sym_max, float_max); }
Sym equal(const Sym& a, const Sym& b) { return either(a, b, sym_eq, float_eq); }
Sym less(const Sym& a, const Sym& b) { return either(a, b, sym_lt, float_lt); }
Sym less_or_equal(const Sym& a, const Sym& b) { return either(a, b, sym_le, float_le); }
Sym unequal(const Sym& a, const Sym& b) { return sym_not(equal(a, b)); }

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Sym parse_all() {
    Sym s = condition();
    skip_space();
    if (at_ != text_.size()) fail("unexpected text");
    return s;
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    user_error("size expression '{}': {} at character {}", std::string(text_.substr(0, 200)), why,
               at_ + 1);
  }
  void skip_space() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  bool accept(std::string_view token) {
    skip_space();
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }
  void expect(std::string_view token) {
    if (!accept(token)) fail(fmt::format("expected '{}'", token));
  }

  // A word operator of Python; "not(a)" without a space is the function.
  bool accept_word(std::string_view word) {
    skip_space();
    const std::string_view next = text_.substr(at_, word.size() + 1);
    if (next.size() <= word.size() || !next.starts_with(word)) return false;
    const char after = next.back();
    if (after != '(' && !std::isspace(static_cast<unsigned char>(after))) return false;
    if (after == '(' && word == "not") return false;
    at_ += word.size();
    return true;
  }

  // Every recursion passes here or through power().
  void enter() {
    if (++depth_ > kMaxNesting) fail("nesting is too deep");
  }

  Sym condition() {
    enter();
    Sym a = conjunction();
    while (accept_word("or")) a = sym_or(a, conjunction());
    --depth_;
    return a;
  }

  Sym conjunction() {
    Sym a = negation();
    while (accept_word("and")) a = sym_and(a, negation());
    return a;
  }

  Sym negation() {
    bool negated = false;
    while (accept_word("not")) negated = !negated;
    Sym a = comparison();
    return negated ? sym_not(a) : a;
  }

  Sym comparison() {
    Sym a = sum();
    for (;;) {
      if (accept("=="))
        a = equal(a, sum());
      else if (accept("!="))
        a = unequal(a, sum());
      else if (accept("<="))
        a = less_or_equal(a, sum());
      else if (accept(">=")) {
        Sym b = sum();
        a = less_or_equal(b, a);
      } else if (accept("<"))
        a = less(a, sum());
      else if (accept(">")) {
        Sym b = sum();
        a = less(b, a);
      } else if (accept("&"))
        a = sym_and(a, sum());
      else if (accept("|"))
        a = sym_or(a, sum());
      else
        return a;
    }
  }

  Sym sum() {
    Sym a = product_of();
    for (;;) {
      if (accept("+"))
        a = plus(a, product_of());
      else if (accept("-"))
        a = minus(a, product_of());
      else
        return a;
    }
  }

  Sym product_of() {
    Sym a = power();
    for (;;) {
      if (accept("//"))
        a = of_integers(floordiv, a, power());
      else if (text_.substr(at_, 2) != "**" && accept("*"))
        a = times(a, power());
      else if (accept("/"))
        a = float_div(a, power());
      else if (accept("%"))
        a = of_integers(mod, a, power());
      else
        return a;
    }
  }

  Sym of_integers(Binary f, const Sym& a, const Sym& b) const {
    if (is_float(a) || is_float(b))
      fail("a remainder or whole quotient of floats is not supported");
    return f(a, b);
  }

  // Piecewise(ExprCondPair(value, condition), ...): the first whose condition holds.
  Sym piecewise(size_t count) {
    if (count == 0 || count > pairs_.size()) fail("malformed Piecewise");
    Sym result(0), rest(1);
    for (size_t i = pairs_.size() - count; i < pairs_.size(); ++i) {
      const auto& [value, holds] = pairs_[i];
      if (is_float(value)) fail("a choice between floats is not supported");
      result = result + value * rest * holds;
      rest = rest * (Sym(1) - holds);
    }
    pairs_.resize(pairs_.size() - count);
    return result;
  }

  Sym raise(const Sym& base, const Sym& exponent) {
    if (is_float(base) || is_float(exponent)) return float_pow(base, exponent);
    auto n = exponent.constant();
    if (!n || *n < 0 || *n > 16) fail("a power must have a small constant exponent");
    Sym p(1);
    for (int64_t i = 0; i < *n; ++i) p = p * base;
    return p;
  }

  Sym power() {
    enter();
    Sym a = signed_power();
    --depth_;
    return a;
  }

  Sym signed_power() {
    if (accept("-")) return times(Sym(-1), power());
    if (accept("~")) return sym_not(power());
    Sym a = primary();
    if (accept("**")) return raise(a, power());
    return a;
  }

  Sym primary() {
    skip_space();
    if (at_ >= text_.size()) fail("it ends too early");
    char c = text_[at_];
    if (accept("(")) {
      Sym s = condition();
      expect(")");
      return s;
    }
    if (std::isdigit(static_cast<unsigned char>(c))) return number();
    if (std::isalpha(static_cast<unsigned char>(c)) || c == '_' || c == '%') return name_or_call();
    fail("unexpected character");
  }

  // A number with a point or an exponent is a float.
  Sym number() {
    const size_t begin = at_;
    size_t end = text_.find_first_not_of("0123456789", at_);
    if (end != std::string_view::npos && (text_[end] == '.' || text_[end] == 'e')) {
      at_ = text_.find_first_not_of("0123456789.", at_);
      if (at_ < text_.size() && text_[at_] == 'e') {
        ++at_;
        if (at_ < text_.size() && (text_[at_] == '-' || text_[at_] == '+')) ++at_;
        at_ = text_.find_first_not_of("0123456789", at_);
      }
      at_ = std::min(at_, text_.size());
      return float_text(text_.substr(begin, at_ - begin));
    }
    int64_t v = 0;
    while (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_]))) {
      if (__builtin_mul_overflow(v, int64_t{10}, &v) ||
          __builtin_add_overflow(v, int64_t{text_[at_] - '0'}, &v))
        fail("the number does not fit into 64 bits");
      ++at_;
    }
    return Sym(v);
  }

  Sym float_text(std::string_view digits) {
    const std::string text(digits);
    char* end = nullptr;
    const double v = std::strtod(text.c_str(), &end);
    if (text.empty() || *end) fail("malformed float");
    return float_number(v);
  }

  // Float('1.5', precision=53), or float(1.5) as str() prints it.
  Sym float_call() {
    const size_t end = text_.find(')', at_);
    if (end == std::string_view::npos) fail("expected ')'");
    std::string_view digits = text_.substr(at_, std::min(text_.find(',', at_), end) - at_);
    at_ = end + 1;
    if (digits.size() > 1 && digits.front() == '\'') digits = digits.substr(1, digits.size() - 2);
    return float_text(digits);
  }

  std::string identifier() {
    size_t begin = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) ||
                                  text_[at_] == '_' || text_[at_] == '.' || text_[at_] == '%'))
      ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }

  // Symbol('s0', positive=True, integer=True): the name; the flags say nothing that ranges do not.
  Sym quoted_symbol() {
    char quote = accept("'") ? '\'' : accept("\"") ? '"' : '\0';
    if (!quote) fail("expected a quoted name");
    size_t end = text_.find(quote, at_);
    if (end == std::string_view::npos) fail("the name has no end");
    std::string name(text_.substr(at_, end - at_));
    at_ = text_.find(')', end);
    if (at_ == std::string_view::npos) fail("expected ')'");
    ++at_;
    return Sym::symbol(name);
  }

  Sym name_or_call() {
    std::string name = identifier();
    if (!accept("(")) {
      if (name == "True" || name == "true") return Sym(1);
      if (name == "False" || name == "false") return Sym(0);
      return Sym::symbol(name);
    }
    if (name == "Symbol" || name == "Dummy") return quoted_symbol();
    if (name == "Float" || name == "float") return float_call();
    std::vector<Sym> args;
    if (!accept(")")) {
      do {
        skip_space();
        if (text_.substr(at_, 9) == "evaluate=") {
          at_ += 9;
          identifier();
          continue;
        }
        args.push_back(condition());
      } while (accept(","));
      expect(")");
    }
    return call(name, args);
  }

  Sym fold(const std::vector<Sym>& args, Sym (*f)(const Sym&, const Sym&)) {
    if (args.empty()) fail("a function without arguments");
    Sym r = args[0];
    for (size_t i = 1; i < args.size(); ++i) r = f(r, args[i]);
    return r;
  }

  Sym call(const std::string& name, const std::vector<Sym>& a) {
    auto is = [&](std::initializer_list<const char*> names) {
      for (const char* n : names)
        if (name == n) return true;
      return false;
    };
    auto need = [&](size_t n) {
      if (a.size() != n) fail(fmt::format("{} takes {} arguments, found {}", name, n, a.size()));
    };
    if (is({"Add"})) return fold(a, plus);
    if (is({"Mul"})) return fold(a, times);
    if (is({"Min", "min"})) return fold(a, least);
    if (is({"Max", "max"})) return fold(a, greatest);
    if (is({"And", "and"})) return fold(a, sym_and);
    if (is({"Or", "or"})) return fold(a, sym_or);
    if (is({"Integer", "Identity"})) {
      need(1);
      return a[0];
    }
    if (is({"ExprCondPair"})) {
      need(2);
      pairs_.emplace_back(a[0], a[1]);
      return Sym(0);
    }
    if (is({"Piecewise"})) return piecewise(a.size());
    if (is({"Not", "not"})) {
      need(1);
      return sym_not(a[0]);
    }
    if (auto f = float_function(name, a)) return *f;
    need(2);
    if (is({"FloorDiv", "floordiv", "CleanDiv"})) return of_integers(floordiv, a[0], a[1]);
    if (is({"CeilDiv"})) return of_integers(ceildiv, a[0], a[1]);
    if (is({"Mod", "PythonMod", "mod"})) return of_integers(mod, a[0], a[1]);
    if (is({"Pow", "PowByNatural"})) return raise(a[0], a[1]);
    if (is({"Eq", "Equality", "eq"})) return equal(a[0], a[1]);
    if (is({"Ne", "Unequality"})) return unequal(a[0], a[1]);
    if (is({"Lt", "StrictLessThan", "lt"})) return less(a[0], a[1]);
    if (is({"Le", "LessThan", "le"})) return less_or_equal(a[0], a[1]);
    if (is({"Gt", "StrictGreaterThan"})) return less(a[1], a[0]);
    if (is({"Ge", "GreaterThan"})) return less_or_equal(a[1], a[0]);
    fail(fmt::format("the function '{}' is not supported", name));
  }

  // Functions that yield or take floats, by our names and torch's.
  static std::optional<Sym> float_function(const std::string& name, const std::vector<Sym>& a) {
    static const std::map<std::string, Sym (*)(const Sym&)> kUnary = {
        {"to_float", to_float},
        {"ToFloat", to_float},
        {"fsqrt", float_sqrt},
        {"sqrt", float_sqrt},
        {"OpaqueUnaryFn_sqrt", float_sqrt},
        {"trunc", trunc_to_int},
        {"TruncToInt", trunc_to_int},
        {"int", trunc_to_int},
        {"floor", floor_to_int},
        {"FloorToInt", floor_to_int},
        {"ceil", ceil_to_int},
        {"CeilToInt", ceil_to_int},
        {"ceiling", ceil_to_int},
        {"round", round_to_int},
        {"RoundToInt", round_to_int}};
    static const std::map<std::string, Binary> kBinary = {
        {"fadd", float_add},       {"fmul", float_mul},         {"fdiv", float_div},
        {"fpow", float_pow},       {"fmin", float_min},         {"fmax", float_max},
        {"feq", float_eq},         {"flt", float_lt},           {"fle", float_le},
        {"IntTrueDiv", float_div}, {"FloatTrueDiv", float_div}, {"Rational", float_div},
        {"TrueDiv", float_div},    {"FloatPow", float_pow}};
    auto one = kUnary.find(name);
    if (one != kUnary.end() && a.size() == 1) return one->second(a[0]);
    auto two = kBinary.find(name);
    if (two != kBinary.end() && a.size() == 2) return two->second(a[0], a[1]);
    return std::nullopt;
  }

  std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
  std::vector<std::pair<Sym, Sym>> pairs_;  // values and conditions of Piecewise
};

}  // namespace

Sym Sym::parse(std::string_view text) { return Parser(text).parse_all(); }

}  // namespace aotc
