/* aotc_sort_scratch, see sort.h. */
#include "sort_plan.h"

int64_t aotc_sort_scratch(int64_t rows, int64_t n, int64_t count, int64_t width, int32_t bits,
                          int32_t threads) {
  if (rows == 0 || n == 0 || count == 0) return 0;
  const aotc::sort::Plan plan = aotc::sort::make_plan(rows, n, count, width, bits, threads);
  return plan.tasks * plan.slot;
}
