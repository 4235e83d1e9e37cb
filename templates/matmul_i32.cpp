/* aotc_matmul_i32, see matmul.h. */
#include "matmul_run.h"

void aotc_matmul_i32(const AotcMatmul* request) { aotc::matmul::run<int32_t>(*request); }
