// Matrix products of every CPU level and element type against a naive product, over sizes, layouts,
// factors, special values and numbers of threads.
#include "matmul_case.h"

#include <catch2/catch.hpp>

#include <mutex>

#include "levels.h"

namespace {

template <class T>
constexpr bool kInteger = std::numeric_limits<Wide<T>>::is_integer;

#define ALL_TYPES float, double, BFloat16, Half, int64_t, int32_t, int16_t, int8_t, uint8_t

// Runs a filled product on every level and compares it with the naive one.
template <class T>
void check_levels(Case<T>& product, const CaseOptions& options, bool exact) {
  product.compute_reference(exact);
  for (const Level& level : usable_levels()) {
    product.prepare(*level.table);
    product.run(*level.table);
    const std::string wrong = product.check(exact);
    if (wrong.empty()) continue;
    INFO(level.name << ": " << describe(options));
    FAIL(wrong);
  }
}

// Values for which every order of summation gives the same result.
template <class T>
void fill_for_exact(Case<T>& product, unsigned seed) {
  if constexpr (kInteger<T>) product.fill_bits(seed);
  if constexpr (!kInteger<T>) product.fill_exact(seed);
}

template <class T>
void check_exact(const CaseOptions& options, unsigned seed) {
  Case<T> product(options);
  fill_for_exact(product, seed);
  check_levels(product, options, true);
}

int64_t draw_size(std::mt19937& random) {
  constexpr int64_t kSizes[] = {0,  1,  1,  2,  3,  4,  5,  6,  7,  8,  9, 11,
                                13, 15, 16, 17, 20, 31, 32, 33, 47, 64, 67};
  return kSizes[random() % std::size(kSizes)];
}

CaseOptions draw_case(std::mt19937& random) {
  CaseOptions options;
  for (unsigned i = random() % 7; i > 0 && i < 5; i--) {
    options.shape.batch.push_back(int64_t(random() % 8 == 0 ? 0 : 1 + random() % 3));
  }
  options.shape.m = draw_size(random);
  options.shape.n = draw_size(random);
  options.shape.k = draw_size(random);
  const auto often_plain = [&](auto& layouts) {
    return random() % 3 == 0 ? Layout::kRow : layouts[random() % std::size(layouts)];
  };
  options.a = often_plain(kReadable);
  options.b = often_plain(kReadable);
  options.c = often_plain(kWritable);
  options.d = often_plain(kReadable);
  options.a_batch_zero = random() % 4 == 0;
  options.b_batch_zero = random() % 4 == 0;
  options.d_batch_zero = random() % 4 == 0;
  options.has_d = random() % 2;
  options.d_is_c = options.has_d && random() % 4 == 0;
  constexpr double kFactors[] = {1, 1, 2, -1, 0, -3};
  options.alpha = kFactors[random() % std::size(kFactors)];
  options.beta = kFactors[random() % std::size(kFactors)];
  options.threads = random() % 8 ? 1 : int(2 + random() % 3);
  options.aligned_ends = random() % 4 != 0;
  return options;
}

// Counts the calls for each element of C and doubles it: right only if each final value is seen
// once.
struct EpilogueLog {
  EpilogueLog(int64_t rows, int64_t cols, Case<float>& of)
      : m(rows), n(cols), product(of), visits(size_t(of.items() * rows * cols)) {}

  static void call(void* arg, int64_t batch, int64_t row, int64_t row_end, int64_t col,
                   int64_t col_end) {
    auto& log = *static_cast<EpilogueLog*>(arg);
    const std::lock_guard<std::mutex> lock(log.mutex);
    for (int64_t i = row; i < row_end; i++) {
      for (int64_t j = col; j < col_end; j++) {
        log.visits.at(size_t((batch * log.m + i) * log.n + j))++;
        log.product.c().at(batch, i, j) *= 2;
      }
    }
  }

  // The number of elements that were not seen once, holding their value in `plain`, C's storage.
  int64_t wrong(const std::vector<float>& plain) {
    int64_t count = 0;
    for (int64_t i = 0; i < int64_t(visits.size()); i++) {
      float& x = product.c().at(i / (m * n), i / n % m, i % n);
      count += visits[size_t(i)] != 1 || x != 2 * plain[size_t(&x - product.c().begin())];
    }
    return count;
  }

  int64_t m, n;
  Case<float>& product;
  std::mutex mutex;
  std::vector<int> visits;
};

// Shapes that together take every path: dot products, B in place, packed blocks, several slices of
// K.
std::vector<CaseOptions> path_cases() {
  std::vector<CaseOptions> cases;
  const Shape shapes[] = {{{}, 1, 40, 50},    {{}, 3, 130, 1000}, {{}, 8, 70, 97},
                          {{}, 16, 33, 500},  {{}, 17, 50, 700},  {{2}, 130, 40, 31},
                          {{}, 200, 37, 600}, {{}, 70, 1, 1000},  {{}, 40, 11, 333}};
  for (const Shape& shape : shapes) {
    for (Layout b : {Layout::kRow, Layout::kCol, Layout::kBothGap}) {
      CaseOptions options;
      options.shape = shape;
      options.b = b;
      cases.push_back(options);
    }
  }
  return cases;
}

}  // namespace

TEMPLATE_TEST_CASE("random products are exact", "[matmul]", ALL_TYPES) {
  std::mt19937 random(20);
  for (unsigned i = 0; i < 400; i++) check_exact<TestType>(draw_case(random), i);
}

TEMPLATE_TEST_CASE("every path is exact, with and without D", "[matmul]", ALL_TYPES) {
  for (CaseOptions options : path_cases()) {
    options.has_d = true;
    options.d = Layout::kZeroRow;
    options.alpha = 2;
    check_exact<TestType>(options, 2);
    options.d_is_c = true;
    options.threads = 3;
    check_exact<TestType>(options, 3);
  }
}

TEMPLATE_TEST_CASE("large products fill every block", "[matmul]", float, BFloat16, int32_t) {
  const Shape shapes[] = {{{}, 800, 40, 100}, {{}, 20, 1100, 100}, {{}, 410, 200, 490},
                          {{}, 1, 3000, 400}, {{3}, 41, 530, 20},  {{}, 2, 5, 20000},
                          {{}, 23, 17, 5000}};
  for (const Shape& shape : shapes) {
    CaseOptions options;
    options.shape = shape;
    options.threads = 2;
    options.b = shape.m % 2 ? Layout::kCol : Layout::kRow;
    check_exact<TestType>(options, 5);
  }
}

TEMPLATE_TEST_CASE("real numbers stay within the error bound", "[matmul]", float, double, BFloat16,
                   Half) {
  for (CaseOptions options : path_cases()) {
    options.has_d = true;
    options.alpha = 0.3;
    options.beta = -1.7;
    Case<TestType> product(options);
    product.fill_normal(7);
    check_levels(product, options, false);
  }
}

TEST_CASE("integers wrap and factors are converted to the type", "[matmul]") {
  CaseOptions options;
  options.shape = {{}, 5, 6, 7};
  options.has_d = true;
  options.alpha = -5;
  options.beta = 200;
  check_exact<uint8_t>(options, 1);
  check_exact<int8_t>(options, 1);
  check_exact<int64_t>(options, 1);
  options.alpha = 0.5;  // an integer 0
  check_exact<int32_t>(options, 1);
}

TEMPLATE_TEST_CASE("D is not read when beta is 0", "[matmul]", float, double, BFloat16, Half) {
  for (CaseOptions options : path_cases()) {
    options.has_d = true;
    options.beta = 0;
    for (bool d_is_c : {false, true}) {
      options.d_is_c = d_is_c;
      Case<TestType> product(options);
      product.fill_exact(3);
      for (TestType& x : *product.d()) x = From<TestType>::wide(NAN);
      check_levels(product, options, true);
    }
  }
}

TEMPLATE_TEST_CASE("NaN and infinity reach exactly their row and column", "[matmul]", float, double,
                   BFloat16, Half) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const CaseOptions& options : path_cases()) {
    const Shape& shape = options.shape;
    Case<TestType> product(options);
    product.fill_exact(11);
    product.a().at(0, shape.m - 1, shape.k - 1) = From<TestType>::wide(NAN);
    product.a().at(0, 0, 0) = From<TestType>::wide(infinity);
    product.b().at(0, shape.k / 2, shape.n - 1) = From<TestType>::wide(-infinity);
    check_levels(product, options, true);
  }
}

TEST_CASE("every float16 number survives a product with 1", "[matmul]") {
  CaseOptions options;
  options.shape = {{}, 1, 65536, 1};
  Case<Half> product(options);
  product.a().at(0, 0, 0) = From<Half>::wide(1.0);
  for (int64_t i = 0; i < 65536; i++) product.b().at(0, 0, i) = {uint16_t(i)};
  check_levels(product, options, true);
}

TEMPLATE_TEST_CASE("halves round once, to nearest even", "[matmul]", BFloat16, Half) {
  std::mt19937 random(5);
  for (int exponent = -40; exponent < 20; exponent++) {
    CaseOptions options;
    options.shape = {{}, 1, 300, 1};
    options.alpha = std::ldexp(1, exponent);
    Case<TestType> product(options);
    product.a().at(0, 0, 0) = From<TestType>::wide(double(64 + random() % 64));
    for (TestType& x : product.b()) x = From<TestType>::wide(double(random() % 128));
    check_levels(product, options, true);
  }
}

TEMPLATE_TEST_CASE("bits do not depend on the number of threads", "[matmul]", float, BFloat16) {
  for (const CaseOptions& options : path_cases()) {
    Case<TestType> product(options);
    product.fill_normal(9);
    for (const Level& level : usable_levels()) {
      std::vector<TestType> first;
      for (int threads = 1; threads <= 4; threads++) {
        product.set_threads(threads);
        product.prepare(*level.table);
        product.run(*level.table);
        if (first.empty()) first.assign(product.c().begin(), product.c().end());
        INFO(level.name << ": " << describe(options) << ", not " << threads);
        REQUIRE(std::memcmp(first.data(), product.c().begin(), first.size() * sizeof(TestType)) ==
                0);
      }
    }
  }
}

TEST_CASE("a row's bits are the same in any larger batch", "[matmul]") {
  constexpr int64_t kAll = 100, kSome = 29, kDepth = 700;
  for (Layout b : {Layout::kRow, Layout::kCol}) {
    for (const Level& level : usable_levels()) {
      CaseOptions options;
      options.shape = {{}, kAll, 50, kDepth};
      options.b = b;
      Case<float> all(options);
      all.fill_normal(4);
      all.prepare(*level.table);
      all.run(*level.table);
      options.shape.m = kSome;
      Case<float> some(options);
      std::copy_n(all.a().begin(), kSome * kDepth, some.a().begin());
      std::copy(all.b().begin(), all.b().end(), some.b().begin());
      some.prepare(*level.table);
      some.run(*level.table);
      INFO(level.name);
      REQUIRE(std::equal(some.c().begin(), some.c().end(), all.c().begin()));
    }
  }
}

TEST_CASE("the epilogue sees each final element once", "[matmul]") {
  for (CaseOptions options : path_cases()) {
    for (Layout c : {Layout::kRow, Layout::kCol, Layout::kBothGap}) {
      options.c = c;
      options.threads = 3;
      Case<float> product(options);
      product.fill_exact(6);
      for (const Level& level : usable_levels()) {
        INFO(level.name << ": " << describe(options));
        product.prepare(*level.table);
        product.run(*level.table);
        const std::vector<float> plain(product.c().begin(), product.c().end());
        EpilogueLog log(options.shape.m, options.shape.n, product);
        product.prepare(*level.table);
        product.request().epilogue = EpilogueLog::call;
        product.request().epilogue_arg = &log;
        product.run(*level.table);
        REQUIRE(log.wrong(plain) == 0);
      }
    }
  }
}

TEST_CASE("a product over nothing is beta D", "[matmul]") {
  CaseOptions options;
  options.shape = {{2}, 3, 300, 0};
  check_exact<float>(options, 1);
  options.has_d = true;
  options.beta = 2;
  check_exact<float>(options, 1);
  check_exact<Half>(options, 1);
  check_exact<int16_t>(options, 1);
  Case<float> product(options);
  for (float& x : *product.d()) x = -0.0f;
  for (const Level& level : usable_levels()) {
    product.prepare(*level.table);
    product.run(*level.table);
    REQUIRE(std::signbit(product.c().at(1, 2, 299)));
  }
}

TEST_CASE("a product times 0 spreads no NaN, as eager's BLAS", "[matmul]") {
  CaseOptions options;
  options.shape = {{}, 4, 5, 6};
  options.has_d = true;
  options.alpha = 0;
  Case<float> product(options);
  product.fill_exact(2);
  for (float& x : product.a()) x = NAN;
  for (const Level& level : usable_levels()) {
    product.prepare(*level.table);
    product.run(*level.table);
    REQUIRE(std::equal(product.c().begin(), product.c().end(), product.d()->begin()));
  }
}

TEST_CASE("operands may lie at any byte", "[matmul]") {
  for (const CaseOptions& options : path_cases()) {
    Case<float> product(options);
    product.fill_exact(8);
    for (const Level& level : usable_levels()) {
      product.prepare(*level.table);
      product.run(*level.table);
      AotcMatmul odd = product.request();
      std::vector<std::vector<char>> copies;
      const auto move = [&](Tensor<float>& tensor) {
        copies.emplace_back(tensor.memory.size() + 1);
        std::memcpy(copies.back().data() + 1, tensor.memory.data(), tensor.memory.size());
        return copies.back().data() + 1;
      };
      odd.a = move(product.a());
      odd.b = move(product.b());
      odd.c = move(product.c());
      std::memset(odd.c, 0, product.c().memory.size());
      level.table->f32(&odd);
      INFO(level.name << ": " << describe(options));
      REQUIRE(std::memcmp(odd.c, product.c().memory.data(), product.c().memory.size()) == 0);
    }
  }
}
