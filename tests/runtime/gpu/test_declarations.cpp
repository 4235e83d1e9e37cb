// The run time's own declarations of the driver's functions against those of the toolkit.
#define __CUDA_API_VERSION_INTERNAL  // all versions under the names that the driver exports
#include <cuda.h>

#include "cuda/driver.h"

namespace aotc::model::cuda {
namespace {

// Passed in the same way: pointers as pointers, numbers of the same size.
template <class A, class B>
constexpr bool kSameParameter = sizeof(A) == sizeof(B) && __is_class(A) == __is_class(B) &&
                                (requires(A a) { *a; }) == (requires(B b) { *b; });

template <class A, class B>
struct Same {
  static constexpr bool value = false;
};
template <class R, class... A, class S, class... B>
struct Same<R (*)(A...), S (*)(B...)> {
  static constexpr bool all() {
    if constexpr (sizeof...(A) != sizeof...(B))
      return false;
    else
      return sizeof(R) == sizeof(S) && (kSameParameter<A, B> && ...);
  }
  static constexpr bool value = all();
};

#define X(name, parameters)                                             \
  static_assert(Same<CUresult(*) parameters, decltype(&::name)>::value, \
                #name " is not as the toolkit declares it");
AOTC_CUDA_REQUIRED(X)
AOTC_CUDA_OPTIONAL(X)
#undef X

static_assert(sizeof(KernelNodeParams) == sizeof(CUDA_KERNEL_NODE_PARAMS_v2));
static_assert(offsetof(KernelNodeParams, arguments) ==
              offsetof(CUDA_KERNEL_NODE_PARAMS_v2, kernelParams));
static_assert(sizeof(MemPoolProperties) == sizeof(CUmemPoolProps));
static_assert(offsetof(MemPoolProperties, location) ==
              offsetof(CUmemPoolProps, location) + offsetof(CUmemLocation, id));
static_assert(offsetof(MemPoolProperties, reserved) == offsetof(CUmemPoolProps, reserved));
static_assert(kOutOfMemory == CUDA_ERROR_OUT_OF_MEMORY &&
              kInvalidValue == CUDA_ERROR_INVALID_VALUE && kNoDevice == CUDA_ERROR_NO_DEVICE &&
              kInvalidDevice == CUDA_ERROR_INVALID_DEVICE && kNotReady == CUDA_ERROR_NOT_READY);
static_assert(kComputeMajor == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR &&
              kComputeMinor == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR &&
              kMemoryPools == CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED &&
              kMostDynamicShared == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES &&
              kNonBlocking == CU_STREAM_NON_BLOCKING && kNoTiming == CU_EVENT_DISABLE_TIMING &&
              kRelaxedCapture == CU_STREAM_CAPTURE_MODE_RELAXED &&
              kPinnedAllocation == CU_MEM_ALLOCATION_TYPE_PINNED &&
              kDeviceLocation == CU_MEM_LOCATION_TYPE_DEVICE &&
              kReleaseThreshold == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD);

}  // namespace
}  // namespace aotc::model::cuda
