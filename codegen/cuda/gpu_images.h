// Stage 8 for the GPU part: kernels.cu compiled for each architecture that was asked for.
#pragma once
#include <string>
#include <vector>

#include "codegen/pipeline.h"

namespace aotc {

// The images that `--gpu` asks for, without their bytes: a cubin for each architecture, and PTX of
// the last one for later GPUs. UserError for a name that is none.
std::vector<GpuImage> wanted_images(const CompileSettings& settings);

// Compiles kernels.cu, whose kernels have these names. UserError when the GPU compiler is missing
// or does not know an architecture, InternalError when it rejects the source.
void compile_images(std::vector<GpuImage>& images, const SourceFile& source,
                    const std::vector<std::string>& kernels, Toolchain& tools);

// The objects that go into model.so: the images and their table, aotc_gpu_images.
std::vector<ObjectFile> image_objects(const std::vector<GpuImage>& images, Toolchain& tools,
                                      const CompileOptions& options);

// Whether there is an NVRTC library.
bool has_nvrtc();
// NVRTC, loaded on first use (nvrtc.cpp): what AOTC_NVRTC names, or the toolkit's. kind: "cubin" or
// "ptx".
std::string compile_with_nvrtc(const SourceFile& source, const std::string& arch,
                               const std::string& kind);

}  // namespace aotc
