// Member functions of Case: the request, the naive product and the checks.
#include "matmul_case.h"

namespace {

void set_strides(const View& view, int64_t (&batch)[AOTC_MATMUL_BATCH_DIMS], int64_t* row,
                 int64_t* col) {
  const size_t skip = AOTC_MATMUL_BATCH_DIMS - view.batch.size();
  for (size_t i = 0; i < AOTC_MATMUL_BATCH_DIMS; i++)
    batch[i] = i < skip ? 0 : view.batch[i - skip];
  *row = view.row;
  *col = view.col;
}

}  // namespace

template <class T>
void Case<T>::prepare(const MatmulTable& table) {
  const Shape& shape = options_.shape;
  AotcMatmul& q = request_;
  q = {};
  const size_t skip = AOTC_MATMUL_BATCH_DIMS - shape.batch.size();
  for (size_t i = 0; i < AOTC_MATMUL_BATCH_DIMS; i++) {
    q.batch_sizes[i] = i < skip ? 1 : shape.batch[i - skip];
  }
  q.m = shape.m, q.n = shape.n, q.k = shape.k;
  set_strides(a_.view, q.a_batch, &q.a_row, &q.a_col);
  set_strides(b_.view, q.b_batch, &q.b_row, &q.b_col);
  set_strides(c_.view, q.c_batch, &q.c_row, &q.c_col);
  q.a = a_.origin, q.b = b_.origin, q.c = c_.origin;
  if (d()) {
    set_strides(d()->view, q.d_batch, &q.d_row, &q.d_col);
    q.d = d()->origin;
  }
  q.alpha = options_.alpha, q.beta = options_.beta;
  q.threads = options_.threads;
  q.parallel_for = test_parallel_for;
  q.parallel_context = &options_.threads;
  const int64_t bytes = table.scratch(items(), shape.m, shape.n, shape.k, options_.threads);
  scratch_ = std::make_unique<Guarded>(size_t(bytes), 64);
  std::memset(scratch_->data(), 0xff, scratch_->size());  // every float in it is a NaN
  q.scratch = bytes ? scratch_->data() : nullptr;
  if (old_c_.empty()) old_c_.assign(c_.begin(), c_.end());
  std::copy(old_c_.begin(), old_c_.end(), c_.begin());
}

template <class T>
void Case<T>::compute_reference(bool exact) {
  old_c_.assign(c_.begin(), c_.end());
  expected_.clear();
  magnitude_.clear();
  for (int64_t item = 0; item < items(); item++) add_reference(item, exact);
}

// A factor in the type of the reference; integers wrap.
template <class W>
W factor(double value) {
  if constexpr (std::numeric_limits<W>::is_integer) return W(int64_t(value));
  if constexpr (!std::numeric_limits<W>::is_integer) return value;
}

template <class T>
std::vector<Wide<T>> widened(Tensor<T>& tensor, int64_t item) {
  std::vector<Wide<T>> wide;
  for (int64_t i = 0; i < tensor.view.rows; i++) {
    for (int64_t j = 0; j < tensor.view.cols; j++) wide.push_back(to_wide(tensor.at(item, i, j)));
  }
  return wide;
}

template <class T>
void Case<T>::add_reference(int64_t item, bool exact) {
  using W = Wide<T>;
  const size_t m = size_t(options_.shape.m), n = size_t(options_.shape.n),
               k = size_t(options_.shape.k);
  const std::vector<W> a = widened(a_, item), b = widened(b_, item);
  std::vector<W> d;
  if (this->d() && options_.beta != 0) d = widened(*this->d(), item);
  for (size_t i = 0; i < m; i++) {
    std::vector<W> sums(n);
    std::vector<double> sizes(n);
    for (size_t l = 0; l < k; l++) {
      for (size_t j = 0; j < n; j++) sums[j] += a[i * k + l] * b[l * n + j];
      for (size_t j = 0; j < n && !exact; j++)
        sizes[j] += std::fabs(double(a[i * k + l] * b[l * n + j]));
    }
    for (size_t j = 0; j < n; j++) {
      const W add = d.empty() ? W(0) : W(factor<W>(options_.beta) * d[i * n + j]);
      expected_.push_back(factor<W>(options_.alpha) * sums[j] + add);
      if (!exact)
        magnitude_.push_back(std::fabs(options_.alpha) * sizes[j] + std::fabs(double(add)));
    }
  }
}

template <class T>
std::string Case<T>::check_element(int64_t item, int64_t row, int64_t col, bool exact) {
  const size_t index = size_t((item * options_.shape.m + row) * options_.shape.n + col);
  const Wide<T> wide = expected_[index];
  const T want = From<T>::wide(wide), got = c_.at(item, row, col);
  if (same_number(got, want)) return "";
  if (!exact && !std::isnan(double(wide)) && !std::isinf(double(wide))) {
    const double sum_eps = sizeof(T) == 8 ? 0x1p-53 : 0x1p-24;
    const double round_eps = sizeof(T) == 2 ? 0x1p-8 * std::fabs(double(to_wide(want))) : 0;
    const double allowed = double(options_.shape.k + 4) * sum_eps * magnitude_[index] + round_eps;
    if (std::fabs(double(to_wide(got)) - double(wide)) <= allowed) return "";
  }
  return "C[" + std::to_string(item) + "," + std::to_string(row) + "," + std::to_string(col) +
         "] is " + std::to_string(to_wide(got)) + ", expected " + std::to_string(to_wide(want));
}

template <class T>
std::string Case<T>::check_surroundings() {
  std::vector<bool> inside(old_c_.size());
  for (int64_t item = 0; item < items(); item++) {
    for (int64_t row = 0; row < c_.view.rows; row++) {
      for (int64_t col = 0; col < c_.view.cols; col++) {
        inside[size_t(&c_.at(item, row, col) - c_.begin())] = true;
      }
    }
  }
  for (size_t i = 0; i < inside.size(); i++) {
    if (!inside[i] && std::memcmp(&old_c_[i], c_.begin() + i, sizeof(T)) != 0) {
      return "element " + std::to_string(i) + " of C's storage, outside C, was written";
    }
  }
  const bool d_intact = !d_ || d_->memory.intact();
  if (!a_.memory.intact() || !b_.memory.intact() || !c_.memory.intact() || !d_intact) {
    return "memory around an operand was written";
  }
  return scratch_->intact() ? "" : "memory around the scratch was written";
}

template <class T>
std::string Case<T>::check(bool exact) {
  for (int64_t item = 0; item < items(); item++) {
    for (int64_t row = 0; row < c_.view.rows; row++) {
      for (int64_t col = 0; col < c_.view.cols; col++) {
        const std::string wrong = check_element(item, row, col, exact);
        if (!wrong.empty()) return wrong;
      }
    }
  }
  return check_surroundings();
}

template class Case<float>;
template class Case<double>;
template class Case<BFloat16>;
template class Case<Half>;
template class Case<int64_t>;
template class Case<int32_t>;
template class Case<int16_t>;
template class Case<int8_t>;
template class Case<uint8_t>;
