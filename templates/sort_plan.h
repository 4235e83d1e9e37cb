/* How a sort is done: tasks, and the scratch of each. */
#ifndef AOTC_TEMPLATES_SORT_PLAN_H_
#define AOTC_TEMPLATES_SORT_PLAN_H_

#include "sort_items.h"

namespace aotc::sort {

constexpr Index kTaskElements = 4096; /* fewer are not worth a task */

inline Index min(Index a, Index b) { return a < b ? a : b; }
inline Index max(Index a, Index b) { return a > b ? a : b; }

struct Plan {
  bool packed, selects;
  Index tasks;
  Index capacity; /* of one array of items; a task has two */
  Index slot;     /* bytes of a task */
};

/* Few of many places are found in one pass that holds twice as many candidates. */
inline Plan make_plan(Index rows, Index n, Index count, Index width, int32_t bits,
                      int32_t threads) {
  Plan p;
  p.packed = width == 1 && bits <= 32 && n <= Index(0xffffffff);
  p.selects = width == 1 && n > 64 && count <= n / 4;
  p.capacity = p.selects ? 2 * max(count, 32) : n;
  const Index rows_of_task = max(1, kTaskElements / max(n * width, 1));
  p.tasks = max(1, min(threads, rows / rows_of_task));
  const Index bytes = 2 * p.capacity * Index(p.packed ? sizeof(Packed) : sizeof(Wide));
  p.slot = (bytes + 63) / 64 * 64;
  return p;
}

}  // namespace aotc::sort
#endif /* AOTC_TEMPLATES_SORT_PLAN_H_ */
