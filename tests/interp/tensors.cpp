// Layouts, element access, index expressions.
#include "helpers.h"
#include "ir/interp/sym_program.h"
#include "ir/interp/views.h"

using namespace helpers;

TEST_CASE("elements of strided tensors") {
  Tensor t = floats({2, 3}, {0, 1, 2, 3, 4, 5});
  CHECK(values(view(t, {3, 2}, {1, 3})) == Numbers{0, 3, 1, 4, 2, 5});
  CHECK(values(view(t, {2, 2}, {0, 2}, 1)) == Numbers{1, 3, 1, 3});
  CHECK(values(floats({}, {7})) == Numbers{7});
  CHECK(values(empty(DType::Int8, {0, 3})).empty());
  CHECK(fits(view(t, {0}, {100})));
  CHECK_FALSE(fits(view(t, {7}, {1})));
  CHECK_FALSE(fits(view(t, {2}, {-1})));
}

TEST_CASE("assign reads everything first and casts") {
  Tensor t = floats({4}, {1, 2, 3, 4});
  assign(view(t, {3}, {1}, 1), view(t, {3}, {1}, 0));
  CHECK(values(t) == Numbers{1, 1, 2, 3});
  Tensor i = tensor(DType::Int32, {2}, {0, 0});
  assign(i, floats({2}, {2.9, -2.9}));
  CHECK(values(i) == Numbers{2, -2});
}

TEST_CASE("overlap of memory ranges") {
  Tensor t = floats({8}, {0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(may_overlap(view(t, {4}, {1}), view(t, {4}, {1}, 3)));
  CHECK_FALSE(may_overlap(view(t, {4}, {1}), view(t, {4}, {1}, 4)));
  CHECK_FALSE(may_overlap(view(t, {0}, {1}), t));
  CHECK_FALSE(may_overlap(t, floats({1}, {0})));
  CHECK(overlaps_itself(view(t, {2, 4}, {0, 1})));
  CHECK_FALSE(overlaps_itself(view(t, {1, 4}, {0, 1})));
}

TEST_CASE("compiled index expressions agree with Sym::eval") {
  const char* texts[] = {"0",
                         "-7",
                         "a",
                         "3*a - 2*b + 5",
                         "a*b*b - a",
                         "floordiv(a, 3) + floordiv(b, -2)",
                         "a % 5 + (b % 4)*2",
                         "min(a, b)*max(a, 4)",
                         "and(lt(a, b), or(le(b, 3), not(eq(a, 2))))",
                         "floordiv(a*b + min(a, 2*b), max(1, floordiv(b, 2)))*a"};
  for (const char* text : texts) {
    Sym s = Sym::parse(text);
    SymProgram program(s, [](const std::string& name) { return name == "a" ? 0 : 1; });
    for (int64_t a = -4; a < 5; ++a)
      for (int64_t b = -4; b < 5; ++b) {
        int64_t slots[] = {a, b};
        auto expected = s.eval([&](const std::string& name) { return name == "a" ? a : b; });
        INFO(text << " at " << a << ", " << b);
        CHECK(program.run(slots) == expected);
      }
  }
  int64_t slots[] = {INT64_MAX, 0};
  auto slot = [](const std::string& name) { return name == "a" ? 0 : 1; };
  CHECK_THROWS_AS(SymProgram(Sym::parse("2*a"), slot).run(slots), UserError);
  CHECK_THROWS_AS(SymProgram(Sym::parse("floordiv(a, b)"), slot).run(slots), UserError);
}
