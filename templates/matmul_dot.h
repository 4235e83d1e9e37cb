/* Products of few rows with a B that is contiguous along K (y = x W^T): dot products straight from
 * memory, several rows and columns at once, nothing packed. */
#ifndef AOTC_TEMPLATES_MATMUL_DOT_H_
#define AOTC_TEMPLATES_MATMUL_DOT_H_

#include "matmul_problem.h"

namespace aotc::matmul {

template <int kConstant>
struct Constant {
  static constexpr int kValue = kConstant;
};

constexpr Index kDotRows = 16; /* more rows pay for packing B */

/* Dot products in flight, a multiple of the lanes of any type. */
constexpr int kDots = simd::kVectorRegisters == 32 ? 16 : 8;
constexpr Index kDotSums = 1024; /* sums of a block of columns, kept on the stack */

/* The running sums of kRows x kCols dot products, one vector each, padded to whole squares of
 * vectors. */
template <class S, int kRows, int kCols>
struct Dots {
  static constexpr int kLanes = simd::kLanes<S>;
  static constexpr int kSquares = (kRows * kCols + kLanes - 1) / kLanes;
  simd::Vector<S> sums[kSquares][kLanes];
};

/* A vector from each row and column; `count` < lanes elements of it where kPartial. */
template <bool kPartial, class T>
AOTC_INLINE simd::Vector<Sum<T>> load_step(const T* from, Index count) {
  if constexpr (kPartial) return load_vector(from, count);
  if constexpr (!kPartial) return load_vector(from);
}

template <bool kPartial, class T, int kRows, int kCols>
AOTC_INLINE void dot_step(const T* a, Index a_row, const T* b, Index b_col, Index count,
                          Dots<Sum<T>, kRows, kCols>& dots) {
  using S = Sum<T>;
  constexpr int kLanes = simd::kLanes<S>;
  simd::Vector<S> columns[kCols];
  AOTC_UNROLL
  for (int c = 0; c < kCols; c++) columns[c] = load_step<kPartial>(b + c * b_col, count);
  AOTC_UNROLL
  for (int r = 0; r < kRows; r++) {
    const auto row = load_step<kPartial>(a + r * a_row, count);
    AOTC_UNROLL
    for (int c = 0; c < kCols; c++) {
      auto& sum = dots.sums[(r * kCols + c) / kLanes][(r * kCols + c) % kLanes];
      sum = simd::multiply_add<S>(row, columns[c], sum);
    }
  }
}

/* sums[r * sums_row + c] = sum over k of a[r][k] * b[c][k]. Lane l sums k = l, l + lanes, ..., then
 * the lanes are added: the order depends on k alone. */
template <class T, int kRows, int kCols>
void dot_tile(const T* a, Index a_row, const T* b, Index b_col, Index k, Sum<T>* sums,
              Index sums_row) {
  using S = Sum<T>;
  constexpr int kLanes = simd::kLanes<S>;
  Dots<S, kRows, kCols> dots = {};
  Index i = 0;
  for (; i + kLanes <= k; i += kLanes) {
    dot_step<false, T, kRows, kCols>(a + i, a_row, b + i, b_col, kLanes, dots);
  }
  if (i < k) dot_step<true, T, kRows, kCols>(a + i, a_row, b + i, b_col, k - i, dots);
  S flat[dots.kSquares * kLanes];
  AOTC_UNROLL
  for (int g = 0; g < dots.kSquares; g++) {
    simd::store(flat + g * kLanes, simd::sum_lanes<S>(dots.sums[g]));
  }
  AOTC_UNROLL
  for (int r = 0; r < kRows; r++) {
    AOTC_UNROLL
    for (int c = 0; c < kCols; c++) sums[r * sums_row + c] = flat[r * kCols + c];
  }
}

/* kRows rows by `cols` columns, in tiles as wide as registers allow. */
template <class T, int kRows, int kCols = kDots / kRows>
void dot_row(const T* a, Index a_row, const T* b, Index b_col, Index k, Index cols, Sum<T>* sums,
             Index sums_row) {
  for (; cols >= kCols; cols -= kCols, b += kCols * b_col, sums += kCols) {
    dot_tile<T, kRows, kCols>(a, a_row, b, b_col, k, sums, sums_row);
  }
  if constexpr (kCols > 1) {
    if (cols) dot_row<T, kRows, kCols / 2>(a, a_row, b, b_col, k, cols, sums, sums_row);
  }
}

/* All rows by `cols` columns: a few columns stay in the first-level cache while all rows meet them.
 */
template <class T>
void dot_block(const Problem<T>& p, const T* a, const T* b, Index cols, Sum<T>* sums,
               Index sums_row) {
  for (Index col = 0; col < cols; col += kDots) {
    const T* columns = b + col * p.bs.col;
    const Index count = min(kDots, cols - col);
    Index row = 0;
    const auto run = [&](auto rows) {
      constexpr int kRows = decltype(rows)::kValue;
      for (; row + kRows <= p.m; row += kRows) {
        dot_row<T, kRows>(a + row * p.as.row, p.as.row, columns, p.bs.col, p.k, count,
                          sums + row * sums_row + col, sums_row);
      }
    };
    run(Constant<4>{});
    run(Constant<2>{});
    run(Constant<1>{});
  }
}

/* All rows of columns [col, col_end) of one matrix of the batch. */
template <class T>
void dot_item(const Problem<T>& p, Index item, Index col, Index col_end) {
  using S = Sum<T>;
  const Matrices<T> at = matrices(p, item);
  S sums[kDotSums];
  const Index width = kDotSums / p.m / kPanel<S> * kPanel<S>;
  for (; col < col_end; col += width) {
    const Index cols = min(width, col_end - col);
    dot_block(p, at.a, at.b + col * p.bs.col, cols, sums, width);
    finish_block(p, at, sums, width, 0, p.m, col, cols);
    call_epilogue(p, item, 0, p.m, col, col + cols);
  }
}

}  // namespace aotc::matmul
#endif /* AOTC_TEMPLATES_MATMUL_DOT_H_ */
