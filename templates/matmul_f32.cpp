/* aotc_matmul_f32, see matmul.h. */
#include "matmul_run.h"

void aotc_matmul_f32(const AotcMatmul* request) { aotc::matmul::run<float>(*request); }
