// The parts of NVIDIA's driver interface that the stand-in serves, as cuda.h declares them.
#pragma once
#include <cstddef>
#include <cstdint>

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = unsigned long long;

constexpr CUresult CUDA_SUCCESS = 0, CUDA_ERROR_INVALID_VALUE = 1, CUDA_ERROR_OUT_OF_MEMORY = 2,
                   CUDA_ERROR_NOT_INITIALIZED = 3, CUDA_ERROR_NO_DEVICE = 100,
                   CUDA_ERROR_INVALID_DEVICE = 101, CUDA_ERROR_INVALID_IMAGE = 200,
                   CUDA_ERROR_INVALID_CONTEXT = 201, CUDA_ERROR_NO_BINARY_FOR_GPU = 209,
                   CUDA_ERROR_INVALID_HANDLE = 400, CUDA_ERROR_NOT_FOUND = 500,
                   CUDA_ERROR_NOT_READY = 600, CUDA_ERROR_ILLEGAL_ADDRESS = 700,
                   CUDA_ERROR_LAUNCH_FAILED = 719, CUDA_ERROR_NOT_SUPPORTED = 801,
                   CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED = 900,
                   CUDA_ERROR_STREAM_CAPTURE_INVALIDATED = 901,
                   CUDA_ERROR_STREAM_CAPTURE_UNMATCHED = 903;

constexpr int CU_STREAM_NON_BLOCKING = 1;
