/* One matrix product from request to result: chooses a plan and shares its items between tasks. */
#ifndef AOTC_TEMPLATES_MATMUL_RUN_H_
#define AOTC_TEMPLATES_MATMUL_RUN_H_

#include "matmul_blocked.h"
#include "matmul_dot.h"

namespace aotc::matmul {

constexpr Index kInPlaceRows = 8;  /* more rows pay for packing a B whose columns are neighbours */
constexpr Index kInPlaceStep = 32; /* rows of B read at a time there: as many streams of memory */

template <class T>
Plan make_plan(const Problem<T>& p) {
  constexpr int kWidth = kPanel<Sum<T>>;
  Plan plan{};
  plan.dot = p.bs.row == 1 && p.as.col == 1 && p.m <= kDotRows && !(p.bs.col == 1 && p.n > 1);
  plan.b_in_place = p.bs.col == 1 && p.m <= kInPlaceRows;
  plan.k_step = plan.b_in_place ? min(kInPlaceStep, p.k) : k_block(p.k);
  plan.direct = kPlain<T> && p.cs.col == 1 && (!p.d || p.ds.col == 1) &&
                (plan.k_step >= p.k || !d_may_alias_c(p));
  const Index tasks = task_count(p.batch, p.m, p.n, p.k, p.request->threads);
  const Index panels = plan.direct ? kItemPanels : kSumPanels;
  const Index rows = plan.direct ? kItemRows : kSumRows;
  if (plan.dot) {
    plan.grid = choose_grid(p.batch, p.m, p.n, kWidth, p.m, p.n, 0, tasks);
    plan.grid.row_parts = 1;
    return plan;
  }
  plan.grid =
      choose_grid(p.batch, p.m, p.n, kWidth, rows, panels * kWidth, plan.b_in_place ? 0 : 6, tasks);
  const Index item_rows =
      min(p.m, divide_up(divide_up(p.m, kMaxRows), plan.grid.row_parts) * kMaxRows);
  const Index item_panels = divide_up(divide_up(p.n, kWidth), plan.grid.col_parts);
  plan.slot = slot_layout(item_rows, plan.b_in_place ? 0 : item_panels,
                          plan.direct ? 0 : item_panels, plan.k_step, sizeof(Sum<T>));
  return plan;
}

template <class T>
struct Job {
  const Problem<T>* problem;
  const Plan* plan;
};

/* Item `index` of all: matrices of the batch outermost, then columns, so that neighbours share B.
 */
template <class T>
void run_item(const Problem<T>& p, const Plan& plan, Index index, char* slot) {
  const Grid& grid = plan.grid;
  const Index row_part = index % grid.row_parts, rest = index / grid.row_parts;
  const Index col_part = rest % grid.col_parts, batch = rest / grid.col_parts;
  const Index col = part_start(p.n, kPanel<Sum<T>>, grid.col_parts, col_part);
  const Index col_end = part_start(p.n, kPanel<Sum<T>>, grid.col_parts, col_part + 1);
  if (plan.dot) return dot_item(p, batch, col, col_end);
  const Index row = part_start(p.m, kMaxRows, grid.row_parts, row_part);
  const Index row_end = part_start(p.m, kMaxRows, grid.row_parts, row_part + 1);
  blocked_item(p, plan, batch, row, row_end, col, col_end, slot);
}

/* Runs tasks [task, task_end), each with scratch of its own. */
template <class T>
void run_tasks(void* arg, Index task, Index task_end) {
  const Problem<T>& p = *static_cast<Job<T>*>(arg)->problem;
  const Plan& plan = *static_cast<Job<T>*>(arg)->plan;
  const Index items = p.batch * plan.grid.row_parts * plan.grid.col_parts;
  for (; task < task_end; task++) {
    char* slot = static_cast<char*>(p.request->scratch) + task * plan.slot.size;
    const Index end = part_start(items, 1, plan.grid.tasks, task + 1);
    for (Index i = part_start(items, 1, plan.grid.tasks, task); i < end; i++) {
      run_item(p, plan, i, slot);
    }
  }
}

/* Without a product to add, C is beta * D, with the sign of its zeros: -0 is what changes no number. */
template <class T>
void run_without_product(Problem<T> p) {
  constexpr Index kStep = 256;
  Sum<T> zeros[kStep];
  for (Sum<T>& zero : zeros) zero = p.d ? Sum<T>(-0.0) : Sum<T>(0);
  p.alpha = 1;
  for (Index item = 0; item < p.batch; item++) {
    const Matrices<T> at = matrices(p, item);
    for (Index col = 0; col < p.n; col += kStep) {
      finish_block(p, at, zeros, 0, 0, p.m, col, min(kStep, p.n - col));
    }
    call_epilogue(p, item, 0, p.m, 0, p.n);
  }
}

template <class T>
void run(const AotcMatmul& request) {
  Problem<T> p = make_problem<T>(request);
  if (p.batch == 0 || p.m == 0 || p.n == 0) return;
  const bool blas = kSame<T, float> || kSame<T, double>; /* eager's BLAS skips a product times 0 */
  if (p.k == 0 || (blas && p.alpha == 0)) return run_without_product(p);
  const Plan plan = make_plan(p);
  Job<T> job{&p, &plan};
  if (plan.grid.tasks > 1 && request.parallel_for) {
    request.parallel_for(request.parallel_context, plan.grid.tasks, 1, run_tasks<T>, &job);
  } else {
    run_tasks<T>(&job, 0, plan.grid.tasks);
  }
}

}  // namespace aotc::matmul
#endif /* AOTC_TEMPLATES_MATMUL_RUN_H_ */
