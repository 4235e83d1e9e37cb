/* aotc_matmul_i16, see matmul.h. */
#include "matmul_run.h"

void aotc_matmul_i16(const AotcMatmul* request) { aotc::matmul::run<int16_t>(*request); }
