// What all sessions of a model share on the GPU: its code and its weights.
#pragma once
#include "../model.h"
#include "device.h"

namespace aotc::model {

struct GpuModel {
  cuda::Device* device;
  cuda::CUmodule module;
  cuda::CUfunction* functions;  // of AotcGpu.kernels
  const char* const* kernel_names;
  int32_t strided_copy;       // index into `functions`
  cuda::CUdeviceptr weights;  // one block; 0 without any
  int64_t* storage_offsets;   // of each storage on the device: in `weights` or a session's states
  int64_t weight_bytes, state_bytes;
};

namespace cuda {

// The model's part, made on first need.
AotcStatus get_model(Model* model, GpuModel** out);

// The image that runs on the device.
AotcStatus choose_image(const AotcProgram* program, const Device* device,
                        const AotcDeviceImage** out);

}  // namespace cuda
}  // namespace aotc::model
