// What a search keeps does not depend on the order in which it meets its candidates.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "aotc/scalar.h"

namespace aotc {
namespace {

struct Candidate {
  double value;
  int64_t at;
};

template <typename TakesOver>
int64_t best_of(const std::vector<Candidate>& all, TakesOver takes_over) {
  Candidate best = {0, -1};
  for (const Candidate& c : all)
    if (takes_over(c.value, best.value, c.at, best.at)) best = c;
  return best.at;
}

int64_t best_in_order(const std::vector<Candidate>& all, bool maximum) {
  Candidate best = {0, -1};
  for (const Candidate& c : all)
    if (maximum ? takes_over_maximum(c.value, best.value, best.at == -1)
                : takes_over_minimum(c.value, best.value, best.at == -1))
      best = c;
  return best.at;
}

// The winner among values at positions 0, 1, ..., met in every order.
void expect_winner(const std::vector<double>& values, int64_t maximum, int64_t minimum) {
  std::vector<Candidate> all;
  for (double v : values) all.push_back({v, static_cast<int64_t>(all.size())});
  CHECK(best_in_order(all, true) == maximum);
  CHECK(best_in_order(all, false) == minimum);
  const auto lower = [](const Candidate& a, const Candidate& b) { return a.at < b.at; };
  do {
    CHECK(best_of(all, takes_over_maximum_at<double>) == maximum);
    CHECK(best_of(all, takes_over_minimum_at<double>) == minimum);
  } while (std::next_permutation(all.begin(), all.end(), lower));
}

}  // namespace

TEST_CASE("a search keeps the first of the best values, and NaN before any number") {
  const double inf = HUGE_VAL, nan = std::nan("");
  expect_winner({}, -1, -1);
  expect_winner({3}, 0, 0);
  expect_winner({1, 3, 3, 1}, 1, 0);
  expect_winner({0.0, -0.0, 0.0}, 0, 0);
  expect_winner({-inf, -inf}, 0, 0);
  expect_winner({inf, nan, -inf, nan}, 1, 1);
  expect_winner({nan, 1, nan}, 0, 0);
}

}  // namespace aotc
