/* Packing of A and B into the order in which the micro-kernel reads them, widened to the type of
 * the sums.
 *
 * B, and with it a packed weight, is [ceil(n / panel)][k][panel]: panel p holds columns p * panel
 * ... as `panel` neighbouring values for each k, zeros beyond column n. The layout does not depend
 * on the CPU level. A is [row tile][k][rows of the tile]. */
#ifndef AOTC_TEMPLATES_MATMUL_PACK_H_
#define AOTC_TEMPLATES_MATMUL_PACK_H_

#include "matmul_problem.h"

namespace aotc::matmul {

/* Packs a panel of `cols` columns that are contiguous along k, a square of vectors at a time. */
template <class T, bool kFull>
void pack_panel_along_k(const T* b, Index b_col, Index k, Index cols, Sum<T>* to) {
  using S = Sum<T>;
  constexpr int kLanes = simd::kLanes<S>, kWidth = kPanel<S>;
  Index i = 0;
  for (; i + kLanes <= k; i += kLanes) {
    for (int group = 0; group < kWidth; group += kLanes) {
      simd::Vector<S> square[kLanes];
      AOTC_UNROLL
      for (int j = 0; j < kLanes; j++) {
        const bool inside = kFull || group + j < cols;
        square[j] = inside ? load_vector(b + (group + j) * b_col + i) : simd::Vector<S>{};
      }
      simd::transpose<S>(square);
      AOTC_UNROLL
      for (int j = 0; j < kLanes; j++) simd::store(to + (i + j) * kWidth + group, square[j]);
    }
  }
  for (; i < k; i++) {
    for (int j = 0; j < kWidth; j++) {
      to[i * kWidth + j] = j < cols ? load_one(b + j * b_col + i) : S(0);
    }
  }
}

/* Packs a panel of `cols` columns of any strides. */
template <class T>
void pack_panel(const T* b, Strides bs, Index k, Index cols, Sum<T>* to) {
  constexpr int kWidth = kPanel<Sum<T>>;
  for (Index i = 0; i < k; i++) {
    for (int j = 0; j < kWidth; j++) {
      to[i * kWidth + j] = j < cols ? load_one(b + i * bs.row + j * bs.col) : Sum<T>(0);
    }
  }
}

/* Packs whole panels whose columns are neighbours in memory, a few rows of B at a time. */
template <class T>
void pack_panels_along_n(const T* b, Index b_row, Index k, Index panels, Sum<T>* to,
                         Index panel_stride) {
  using S = Sum<T>;
  constexpr Index kRows = 8;
  constexpr int kWidth = kPanel<S>;
  for (Index first = 0; first < k; first += kRows) {
    for (Index p = 0; p < panels; p++) {
      for (Index i = first; i < min(first + kRows, k); i++) {
        AOTC_UNROLL
        for (int j = 0; j < kPanelVectors; j++) {
          const auto lanes = load_vector(b + i * b_row + p * kWidth + j * simd::kLanes<S>);
          simd::store(to + p * panel_stride + i * kWidth + j * simd::kLanes<S>, lanes);
        }
      }
    }
  }
}

/* Packs k x n of B into panels `panel_stride` sums apart. */
template <class T>
void pack_b(const T* b, Strides bs, Index k, Index n, Sum<T>* to, Index panel_stride) {
  constexpr int kWidth = kPanel<Sum<T>>;
  const Index whole = n / kWidth;
  if (bs.col == 1 && bs.row != 1) {
    pack_panels_along_n(b, bs.row, k, whole, to, panel_stride);
  } else {
    for (Index p = 0; p < whole; p++) {
      const T* panel = b + p * kWidth * bs.col;
      if (bs.row == 1) {
        pack_panel_along_k<T, true>(panel, bs.col, k, kWidth, to + p * panel_stride);
      } else {
        pack_panel(panel, bs, k, kWidth, to + p * panel_stride);
      }
    }
  }
  if (n % kWidth == 0) return;
  const T* last = b + whole * kWidth * bs.col;
  if (bs.row == 1) {
    pack_panel_along_k<T, false>(last, bs.col, k, n % kWidth, to + whole * panel_stride);
  } else {
    pack_panel(last, bs, k, n % kWidth, to + whole * panel_stride);
  }
}

/* Packs a tile of A whose rows are contiguous along k. Writes up to a vector beyond the tile's end.
 */
template <class T>
void pack_tile_along_k(const T* a, Index a_row, Index rows, Index k, Sum<T>* to) {
  using S = Sum<T>;
  constexpr int kLanes = simd::kLanes<S>, kGroups = (kMaxRows + kLanes - 1) / kLanes;
  Index i = 0;
  for (; i + kLanes <= k; i += kLanes) {
    simd::Vector<S> squares[kGroups][kLanes];
    AOTC_UNROLL
    for (int g = 0; g < kGroups; g++) {
      AOTC_UNROLL
      for (int j = 0; j < kLanes; j++) {
        squares[g][j] = load_vector(a + min(g * kLanes + j, rows - 1) * a_row + i);
      }
      simd::transpose<S>(squares[g]);
    }
    AOTC_UNROLL
    for (int j = 0; j < kLanes; j++) {
      AOTC_UNROLL
      for (int g = 0; g < kGroups; g++) {
        if (g * kLanes < rows) simd::store(to + (i + j) * rows + g * kLanes, squares[g][j]);
      }
    }
  }
  for (; i < k; i++) {
    for (Index r = 0; r < rows; r++) to[i * rows + r] = load_one(a + r * a_row + i);
  }
}

/* The first row of tile `i` when `rows` rows are shared evenly between tiles of at most kMaxRows.
 */
inline Index tile_start(Index rows, Index i) { return rows * i / divide_up(rows, kMaxRows); }

/* Packs `rows` x `k` of A; tile i begins at tile_start(rows, i) * k. A vector past the end is
 * written. */
template <class T>
void pack_a(const T* a, Strides as, Index rows, Index k, Sum<T>* to) {
  for (Index tile = 0; tile < divide_up(rows, kMaxRows); tile++) {
    const Index first = tile_start(rows, tile), count = tile_start(rows, tile + 1) - first;
    const T* from = a + first * as.row;
    Sum<T>* packed = to + first * k;
    if (as.col == 1) {
      pack_tile_along_k(from, as.row, count, k, packed);
      continue;
    }
    for (Index i = 0; i < k; i++) {
      for (Index r = 0; r < count; r++) {
        packed[i * count + r] = load_one(from + r * as.row + i * as.col);
      }
    }
  }
}

}  // namespace aotc::matmul
#endif /* AOTC_TEMPLATES_MATMUL_PACK_H_ */
