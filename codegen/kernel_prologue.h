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
