// The symbols that a level's shared library exports.
#include "matmul_table.h"

extern "C" __attribute__((visibility("default"))) const MatmulTable aotc_matmul_table = {
    aotc_matmul_scratch, aotc_matmul_f32, aotc_matmul_f64, aotc_matmul_bf16, aotc_matmul_f16,
    aotc_matmul_i64,     aotc_matmul_i32, aotc_matmul_i16, aotc_matmul_i8,   aotc_matmul_u8};

extern "C" __attribute__((visibility("default"))) const SortTable aotc_sort_table = {
    aotc_sort_scratch, aotc_sort_8, aotc_sort_16, aotc_sort_32, aotc_sort_64};
