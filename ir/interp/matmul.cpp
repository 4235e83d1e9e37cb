// Matrix products with plain loops. Sums of floating-point types are held in double and rounded
// once; integers wrap in their type. As templates/matmul.h: d is not read if beta is 0.
#include "ir/interp/kernel.h"

namespace aotc::interp {

using namespace loops;

namespace {

// One operand: the position of its element (row, col) of one batch item.
struct Operand {
  BufferMemory* buffer = nullptr;
  int64_t start = 0, row = 0, col = 0;
  std::vector<int64_t> batch;

  int64_t position(const std::vector<int64_t>& item) const {
    int64_t p = start;
    for (size_t d = 0; d < item.size(); ++d) p += item[d] * batch[d];
    return p;
  }
};

class Product {
 public:
  Product(const Kernel& k, Buffers& buffers, const Symbols& symbols)
      : kernel_(k), m_(*k.matmul), symbols_(symbols) {
    rows_ = eval(m_.m, symbols);
    cols_ = eval(m_.n, symbols);
    depth_ = eval(m_.k, symbols);
    a_ = operand(m_.a, buffers);
    b_ = operand(m_.b, buffers);
    c_ = operand(m_.c, buffers);
    uses_d_ = m_.d.buffer >= 0 && m_.beta != 0;
    if (uses_d_) d_ = operand(m_.d, buffers);
  }

  void run(bool narrow) {
    bool integers = is_integer(m_.dtype) || is_bool(m_.dtype);
    if (is_complex(m_.dtype))
      internal_error("kernel {}: complex matrix products are no template", kernel_.name);
    for_each_index(eval(m_.batch_sizes, symbols_), [&](const std::vector<int64_t>& item) {
      if (integers)
        product<uint64_t>(item);
      else if (narrow && compute_type(m_.dtype) == DType::Float32)
        product<float>(item);
      else
        product<double>(item);
    });
  }

 private:
  Operand operand(const MatmulOperand& o, Buffers& buffers) const {
    Operand r;
    r.buffer = &buffers[o.buffer];
    r.start = r.buffer->tensor.offset + eval(o.offset, symbols_);
    r.row = eval(o.row, symbols_);
    r.col = eval(o.col, symbols_);
    r.batch = eval(o.batch, symbols_);
    AOTC_CHECK(r.batch.size() == m_.batch_sizes.size(),
               "kernel {}: {} batch strides, {} batch sizes", kernel_.name, r.batch.size(),
               m_.batch_sizes.size());
    return r;
  }

  void check(const Operand& o, int64_t position) const {
    const Tensor& t = o.buffer->tensor;
    if (position >= t.offset && position < t.offset + span(t.sizes, t.strides)) return;
    internal_error(
        "kernel {}: matmul operand in buffer '{}': element {} is outside of its {} elements",
        kernel_.name, o.buffer->name, position - t.offset, span(t.sizes, t.strides));
  }

  static void convert(const ScalarValue& v, double& to) { to = as_double(v); }
  static void convert(const ScalarValue& v, float& to) { to = static_cast<float>(as_double(v)); }
  static void convert(const ScalarValue& v, uint64_t& to) {
    to = static_cast<uint64_t>(as_int64(v));
  }
  ScalarValue convert(double v) const { return cast(ScalarValue::of(v), m_.dtype); }
  ScalarValue convert(float v) const { return convert(static_cast<double>(v)); }
  ScalarValue convert(uint64_t v) const {
    return cast(ScalarValue::of(static_cast<int64_t>(v)), m_.dtype);
  }
  // alpha and beta in the type of the product.
  void factor(double v, double& to) const { to = v; }
  void factor(double v, float& to) const { to = static_cast<float>(v); }
  void factor(double v, uint64_t& to) const { convert(cast(ScalarValue::of(v), m_.dtype), to); }

  template <typename T>
  T element(const Operand& o, int64_t base, int64_t i, int64_t j) const {
    int64_t p = base + i * o.row + j * o.col;
    check(o, p);
    require_written(*o.buffer, p, kernel_.name);
    T v;
    convert(read(o.buffer->tensor, p), v);
    return v;
  }

  template <typename T>
  std::vector<T> matrix(const Operand& o, int64_t base, int64_t rows, int64_t cols) const {
    std::vector<T> values;
    values.reserve(static_cast<size_t>(rows * cols));
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < cols; ++j) values.push_back(element<T>(o, base, i, j));
    return values;
  }

  template <typename T>
  void product(const std::vector<int64_t>& item) {
    T alpha, beta;
    factor(m_.alpha, alpha);
    factor(m_.beta, beta);
    std::vector<T> a = matrix<T>(a_, a_.position(item), rows_, depth_);
    std::vector<T> b = matrix<T>(b_, b_.position(item), depth_, cols_);
    int64_t d = uses_d_ ? d_.position(item) : 0, c = c_.position(item);
    std::vector<T> row(static_cast<size_t>(cols_));
    // As the BLAS, which does not read a product times 0.
    const bool blas = m_.dtype == DType::Float32 || m_.dtype == DType::Float64;
    const int64_t depth = blas && m_.alpha == 0 ? 0 : depth_;
    for (int64_t i = 0; i < rows_; ++i) {
      std::fill(row.begin(), row.end(), T{});
      for (int64_t k = 0; k < depth; ++k)
        for (int64_t j = 0; j < cols_; ++j)
          row[static_cast<size_t>(j)] +=
              a[static_cast<size_t>(i * depth_ + k)] * b[static_cast<size_t>(k * cols_ + j)];
      for (int64_t j = 0; j < cols_; ++j) {
        T v = alpha * row[static_cast<size_t>(j)];
        if (uses_d_) v += beta * element<T>(d_, d, i, j);
        store(c + i * c_.row + j * c_.col, convert(v));
      }
    }
  }

  void store(int64_t position, const ScalarValue& v) {
    check(c_, position);
    write(c_.buffer->tensor, position, v);
    if (c_.buffer->written) (*c_.buffer->written)[static_cast<size_t>(position)] = true;
  }

  const Kernel& kernel_;
  const Matmul& m_;
  const Symbols& symbols_;
  int64_t rows_ = 0, cols_ = 0, depth_ = 0;
  Operand a_, b_, c_, d_;
  bool uses_d_ = false;
};

}  // namespace

void run_matmul(const Kernel& k, Buffers& buffers, const Symbols& symbols, bool narrow) {
  Product(k, buffers, symbols).run(narrow);
}

void require_written(const BufferMemory& b, int64_t position, const std::string& where) {
  if (!b.written || (*b.written)[static_cast<size_t>(position)]) return;
  internal_error("kernel {}: reads element {} of buffer '{}', which nothing has written", where,
                 position - b.tensor.offset, b.name);
}

}  // namespace aotc::interp
