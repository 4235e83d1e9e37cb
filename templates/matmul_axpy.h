/* Products of few rows with a B whose columns are neighbours in memory (y = x W): scaled rows of B
 * are added up, a few at a time, straight from memory, nothing packed. */
#ifndef AOTC_TEMPLATES_MATMUL_AXPY_H_
#define AOTC_TEMPLATES_MATMUL_AXPY_H_

#include "matmul_problem.h"

namespace aotc::matmul {

/* Rows of B that are added at a time: as many streams of memory. */
constexpr int kAxpyDepth = 8;

/* The sum of kDepth scaled vectors (or numbers), V, from rows of B. */
template <class S, int kDepth, class V, class Load>
AOTC_INLINE V scaled_sum(const V (&scales)[kDepth], Load load) {
  V sum = scales[0] * load(0);
  AOTC_UNROLL
  for (int i = 1; i < kDepth; i++) sum = simd::multiply_add<S>(scales[i], V(load(i)), sum);
  return sum;
}

/* sums[j] = (first ? 0 : sums[j]) + sum over i < kDepth of a[i * a_col] * b[i * b_row + j]. */
template <class T, int kDepth>
void axpy_step(const T* a, Index a_col, const T* b, Index b_row, Index cols, bool first,
               Sum<T>* sums) {
  using S = Sum<T>;
  using V = simd::Vector<S>;
  constexpr int kLanes = simd::kLanes<S>;
  S scales[kDepth];
  V vectors[kDepth];
  AOTC_UNROLL
  for (int i = 0; i < kDepth; i++) {
    scales[i] = load_one(a + i * a_col);
    vectors[i] = simd::splat(scales[i]);
  }
  Index j = 0;
  for (; j + kLanes <= cols; j += kLanes) {
    const V sum = scaled_sum<S>(vectors, [&](int i) { return load_vector(b + i * b_row + j); });
    simd::store(sums + j, first ? sum : simd::load<V>(sums + j) + sum);
  }
  for (; j < cols; j++) {
    const S sum = scaled_sum<S>(scales, [&](int i) { return load_one(b + i * b_row + j); });
    sums[j] = first ? sum : S(sums[j] + sum);
  }
}

/* All rows of A by `cols` columns, rows of B from row `k` on, kDepth at a time: they stay in cache
 * between rows of A. Sums depend on k and p.k alone, not on what lies beside them. */
template <class T, int kDepth>
void axpy_rows(const Problem<T>& p, const T* a, const T* b, Index k, Index cols, Sum<T>* sums,
               Index sums_row) {
  for (; k + kDepth <= p.k; k += kDepth) {
    for (Index row = 0; row < p.m; row++) {
      axpy_step<T, kDepth>(a + row * p.as.row + k * p.as.col, p.as.col, b + k * p.bs.row, p.bs.row,
                           cols, k == 0, sums + row * sums_row);
    }
  }
  if constexpr (kDepth > 1) {
    if (k < p.k) axpy_rows<T, kDepth / 2>(p, a, b, k, cols, sums, sums_row);
  }
}

/* All rows by columns [col, col + cols). */
template <class T>
void axpy_block(const Problem<T>& p, const Matrices<T>& at, Index col, Index cols, Sum<T>* sums,
                Index sums_row) {
  axpy_rows<T, kAxpyDepth>(p, at.a, at.b + col, 0, cols, sums, sums_row);
}

}  // namespace aotc::matmul
#endif /* AOTC_TEMPLATES_MATMUL_AXPY_H_ */
