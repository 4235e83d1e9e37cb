/* Sorting of rows, compiled once per CPU level when aotc is built and linked into packages. Sizes
 * are run-time values. An entry point for each element width: aotc_sort_8, _16, _32, _64; the
 * order of the bits is told by `kind`. Generated code holds no include: it gets these declarations
 * by copy.
 */
#ifndef AOTC_TEMPLATES_SORT_H_
#define AOTC_TEMPLATES_SORT_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { AOTC_SORT_BATCH_DIMS = 4 };
enum { AOTC_SORT_UNSIGNED = 0, AOTC_SORT_SIGNED = 1, AOTC_SORT_FLOAT = 2 };

/* For each row b: indices[b, j] is the place in x[b, :] of the element that is number j in order,
 * values[b, j] that element, for j < count <= n. Equal elements keep their order. Floats: -0 equals
 * 0; NaN comes after all numbers, before them when descending; elements are copied bit by bit. With
 * width > 1 what is sorted is entries of that many elements, x[b, i, :], and the first elements
 * that differ tell their order; values is NULL. All strides count elements; those of x may have any
 * sign or be zero. The results must overlap neither x nor each other. */
typedef struct AotcSort {
  int64_t batch_sizes[AOTC_SORT_BATCH_DIMS]; /* of the rows; unused dimensions are 1 */
  int64_t n, count, width;
  const void* x;
  int64_t x_batch[AOTC_SORT_BATCH_DIMS], x_step, x_within; /* to the next entry; within one */
  void* values;                                            /* or NULL */
  int64_t values_batch[AOTC_SORT_BATCH_DIMS], values_step;
  void* indices; /* int64_t, or NULL */
  int64_t indices_batch[AOTC_SORT_BATCH_DIMS], indices_step;
  int32_t kind, descending;
  uint64_t infinity; /* the bits of infinity if kind is AOTC_SORT_FLOAT: what is above it is NaN */
  void* scratch;     /* aotc_sort_scratch bytes, 64-byte aligned; may be NULL when that is 0 */
  int32_t threads;
  void* parallel_context;
  void (*parallel_for)(void* context, int64_t n, int64_t grain,
                       void (*fn)(void* arg, int64_t begin, int64_t end), void* arg);
} AotcSort;

/* Bytes of scratch for `rows` rows of n entries, whose elements have `bits` bits, with `threads`
 * threads. */
int64_t aotc_sort_scratch(int64_t rows, int64_t n, int64_t count, int64_t width, int32_t bits,
                          int32_t threads);

void aotc_sort_8(const AotcSort*);
void aotc_sort_16(const AotcSort*);
void aotc_sort_32(const AotcSort*);
void aotc_sort_64(const AotcSort*);

#ifdef __cplusplus
}
#endif
#endif /* AOTC_TEMPLATES_SORT_H_ */
