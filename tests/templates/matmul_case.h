// One matrix product to test: its sizes, memory layouts and factors, its memory between guard
// pages, and the naive product it must equal.
#ifndef AOTC_TESTS_TEMPLATES_MATMUL_CASE_H_
#define AOTC_TESTS_TEMPLATES_MATMUL_CASE_H_

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "elements.h"
#include "guarded.h"

// How a matrix lies in memory. kZeroRow and kZeroCol repeat one row or column (not for C).
enum class Layout { kRow, kCol, kRowGap, kColGap, kBothGap, kZeroRow, kZeroCol, kReversed };
constexpr Layout kWritable[] = {Layout::kRow, Layout::kCol, Layout::kRowGap, Layout::kColGap,
                                Layout::kBothGap};
constexpr Layout kReadable[] = {Layout::kRow,     Layout::kCol,     Layout::kRowGap,
                                Layout::kColGap,  Layout::kBothGap, Layout::kZeroRow,
                                Layout::kZeroCol, Layout::kReversed};

struct Shape {
  std::vector<int64_t> batch;  // at most 4
  int64_t m, n, k;
};

struct CaseOptions {
  Shape shape;
  Layout a = Layout::kRow, b = Layout::kRow, c = Layout::kRow, d = Layout::kRow;
  bool a_batch_zero = false, b_batch_zero = false, d_batch_zero = false;
  bool has_d = false, d_is_c = false;
  double alpha = 1, beta = 1;
  int threads = 1;
  bool aligned_ends = true;  // memory ends at the guard page; otherwise it begins on 64 bytes
};

std::string describe(const CaseOptions& options);

// Strides in elements, and the extent of the view they make.
struct View {
  std::vector<int64_t> batch_sizes, batch;
  int64_t rows, cols, row = 0, col = 0;
  int64_t lowest = 0, highest = -1;  // offsets of the first and the last element; none when empty
};

// Lays out `shape.batch` matrices of rows x cols; gaps lie between rows, columns and matrices.
View make_view(const Shape& shape, int64_t rows, int64_t cols, Layout layout, bool batch_zero);

// The offset of element (batch item, row, col) from the view's origin.
int64_t offset_of(const View& view, int64_t item, int64_t row, int64_t col);

template <class T>
struct Tensor {
  View view;
  Guarded memory;
  T* origin;

  Tensor(const View& v, bool aligned_ends)
      : view(v),
        memory(size_t(v.highest - v.lowest + 1) * sizeof(T), aligned_ends ? sizeof(T) : 64),
        origin(reinterpret_cast<T*>(memory.data()) - v.lowest) {}
  T& at(int64_t item, int64_t row, int64_t col) { return origin[offset_of(view, item, row, col)]; }
  // Every element of the storage, those in gaps included.
  T* begin() { return reinterpret_cast<T*>(memory.data()); }
  T* end() { return begin() + memory.size() / sizeof(T); }
};

// Runs fn over [0, n) on `context`'s number of threads (int*), in an order that varies.
void test_parallel_for(void* context, int64_t n, int64_t grain,
                       void (*fn)(void* arg, int64_t begin, int64_t end), void* arg);

template <class T>
class Case {
 public:
  explicit Case(const CaseOptions& options)
      : options_(options),
        a_(make_view(options.shape, options.shape.m, options.shape.k, options.a,
                     options.a_batch_zero),
           options.aligned_ends),
        b_(make_view(options.shape, options.shape.k, options.shape.n, options.b,
                     options.b_batch_zero),
           options.aligned_ends),
        c_(make_view(options.shape, options.shape.m, options.shape.n, options.c, false),
           options.aligned_ends) {
    if (options.has_d && !options.d_is_c) {
      d_ = std::make_unique<Tensor<T>>(make_view(options.shape, options.shape.m, options.shape.n,
                                                 options.d, options.d_batch_zero),
                                       options.aligned_ends);
    }
  }

  // Small integers: every sum of them is exact, whatever its order.
  void fill_exact(unsigned seed) {
    std::mt19937 random(seed);
    fill([&] { return From<T>::wide(Wide<T>(int(random() % 15) - 7)); });
  }
  void fill_normal(unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<double> normal;
    fill([&] { return From<T>::wide(Wide<T>(normal(random))); });
  }
  // All bits at random: integers wrap.
  void fill_bits(unsigned seed) {
    std::mt19937_64 random(seed);
    fill([&] { return T(random()); });
  }

  Tensor<T>& a() { return a_; }
  Tensor<T>& b() { return b_; }
  Tensor<T>& c() { return c_; }
  Tensor<T>* d() { return options_.d_is_c ? &c_ : d_.get(); }
  int64_t items() const {
    int64_t count = 1;
    for (int64_t size : options_.shape.batch) count *= size;
    return count;
  }
  AotcMatmul& request() { return request_; }

  void set_threads(int threads) { options_.threads = threads; }
  // Computes the naive product; call it once, after the operands are filled and before any run.
  void compute_reference(bool exact);
  // Makes a request for one level's entry points, with C as it was before any run.
  void prepare(const MatmulTable& table);
  void run(const MatmulTable& table) { entry(table, T{})(&request_); }
  // An empty string, or what is wrong. `exact`: results must be the rounded reference.
  std::string check(bool exact);

 private:
  template <class Draw>
  void fill(Draw draw) {
    for (T& x : a_) x = draw();
    for (T& x : b_) x = draw();
    for (T& x : c_) x = draw();
    if (d_) {
      for (T& x : *d_) x = draw();
    }
  }
  void add_reference(int64_t item, bool exact);
  std::string check_element(int64_t item, int64_t row, int64_t col, bool exact);
  std::string check_surroundings();

  CaseOptions options_;
  Tensor<T> a_, b_, c_;
  std::unique_ptr<Tensor<T>> d_;
  std::vector<T> old_c_;
  std::vector<Wide<T>> expected_;  // [item][row][col]
  std::vector<double> magnitude_;  // the size of the terms that were added up; empty if exact
  std::unique_ptr<Guarded> scratch_;
  AotcMatmul request_{};
};

extern template class Case<float>;
extern template class Case<double>;
extern template class Case<BFloat16>;
extern template class Case<Half>;
extern template class Case<int64_t>;
extern template class Case<int32_t>;
extern template class Case<int16_t>;
extern template class Case<int8_t>;
extern template class Case<uint8_t>;

#endif  // AOTC_TESTS_TEMPLATES_MATMUL_CASE_H_
