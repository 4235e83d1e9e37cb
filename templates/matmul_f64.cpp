/* aotc_matmul_f64, see matmul.h. */
#include "matmul_run.h"

void aotc_matmul_f64(const AotcMatmul* request) { aotc::matmul::run<double>(*request); }
