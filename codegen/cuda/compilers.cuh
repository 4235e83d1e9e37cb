// What the compilers of kernels.cu lack or complain about.
#if defined(__CUDACC__)
#pragma nv_diag_suppress 177  // not every helper and value is used
#define AOTC_UNROLL _Pragma("unroll")  // of a loop over what registers hold
#else
#define AOTC_UNROLL
#endif
#if defined(__CUDACC_RTC__)
#define __builtin_inff() __int_as_float(0x7f800000)
#define __builtin_inf() __longlong_as_double(0x7ff0000000000000ll)
#define __builtin_nanf(text) __int_as_float(0x7fc00000)
#define __builtin_nan(text) __longlong_as_double(0x7ff8000000000000ll)
#define __builtin_sqrt ::sqrt
#define __builtin_pow ::pow
#define __builtin_trunc ::trunc
#define __builtin_floor ::floor
#define __builtin_ceil ::ceil
#define __builtin_nearbyint ::nearbyint
#endif

