// What a check that fails tells the host: program.h's AotcDeviceFailure.
struct DeviceFailure {
  int32_t check, reserved;
  int64_t value;
};

// The first one counts.
__device__ inline void fail(DeviceFailure* failure, int32_t check, int64_t value) {
  if (atomicCAS(&failure->check, 0, check) == 0) failure->value = value;
}

struct alignas(16) SharedWord {
  unsigned int words[4];
};

// A value with its position among those that are compared; -1: none.
template <typename T>
struct Best {
  T value;
  int64_t at;
};

// The value that lane + `offset` of the warp has; below 0: that lane 0 has.
template <typename T>
__device__ inline T from_lane(const T& value, int offset) {
  union Words {
    T value;
    unsigned int words[(sizeof(T) + 3) / 4];
    __device__ Words() {}
  };
  Words in, out;
  for (unsigned int& word : in.words) word = 0;
  in.value = value;
  for (int i = 0; i < int((sizeof(T) + 3) / 4); ++i)
    out.words[i] = offset < 0 ? __shfl_sync(0xffffffffu, in.words[i], 0)
                              : __shfl_down_sync(0xffffffffu, in.words[i], offset);
  return out.value;
}

// The values of a row's threads combined in an order that is always the same; every thread gets the
// result. `shared` is the block's where a row is a block.
template <int Threads, typename T, typename Combine>
__device__ inline T combine_row(T value, Combine combine, SharedWord* shared) {
  for (int offset = 16; offset > 0; offset /= 2) {
    const T other = from_lane(value, offset);
    if (int(threadIdx.x % 32) + offset < 32) value = combine(value, other);
  }
  if (Threads == 32) return from_lane(value, -1);
  T* const partial = reinterpret_cast<T*>(shared);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = value;
  __syncthreads();
  value = partial[0];
  for (int warp = 1; warp < Threads / 32; ++warp) value = combine(value, partial[warp]);
  __syncthreads();
  return value;
}

#define AOTC_UNROLL _Pragma("unroll")

// Elements that lie side by side.
template <typename T, int N>
struct alignas(sizeof(T) * N) Pack {
  T of[N];
};

// N elements, or as many of them as are `left`, in one access where the address allows it.
template <int N, typename T>
__device__ inline Pack<T, N> load_pack(const T* from, int64_t left = N) {
  if (left >= N && reinterpret_cast<uint64_t>(from) % sizeof(Pack<T, N>) == 0)
    return *reinterpret_cast<const Pack<T, N>*>(from);
  Pack<T, N> pack;
  AOTC_UNROLL
  for (int i = 0; i < N; ++i)
    if (i < left) pack.of[i] = from[i];
  return pack;
}

template <int N, typename T>
__device__ inline void store_pack(T* to, const Pack<T, N>& pack, int64_t left = N) {
  if (left >= N && reinterpret_cast<uint64_t>(to) % sizeof(Pack<T, N>) == 0) {
    *reinterpret_cast<Pack<T, N>*>(to) = pack;
    return;
  }
  AOTC_UNROLL
  for (int i = 0; i < N; ++i)
    if (i < left) to[i] = pack.of[i];
}

// program.h's AotcStridedCopy.
struct StridedCopy {
  int64_t count;
  int32_t ndim, element_bytes;
  int64_t sizes[64], to_strides[64], from_strides[64];
};

// Bytes of any alignment.
extern "C" __global__ void __launch_bounds__(256)
    aotc_strided_copy(void* to, const void* from, const StridedCopy what) {
  const int64_t step = int64_t(gridDim.x) * blockDim.x;
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < what.count; i += step) {
    int64_t rest = i, to_offset = 0, from_offset = 0;
    for (int d = what.ndim - 1; d >= 0; --d) {
      const int64_t at = rest % what.sizes[d];
      rest /= what.sizes[d];
      to_offset += at * what.to_strides[d];
      from_offset += at * what.from_strides[d];
    }
    char* const t = static_cast<char*>(to) + to_offset;
    const char* const f = static_cast<const char*>(from) + from_offset;
    for (int b = 0; b < what.element_bytes; ++b) t[b] = f[b];
  }
}
