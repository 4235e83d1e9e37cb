/* aotc_matmul_scratch, see matmul.h. */
#include "matmul.h"
#include "matmul_plan.h"

int64_t aotc_matmul_scratch(int64_t batch, int64_t m, int64_t n, int64_t k, int32_t threads) {
  using aotc::matmul::Index, aotc::matmul::scratch_bound;
  if (batch == 0 || m == 0 || n == 0 || k == 0) return 0;
  const Index slot = aotc::matmul::max(scratch_bound(m, n, k), scratch_bound(n, m, k));
  return aotc::matmul::task_count(batch, m, n, k, threads) * slot;
}
