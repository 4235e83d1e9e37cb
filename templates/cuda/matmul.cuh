// Matrix products with run-time strides for any GPU, without tensor cores: what runs where no
// library is at hand. What they compute is said in templates/matmul.h. A block computes a tile of
// 64 x 64 elements in steps of 16 of the sum; each thread has 4 x 4 of them.

// program.h's AotcGpuMatmul.
struct MatmulShape {
  int64_t batch_sizes[4];
  int64_t m, n, k;
  int64_t a_batch[4], a_row, a_col;
  int64_t b_batch[4], b_row, b_col;
  int64_t c_batch[4], c_row, c_col;
  int64_t d_batch[4], d_row, d_col;
  double alpha, beta;
};

// The type that products are summed in, and the way to it and back.
template <typename T, typename Sum>
struct MatmulNumber {
  __device__ static Sum load(T x) { return static_cast<Sum>(x); }
  __device__ static T store(Sum x) { return static_cast<T>(x); }
  __device__ static Sum add(Sum a, Sum b, Sum c) { return a * b + c; }
  __device__ static Sum scale(double x) { return static_cast<Sum>(static_cast<int64_t>(x)); }
};

template <>
struct MatmulNumber<float, float> {
  __device__ static float load(float x) { return x; }
  __device__ static float store(float x) { return x; }
  __device__ static float add(float a, float b, float c) { return fmaf(a, b, c); }
  __device__ static float scale(double x) { return static_cast<float>(x); }
};

template <>
struct MatmulNumber<double, double> {
  __device__ static double load(double x) { return x; }
  __device__ static double store(double x) { return x; }
  __device__ static double add(double a, double b, double c) { return fma(a, b, c); }
  __device__ static double scale(double x) { return x; }
};

template <typename Half>
struct MatmulHalf {
  __device__ static float load(Half x) { return x.value(); }
  __device__ static Half store(float x) { return Half::from(x); }
  __device__ static float add(float a, float b, float c) { return fmaf(a, b, c); }
  __device__ static float scale(double x) { return static_cast<float>(x); }
};

constexpr int kMatmulTile = 64, kMatmulStep = 16, kMatmulOwn = 4;

// Element (row, column) of the tile that thread number i loads: neighbours take what lies side by
// side in memory.
__device__ inline void matmul_place(int i, int rows, int columns, bool along_columns, int& row,
                                    int& column) {
  row = along_columns ? i / columns : i % rows;
  column = along_columns ? i % columns : i / rows;
}

template <typename T, typename Sum, typename Number, bool Floating>
__device__ inline void matmul_tile(const T* a, const T* b, T* c, const T* d, const MatmulShape& s,
                                   Sum (*a_tile)[kMatmulTile + 1], Sum (*b_tile)[kMatmulTile + 1]) {
  const int64_t tiles_n = (s.n + kMatmulTile - 1) / kMatmulTile;
  const int64_t row0 = blockIdx.x / tiles_n * kMatmulTile;
  const int64_t column0 = blockIdx.x % tiles_n * kMatmulTile;
  const int thread = threadIdx.x, own_row = thread / 16, own_column = thread % 16;
  const Sum alpha = Number::scale(s.alpha), beta = Number::scale(s.beta);
  const bool adds = d != nullptr && beta != Sum(0);
  const bool has_product = s.k > 0 && !(Floating && alpha == Sum(0));
  const int64_t batches = s.batch_sizes[0] * s.batch_sizes[1] * s.batch_sizes[2] * s.batch_sizes[3];
  for (int64_t batch = blockIdx.z; batch < batches; batch += gridDim.z) {
    int64_t rest = batch, a0 = 0, b0 = 0, c0 = 0, d0 = 0;
    for (int i = 3; i >= 0; --i) {
      const int64_t at = rest % s.batch_sizes[i];
      rest /= s.batch_sizes[i];
      a0 += at * s.a_batch[i], b0 += at * s.b_batch[i];
      c0 += at * s.c_batch[i], d0 += at * s.d_batch[i];
    }
    Sum sum[kMatmulOwn][kMatmulOwn];
    for (int i = 0; i < kMatmulOwn; ++i)
      for (int j = 0; j < kMatmulOwn; ++j) sum[i][j] = Sum(0);
    for (int64_t k0 = 0; has_product && k0 < s.k; k0 += kMatmulStep) {
      for (int i = thread; i < kMatmulTile * kMatmulStep; i += 256) {
        int row, column;
        matmul_place(i, kMatmulTile, kMatmulStep, s.a_col == 1, row, column);
        const bool in_a = row0 + row < s.m && k0 + column < s.k;
        a_tile[column][row] =
            in_a ? Number::load(a[a0 + (row0 + row) * s.a_row + (k0 + column) * s.a_col]) : Sum(0);
        matmul_place(i, kMatmulStep, kMatmulTile, s.b_col == 1, row, column);
        const bool in_b = k0 + row < s.k && column0 + column < s.n;
        b_tile[row][column] =
            in_b ? Number::load(b[b0 + (k0 + row) * s.b_row + (column0 + column) * s.b_col])
                 : Sum(0);
      }
      __syncthreads();
      for (int step = 0; step < kMatmulStep; ++step)
        for (int i = 0; i < kMatmulOwn; ++i)
          for (int j = 0; j < kMatmulOwn; ++j)
            sum[i][j] = Number::add(a_tile[step][own_row + 16 * i],
                                    b_tile[step][own_column + 16 * j], sum[i][j]);
      __syncthreads();
    }
    for (int i = 0; i < kMatmulOwn; ++i)
      for (int j = 0; j < kMatmulOwn; ++j) {
        const int64_t row = row0 + own_row + 16 * i, column = column0 + own_column + 16 * j;
        if (row >= s.m || column >= s.n) continue;
        Sum value = has_product ? alpha * sum[i][j] : Sum(0);
        if (adds) {
          const Sum other = Number::load(d[d0 + row * s.d_row + column * s.d_col]);
          value = has_product ? Number::add(beta, other, value) : beta * other;
        }
        c[c0 + row * s.c_row + column * s.c_col] = Number::store(value);
      }
  }
}
