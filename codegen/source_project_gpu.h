// The GPU part of an emitted project (emit_source.cpp).
#pragma once
#include <map>
#include <string>
#include <vector>

#include "codegen/pipeline.h"

namespace aotc {

struct GpuProject {
  std::map<std::string, std::string> files;      // path in the project -> content
  std::map<std::string, std::string> templates;  // path in the project -> name in codegen/project
  std::map<std::string, std::string> holes;      // of the templates, and of those of every project
};

// kernels.cu, what makes images of it for the architectures of `--gpu`, and where NVRTC is found
// the images themselves. A program without a GPU part gets holes only.
GpuProject gpu_project(const Compilation& c, const Sources& sources);

}  // namespace aotc
