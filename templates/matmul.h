/* Matrix product micro-kernels, compiled once per CPU level when aotc is built and linked into
 * packages. K and N are run-time values. Each element type has its own entry point:
 *   aotc_matmul_f32, _f64, _bf16, _f16 (half types accumulate in float32, rounded once), _i64,
 * _i32, _i16, _i8, _u8 Generated code holds no include: it gets these declarations by copy.
 */
#ifndef AOTC_TEMPLATES_MATMUL_H_
#define AOTC_TEMPLATES_MATMUL_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { AOTC_MATMUL_BATCH_DIMS = 4 };

/* Called after rows [row_begin, row_end) x columns [col_begin, col_end) of batch item `batch`
 * (flattened over batch_sizes, row-major) hold their final value, while they are in cache. May run
 * on any thread. */
typedef void (*AotcMatmulEpilogue)(void* arg, int64_t batch, int64_t row_begin, int64_t row_end,
                                   int64_t col_begin, int64_t col_end);

/* C[b,i,j] = alpha * sum_k A[b,i,k] * B[b,k,j] + beta * D[b,i,j]. All strides count elements and
 * may be zero, negative is not allowed for C. C must not overlap A, B; D may be C itself. d NULL:
 * beta is ignored. Sizes may be 0; k == 0 gives beta * D. When beta == 0, D is not read (NaN does
 * not spread). For integer types alpha and beta are converted to the type; arithmetic wraps. */
typedef struct AotcMatmul {
  int64_t batch_sizes[AOTC_MATMUL_BATCH_DIMS]; /* unused dimensions are 1 */
  int64_t m, n, k;
  const void* a;
  int64_t a_batch[AOTC_MATMUL_BATCH_DIMS], a_row, a_col;
  const void* b;
  int64_t b_batch[AOTC_MATMUL_BATCH_DIMS], b_row, b_col;
  void* c;
  int64_t c_batch[AOTC_MATMUL_BATCH_DIMS], c_row, c_col;
  const void* d;
  int64_t d_batch[AOTC_MATMUL_BATCH_DIMS], d_row, d_col;
  double alpha, beta;
  AotcMatmulEpilogue epilogue; /* or NULL */
  void* epilogue_arg;
  void* scratch; /* aotc_matmul_scratch bytes, 64-byte aligned; may be NULL when that is 0 */
  int32_t threads;
  void* parallel_context;
  void (*parallel_for)(void* context, int64_t n, int64_t grain,
                       void (*fn)(void* arg, int64_t begin, int64_t end), void* arg);
} AotcMatmul;

/* Bytes of packing scratch that any entry point needs at most for this problem with `threads`
 * threads. */
int64_t aotc_matmul_scratch(int64_t batch, int64_t m, int64_t n, int64_t k, int32_t threads);

void aotc_matmul_f32(const AotcMatmul*);
void aotc_matmul_f64(const AotcMatmul*);
void aotc_matmul_bf16(const AotcMatmul*);
void aotc_matmul_f16(const AotcMatmul*);
void aotc_matmul_i64(const AotcMatmul*);
void aotc_matmul_i32(const AotcMatmul*);
void aotc_matmul_i16(const AotcMatmul*);
void aotc_matmul_i8(const AotcMatmul*);
void aotc_matmul_u8(const AotcMatmul*);

#ifdef __cplusplus
}
#endif
#endif /* AOTC_TEMPLATES_MATMUL_H_ */
