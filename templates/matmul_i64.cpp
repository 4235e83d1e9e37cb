/* aotc_matmul_i64, see matmul.h. */
#include "matmul_run.h"

void aotc_matmul_i64(const AotcMatmul* request) { aotc::matmul::run<int64_t>(*request); }
