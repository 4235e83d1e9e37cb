// The proofs about kernels that passes rest on.
#include <random>
#include <set>

#include <catch2/catch.hpp>

#include "codegen/kernel_edit.h"

using namespace aotc;
using namespace aotc::loops;

namespace {

const Sym i = Sym::symbol("i0"), j = Sym::symbol("i1");

bool once(const std::vector<Sym>& at, int64_t n = 4, int64_t m = 3) {
  return visits_once(at, {{"i0", Sym(n)}, {"i1", Sym(m)}});
}

}  // namespace

TEST_CASE("iterations that have an index of their own") {
  CHECK(once({i, j}));
  CHECK(once({j, i}));
  CHECK(once({2 * i + 1, 5 - j}));
  CHECK(once({3 * i + j}));
  CHECK(once({6 * i + 2 * j + 7}));
  CHECK(once({i, j, Sym::symbol("%4")}));
  CHECK(visits_once({}, {}));
  CHECK(once({j}, 1, 3));  // an axis of one iteration needs no telling
}

TEST_CASE("iterations that may share an index") {
  CHECK_FALSE(once({i}));
  CHECK_FALSE(once({i + j}));
  CHECK_FALSE(once({2 * i + j}));
  CHECK_FALSE(once({Sym::symbol("%4"), j}));
  CHECK_FALSE(once({i + Sym::symbol("%4"), j}));
  CHECK_FALSE(once({floordiv(i, Sym(2)), j}));
  CHECK_FALSE(once({i * j, j}));
  CHECK_FALSE(once({Sym::symbol("s0") * i, j}));  // s0 may be 0
}

TEST_CASE("whatever is proved to be visited once is") {
  std::mt19937 rng(3);
  auto number = [&](int n) { return static_cast<int64_t>(rng() % static_cast<unsigned>(n)); };
  int proved = 0;
  for (int round = 0; round < 3000; ++round) {
    const int64_t n = 1 + number(4), m = 1 + number(4);
    std::vector<Sym> at;
    for (int64_t d = number(3); d >= 0; --d)
      at.push_back(number(5) * i + (number(5) - 2) * j + number(3));
    if (!once(at, n, m)) continue;
    ++proved;
    std::set<std::vector<int64_t>> seen;
    for (int64_t a = 0; a < n; ++a)
      for (int64_t b = 0; b < m; ++b) {
        std::vector<int64_t> index;
        for (const Sym& s : at)
          index.push_back(s.eval([&](const std::string& name) { return name == "i0" ? a : b; }));
        CHECK(seen.insert(index).second);
      }
  }
  CHECK(proved > 100);
}
