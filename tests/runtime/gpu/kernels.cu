// Kernels of the hand-written programs with a GPU part, for the simulator and for real devices.
typedef long long int64;

// program.h's AotcDeviceFailure and AotcStridedCopy.
struct DeviceFailure {
  int check, reserved;
  int64 value;
};
struct StridedCopy {
  int64 count;
  int ndim, element_bytes;
  int64 sizes[64], to_strides[64], from_strides[64];
};

__device__ inline int64 thread_index() { return int64(blockIdx.x) * blockDim.x + threadIdx.x; }

extern "C" __global__ void aotc_strided_copy(void* to, const void* from, StridedCopy what) {
  for (int64 i = thread_index(); i < what.count; i += int64(gridDim.x) * blockDim.x) {
    int64 rest = i, to_offset = 0, from_offset = 0;
    for (int d = what.ndim - 1; d >= 0; --d) {
      to_offset += rest % what.sizes[d] * what.to_strides[d];
      from_offset += rest % what.sizes[d] * what.from_strides[d];
      rest /= what.sizes[d];
    }
    for (int b = 0; b < what.element_bytes; ++b)
      static_cast<char*>(to)[to_offset + b] = static_cast<const char*>(from)[from_offset + b];
  }
}

// Check 1: no x is -1.
extern "C" __global__ void check_x(const float* x, int64 count, DeviceFailure* failure) {
  const int64 i = thread_index();
  if (i >= count || x[i] != -1.0f) return;
  if (atomicCAS(&failure->check, 0, 1) == 0) failure->value = i;
}

// scratch[i, j] = x[i, j] * w[j]
extern "C" __global__ void multiply(const float* x, const float* w, float* scratch, int64 count,
                                    const DeviceFailure* failure) {
  const int64 i = thread_index();
  if (failure->check == 0 && i < count) scratch[i] = x[i] * w[i % 3];
}

// y = scratch + b + steps; m[i] += 1
extern "C" __global__ void finish(const float* scratch, const float* b, const int64* steps, float* y,
                                  float* m, int64 count, const DeviceFailure* failure) {
  const int64 i = thread_index();
  if (failure->check != 0 || i >= count) return;
  y[i] = scratch[i] + b[i % 3] + float(*steps);
  if (i % 3 == 0) m[i / 3] += 1.0f;
}

// The row of the cache that is next; then the number of steps.
extern "C" __global__ void store_row(const float* w, float* cache, int64* steps,
                                     const DeviceFailure* failure) {
  if (failure->check != 0) return;
  if (threadIdx.x < 3) cache[*steps % 2 * 3 + threadIdx.x] += w[threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) *steps += 1;
}

// y = x + 1
extern "C" __global__ void add_one(const float* x, float* y, int64 count) {
  const int64 i = thread_index();
  if (i < count) y[i] = x[i] + 1.0f;
}

// y = the elements of x that are positive; n = their number
extern "C" __global__ void keep_positive(const float* x, float* y, int64* n, int64 count) {
  if (thread_index() != 0) return;
  int64 found = 0;
  for (int64 i = 0; i < count; ++i)
    if (x[i] > 0.0f) y[found++] = x[i];
  *n = found;
}

// Ends the context.
extern "C" __global__ void crash(float* y) {
  y[0] = 1.0f;
  __trap();
}

#ifdef AOTC_SIM
AOTC_SIM_KERNEL(aotc_strided_copy);
AOTC_SIM_KERNEL(check_x);
AOTC_SIM_KERNEL(multiply);
AOTC_SIM_KERNEL(finish);
AOTC_SIM_KERNEL(store_row);
AOTC_SIM_KERNEL(add_one);
AOTC_SIM_KERNEL(keep_positive);
AOTC_SIM_KERNEL(crash);
#endif
