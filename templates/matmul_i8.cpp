/* aotc_matmul_i8, see matmul.h. */
#include "matmul_run.h"

void aotc_matmul_i8(const AotcMatmul* request) { aotc::matmul::run<int8_t>(*request); }
