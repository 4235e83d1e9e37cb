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

/* Dot products in flight, a multiple of the lanes of any type. */
constexpr int kDots = simd::kVectorRegisters == 32 ? 16 : 8;

/* The running sums of kRows x kCols dot products, one vector each, padded to whole squares of
 * vectors. */
template <class S, int kRows, int kCols>
struct Dots {
  static constexpr int kLanes = simd::kLanes<S>;
  static constexpr int kSquares = (kRows * kCols + kLanes - 1) / kLanes;
  simd::Vector<S> sums[kSquares][kLanes];
};

/* How a step loads a vector from each row and column: all lanes, or all but the first few, which an
 * earlier step had. */
template <class T>
struct AllLanes {
  AOTC_INLINE simd::Vector<Sum<T>> operator()(const T* from) const { return load_vector(from); }
};
template <class T>
struct LastLanes {
  using Bit = typename Element<Sum<T>>::Bits;
  using Bits = simd::Vector<Bit>;
  static constexpr int kLanes = simd::kLanes<Sum<T>>;
  Bits keep;

  AOTC_INLINE explicit LastLanes(Index count) {
    Bit masks[2 * kLanes];
    for (int i = 0; i < 2 * kLanes; i++) masks[i] = i < kLanes ? Bit(0) : Bit(-1);
    keep = simd::load<Bits>(masks + count);
  }
  AOTC_INLINE simd::Vector<Sum<T>> operator()(const T* from) const {
    using V = simd::Vector<Sum<T>>;
    return simd::bit_cast<V>(simd::bit_cast<Bits>(load_vector(from)) & keep);
  }
};

template <class T, int kRows, int kCols, class Load>
AOTC_INLINE void dot_step(const T* a, Index a_row, const T* b, Index b_col, Load load,
                          Dots<Sum<T>, kRows, kCols>& dots) {
  using S = Sum<T>;
  constexpr int kLanes = simd::kLanes<S>;
  simd::Vector<S> columns[kCols];
  AOTC_UNROLL
  for (int c = 0; c < kCols; c++) columns[c] = load(b + c * b_col);
  AOTC_UNROLL
  for (int r = 0; r < kRows; r++) {
    const auto row = simd::in_register(load(a + r * a_row));
    AOTC_UNROLL
    for (int c = 0; c < kCols; c++) {
      auto& sum = dots.sums[(r * kCols + c) / kLanes][(r * kCols + c) % kLanes];
      sum = simd::multiply_add<S>(row, columns[c], sum);
    }
  }
}

/* sums[r * sums_row + c] = sum over k of a[r][k] * b[c][k]. Lane l sums k = l, l + lanes, ..., then
 * the lanes are added: the order depends on k alone. k fills a vector at least. */
template <class T, int kRows, int kCols>
AOTC_INLINE void dot_tile(const T* a, Index a_row, const T* b, Index b_col, Index k, Sum<T>* sums,
                          Index sums_row) {
  using S = Sum<T>;
  constexpr int kLanes = simd::kLanes<S>;
  Dots<S, kRows, kCols> dots = {};
  Index i = 0;
  for (; i + kLanes <= k; i += kLanes) {
    dot_step(a + i, a_row, b + i, b_col, AllLanes<T>{}, dots);
  }
  if (i < k) {
    const Index last = k - kLanes;
    dot_step(a + last, a_row, b + last, b_col, LastLanes<T>(k - i), dots);
  }
  S flat[dots.kSquares * kLanes];
  AOTC_UNROLL
  for (int g = 0; g < dots.kSquares; g++) {
    simd::store(flat + g * kLanes, simd::sum_lanes<S>(dots.sums[g]));
  }
  AOTC_UNROLL
  for (int r = 0; r < kRows; r++) {
    __builtin_memcpy(sums + r * sums_row, flat + r * kCols, kCols * sizeof(S));
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

/* All rows by columns [col, col + cols): a few columns stay in the first-level cache while all rows
 * meet them. */
template <class T>
void dot_block(const Problem<T>& p, const Matrices<T>& at, Index col, Index cols, Sum<T>* sums,
               Index sums_row) {
  for (Index j = 0; j < cols; j += kDots) {
    const T* columns = at.b + (col + j) * p.bs.col;
    const Index count = min(kDots, cols - j);
    Index row = 0;
    const auto run = [&](auto rows) {
      constexpr int kRows = decltype(rows)::kValue;
      for (; row + kRows <= p.m; row += kRows) {
        dot_row<T, kRows>(at.a + row * p.as.row, p.as.row, columns, p.bs.col, p.k, count,
                          sums + row * sums_row + j, sums_row);
      }
    };
    run(Constant<4>{});
    run(Constant<2>{});
    run(Constant<1>{});
  }
}

}  // namespace aotc::matmul
#endif /* AOTC_TEMPLATES_MATMUL_DOT_H_ */
