/* The blocked product: slices of B, then blocks of A, are packed and met by the micro-kernel while
 * they are in cache. An item is a rectangle of C; tasks share the items. */
#ifndef AOTC_TEMPLATES_MATMUL_BLOCKED_H_
#define AOTC_TEMPLATES_MATMUL_BLOCKED_H_

#include "matmul_kernel.h"
#include "matmul_pack.h"

namespace aotc::matmul {

/* An item at work: rectangle, scratch and the slice of K that is being added. */
template <class T>
struct Item {
  using S = Sum<T>;
  Index batch, row, row_end, col, col_end;
  Matrices<T> at;
  S *packed_a = nullptr, *packed_b = nullptr;
  S* sums = nullptr; /* rows sums_row apart; where direct, C itself */
  Index sums_row = 0;
  Index k = 0, k_end = 0;
};

/* Where the sums of (row, col) are kept between slices. */
template <class T>
Sum<T>* sums_at(const Item<T>& item, Index row, Index col) {
  return item.sums + (row - item.row) * item.sums_row + (col - item.col);
}

template <class T>
TileStore<Sum<T>> tile_store(const Problem<T>& p, const Plan& plan, const Item<T>& item, Index row,
                             Index col) {
  using S = Sum<T>;
  TileStore<S> out{};
  out.to = sums_at(item, row, col);
  out.to_row = item.sums_row;
  out.accumulate = item.k > 0;
  out.finish = plan.direct && item.k_end == p.k;
  out.alpha = p.alpha, out.beta = p.beta;
  if (item.at.d) out.d = reinterpret_cast<const S*>(item.at.d) + row * p.ds.row + col;
  out.d_row = p.ds.row;
  return out;
}

/* Multiplies packed rows [row, row + rows) with whole panels from column `col`. */
template <class T>
void multiply_panels(const Problem<T>& p, const Plan& plan, const Item<T>& item, Index row,
                     Index rows, Index col, Index panels, PanelSource<Sum<T>> source) {
  using S = Sum<T>;
  const Index k = item.k_end - item.k, tiles = divide_up(rows, kMaxRows);
  const Index step = tile_panels(int(divide_up(rows, tiles)));
  for (Index panel = 0; panel < panels; panel += step) {
    for (Index i = 0; i < tiles; i++) {
      const Index first = tile_start(rows, i), count = tile_start(rows, i + 1) - first;
      const auto out = tile_store(p, plan, item, row + first, col + panel * kPanel<S>);
      tile_rows<S>(count, item.packed_a + first * k, source, k, min(step, panels - panel), out);
    }
    source.b += step * source.panel_stride;
  }
}

/* Multiplies packed rows with the last panel, of `cols` columns only, through a tile on the stack:
 * no store may touch what lies beside C. */
template <class T>
void multiply_edge(const Problem<T>& p, const Plan& plan, const Item<T>& item, Index row,
                   Index rows, Index col, Index cols, PanelSource<Sum<T>> source) {
  using S = Sum<T>;
  const Index k = item.k_end - item.k;
  const bool finish = plan.direct && item.k_end == p.k;
  S edge[kMaxRows * kPanel<S>];
  for (Index i = 0; i < divide_up(rows, kMaxRows); i++) {
    const Index first = tile_start(rows, i), count = tile_start(rows, i + 1) - first;
    TileStore<S> out{};
    out.to = edge;
    out.to_row = kPanel<S>;
    tile_rows<S>(count, item.packed_a + first * k, source, k, 1, out);
    S* sums = sums_at(item, row + first, col);
    for (Index r = 0; r < count; r++) {
      S *from = edge + r * kPanel<S>, *old = sums + r * item.sums_row;
      for (Index j = 0; j < cols && item.k > 0; j++) from[j] = old[j] + from[j];
      if (!finish) __builtin_memcpy(old, from, cols * sizeof(S));
    }
    if (finish) {
      finish_block(p, item.at, edge, kPanel<S>, row + first, count, col, cols);
    }
  }
}

/* Multiplies packed rows with columns [col, col_end): whole panels, then the edge. */
template <class T>
void multiply_columns(const Problem<T>& p, const Plan& plan, const Item<T>& item, Index row,
                      Index rows, Index col, Index col_end) {
  using S = Sum<T>;
  constexpr int kWidth = kPanel<S>;
  const Index panel_size = (item.k_end - item.k) * kWidth;
  const Index whole = (col_end - col) / kWidth, edge = (col_end - col) % kWidth;
  const S* b = item.packed_b + (col - item.col) / kWidth * panel_size;
  multiply_panels(p, plan, item, row, rows, col, whole, {b, panel_size});
  if (edge == 0) return;
  multiply_edge(p, plan, item, row, rows, col + whole * kWidth, edge, {b + whole * panel_size, 0});
}

/* Adds one slice of K to rows [row, row_end); after the last, finishes a few panels at a time. */
template <class T>
void multiply_rows(const Problem<T>& p, const Plan& plan, const Item<T>& item, Index row,
                   Index row_end) {
  const Index step = kEpiloguePanels * kPanel<Sum<T>>;
  pack_a(item.at.a + row * p.as.row + item.k * p.as.col, p.as, row_end - row, item.k_end - item.k,
         item.packed_a);
  for (Index col = item.col; col < item.col_end; col += step) {
    const Index end = min(col + step, item.col_end);
    multiply_columns(p, plan, item, row, row_end - row, col, end);
    if (item.k_end < p.k) continue;
    if (!plan.direct) {
      finish_block(p, item.at, sums_at(item, row, col), item.sums_row, row, row_end - row, col,
                   end - col);
    }
    call_epilogue(p, item.batch, row, row_end, col, end);
  }
}

template <class T>
void blocked_item(const Problem<T>& p, const Plan& plan, Index batch, Index row, Index row_end,
                  Index col, Index col_end, char* slot) {
  using S = Sum<T>;
  Item<T> item{batch, row, row_end, col, col_end, matrices(p, batch)};
  item.packed_a = reinterpret_cast<S*>(slot);
  item.packed_b = reinterpret_cast<S*>(slot + plan.slot.b);
  item.sums = reinterpret_cast<S*>(slot + plan.slot.sums);
  item.sums_row = round_up(col_end - col, kPanel<S>);
  if (plan.direct) {
    item.sums = reinterpret_cast<S*>(item.at.c) + row * p.cs.row + col;
    item.sums_row = p.cs.row;
  }
  const Index blocks = divide_up(row_end - row, kBlockRows);
  while (item.k < p.k) {
    item.k_end = min(item.k + plan.k_step, p.k);
    pack_b(item.at.b + item.k * p.bs.row + col * p.bs.col, p.bs, item.k_end - item.k, col_end - col,
           item.packed_b, (item.k_end - item.k) * kPanel<S>);
    for (Index i = 0; i < blocks; i++) {
      multiply_rows(p, plan, item, row + part_start(row_end - row, kMaxRows, blocks, i),
                    row + part_start(row_end - row, kMaxRows, blocks, i + 1));
    }
    item.k = item.k_end;
  }
}

}  // namespace aotc::matmul
#endif /* AOTC_TEMPLATES_MATMUL_BLOCKED_H_ */
