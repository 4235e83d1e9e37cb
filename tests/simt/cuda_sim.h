// CUDA kernels as host code: put in front of an unchanged .cu file, followed by one line
// AOTC_SIM_KERNEL(name); for each kernel. The result is an image for the stand-in driver
// (driver/): a shared library that exports aotc_sim_image. Includes nothing, so that a compiler
// without headers can read it.
#define AOTC_SIM 1
#define __global__
#define __device__
#define __host__
#define __constant__ static
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
// Shared variables lie together, so that the driver can poison them before each block.
#define __shared__ static __attribute__((section("aotc_sim_shared"), used, retain))

extern "C" {

struct uint3 {
  unsigned int x, y, z;
};

// What the driver does for a kernel. Threads of a block are fibers that run one at a time.
struct AotcSimCalls {
  uint3 thread, block, block_dim, grid_dim;  // of the thread that runs
  long shift;                                // from a device address to where the kernel sees it
  unsigned long device_begin, device_bytes;
  void* nowhere;  // an address that faults: host addresses given to a kernel
  void (*block_barrier)(int line);
  void (*warp_barrier)(unsigned int mask, int line);
  // What lane `from` of the warp gives as `value`; every lane of the mask takes part.
  unsigned int (*exchange)(unsigned int mask, unsigned int value, int from, int line);
  unsigned int (*ballot)(unsigned int mask, int predicate, int line);
  int (*block_count)(int predicate, int line);
  void (*trap)(const char* what, int line);
};

struct AotcSimKernel {
  const char* name;
  void (*call)(void** arguments);
  const unsigned int* sizes;  // of the arguments, in bytes
  int arguments;
};

struct AotcSimImage {
  unsigned int version;
  AotcSimCalls** calls;  // the driver sets it
  const AotcSimKernel *kernels_begin, *kernels_end;
  char *shared_begin, *shared_end;
};

extern const AotcSimKernel __start_aotc_sim_kernels[] __attribute__((weak, visibility("hidden")));
extern const AotcSimKernel __stop_aotc_sim_kernels[] __attribute__((weak, visibility("hidden")));
extern char __start_aotc_sim_shared[] __attribute__((weak, visibility("hidden")));
extern char __stop_aotc_sim_shared[] __attribute__((weak, visibility("hidden")));

static AotcSimCalls* aotc_sim;

extern __attribute__((visibility("default"), used, retain)) const AotcSimImage aotc_sim_image;
const AotcSimImage aotc_sim_image = {1,
                                     &aotc_sim,
                                     __start_aotc_sim_kernels,
                                     __stop_aotc_sim_kernels,
                                     __start_aotc_sim_shared,
                                     __stop_aotc_sim_shared};

}  // extern "C"

#define threadIdx (aotc_sim->thread)
#define blockIdx (aotc_sim->block)
#define blockDim (aotc_sim->block_dim)
#define gridDim (aotc_sim->grid_dim)
#define warpSize 32

// ---- synchronization. The line tells barriers apart.

#define __syncthreads() aotc_sim->block_barrier(__LINE__)
#define __syncthreads_count(p) aotc_sim->block_count((p) ? 1 : 0, __LINE__)
#define __syncthreads_or(p) (aotc_sim->block_count((p) ? 1 : 0, __LINE__) != 0)
#define __syncthreads_and(p) (aotc_sim->block_count((p) ? 0 : 1, __LINE__) == 0)
#define __syncwarp(...) aotc_sim->warp_barrier(aotc_sim_mask(__VA_ARGS__), __LINE__)
#define __threadfence() ((void)0)
#define __threadfence_block() ((void)0)
#define __trap() aotc_sim->trap("__trap", __LINE__)

inline unsigned int aotc_sim_mask(unsigned int mask = 0xffffffffu) { return mask; }

inline int aotc_sim_lane() {
  const uint3 t = threadIdx, n = blockDim;
  return int((t.x + n.x * (t.y + n.y * t.z)) % 32);
}

template <typename T>
inline T aotc_sim_from(unsigned int mask, T value, int lane, int line) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "a shuffle moves 4 or 8 bytes");
  unsigned int words[2] = {0, 0};
  __builtin_memcpy(words, &value, sizeof(T));
  for (unsigned long i = 0; i < sizeof(T) / 4; ++i)
    words[i] = aotc_sim->exchange(mask, words[i], lane, line);
  __builtin_memcpy(&value, words, sizeof(T));
  return value;
}

// The lane that a shuffle reads, within the parts of `width` lanes; its own where there is none.
inline int aotc_sim_up(int delta, int width) {
  const int lane = aotc_sim_lane(), at = lane % width - delta;
  return at < 0 ? lane : lane - delta;
}
inline int aotc_sim_down(int delta, int width) {
  const int lane = aotc_sim_lane(), at = lane % width + delta;
  return at >= width ? lane : lane + delta;
}
inline int aotc_sim_xor(int mask, int width) {
  const int lane = aotc_sim_lane(), other = lane ^ mask;
  return other / width > lane / width ? lane : other;
}
inline int aotc_sim_index(int from, int width) {
  return aotc_sim_lane() / width * width + (from & (width - 1));
}
inline int aotc_sim_width(int width = 32) { return width; }
#define __shfl_sync(mask, value, from, ...) \
  aotc_sim_from(mask, value, aotc_sim_index(from, aotc_sim_width(__VA_ARGS__)), __LINE__)
#define __shfl_up_sync(mask, value, delta, ...) \
  aotc_sim_from(mask, value, aotc_sim_up(int(delta), aotc_sim_width(__VA_ARGS__)), __LINE__)
#define __shfl_down_sync(mask, value, delta, ...) \
  aotc_sim_from(mask, value, aotc_sim_down(int(delta), aotc_sim_width(__VA_ARGS__)), __LINE__)
#define __shfl_xor_sync(mask, value, lanes, ...) \
  aotc_sim_from(mask, value, aotc_sim_xor(int(lanes), aotc_sim_width(__VA_ARGS__)), __LINE__)
#define __ballot_sync(mask, p) aotc_sim->ballot(mask, (p) ? 1 : 0, __LINE__)
#define __any_sync(mask, p) (aotc_sim->ballot(mask, (p) ? 1 : 0, __LINE__) != 0)
#define __all_sync(mask, p) (aotc_sim->ballot(mask, (p) ? 0 : 1, __LINE__) == 0)

// ---- atomics: fibers change only at synchronization, so plain code is atomic

template <typename T>
inline T aotc_sim_exchange(T* p, T value) {
  const T old = *p;
  *p = value;
  return old;
}
template <typename T, typename V>
inline T atomicAdd(T* p, V v) {
  return aotc_sim_exchange(p, T(*p + T(v)));
}
template <typename T, typename V>
inline T atomicSub(T* p, V v) {
  return aotc_sim_exchange(p, T(*p - T(v)));
}
template <typename T, typename V>
inline T atomicExch(T* p, V v) {
  return aotc_sim_exchange(p, T(v));
}
template <typename T, typename V>
inline T atomicMin(T* p, V v) {
  return aotc_sim_exchange(p, T(v) < *p ? T(v) : *p);
}
template <typename T, typename V>
inline T atomicMax(T* p, V v) {
  return aotc_sim_exchange(p, *p < T(v) ? T(v) : *p);
}
template <typename T, typename V>
inline T atomicAnd(T* p, V v) {
  return aotc_sim_exchange(p, T(*p & T(v)));
}
template <typename T, typename V>
inline T atomicOr(T* p, V v) {
  return aotc_sim_exchange(p, T(*p | T(v)));
}
template <typename T, typename V>
inline T atomicXor(T* p, V v) {
  return aotc_sim_exchange(p, T(*p ^ T(v)));
}
template <typename T, typename C, typename V>
inline T atomicCAS(T* p, C compare, V v) {
  return aotc_sim_exchange(p, *p == T(compare) ? T(v) : *p);
}

// ---- vectors, bits, mathematics

#define AOTC_SIM_VECTOR(name, type, alignment)                                          \
  struct alignas(2 * alignment) name##2 { type x, y; };                                 \
  struct alignas(4 * alignment > 16 ? 16 : 4 * alignment) name##4 { type x, y, z, w; }; \
  inline name##2 make_##name##2(type x, type y) { return {x, y}; }                      \
  inline name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }
AOTC_SIM_VECTOR(float, float, 4)
AOTC_SIM_VECTOR(int, int, 4)
AOTC_SIM_VECTOR(uint, unsigned int, 4)
AOTC_SIM_VECTOR(double, double, 8)
AOTC_SIM_VECTOR(longlong, long long, 8)
AOTC_SIM_VECTOR(ulonglong, unsigned long long, 8)

template <typename T>
inline T __ldg(const T* p) {
  return *p;
}
inline int __popc(unsigned int x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(unsigned int x) { return x ? __builtin_clz(x) : 32; }
inline int __clzll(unsigned long long x) { return x ? __builtin_clzll(x) : 64; }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
inline int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
inline float __uint_as_float(unsigned int x) { return __builtin_bit_cast(float, x); }
inline unsigned int __float_as_uint(float x) { return __builtin_bit_cast(unsigned int, x); }
inline double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }
inline long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
inline float fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
inline double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }

// ---- kernels

template <typename T>
struct AotcSimArgument {
  static T get(void* p) { return *static_cast<T*>(p); }
};
// Addresses of the device become those where kernels see its memory; others fault when used.
template <typename T>
struct AotcSimArgument<T*> {
  static T* get(void* p) {
    char* const address = *static_cast<char**>(p);
    if (!address) return nullptr;
    const unsigned long offset = reinterpret_cast<unsigned long>(address) - aotc_sim->device_begin;
    if (offset < aotc_sim->device_bytes) return reinterpret_cast<T*>(address + aotc_sim->shift);
    return static_cast<T*>(aotc_sim->nowhere);
  }
};

template <typename... A>
struct AotcSimSizes {
  static constexpr unsigned int sizes[] = {sizeof(A)..., 0};
};

// A constructor in braces evaluates its arguments from left to right.
struct AotcSimCall {
  template <typename... A>
  AotcSimCall(void (*kernel)(A...), A... a) {
    kernel(a...);
  }
};

template <auto Kernel, typename... A>
void aotc_sim_unpack(void** arguments, void (*)(A...)) {
  [[maybe_unused]] int i = 0;
  AotcSimCall{Kernel, AotcSimArgument<A>::get(arguments[i++])...};
}
template <typename... A>
constexpr const unsigned int* aotc_sim_sizes(void (*)(A...)) {
  return AotcSimSizes<A...>::sizes;
}
template <typename... A>
constexpr int aotc_sim_count(void (*)(A...)) {
  return sizeof...(A);
}

#define AOTC_SIM_KERNEL(name)                                                                    \
  static void aotc_sim_call_##name(void** arguments) { aotc_sim_unpack<name>(arguments, name); } \
  static const AotcSimKernel aotc_sim_kernel_##name                                              \
      __attribute__((section("aotc_sim_kernels"), used, retain)) = {                             \
          #name, aotc_sim_call_##name, aotc_sim_sizes(name), aotc_sim_count(name)}
