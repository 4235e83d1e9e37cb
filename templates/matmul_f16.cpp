/* aotc_matmul_f16, see matmul.h. */
#include "matmul_run.h"

void aotc_matmul_f16(const AotcMatmul* request) { aotc::matmul::run<aotc::F16>(*request); }
