// Sorting by comparison, element by element, as loops::Sort says it.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "ir/interp/kernel.h"

namespace aotc::interp {

using namespace loops;

namespace {

// -1: a comes before b in ascending order, 0: they are equal.
int order_of(const ScalarValue& a, const ScalarValue& b) {
  auto sign = [](auto x, auto y) { return x < y ? -1 : y < x ? 1 : 0; };
  if (is_floating(a.dtype)) {
    const double x = as_double(a), y = as_double(b);
    if (std::isnan(x) || std::isnan(y)) return sign(std::isnan(x), std::isnan(y));
    return sign(x, y);
  }
  if (a.dtype == DType::UInt64)
    return sign(static_cast<uint64_t>(as_int64(a)), static_cast<uint64_t>(as_int64(b)));
  return sign(as_int64(a), as_int64(b));
}

class Sorting {
 public:
  Sorting(const Kernel& k, Buffers& buffers, const Symbols& symbols)
      : kernel_(k), s_(*k.sort), buffers_(buffers) {
    sizes_ = eval(s_.sizes, symbols);
    strides_ = eval(s_.strides, symbols);
    count_ = eval(s_.count, symbols);
    start_ = buffers[s_.x].tensor.offset + eval(s_.offset, symbols);
    if (count_ < 0 || count_ > sizes_[dim()])
      internal_error("kernel {}: keeps {} of {} elements", k.name, count_, sizes_[dim()]);
  }

  void run() {
    std::vector<int64_t> rows = sizes_;
    rows[dim()] = 1;
    if (s_.within >= 0) rows[static_cast<size_t>(s_.within)] = 1;
    for_each_index(rows, [&](const std::vector<int64_t>& row) { sort_row(row); });
  }

 private:
  size_t dim() const { return static_cast<size_t>(s_.dim); }

  int64_t position(const std::vector<int64_t>& at) const {
    return std::inner_product(at.begin(), at.end(), strides_.begin(), start_);
  }

  ScalarValue element(const std::vector<int64_t>& at) const {
    const BufferMemory& b = buffers_[s_.x];
    const int64_t p = position(at);
    const Tensor& t = b.tensor;
    if (p < t.offset || p >= t.offset + span(t.sizes, t.strides))
      internal_error("kernel {}: element {} of buffer '{}' is outside", kernel_.name, p - t.offset,
                     b.name);
    require_written(b, p, kernel_.name);
    return read(t, p);
  }

  // The elements that tell the order of the entry at `at`.
  std::vector<ScalarValue> entry(std::vector<int64_t> at) const {
    if (s_.within < 0) return {element(at)};
    std::vector<ScalarValue> all;
    int64_t& i = at[static_cast<size_t>(s_.within)];
    for (i = 0; i < sizes_[static_cast<size_t>(s_.within)]; ++i) all.push_back(element(at));
    return all;
  }

  bool before(const std::vector<ScalarValue>& a, const std::vector<ScalarValue>& b) const {
    for (size_t i = 0; i < a.size(); ++i)
      if (const int order = order_of(a[i], b[i]); order != 0) return s_.descending == (order > 0);
    return false;
  }

  void sort_row(std::vector<int64_t> at) {
    std::vector<std::vector<ScalarValue>> entries;
    for (int64_t i = 0; i < sizes_[dim()]; ++i) {
      at[dim()] = i;
      entries.push_back(entry(at));
    }
    std::vector<size_t> places(entries.size());
    std::iota(places.begin(), places.end(), size_t{0});
    std::stable_sort(places.begin(), places.end(),
                     [&](size_t a, size_t b) { return before(entries[a], entries[b]); });
    for (int64_t j = 0; j < count_; ++j) {
      at[dim()] = j;
      const size_t place = places[static_cast<size_t>(j)];
      if (s_.values >= 0) store(s_.values, at, entries[place][0]);
      if (s_.indices >= 0) store(s_.indices, at, ScalarValue::of(static_cast<int64_t>(place)));
    }
  }

  void store(BufferId id, const std::vector<int64_t>& at, const ScalarValue& v) {
    std::vector<int64_t> index;
    for (int d : s_.result_dims()) index.push_back(at[static_cast<size_t>(d)]);
    BufferMemory& b = buffers_[id];
    for (size_t d = 0; d < index.size(); ++d)
      if (index[d] >= b.tensor.sizes[d])
        internal_error("kernel {}: buffer '{}' has too few elements", kernel_.name, b.name);
    const int64_t p = b.tensor.position(index);
    write(b.tensor, p, v);
    if (b.written) (*b.written)[static_cast<size_t>(p)] = true;
  }

  const Kernel& kernel_;
  const Sort& s_;
  Buffers& buffers_;
  std::vector<int64_t> sizes_, strides_;
  int64_t count_ = 0, start_ = 0;
};

}  // namespace

void run_sort(const Kernel& k, Buffers& buffers, const Symbols& symbols) {
  Sorting(k, buffers, symbols).run();
}

}  // namespace aotc::interp
