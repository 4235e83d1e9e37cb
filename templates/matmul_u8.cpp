/* aotc_matmul_u8, see matmul.h. */
#include "matmul_run.h"

void aotc_matmul_u8(const AotcMatmul* request) { aotc::matmul::run<uint8_t>(*request); }
