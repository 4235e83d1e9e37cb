/* The request of matmul.h in typed form, with strides that do not matter made contiguous and, where
 * that makes C's rows contiguous, as its transpose: C' = B' A'. */
#ifndef AOTC_TEMPLATES_MATMUL_PROBLEM_H_
#define AOTC_TEMPLATES_MATMUL_PROBLEM_H_

#include "element.h"
#include "matmul.h"
#include "matmul_plan.h"

namespace aotc::matmul {

struct Strides {
  Index row, col;
};

template <class T>
struct Problem {
  const AotcMatmul* request;
  bool transposed = false;
  Index batch, m, n, k;
  const T *a, *b, *d; /* d is NULL where beta * D adds nothing */
  T* c;
  Strides as, bs, cs, ds;
  Sum<T> alpha, beta;

  /* Where matrix `item` (flattened, row-major) begins. */
  Index offset(Index item, const int64_t (&strides)[AOTC_MATMUL_BATCH_DIMS]) const {
    Index result = 0;
    for (int i = AOTC_MATMUL_BATCH_DIMS - 1; i >= 0; i--) {
      result += item % request->batch_sizes[i] * strides[i];
      item /= request->batch_sizes[i];
    }
    return result;
  }
  const int64_t (&a_batch() const)[AOTC_MATMUL_BATCH_DIMS] {
    return transposed ? request->b_batch : request->a_batch;
  }
  const int64_t (&b_batch() const)[AOTC_MATMUL_BATCH_DIMS] {
    return transposed ? request->a_batch : request->b_batch;
  }
};

/* One matrix of the batch. */
template <class T>
struct Matrices {
  const T *a, *b, *d;
  T* c;
};

template <class T>
Matrices<T> matrices(const Problem<T>& p, Index item) {
  Matrices<T> at{p.a, p.b, p.d, p.c};
  if (p.batch == 1) return at;
  at.a += p.offset(item, p.a_batch());
  at.b += p.offset(item, p.b_batch());
  at.c += p.offset(item, p.request->c_batch);
  if (p.d) at.d += p.offset(item, p.request->d_batch);
  return at;
}

/* Truncates to the type as a C cast does, wrapping; a double that no int64 holds counts as its
 * limit. */
template <class S>
S to_sum(double value) {
  if constexpr (S(0.5) != S(0)) return S(value);
  if (value != value) return 0;
  if (value >= 0x1p63) return S(INT64_MAX);
  return value <= -0x1p63 ? S(INT64_MIN) : S(static_cast<int64_t>(value));
}

template <class T>
void swap(T& a, T& b) {
  const T old = a;
  a = b;
  b = old;
}

/* Strides of dimensions of size 1 are free to choose. */
template <class T>
void make_contiguous(Problem<T>& p) {
  if (p.n == 1) p.bs.col = p.cs.col = p.ds.col = 1;
  if (p.m == 1) p.as.row = p.cs.row = p.ds.row = p.k;
  if (p.k == 1) p.as.col = p.bs.row = 1;
}

/* C' = B' A': columns of C become rows. */
template <class T>
void transpose(Problem<T>& p) {
  p.transposed = !p.transposed;
  swap(p.m, p.n);
  swap(p.a, p.b);
  const Strides a = p.as;
  p.as = {p.bs.col, p.bs.row};
  p.bs = {a.col, a.row};
  p.cs = {p.cs.col, p.cs.row};
  p.ds = {p.ds.col, p.ds.row};
}

/* Whether C' = B' A' is the better product: C's columns are contiguous, or C is one column, or so
 * thin that dot products with few "rows" suit it. */
template <class T>
bool better_transposed(const Problem<T>& p) {
  if (p.n == 1) return true;
  if (p.cs.col != 1 && p.cs.row == 1 && p.m > 1) return true;
  return p.n <= kThinCols && p.m > kDotRows && p.as.col == 1 && p.bs.row == 1;
}

template <class T>
Problem<T> make_problem(const AotcMatmul& q) {
  Problem<T> p;
  p.request = &q;
  p.batch = 1;
  for (Index size : q.batch_sizes) p.batch *= size;
  p.m = q.m, p.n = q.n, p.k = q.k;
  p.a = static_cast<const T*>(q.a), p.b = static_cast<const T*>(q.b);
  p.c = static_cast<T*>(q.c), p.d = static_cast<const T*>(q.d);
  p.as = {q.a_row, q.a_col}, p.bs = {q.b_row, q.b_col};
  p.cs = {q.c_row, q.c_col}, p.ds = {q.d_row, q.d_col};
  p.alpha = to_sum<Sum<T>>(q.alpha), p.beta = to_sum<Sum<T>>(q.beta);
  if (p.beta == 0) p.d = nullptr;
  if (better_transposed(p)) transpose(p);
  make_contiguous(p);
  return p;
}

template <class T>
void call_epilogue(const Problem<T>& p, Index item, Index row, Index row_end, Index col,
                   Index col_end) {
  const AotcMatmul& q = *p.request;
  if (!q.epilogue) return;
  if (p.transposed) {
    q.epilogue(q.epilogue_arg, item, col, col_end, row, row_end);
  } else {
    q.epilogue(q.epilogue_arg, item, row, row_end, col, col_end);
  }
}

/* Whether D, where it is read, may share memory with C: bounding ranges over all matrices overlap.
 */
template <class T>
bool d_may_alias_c(const Problem<T>& p) {
  if (!p.d) return false;
  const AotcMatmul& q = *p.request;
  const char *c_low = reinterpret_cast<const char*>(p.c), *c_high = c_low;
  const char *d_low = reinterpret_cast<const char*>(p.d), *d_high = d_low;
  const auto extend = [](Index size, Index stride, const char*& low, const char*& high) {
    (stride < 0 ? low : high) += (size - 1) * stride * Index(sizeof(T));
  };
  for (int i = 0; i < AOTC_MATMUL_BATCH_DIMS; i++) {
    extend(q.batch_sizes[i], q.c_batch[i], c_low, c_high);
    extend(q.batch_sizes[i], q.d_batch[i], d_low, d_high);
  }
  extend(p.m, p.cs.row, c_low, c_high);
  extend(p.n, p.cs.col, c_low, c_high);
  extend(p.m, p.ds.row, d_low, d_high);
  extend(p.n, p.ds.col, d_low, d_high);
  return c_low < d_high + sizeof(T) && d_low < c_high + sizeof(T);
}

/* result = alpha * sum + beta * d, for a number or a vector. S is the sum's type. */
template <class S, class V>
AOTC_INLINE V finish_value(V sum, V d, V alpha, V beta) {
  return simd::multiply_add<S>(beta, d, V(alpha * sum));
}

/* Stores the final values of part of a row. c and d point at its first element. */
template <class T, bool kContiguous>
AOTC_INLINE void finish_row_as(const Problem<T>& p, const Sum<T>* sums, Index count, T* c,
                               const T* d) {
  using S = Sum<T>;
  Index j = 0;
  if constexpr (kContiguous) {
    const auto alpha = simd::splat(p.alpha), beta = simd::splat(p.beta);
    for (; j + simd::kLanes<S> <= count; j += simd::kLanes<S>) {
      const auto sum = simd::load<simd::Vector<S>>(sums + j);
      if (!d) {
        store_vector(c + j, alpha * sum);
        continue;
      }
      const auto add = p.ds.col ? load_vector(d + j) : simd::splat(load_one(d));
      store_vector(c + j, finish_value<S>(sum, add, alpha, beta));
    }
  }
  for (; j < count; j++) {
    const S sum = sums[j];
    store_one(
        c + j * p.cs.col,
        d ? finish_value<S>(sum, load_one(d + j * p.ds.col), p.alpha, p.beta) : S(p.alpha * sum));
  }
}

/* Stores the final values of a block whose sums lie in rows of `sums_row`; at (row, col) of C. */
template <class T>
void finish_block(const Problem<T>& p, const Matrices<T>& at, const Sum<T>* sums, Index sums_row,
                  Index row, Index rows, Index col, Index cols) {
  const bool contiguous = p.cs.col == 1 && (!at.d || p.ds.col == 1 || p.ds.col == 0);
  for (Index i = 0; i < rows; i++) {
    T* c = at.c + (row + i) * p.cs.row + col * p.cs.col;
    const T* d = at.d ? at.d + (row + i) * p.ds.row + col * p.ds.col : nullptr;
    if (contiguous) {
      finish_row_as<T, true>(p, sums + i * sums_row, cols, c, d);
    } else {
      finish_row_as<T, false>(p, sums + i * sums_row, cols, c, d);
    }
  }
}

}  // namespace aotc::matmul
#endif /* AOTC_TEMPLATES_MATMUL_PROBLEM_H_ */
