// Symbolic expressions: canonical form, text, and that proofs and simplification are sound for
// random values.
#include <cmath>
#include <random>

#include <catch2/catch.hpp>

#include "ir/error.h"
#include "ir/sym_float.h"

using namespace aotc;

namespace {

const Sym s0 = Sym::symbol("s0"), s1 = Sym::symbol("s1"), i0 = Sym::symbol("i0");

int64_t eval(const Sym& s, int64_t a, int64_t b, int64_t c) {
  return s.eval([&](const std::string& n) { return n == "s0" ? a : n == "s1" ? b : c; });
}

// A random expression over s0, s1 and i0.
Sym random_sym(std::mt19937& rng, int depth) {
  auto pick = [&](int n) { return static_cast<int>(rng() % static_cast<unsigned>(n)); };
  if (depth == 0 || pick(5) == 0) {
    const Sym leaves[] = {s0, s1, i0, Sym(pick(9) - 4), Sym(1), Sym(0)};
    return leaves[pick(6)];
  }
  const Sym a = random_sym(rng, depth - 1), b = random_sym(rng, depth - 1);
  const int64_t divisor = 1 + pick(5);
  switch (pick(10)) {
    case 0:
      return floordiv(a, Sym(divisor));
    case 1:
      return mod(a, Sym(divisor));
    case 2:
      return sym_min(a, b);
    case 3:
      return sym_max(a, b);
    case 4:
      return ceildiv(a, Sym(divisor));
    case 5:
      return a * b;
    case 6:
      return a - b;
    case 7:
      return floordiv(a, s0);
    case 8:
      return mod(a, s1);
    default:
      return a + b;
  }
}

}  // namespace

TEST_CASE("equal polynomials are equal expressions") {
  CHECK((s0 + s1) * (s0 - s1) == s0 * s0 - s1 * s1);
  CHECK(s0 - s0 == Sym(0));
  CHECK((2 * s0 + 4) - 2 * (s0 + 2) == Sym(0));
  CHECK((s0 * s1).str() == (s1 * s0).str());
  CHECK_FALSE(s0 == s1);
  CHECK(sym_min(s0, s1) == sym_min(s1, s0));
}

TEST_CASE("constants fold as Python's integers do") {
  CHECK(floordiv(Sym(-7), Sym(2)).is(-4));
  CHECK(floordiv(Sym(7), Sym(-2)).is(-4));
  CHECK(mod(Sym(-7), Sym(4)).is(1));
  CHECK(mod(Sym(7), Sym(-4)).is(-1));
  CHECK(ceildiv(Sym(7), Sym(2)).is(4));
  CHECK(ceildiv(Sym(-7), Sym(2)).is(-3));
  CHECK(sym_eq(Sym(3), Sym(3)).is(1));
  CHECK(sym_lt(Sym(3), Sym(3)).is(0));
  CHECK(sym_not(Sym(0)).is(1));
}

TEST_CASE("strides of row-major tensors") {
  CHECK(contiguous_strides({s0, Sym(3), s1}) == std::vector<Sym>{3 * s1, s1, Sym(1)});
  CHECK(contiguous_strides({}).empty());
  CHECK(product({}).is(1));
}

TEST_CASE("linear parts") {
  auto l = (3 * i0 * s0 + s1 - 2).linear_in("i0");
  REQUIRE(l);
  CHECK(l->coefficient == 3 * s0);
  CHECK(l->rest == s1 - 2);
  CHECK_FALSE((i0 * i0).linear_in("i0"));
  CHECK_FALSE(floordiv(i0, Sym(2)).linear_in("i0"));
  CHECK(s1.linear_in("i0")->coefficient.is(0));
}

TEST_CASE("text reads back") {
  std::mt19937 rng(7);
  for (int i = 0; i < 2000; ++i) {
    const Sym s = random_sym(rng, 4);
    INFO(s.str());
    CHECK(Sym::parse(s.str()).str() == s.str());
  }
}

TEST_CASE("sympy's spellings are read") {
  const Sym x =
      Sym::parse("Add(Mul(Integer(2), Symbol('s0', positive=True, integer=True)), Integer(-1))");
  CHECK(x == 2 * s0 - 1);
  CHECK(Sym::parse("2*s0 - 1") == x);
  CHECK(Sym::parse("(s0//4)") == floordiv(s0, Sym(4)));
  CHECK(Sym::parse("Mod(s0, 8)") == mod(s0, Sym(8)));
  CHECK(Sym::parse("Max(1, s0)") == sym_max(Sym(1), s0));
  CHECK_THROWS_AS(Sym::parse("__import__('os')"), UserError);
  CHECK_THROWS_AS(Sym::parse("s0 +"), UserError);
  CHECK_THROWS_AS(Sym::parse(""), UserError);
  CHECK_THROWS_AS(Sym::parse(std::string(100000, '(')), UserError);
}

TEST_CASE("building an expression keeps its value") {
  std::mt19937 rng(11);
  for (int i = 0; i < 3000; ++i) {
    const Sym a = random_sym(rng, 3), b = random_sym(rng, 3);
    const int64_t x = 1 + static_cast<int64_t>(rng() % 9), y = 1 + static_cast<int64_t>(rng() % 9),
                  z = static_cast<int64_t>(rng() % 9);
    const int64_t va = eval(a, x, y, z), vb = eval(b, x, y, z);
    INFO(a.str() << " | " << b.str() << " at " << x << " " << y << " " << z);
    CHECK(eval(a + b, x, y, z) == va + vb);
    CHECK(eval(a * b, x, y, z) == va * vb);
    CHECK(eval(sym_max(a, b), x, y, z) == std::max(va, vb));
    CHECK(eval(sym_le(a, b), x, y, z) == (va <= vb));
    CHECK(eval(floordiv(a, Sym(3)), x, y, z) * 3 + eval(mod(a, Sym(3)), x, y, z) == va);
  }
}

TEST_CASE("proofs and simplification hold for every value in the ranges") {
  Assumptions known;
  known.set_range("s0", Sym(1), Sym(12));
  known.set_range("s1", Sym(2), std::nullopt);
  known.set_axis("i0", s0);
  std::mt19937 rng(13);
  int proofs = 0;
  for (int i = 0; i < 4000; ++i) {
    const Sym e = random_sym(rng, 3), simple = known.simplify(e);
    const bool proved = known.proves_nonnegative(e);
    proofs += proved;
    for (int k = 0; k < 12; ++k) {
      const int64_t x = 1 + static_cast<int64_t>(rng() % 12),
                    y = 2 + static_cast<int64_t>(rng() % 20),
                    z = static_cast<int64_t>(rng() % static_cast<unsigned>(x));
      INFO(e.str() << " -> " << simple.str() << " at s0=" << x << " s1=" << y << " i0=" << z);
      CHECK(eval(simple, x, y, z) == eval(e, x, y, z));
      if (proved) CHECK(eval(e, x, y, z) >= 0);
    }
  }
  CHECK(proofs > 400);
}

TEST_CASE("index expressions of reshapes simplify to what a person would write") {
  Assumptions known;
  known.set_range("s0", Sym(1), Sym(64));
  known.set_axis("i0", s0);
  known.set_axis("i1", Sym(8));
  const Sym i1 = Sym::symbol("i1"), flat = 8 * i0 + i1;
  CHECK(known.simplify(floordiv(flat, Sym(8))) == i0);
  CHECK(known.simplify(mod(flat, Sym(8))) == i1);
  CHECK(known.proves_lt(flat, 8 * s0));
  CHECK_FALSE(known.proves_lt(flat + 1, 8 * s0));
}

TEST_CASE("values beyond 64 bits are errors, not other values") {
  const Sym big = Sym(INT64_MAX);
  CHECK_THROWS_AS(eval(s0 * s1, INT64_MAX, 2, 0), UserError);
  CHECK_THROWS_AS(eval(s0 + s1, INT64_MAX, 1, 0), UserError);
  CHECK_THROWS_AS(eval(s0 - big, INT64_MIN, 0, 0), UserError);
}

TEST_CASE("floats are computed as Python computes them") {
  const double factors[] = {0.3, 0.5, 0.7, 1.5, 2.0, 2.5, -1.5, 1e300, 1.0 / 3, 3.0};
  for (double f : factors)
    for (int64_t n : {0, 1, 2, 3, 7, 10, 1000, 123457, -1, -7}) {
      INFO(f << " * " << n);
      auto value = [&](const Sym& s) { return eval(s, n, 1, 1); };
      const double product = static_cast<double>(n) * f, quotient = static_cast<double>(n) / f;
      const Sym times = float_mul(float_number(f), s0), by = float_div(s0, float_number(f));
      CHECK(float_of_bits(value(times)) == product);
      CHECK(float_of_bits(value(by)) == quotient);
      CHECK(float_of_bits(value(float_add(s0, float_sqrt(s0 * s0)))) ==
            static_cast<double>(n) + std::sqrt(static_cast<double>(n * n)));
      CHECK(value(float_lt(times, by)) == (product < quotient));
      CHECK(value(float_eq(times, by)) == (product == quotient));
      if (std::fabs(product) > 1e15 || std::fabs(quotient) > 1e15) continue;
      Assumptions sizes;
      sizes.set_range("s0", Sym(n < 0 ? -100 : 0), std::nullopt);
      for (const Sym& x : {times, by}) {
        const double exact = float_of_bits(value(x));
        CHECK(value(trunc_to_int(x)) == static_cast<int64_t>(std::trunc(exact)));
        CHECK(value(sizes.simplify(trunc_to_int(x))) == static_cast<int64_t>(std::trunc(exact)));
        CHECK(value(floor_to_int(x)) == static_cast<int64_t>(std::floor(exact)));
        CHECK(value(ceil_to_int(x)) == static_cast<int64_t>(std::ceil(exact)));
        CHECK(value(round_to_int(x)) == static_cast<int64_t>(std::nearbyint(exact)));
        CHECK(Sym::parse(trunc_to_int(x).str()) == trunc_to_int(x));
        CHECK(Sym::parse(x.str()) == x);
      }
    }
}

TEST_CASE("a choice takes the first value whose condition holds") {
  const Sym choice = Sym::parse(
      "Piecewise(ExprCondPair(Integer(3), Lt(s0, 2)), ExprCondPair(s1, Lt(s0, 5)), "
      "ExprCondPair(Integer(7), true))");
  CHECK(eval(choice, 1, 9, 0) == 3);
  CHECK(eval(choice, 4, 9, 0) == 9);
  CHECK(eval(choice, 5, 9, 0) == 7);
  CHECK_THROWS_AS(Sym::parse("Piecewise()"), UserError);
}

TEST_CASE("floats of the archive are read, and mix with integers") {
  Assumptions sizes;
  sizes.set_range("s0", Sym(0), std::nullopt);
  const Sym half = Sym::parse(
      "TruncToInt(Mul(Float('1.5', precision=53), ToFloat(Symbol('s0', positive=True, "
      "integer=True))))");
  CHECK(sizes.simplify(half) == floordiv(3 * s0, Sym(2)));
  CHECK(Sym::parse("TruncToInt(Mul(Float('2.0', precision=53), ToFloat(s0)))") == 2 * s0);
  CHECK(Sym::parse("FloorToInt(IntTrueDiv(Symbol('s0'), Integer(3)))") == floordiv(s0, Sym(3)));
  CHECK(Sym::parse("CeilToInt(IntTrueDiv(s0, 3))") == ceildiv(s0, Sym(3)));
  CHECK(is_float(Sym::parse("zuf0")));
  CHECK_FALSE(is_float(Sym::parse("u0")));
  const Sym positive = Sym::parse("StrictGreaterThan(Symbol('zuf0'), Float('0.0', precision=53))");
  auto holds = [&](double v) {
    return positive.eval([&](const std::string&) { return float_bits(v); });
  };
  CHECK(holds(1e-300) == 1);
  CHECK(holds(-0.0) == 0);
  CHECK(holds(NAN) == 0);
  CHECK(float_constant(Sym::parse("2*float(0.25) + 1")) == 1.5);
  CHECK(float_constant(Sym::parse("-float(inf)")) == -HUGE_VAL);
  CHECK(float_constant(Sym::parse("zuf0 * 2.5e-1").substitute({{"zuf0", Sym(float_bits(2))}})) ==
        0.5);
  CHECK_THROWS_AS(Sym::parse("float(1.5.2)"), UserError);
  CHECK_THROWS_AS(Sym::parse("PythonMod(zuf0, Float('0.7', precision=53))"), UserError);
  CHECK_THROWS_AS(Sym::parse("7.5 // s0"), UserError);
  CHECK_THROWS_AS(Sym::parse("float()"), UserError);
  CHECK_THROWS_AS(Sym::parse("trunc(float(nan))"), UserError);
  CHECK_THROWS_AS(Sym::parse("trunc(float(1e300))"), UserError);
}
