/* How a matrix product is cut into pieces: which path it takes, the sizes of its blocks, how many
 * tasks share it and the scratch each needs. Only sizes and the machine decide, so that equal calls
 * sum in equal order; the number of tasks never changes that order, because no task shares a sum
 * with another. */
#ifndef AOTC_TEMPLATES_MATMUL_PLAN_H_
#define AOTC_TEMPLATES_MATMUL_PLAN_H_

#include "simd.h"

namespace aotc::matmul {

using Index = int64_t;

/* A panel holds this many bytes of neighbouring columns for each k, on every machine: it is the
 * layout of packed weights, [columns / panel][k][panel], which one package shares between CPU
 * levels. */
constexpr int kPanelBytes = 64;
template <class Sum>
constexpr int kPanel = kPanelBytes / int(sizeof(Sum));
constexpr int kPanelVectors = kPanelBytes / simd::kVectorBytes;

/* Rows of a register tile: sums take most registers, the rest hold a splat and a slice of B. */
constexpr int kMaxRows =
    simd::kVectorRegisters == 32 ? (kPanelVectors == 1 ? 12 : 6) : (kPanelVectors == 4 ? 3 : 6);

/* Panels side by side in a tile of `rows` rows: sums in flight hide the latency of an fma. */
constexpr int tile_panels(int rows) {
  const int sums = simd::kVectorRegisters == 32 ? 24 : 12;
  const int fit = sums / (rows * kPanelVectors);
  return fit >= 8 ? 8 : fit >= 4 ? 4 : fit >= 2 ? 2 : 1;
}

/* Up to so many rows B is not worth packing: where it is contiguous along K, along N. */
constexpr Index kDotRows = 16;
constexpr Index kAxpyRows = 8;

/* Up to so many columns, padding them to a panel wastes more than storing C by columns. */
constexpr Index kThinCols = 12;

/* Block sizes: a panel's slice of B stays in the first-level cache, a packed block of A in the
 * second, an item's slice of B in the last; one packing of B serves kItemRows rows. */
constexpr Index kBlockK = 384;
constexpr Index kBlockRows = 192;
constexpr Index kItemRows = 768;
constexpr Index kItemPanels = 32;

/* An item's rows and panels where its sums are kept outside C. */
constexpr Index kSumRows = 384;
constexpr Index kSumPanels = 16;

/* Panels that are finished before the epilogue sees them. */
constexpr Index kEpiloguePanels = 8;

/* Multiply-adds below which a task costs more than it saves. */
constexpr Index kMinTaskWork = 30000;

constexpr Index min(Index a, Index b) { return a < b ? a : b; }
constexpr Index max(Index a, Index b) { return a > b ? a : b; }
constexpr Index divide_up(Index a, Index b) { return (a + b - 1) / b; }
constexpr Index round_up(Index a, Index b) { return divide_up(a, b) * b; }

/* The start of part `i` of `parts` even parts of `size`, in multiples of `unit`. */
constexpr Index part_start(Index size, Index unit, Index parts, Index i) {
  return min(size, divide_up(size, unit) * i / parts * unit);
}

/* The slice of K summed in registers at a time; depends on k alone. */
constexpr Index k_block(Index k) {
  if (k <= kBlockK * 5 / 4) return max(k, 1);
  return round_up(divide_up(k, divide_up(k, kBlockK)), 8);
}

/* Scratch of one task, in bytes from its start; each part begins on a cache line. */
struct SlotLayout {
  Index b = 0; /* packed A lies at 0 */
  Index sums = 0;
  Index size = 0;
};

/* `rows` and `panels` are those of an item; `sum_panels` too, or 0 where its sums are kept in C. */
constexpr SlotLayout slot_layout(Index rows, Index panels, Index sum_panels, Index k,
                                 Index sum_size) {
  SlotLayout slot;
  const Index a_rows = min(rows, kBlockRows);
  slot.b = round_up(a_rows * k_block(k) * sum_size, kPanelBytes) + kPanelBytes;
  slot.sums = slot.b + panels * k_block(k) * kPanelBytes;
  slot.size = slot.sums + rows * sum_panels * kPanelBytes;
  return slot;
}

/* Tasks worth starting for so many multiply-adds. */
constexpr Index task_count(Index batch, Index m, Index n, Index k, Index threads) {
  const double work = double(batch) * double(m) * double(n) * double(max(k, 1));
  const double useful = work / double(kMinTaskWork);
  return useful < 2 ? 1 : max(1, min(threads, useful < double(threads) ? Index(useful) : threads));
}

/* An upper bound of the scratch of a task, for any path and element type. */
constexpr Index scratch_bound(Index m, Index n, Index k) {
  Index bound = 0;
  for (Index sum_size = 4; sum_size <= 8; sum_size += 4) {
    const Index panels = divide_up(n, kPanelBytes / sum_size);
    const Index direct =
        slot_layout(min(m, kItemRows), min(panels, kItemPanels), 0, k, sum_size).size;
    const Index apart =
        slot_layout(min(m, kSumRows), min(panels, kSumPanels), min(panels, kSumPanels), k, sum_size)
            .size;
    bound = max(bound, max(direct, apart));
  }
  return bound;
}

/* The grid of items over one matrix of C, and the tasks that share all items of all matrices. */
struct Grid {
  Index row_parts = 1, col_parts = 1, tasks = 1;
};

constexpr Index kPackCost = 6; /* of packing a row or a column, in multiply-adds per k */

/* What the slowest task costs, in multiply-adds per k. */
constexpr Index grid_cost(Index batch, Index m, Index n, Index unit, Index pack_cost,
                          const Grid& grid) {
  const Index rows = divide_up(divide_up(m, kMaxRows), grid.row_parts) * kMaxRows;
  const Index cols = divide_up(divide_up(n, unit), grid.col_parts) * unit;
  const Index items = divide_up(batch * grid.row_parts * grid.col_parts, grid.tasks);
  return items * (rows * cols + pack_cost * (rows + cols));
}

/* The cheapest way to give `tasks` tasks equal work, with items no larger than given. */
constexpr Grid choose_grid(Index batch, Index m, Index n, Index unit, Index max_rows,
                           Index max_cols, Index pack_cost, Index tasks) {
  const Grid least{divide_up(m, max_rows), divide_up(n, max_cols), tasks};
  Grid best = least;
  Index best_cost = grid_cost(batch, m, n, unit, pack_cost, best);
  for (Index by = 1; tasks > 1 && by <= tasks; by++) {
    const Grid grid{min(round_up(least.row_parts, by), divide_up(m, kMaxRows)),
                    min(round_up(least.col_parts, divide_up(tasks, by)), divide_up(n, unit)),
                    tasks};
    const Index cost = grid_cost(batch, m, n, unit, pack_cost, grid);
    if (cost < best_cost) {
      best = grid;
      best_cost = cost;
    }
  }
  best.tasks = min(tasks, batch * best.row_parts * best.col_parts);
  return best;
}

/* kDot and kAxpy read few rows of A and all of B in place; kBlocked packs both. */
enum class Path { kDot, kAxpy, kBlocked };

/* How one call is carried out. `direct`: sums are kept in C itself, so T must be its own sum. */
struct Plan {
  Path path;
  bool direct;
  Index k_step;
  Grid grid;
  SlotLayout slot;
};

}  // namespace aotc::matmul
#endif /* AOTC_TEMPLATES_MATMUL_PLAN_H_ */
