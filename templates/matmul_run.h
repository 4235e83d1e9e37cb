/* One matrix product from request to result: chooses a plan and shares its items between tasks. */
#ifndef AOTC_TEMPLATES_MATMUL_RUN_H_
#define AOTC_TEMPLATES_MATMUL_RUN_H_

#include "matmul_axpy.h"
#include "matmul_blocked.h"
#include "matmul_dot.h"

namespace aotc::matmul {

/* Sums of a block of columns of an unpacked product, kept on the stack. */
constexpr Index kStackSums = 4096;

template <class T>
Path choose_path(const Problem<T>& p) {
  const bool a_along_k = p.as.col == 1, b_along_k = p.bs.row == 1, b_along_n = p.bs.col == 1;
  if (b_along_k && a_along_k && p.m <= kDotRows && p.k >= simd::kLanes<Sum<T>>) return Path::kDot;
  if (b_along_n && p.m <= kAxpyRows) return Path::kAxpy;
  return Path::kBlocked;
}

template <class T>
Plan make_plan(const Problem<T>& p) {
  constexpr int kWidth = kPanel<Sum<T>>;
  Plan plan{};
  plan.path = choose_path(p);
  const Index tasks = task_count(p.batch, p.m, p.n, p.k, p.request->threads);
  if (plan.path != Path::kBlocked) {
    plan.grid = choose_grid(p.batch, 1, p.n, kWidth, 1, p.n, 0, tasks);
    return plan;
  }
  plan.k_step = k_block(p.k);
  plan.direct = kPlain<T> && p.cs.col == 1 && (!p.d || p.ds.col == 1) &&
                (plan.k_step >= p.k || !d_may_alias_c(p));
  const Index panels = plan.direct ? kItemPanels : kSumPanels;
  const Index rows = plan.direct ? kItemRows : kSumRows;
  plan.grid = choose_grid(p.batch, p.m, p.n, kWidth, rows, panels * kWidth, kPackCost, tasks);
  const Index item_rows = divide_up(divide_up(p.m, kMaxRows), plan.grid.row_parts) * kMaxRows;
  const Index item_panels = divide_up(divide_up(p.n, kWidth), plan.grid.col_parts);
  plan.slot = slot_layout(min(p.m, item_rows), item_panels, plan.direct ? 0 : item_panels, p.k,
                          sizeof(Sum<T>));
  return plan;
}

/* All rows of columns [col, col_end) of one matrix, without packing. */
template <class T>
void unpacked_item(const Problem<T>& p, Path path, Index item, Index col, Index col_end) {
  const Matrices<T> at = matrices(p, item);
  Sum<T> sums[kStackSums];
  const Index width = kStackSums / p.m / kPanel<Sum<T>> * kPanel<Sum<T>>;
  for (; col < col_end; col += width) {
    const Index cols = min(width, col_end - col);
    if (path == Path::kDot) {
      dot_block(p, at, col, cols, sums, width);
    } else {
      axpy_block(p, at, col, cols, sums, width);
    }
    finish_block(p, at, sums, width, 0, p.m, col, cols);
    call_epilogue(p, item, 0, p.m, col, col + cols);
  }
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
  if (plan.path != Path::kBlocked) return unpacked_item(p, plan.path, batch, col, col_end);
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

/* Without a product to add, C is beta * D, with the sign of its zeros: -0 is what changes no
 * number. */
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
