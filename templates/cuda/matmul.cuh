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

// What element (row, column) of a batch item is, from the sum of its products.
template <typename T, typename Sum, typename Number, bool Floating>
struct MatmulElement {
  const MatmulShape& s;
  const T* d;
  Sum alpha, beta;
  bool has_product, adds;

  __device__ MatmulElement(const MatmulShape& shape, const T* added)
      : s(shape),
        d(added),
        alpha(Number::scale(shape.alpha)),
        beta(Number::scale(shape.beta)),
        has_product(shape.k > 0 && !(Floating && alpha == Sum(0))),
        adds(added != nullptr && beta != Sum(0)) {}

  __device__ T value(Sum sum, int64_t d0, int64_t row, int64_t column) const {
    Sum value = has_product ? alpha * sum : Sum(0);
    if (adds) {
      const Sum other = Number::load(d[d0 + row * s.d_row + column * s.d_col]);
      value = has_product ? Number::add(beta, other, value) : beta * other;
    }
    return Number::store(value);
  }
};

// Where a batch item begins in each operand.
struct MatmulOffsets {
  int64_t a = 0, b = 0, c = 0, d = 0;

  __device__ MatmulOffsets(const MatmulShape& s, int64_t batch) {
    AOTC_UNROLL
    for (int i = 3; i >= 0; --i) {
      const int64_t at = batch % s.batch_sizes[i];
      batch /= s.batch_sizes[i];
      a += at * s.a_batch[i], b += at * s.b_batch[i];
      c += at * s.c_batch[i], d += at * s.d_batch[i];
    }
  }
};

__device__ inline int64_t matmul_batches(const MatmulShape& s) {
  return s.batch_sizes[0] * s.batch_sizes[1] * s.batch_sizes[2] * s.batch_sizes[3];
}

// Element (row, column) of the tile that thread number i loads: neighbours take what lies side by
// side in memory.
__device__ inline void matmul_place(int i, int rows, int columns, bool along_columns, int& row,
                                    int& column) {
  row = along_columns ? i / columns : i % rows;
  column = along_columns ? i % columns : i / rows;
}

// A block of 256 threads computes tiles of 64 x 64 elements in steps of 16 of the sum; each thread
// has 4 x 4 of them.
template <typename T, typename Sum, typename Number, bool Floating>
struct MatmulTiles {
  static constexpr int kTile = 64, kStep = 16, kOwn = 4;
  struct Shared {
    Sum a[kStep][kTile + 1], b[kStep][kTile + 1];
  };

  template <typename Result>
  __device__ static void run(const T* a, const T* b, const T* d, const MatmulShape& s,
                             Shared& shared, Result result) {
    const int64_t tiles_n = (s.n + kTile - 1) / kTile;
    const int64_t row0 = blockIdx.x / tiles_n * kTile, column0 = blockIdx.x % tiles_n * kTile;
    const int thread = threadIdx.x, own_row = thread / 16, own_column = thread % 16;
    const MatmulElement<T, Sum, Number, Floating> element(s, d);
    for (int64_t batch = blockIdx.z; batch < matmul_batches(s); batch += gridDim.z) {
      const MatmulOffsets offsets(s, batch);
      Sum sum[kOwn][kOwn];
      AOTC_UNROLL
      for (int i = 0; i < kOwn; ++i)
        AOTC_UNROLL
        for (int j = 0; j < kOwn; ++j) sum[i][j] = Sum(0);
      for (int64_t k0 = 0; element.has_product && k0 < s.k; k0 += kStep) {
        load(a + offsets.a, b + offsets.b, s, row0, column0, k0, shared);
        __syncthreads();
        AOTC_UNROLL
        for (int step = 0; step < kStep; ++step)
          AOTC_UNROLL
          for (int i = 0; i < kOwn; ++i)
            AOTC_UNROLL
            for (int j = 0; j < kOwn; ++j)
              sum[i][j] = Number::add(shared.a[step][own_row + 16 * i],
                                      shared.b[step][own_column + 16 * j], sum[i][j]);
        __syncthreads();
      }
      AOTC_UNROLL
      for (int i = 0; i < kOwn; ++i)
        AOTC_UNROLL
        for (int j = 0; j < kOwn; ++j) {
          const int64_t row = row0 + own_row + 16 * i, column = column0 + own_column + 16 * j;
          if (row >= s.m || column >= s.n) continue;
          result(offsets.c + row * s.c_row + column * s.c_col,
                 element.value(sum[i][j], offsets.d, row, column));
        }
    }
  }

  __device__ static void load(const T* a, const T* b, const MatmulShape& s, int64_t row0,
                              int64_t column0, int64_t k0, Shared& shared) {
    for (int i = threadIdx.x; i < kTile * kStep; i += 256) {
      int row, column;
      matmul_place(i, kTile, kStep, s.a_col == 1, row, column);
      const bool in_a = row0 + row < s.m && k0 + column < s.k;
      shared.a[column][row] =
          in_a ? Number::load(a[(row0 + row) * s.a_row + (k0 + column) * s.a_col]) : Sum(0);
      matmul_place(i, kStep, kTile, s.b_col == 1, row, column);
      const bool in_b = k0 + row < s.k && column0 + column < s.n;
      shared.b[row][column] =
          in_b ? Number::load(b[(k0 + row) * s.b_row + (column0 + column) * s.b_col]) : Sum(0);
    }
  }
};

// Several elements that are loaded at once.
template <typename T>
struct alignas(16) MatmulPack {
  static constexpr int kElements = 16 / sizeof(T);
  T at[kElements];
};

// Up to 8 rows, a vector times a matrix above all: B is read once, in the order of memory. Where
// its columns are contiguous, each warp of the block has one of 8 columns; else the block has 32
// columns, and each warp an eighth of the sum.
template <typename T, typename Sum, typename Number, bool Floating>
struct MatmulFewRows {
  static constexpr int kMostRows = 8, kWarps = 8;
  struct Shared {
    Sum sums[kWarps][kMostRows][32];
  };

  template <typename Result>
  __device__ static void run(const T* a, const T* b, const T* d, const MatmulShape& s,
                             Shared& shared, Result result) {
    const MatmulElement<T, Sum, Number, Floating> element(s, d);
    const bool whole_columns = s.b_row == 1;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int64_t batch = blockIdx.z; batch < matmul_batches(s); batch += gridDim.z) {
      const MatmulOffsets at(s, batch);
      const int64_t column = whole_columns ? int64_t(blockIdx.x) * kWarps + warp
                                           : int64_t(blockIdx.x) * 32 + lane;
      Sum sum[kMostRows];
      AOTC_UNROLL
      for (int row = 0; row < kMostRows; ++row) sum[row] = Sum(0);
      if (column < s.n && element.has_product) {
        const T* const own = b + at.b + column * s.b_col;
        if (whole_columns)
          add_column(a + at.a, own, s, lane, sum);
        else
          add_part(a + at.a, own, s, warp, sum);
      }
      if (whole_columns) {
        AOTC_UNROLL
        for (int row = 0; row < kMostRows; ++row) {
          if (row >= s.m) break;
          AOTC_UNROLL
          for (int offset = 16; offset > 0; offset /= 2) sum[row] += from_lane(sum[row], offset);
        }
      } else {
        AOTC_UNROLL
        for (int row = 0; row < kMostRows; ++row) shared.sums[warp][row][lane] = sum[row];
        __syncthreads();
      }
      for (int row = whole_columns ? 0 : warp; row < s.m; row += whole_columns ? 1 : kWarps) {
        if (column >= s.n || (whole_columns && lane != 0)) continue;
        Sum total = whole_columns ? pick(sum, row) : shared.sums[0][row][lane];
        if (!whole_columns)
          AOTC_UNROLL
          for (int part = 1; part < kWarps; ++part) total += shared.sums[part][row][lane];
        result(at.c + row * s.c_row + column * s.c_col, element.value(total, at.d, row, column));
      }
      if (!whole_columns) __syncthreads();
    }
  }

  // Registers have no addresses.
  __device__ static Sum pick(const Sum* sum, int row) {
    Sum picked = sum[0];
    AOTC_UNROLL
    for (int i = 1; i < kMostRows; ++i) picked = i == row ? sum[i] : picked;
    return picked;
  }

  // A lane's share of a contiguous column: 16 bytes at a time where all is aligned.
  __device__ static void add_column(const T* a, const T* b, const MatmulShape& s, int lane,
                                    Sum* sum) {
    typedef MatmulPack<T> Pack;
    uint64_t unaligned = reinterpret_cast<uint64_t>(a) | reinterpret_cast<uint64_t>(b);
    if (s.m > 1) unaligned |= static_cast<uint64_t>(s.a_row) * sizeof(T);
    int64_t done = 0;
    if (s.a_col == 1 && unaligned % 16 == 0) {
      done = s.k / Pack::kElements * Pack::kElements;
      for (int64_t k = int64_t(lane) * Pack::kElements; k < done; k += 32 * Pack::kElements) {
        const Pack factors = *reinterpret_cast<const Pack*>(b + k);
        AOTC_UNROLL
        for (int row = 0; row < kMostRows; ++row) {
          if (row >= s.m) break;
          const Pack others = *reinterpret_cast<const Pack*>(a + row * s.a_row + k);
          AOTC_UNROLL
          for (int i = 0; i < Pack::kElements; ++i)
            sum[row] =
                Number::add(Number::load(others.at[i]), Number::load(factors.at[i]), sum[row]);
        }
      }
    }
    for (int64_t k = done + lane; k < s.k; k += 32) add_one(a, Number::load(b[k]), s, k, sum);
  }

  __device__ static void add_part(const T* a, const T* b, const MatmulShape& s, int warp,
                                  Sum* sum) {
    for (int64_t k = warp; k < s.k; k += kWarps)
      add_one(a, Number::load(b[k * s.b_row]), s, k, sum);
  }

  __device__ static void add_one(const T* a, Sum factor, const MatmulShape& s, int64_t k,
                                 Sum* sum) {
    AOTC_UNROLL
    for (int row = 0; row < kMostRows; ++row) {
      if (row >= s.m) break;
      sum[row] = Number::add(Number::load(a[row * s.a_row + k * s.a_col]), factor, sum[row]);
    }
  }
};

// In place of the memory that a product would be stored to: the element at hand.
template <typename T>
struct Produced {
  T element;
  __device__ T operator[](int64_t) const { return element; }
};
