// Sorting of every CPU level and element type against std::stable_sort, over sizes, layouts,
// special values and numbers of threads.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "levels.h"

namespace {

struct Shape {
  int64_t rows = 1, n = 1, count = 1, width = 1;
  bool descending = false, along_columns = false;  // entry i of row r is x[i, r]
  int32_t threads = 1;
};

template <class T>
struct Bits {
  using Type = std::conditional_t<
      sizeof(T) == 1, uint8_t,
      std::conditional_t<sizeof(T) == 2, uint16_t,
                         std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>>;
};

template <class T>
uint64_t infinity_bits() {
  typename Bits<T>::Type bits = 0;
  const T infinity = std::numeric_limits<T>::infinity();
  if constexpr (std::is_floating_point_v<T>) std::memcpy(&bits, &infinity, sizeof bits);
  return bits;
}

// Few different values, so that many are equal, or all bits.
template <class T>
std::vector<T> values(size_t n, bool few, std::mt19937_64& random) {
  std::vector<T> x(n);
  const T special[] = {T(0),
                       T(-T(0)),
                       std::numeric_limits<T>::lowest(),
                       std::numeric_limits<T>::max(),
                       std::numeric_limits<T>::infinity(),
                       T(-std::numeric_limits<T>::infinity()),
                       std::numeric_limits<T>::quiet_NaN(),
                       T(1)};
  for (T& v : x) {
    const uint64_t bits = random();
    if (few && bits % 4 != 0)
      v = special[bits / 4 % 8];
    else
      std::memcpy(&v, &bits, sizeof v);
  }
  return x;
}

template <class T>
bool less(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    if (std::isnan(a) || std::isnan(b)) return !std::isnan(a);
  return a < b;
}

template <class T>
bool before(const T* a, const T* b, const Shape& s) {
  for (int64_t i = 0; i < s.width; ++i) {
    const bool both_nan = a[i] != a[i] && b[i] != b[i];
    if (both_nan || !(less(a[i], b[i]) || less(b[i], a[i]))) continue;
    return s.descending ? less(b[i], a[i]) && !(b[i] == a[i]) : less(a[i], b[i]);
  }
  return false;
}

void in_threes(void*, int64_t n, int64_t, void (*f)(void*, int64_t, int64_t), void* arg) {
  for (int64_t i = 0; i < n; i += 3) f(arg, i, std::min(n, i + 3));
}

template <class T>
AotcSort request_of(const Shape& s) {
  AotcSort q = {};
  std::fill_n(q.batch_sizes, AOTC_SORT_BATCH_DIMS, int64_t{1});
  // Two dimensions of rows where they can be split.
  const int64_t outer = s.rows % 3 == 0 ? 3 : 1, inner = s.rows / outer;
  const int64_t entry = s.width, step = s.along_columns ? s.rows * entry : entry;
  const int64_t row = s.along_columns ? entry : s.n * entry;
  q.batch_sizes[0] = outer;
  q.batch_sizes[2] = inner;
  q.n = s.n;
  q.count = s.count;
  q.width = s.width;
  q.x_batch[0] = inner * row;
  q.x_batch[2] = row;
  q.x_step = step;
  q.x_within = 1;
  for (int64_t* batch : {q.values_batch, q.indices_batch}) {
    batch[0] = inner * (s.along_columns ? 1 : s.count);
    batch[2] = s.along_columns ? 1 : s.count;
  }
  q.values_step = q.indices_step = s.along_columns ? s.rows : 1;
  q.kind = std::is_floating_point_v<T> ? AOTC_SORT_FLOAT
           : std::is_signed_v<T>       ? AOTC_SORT_SIGNED
                                       : AOTC_SORT_UNSIGNED;
  q.descending = s.descending;
  q.infinity = infinity_bits<T>();
  q.threads = s.threads;
  if (s.threads > 1) q.parallel_for = in_threes;
  return q;
}

template <class T>
auto entry_point(const SortTable& table) {
  return sizeof(T) == 1   ? table.sort_8
         : sizeof(T) == 2 ? table.sort_16
         : sizeof(T) == 4 ? table.sort_32
                          : table.sort_64;
}

template <class T>
void check(const Shape& s, bool few, unsigned seed) {
  std::mt19937_64 random(seed);
  const std::vector<T> x = values<T>(static_cast<size_t>(s.rows * s.n * s.width), few, random);
  for (const Level& level : usable_levels()) {
    INFO(level.name << ": " << s.rows << " rows of " << s.n << ", count " << s.count << ", width "
                    << s.width << ", " << sizeof(T) << " bytes, kind " << request_of<T>(s).kind
                    << (s.descending ? ", descending" : ""));
    AotcSort q = request_of<T>(s);
    std::vector<T> sorted(static_cast<size_t>(s.rows * s.count));
    std::vector<int64_t> places(sorted.size(), -1);
    q.x = x.data();
    q.values = s.width == 1 ? sorted.data() : nullptr;
    q.indices = places.data();
    const int64_t bytes =
        level.sort->scratch(s.rows, s.n, s.count, s.width, sizeof(T) * 8, s.threads);
    std::vector<uint64_t> scratch(static_cast<size_t>(bytes / 8 + 2), 0x5a5a5a5a5a5a5a5a);
    q.scratch = scratch.data();
    entry_point<T> (*level.sort)(&q);
    REQUIRE(scratch[static_cast<size_t>(bytes / 8 + 1)] == 0x5a5a5a5a5a5a5a5a);
    for (int64_t row = 0; row < s.rows; ++row) {
      const T* start = x.data() + row * (s.along_columns ? s.width : s.n * s.width);
      auto at = [&](int64_t i) { return start + i * q.x_step; };
      std::vector<int64_t> order(static_cast<size_t>(s.n));
      std::iota(order.begin(), order.end(), 0);
      std::stable_sort(order.begin(), order.end(),
                       [&](int64_t a, int64_t b) { return before(at(a), at(b), s); });
      for (int64_t j = 0; j < s.count; ++j) {
        const auto to = static_cast<size_t>(s.along_columns ? j * s.rows + row : row * s.count + j);
        const int64_t expected = order[static_cast<size_t>(j)];
        if (places[to] != expected ||
            (q.values && std::memcmp(&sorted[to], at(expected), sizeof(T))))
          FAIL("place " << j << " of row " << row << " is " << places[to] << ", expected "
                        << expected);
      }
    }
  }
}

template <class T>
void check_shapes() {
  unsigned seed = 1;
  for (int64_t n : {0, 1, 2, 3, 4, 5, 8, 9, 16, 17, 31, 33, 64, 65, 100, 159, 161, 321, 1000, 2000})
    for (const bool descending : {false, true}) {
      Shape s{6, n, n, 1, descending, false, 1};
      check<T>(s, n % 2 == 0, seed++);
      s.along_columns = true;
      s.threads = 7;
      check<T>(s, n % 2 == 1, seed++);
    }
  for (int64_t count : {0, 1, 2, 31, 50, 250})
    check<T>({5, 1000, count, 1, count % 2 == 1, count == 50, 2}, count != 50, seed++);
  check<T>({1, 500, 100, 3, false, false, 1}, true, seed++);
  check<T>({3, 40, 40, 2, true, true, 1}, true, seed++);
}

}  // namespace

TEST_CASE("floats in order, and NaN") {
  check_shapes<float>();
  check_shapes<double>();
}

TEST_CASE("integers in order") {
  check_shapes<int64_t>();
  check_shapes<uint64_t>();
  check_shapes<int32_t>();
  check_shapes<uint32_t>();
  check_shapes<int16_t>();
  check_shapes<uint16_t>();
  check_shapes<int8_t>();
  check_shapes<uint8_t>();
}

TEST_CASE("long rows, many rows, no rows") {
  check<float>({1, 100000, 100000, 1, true, false, 4}, false, 1);
  check<double>({1, 100000, 100000, 1, false, false, 1}, false, 2);
  check<float>({9999, 3, 3, 1, false, false, 4}, true, 3);
  check<int16_t>({0, 5, 5, 1, false, false, 4}, true, 4);
}

TEST_CASE("rows that only get better keep the last") {
  constexpr int64_t kSize = 5000, kCount = 20;
  std::vector<float> x(kSize), kept(kCount);
  std::iota(x.begin(), x.end(), -10.f);
  AotcSort q = request_of<float>({1, kSize, kCount, 1, true, false, 1});
  q.x = x.data();
  q.values = kept.data();
  for (const Level& level : usable_levels()) {
    std::vector<uint64_t> scratch(
        static_cast<size_t>(level.sort->scratch(1, kSize, kCount, 1, 32, 1) / 8));
    q.scratch = scratch.data();
    level.sort->sort_32(&q);
    for (size_t j = 0; j < kept.size(); ++j) CHECK(kept[j] == x[x.size() - 1 - j]);
  }
}
