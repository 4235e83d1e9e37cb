/* The micro-kernel: a tile of a few rows by one or more panels, summed in registers over a slice of
 * K. */
#ifndef AOTC_TEMPLATES_MATMUL_KERNEL_H_
#define AOTC_TEMPLATES_MATMUL_KERNEL_H_

#include "matmul_problem.h"

namespace aotc::matmul {

/* Packed B as the kernel reads it: a slice of K of neighbouring panels. S is the sum's type. */
template <class S>
struct PanelSource {
  const S* b;
  Index panel_stride;
};

/* What a tile does with its sums: the sums go to `to`, added to those of earlier slices where
 * `accumulate`; with `finish`, alpha and D are applied, and the result is final. */
template <class S>
struct TileStore {
  S* to;
  Index to_row;
  bool accumulate, finish;
  S alpha, beta;
  const S* d; /* or NULL */
  Index d_row;
};

/* Calls visit(sum, row, column) for each vector of a tile. */
template <class S, int kRows, int kVectors, class Visit>
AOTC_INLINE void for_each_vector(simd::Vector<S> (&sums)[kRows][kVectors], Visit visit) {
  AOTC_UNROLL
  for (int r = 0; r < kRows; r++) {
    AOTC_UNROLL
    for (int j = 0; j < kVectors; j++) visit(sums[r][j], r, j * simd::kLanes<S>);
  }
}

template <class S, int kRows, int kVectors>
AOTC_INLINE void store_tile(simd::Vector<S> (&sums)[kRows][kVectors], const TileStore<S>& out) {
  using V = simd::Vector<S>;
  S* const to = out.to;
  const Index to_row = out.to_row;
  if (out.accumulate) {
    for_each_vector<S>(sums,
                       [=](V& sum, int r, int c) { sum += simd::load<V>(to + r * to_row + c); });
  }
  if (out.finish) {
    const V alpha = simd::splat(out.alpha), beta = simd::splat(out.beta);
    if (const S* d = out.d) {
      const Index d_row = out.d_row;
      for_each_vector<S>(sums, [=](V& sum, int r, int c) {
        sum = finish_value<S>(sum, simd::load<V>(d + r * d_row + c), alpha, beta);
      });
    } else {
      for_each_vector<S>(sums, [=](V& sum, int, int) { sum = alpha * sum; });
    }
  }
  for_each_vector<S>(sums, [=](V& sum, int r, int c) { simd::store(to + r * to_row + c, sum); });
}

/* Sums kRows x kPanels * panel over k in ascending order, each sum in one lane: a row's result does
 * not depend on the rows and panels beside it. A is packed: kRows neighbouring values for each k.
 */
template <class S, int kRows, int kPanels>
void tile(const S* a, PanelSource<S> source, Index k, const TileStore<S>& out) {
  using V = simd::Vector<S>;
  constexpr int kLanes = simd::kLanes<S>, kVectors = kPanels * kPanelVectors;
  V sums[kRows][kVectors] = {};
  const S* b = source.b;
  for (Index i = 0; i < k; i++) {
    V slice[kVectors];
    AOTC_UNROLL
    for (int j = 0; j < kVectors; j++) {
      slice[j] =
          simd::load<V>(b + j / kPanelVectors * source.panel_stride + j % kPanelVectors * kLanes);
    }
    AOTC_UNROLL
    for (int r = 0; r < kRows; r++) {
      const V value = simd::splat(a[r]);
      AOTC_UNROLL
      for (int j = 0; j < kVectors; j++) {
        sums[r][j] = simd::multiply_add<S>(value, slice[j], sums[r][j]);
      }
    }
    a += kRows;
    b += kPanel<S>;
  }
  store_tile<S, kRows, kVectors>(sums, out);
}

/* Runs tiles of kRows rows over `panels` panels, as wide as registers allow. */
template <class S, int kRows, int kPanels = tile_panels(kRows)>
void tile_row(const S* a, PanelSource<S> source, Index k, Index panels, TileStore<S> out) {
  while (panels >= kPanels) {
    tile<S, kRows, kPanels>(a, source, k, out);
    source.b += kPanels * source.panel_stride;
    out.to += kPanels * kPanel<S>;
    if (out.d) out.d += kPanels * kPanel<S>;
    panels -= kPanels;
  }
  if constexpr (kPanels > 1) {
    if (panels) tile_row<S, kRows, kPanels / 2>(a, source, k, panels, out);
  }
}

/* Finds the kernel for a number of rows known at run time, 1 to kMaxRows. */
template <class S, int kRows = kMaxRows>
AOTC_INLINE void tile_rows(Index rows, const S* a, PanelSource<S> source, Index k, Index panels,
                           const TileStore<S>& out) {
  if constexpr (kRows > 1) {
    if (rows < kRows) return tile_rows<S, kRows - 1>(rows, a, source, k, panels, out);
  }
  tile_row<S, kRows>(a, source, k, panels, out);
}

}  // namespace aotc::matmul
#endif /* AOTC_TEMPLATES_MATMUL_KERNEL_H_ */
