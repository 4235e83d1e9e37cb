// Launches a matrix product by one of two kernels of kernels.cu (-1: not needed): `arguments` are
// those of the kernels, a, b and the request first. With few columns the product is that of the
// transposed factors, which is the same.
inline int32_t launch_matmul(AotcFrame* frame, AotcGpuMatmul* request, int32_t tiles,
                             int32_t few_rows, void** arguments) {
  const int64_t few = 8;  // MatmulFewRows::kMostRows
  if (request->n < request->m && request->n <= few) {
    AotcGpuMatmul t = *request;
    t.m = request->n, t.n = request->m;
    t.a_row = request->b_col, t.a_col = request->b_row;
    t.b_row = request->a_col, t.b_col = request->a_row;
    t.c_row = request->c_col, t.c_col = request->c_row;
    t.d_row = request->d_col, t.d_col = request->d_row;
    for (int i = 0; i < 4; ++i) {
      t.a_batch[i] = request->b_batch[i];
      t.b_batch[i] = request->a_batch[i];
    }
    *request = t;
    void* const a = arguments[0];
    arguments[0] = arguments[1];
    arguments[1] = a;
  }
  int64_t batches = 1;
  for (int i = 0; i < 4; ++i) batches *= request->batch_sizes[i];
  if (request->m == 0 || request->n == 0 || batches == 0) return 0;
  const bool by_rows = request->m <= few;
  const int64_t columns = !by_rows ? 64 : request->b_row == 1 ? 8 : 32;
  const int64_t rows = by_rows ? 1 : (request->m + 63) / 64;
  const int64_t blocks = rows * ((request->n + columns - 1) / columns);
  const AotcLaunch launch = {by_rows ? few_rows : tiles,
                             {blocks < 0x7fffffff ? (uint32_t)blocks : 0x7fffffffu, 1,
                              batches < 65535 ? (uint32_t)batches : 65535u},
                             {256, 1, 1},
                             0,
                             arguments};
  return frame->launch(frame, &launch);
}
