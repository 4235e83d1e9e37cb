// All entry points of one template archive. Each level is a shared library of its own, so that one
// test program can run every level that the CPU has.
#ifndef AOTC_TESTS_TEMPLATES_MATMUL_TABLE_H_
#define AOTC_TESTS_TEMPLATES_MATMUL_TABLE_H_

#include "templates.h"

struct MatmulTable {
  int64_t (*scratch)(int64_t batch, int64_t m, int64_t n, int64_t k, int32_t threads);
  void (*f32)(const AotcMatmul*);
  void (*f64)(const AotcMatmul*);
  void (*bf16)(const AotcMatmul*);
  void (*f16)(const AotcMatmul*);
  void (*i64)(const AotcMatmul*);
  void (*i32)(const AotcMatmul*);
  void (*i16)(const AotcMatmul*);
  void (*i8)(const AotcMatmul*);
  void (*u8)(const AotcMatmul*);
};

struct SortTable {
  int64_t (*scratch)(int64_t rows, int64_t n, int64_t count, int64_t width, int32_t bits,
                     int32_t threads);
  void (*sort_8)(const AotcSort*);
  void (*sort_16)(const AotcSort*);
  void (*sort_32)(const AotcSort*);
  void (*sort_64)(const AotcSort*);
};

#endif  // AOTC_TESTS_TEMPLATES_MATMUL_TABLE_H_
