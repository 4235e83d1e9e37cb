// Reads expressions: the canonical text of Sym::str(), and what torch writes into archives (sympy's
// srepr since 2.7, its str before): Symbol('s0', ...), Integer(3), Add(...), FloorDiv(...),
// (s0//2), Mod(s0, 8).
#include <cctype>

#include "ir/error.h"
#include "ir/sym.h"

namespace aotc {
namespace {

// Bounds recursion; torch nests a few levels.
constexpr int kMaxNesting = 400;

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
        a = sym_eq(a, sum());
      else if (accept("!="))
        a = sym_ne(a, sum());
      else if (accept("<="))
        a = sym_le(a, sum());
      else if (accept(">=")) {
        Sym b = sum();
        a = sym_le(b, a);
      } else if (accept("<"))
        a = sym_lt(a, sum());
      else if (accept(">")) {
        Sym b = sum();
        a = sym_lt(b, a);
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
        a = a + product_of();
      else if (accept("-"))
        a = a - product_of();
      else
        return a;
    }
  }

  Sym product_of() {
    Sym a = power();
    for (;;) {
      if (accept("//"))
        a = floordiv(a, power());
      else if (text_.substr(at_, 2) != "**" && accept("*"))
        a = a * power();
      else if (accept("%"))
        a = mod(a, power());
      else
        return a;
    }
  }

  Sym raise(const Sym& base, const Sym& exponent) {
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
    if (accept("-")) return Sym(0) - power();
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

  Sym number() {
    int64_t v = 0;
    while (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_]))) {
      if (__builtin_mul_overflow(v, int64_t{10}, &v) ||
          __builtin_add_overflow(v, int64_t{text_[at_] - '0'}, &v))
        fail("the number does not fit into 64 bits");
      ++at_;
    }
    if (at_ + 1 < text_.size() && text_[at_] == '.') {  // "2.0": integral floats only
      size_t end = at_ + 1;
      while (end < text_.size() && text_[end] == '0') ++end;
      if (end < text_.size() && std::isdigit(static_cast<unsigned char>(text_[end])))
        fail("a fraction is no size");
      at_ = end;
    }
    return Sym(v);
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
    if (is({"Add"})) return fold(a, [](const Sym& x, const Sym& y) { return x + y; });
    if (is({"Mul"})) return fold(a, [](const Sym& x, const Sym& y) { return x * y; });
    if (is({"Min", "min"})) return fold(a, sym_min);
    if (is({"Max", "max"})) return fold(a, sym_max);
    if (is({"And", "and"})) return fold(a, sym_and);
    if (is({"Or", "or"})) return fold(a, sym_or);
    if (is({"Integer", "Identity", "ToFloat", "TruncToInt", "FloorToInt", "CeilToInt", "RoundToInt",
            "Float", "int"})) {
      need(1);  // exact on integers, and nothing here yields a fraction
      return a[0];
    }
    if (is({"Not", "not"})) {
      need(1);
      return sym_not(a[0]);
    }
    need(2);
    if (is({"FloorDiv", "floordiv", "CleanDiv"})) return floordiv(a[0], a[1]);
    if (is({"CeilDiv"})) return ceildiv(a[0], a[1]);
    if (is({"Mod", "PythonMod", "mod"})) return mod(a[0], a[1]);
    if (is({"Pow", "PowByNatural"})) return raise(a[0], a[1]);
    if (is({"Eq", "Equality", "eq"})) return sym_eq(a[0], a[1]);
    if (is({"Ne", "Unequality"})) return sym_ne(a[0], a[1]);
    if (is({"Lt", "StrictLessThan", "lt"})) return sym_lt(a[0], a[1]);
    if (is({"Le", "LessThan", "le"})) return sym_le(a[0], a[1]);
    if (is({"Gt", "StrictGreaterThan"})) return sym_lt(a[1], a[0]);
    if (is({"Ge", "GreaterThan"})) return sym_le(a[1], a[0]);
    fail(fmt::format("the function '{}' is not supported", name));
  }

  std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

Sym Sym::parse(std::string_view text) { return Parser(text).parse_all(); }

}  // namespace aotc
