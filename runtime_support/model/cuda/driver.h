// The part of NVIDIA's driver interface that the run time uses, found at run time: declarations of
// our own, so that no toolkit is needed to build, and a table filled by dlopen.
#pragma once
#include "../base.h"
#include "aotc/aotc.h"

namespace aotc::model::cuda {

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = struct CUctx_st*;
using CUmodule = struct CUmod_st*;
using CUfunction = struct CUfunc_st*;
using CUstream = struct CUstream_st*;
using CUevent = struct CUevent_st*;
using CUmemoryPool = struct CUmemPoolHandle_st*;
using CUgraph = struct CUgraph_st*;
using CUgraphNode = struct CUgraphNode_st*;
using CUgraphExec = struct CUgraphExec_st*;

constexpr CUresult kSuccess = 0, kInvalidValue = 1, kOutOfMemory = 2, kNoDevice = 100,
                   kInvalidDevice = 101, kNotReady = 600;
// Device attributes.
constexpr int kComputeMajor = 75, kComputeMinor = 76, kMemoryPools = 115;
constexpr int kMostDynamicShared = 8;  // function attribute
constexpr unsigned kNonBlocking = 1;   // stream flag
constexpr unsigned kNoTiming = 2;      // event flag
constexpr int kRelaxedCapture = 2;     // capture mode

// CUDA_KERNEL_NODE_PARAMS_v2.
struct KernelNodeParams {
  CUfunction function;
  unsigned grid[3], block[3], shared_bytes;
  void** arguments;
  void** extra;
  void* kernel;
  CUcontext context;
};

// CUmemPoolProps.
struct MemPoolProperties {
  int allocation_type, handle_types, location_type, location;
  void* security;
  size_t most_bytes;
  unsigned short usage;
  unsigned char reserved[54];
};
constexpr int kPinnedAllocation = 1, kDeviceLocation = 1;  // of a pool
constexpr int kReleaseThreshold = 4;                       // pool attribute

// X(name, (parameters)): the exported symbol; each returns CUresult.
#define AOTC_CUDA_REQUIRED(X)                                                                \
  X(cuInit, (unsigned))                                                                      \
  X(cuDriverGetVersion, (int*))                                                              \
  X(cuDeviceGetCount, (int*))                                                                \
  X(cuDeviceGet, (CUdevice*, int))                                                           \
  X(cuDeviceGetName, (char*, int, CUdevice))                                                 \
  X(cuDeviceGetAttribute, (int*, int, CUdevice))                                             \
  X(cuDevicePrimaryCtxRetain, (CUcontext*, CUdevice))                                        \
  X(cuDevicePrimaryCtxRelease_v2, (CUdevice))                                                \
  X(cuCtxPushCurrent_v2, (CUcontext))                                                        \
  X(cuCtxPopCurrent_v2, (CUcontext*))                                                        \
  X(cuModuleLoadData, (CUmodule*, const void*))                                              \
  X(cuModuleUnload, (CUmodule))                                                              \
  X(cuModuleGetFunction, (CUfunction*, CUmodule, const char*))                               \
  X(cuGetErrorName, (CUresult, const char**))                                                \
  X(cuGetErrorString, (CUresult, const char**))                                              \
  X(cuMemAlloc_v2, (CUdeviceptr*, size_t))                                                   \
  X(cuMemFree_v2, (CUdeviceptr))                                                             \
  X(cuMemHostAlloc, (void**, size_t, unsigned))                                              \
  X(cuMemFreeHost, (void*))                                                                  \
  X(cuMemcpyHtoDAsync_v2, (CUdeviceptr, const void*, size_t, CUstream))                      \
  X(cuMemcpyDtoHAsync_v2, (void*, CUdeviceptr, size_t, CUstream))                            \
  X(cuMemcpyDtoDAsync_v2, (CUdeviceptr, CUdeviceptr, size_t, CUstream))                      \
  X(cuMemsetD8Async, (CUdeviceptr, unsigned char, size_t, CUstream))                         \
  X(cuStreamCreate, (CUstream*, unsigned))                                                   \
  X(cuStreamDestroy_v2, (CUstream))                                                          \
  X(cuStreamSynchronize, (CUstream))                                                         \
  X(cuStreamQuery, (CUstream))                                                               \
  X(cuStreamWaitEvent, (CUstream, CUevent, unsigned))                                        \
  X(cuEventCreate, (CUevent*, unsigned))                                                     \
  X(cuEventDestroy_v2, (CUevent))                                                            \
  X(cuEventRecord, (CUevent, CUstream))                                                      \
  X(cuEventSynchronize, (CUevent))                                                           \
  X(cuEventQuery, (CUevent))                                                                 \
  X(cuEventElapsedTime, (float*, CUevent, CUevent))                                          \
  X(cuLaunchKernel, (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, \
                     unsigned, CUstream, void**, void**))                                    \
  X(cuFuncSetAttribute, (CUfunction, int, int))

// NULL where a driver lacks them: what needs them falls back.
#define AOTC_CUDA_OPTIONAL(X)                                                               \
  X(cuMemAllocAsync, (CUdeviceptr*, size_t, CUstream))                                      \
  X(cuMemFreeAsync, (CUdeviceptr, CUstream))                                                \
  X(cuMemPoolCreate, (CUmemoryPool*, const MemPoolProperties*))                             \
  X(cuMemPoolDestroy, (CUmemoryPool))                                                       \
  X(cuMemPoolSetAttribute, (CUmemoryPool, int, void*))                                      \
  X(cuMemAllocFromPoolAsync, (CUdeviceptr*, size_t, CUmemoryPool, CUstream))                \
  X(cuStreamGetCtx, (CUstream, CUcontext*))                                                 \
  X(cuFuncGetParamInfo, (CUfunction, size_t, size_t*, size_t*))                             \
  X(cuStreamBeginCapture_v2, (CUstream, int))                                               \
  X(cuStreamEndCapture, (CUstream, CUgraph*))                                               \
  X(cuGraphGetRootNodes, (CUgraph, CUgraphNode*, size_t*))                                  \
  X(cuGraphNodeGetDependentNodes, (CUgraphNode, CUgraphNode*, size_t*))                     \
  X(cuGraphDestroy, (CUgraph))                                                              \
  X(cuGraphInstantiateWithFlags, (CUgraphExec*, CUgraph, unsigned long long))               \
  X(cuGraphExecDestroy, (CUgraphExec))                                                      \
  X(cuGraphExecKernelNodeSetParams_v2, (CUgraphExec, CUgraphNode, const KernelNodeParams*)) \
  X(cuGraphLaunch, (CUgraphExec, CUstream))

struct Driver {
#define X(name, parameters) CUresult(*name) parameters;
  AOTC_CUDA_REQUIRED(X)
  AOTC_CUDA_OPTIONAL(X)
#undef X
  bool is_simulator;  // the stand-in of the tests: its images are of kind "sim"
};

// The driver that AOTC_CUDA_DRIVER names, or libcuda.so.1; loaded and initialised once per process
// and library. After a failure the next call tries again.
AotcStatus load_driver(const Driver** out);

// "<what>: <function> failed: <driver's text> (<name>)". Out of memory is AOTC_OUT_OF_MEMORY,
// everything else AOTC_DEVICE.
AotcStatus driver_error(const Driver* driver, CUresult code, const char* function,
                        const char* format, ...) __attribute__((format(printf, 4, 5)));

}  // namespace aotc::model::cuda
