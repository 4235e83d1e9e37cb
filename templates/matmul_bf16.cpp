/* aotc_matmul_bf16, see matmul.h. */
#include "matmul_run.h"

void aotc_matmul_bf16(const AotcMatmul* request) { aotc::matmul::run<aotc::Bf16>(*request); }
