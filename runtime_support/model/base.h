// Small helpers used throughout the model run time: atomics by compiler builtins (this code links
// into packages without libstdc++), checked sizes, one-block layout of a struct's arrays.
#pragma once
#include <stdint.h>
#include <stdlib.h>

namespace aotc::model {

constexpr int64_t kAlignment = 64;  // of arenas, states and fresh outputs
constexpr int32_t kMaxRank = 64;    // torch's own limit

template <class T>
inline T load_acquire(const T* p) {
  return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}
template <class T>
inline void store_release(T* p, T value) {
  __atomic_store_n(p, value, __ATOMIC_RELEASE);
}

inline int64_t round_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

// `block` holds at least kAlignment bytes more than what is used of it.
inline char* align_up(void* block) {
  return reinterpret_cast<char*>(
      round_up(static_cast<int64_t>(reinterpret_cast<uintptr_t>(block)), kAlignment));
}

// *out = a * b (or a + b); false when it does not fit.
inline bool multiply(int64_t a, int64_t b, int64_t* out) {
  return !__builtin_mul_overflow(a, b, out);
}
inline bool add(int64_t a, int64_t b, int64_t* out) { return !__builtin_add_overflow(a, b, out); }
inline bool subtract(int64_t a, int64_t b, int64_t* out) {
  return !__builtin_sub_overflow(a, b, out);
}

// Hands out consecutive arrays of one block. With base NULL it only measures: run the same sequence
// of take() twice, allocate `used` bytes in between.
struct Carver {
  char* base;
  int64_t used;
  template <class T>
  void take(T** array, int64_t n) {
    *array = base ? reinterpret_cast<T*>(base + used) : nullptr;
    used += round_up(n * static_cast<int64_t>(sizeof(T)), 16);
  }
};

}  // namespace aotc::model
