typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long int64_t;
typedef unsigned long uint64_t;

// Before a loop whose iterations are independent by construction.
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wunknown-warning-option"
#pragma clang diagnostic ignored "-Wpass-failed"
// All overloads of a helper are there, and conditions are joined without a branch.
#pragma clang diagnostic ignored "-Wunused-function"
#pragma clang diagnostic ignored "-Wbitwise-instead-of-logical"
#define AOTC_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define AOTC_INDEPENDENT _Pragma("GCC ivdep")
#endif

typedef void (*ParallelFor)(void* context, int64_t n, int64_t grain,
                            void (*range)(void*, int64_t, int64_t), void* argument);

// Whether v replaces the best value so far: NaN wins over numbers, the first of equals stays.
template <typename T>
static inline bool takes_over_maximum(T v, T best, bool first) {
  return first || v > best || (v != v && best == best);
}

template <typename T>
static inline bool takes_over_minimum(T v, T best, bool first) {
  return first || v < best || (v != v && best == best);
}

// The same where positions come in any order: of equals the one with the lower position stays.
template <typename T>
static inline bool comes_before(T v, T best, int64_t at, int64_t best_at) {
  return (v == best || (v != v && best != best)) && at < best_at;
}

template <typename T>
static inline bool takes_over_maximum_at(T v, T best, int64_t at, int64_t best_at) {
  return takes_over_maximum(v, best, best_at == -1) || comes_before(v, best, at, best_at);
}

template <typename T>
static inline bool takes_over_minimum_at(T v, T best, int64_t at, int64_t best_at) {
  return takes_over_minimum(v, best, best_at == -1) || comes_before(v, best, at, best_at);
}
