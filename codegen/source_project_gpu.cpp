#include "codegen/source_project_gpu.h"

#include <algorithm>

#include "codegen/cuda/gpu_images.h"
#include "codegen/package.h"

// The GPU part of an emitted project.
namespace aotc {

namespace {

std::string file_name(const GpuImage& image) {
  return fmt::format("{}.{}", image.arch, image.kind == "sim" ? "so" : image.kind);
}

// Without NVRTC those that it would make are missing: nvcc makes them.
void add_images(GpuProject& project, std::vector<GpuImage> images, const Compilation& c,
                const Sources& sources) {
  if (!has_nvrtc()) std::erase_if(images, [](const GpuImage& i) { return i.kind != "sim"; });
  if (images.empty()) return;
  compile_images(images, sources.cuda, sources.cuda_kernels, *open_toolchain(c.settings));
  for (GpuImage& image : images)
    project.files["gpu/" + file_name(image)] = std::move(image.bytes);
  project.holes["GPU_FILES"] += "| `gpu/` | the same, compiled by aotc: used where there is no nvcc |\n";
}

}  // namespace

GpuProject gpu_project(const Compilation& c, const Sources& sources) {
  GpuProject project;
  project.holes = {{"GPU", ""}, {"GPU_FILES", ""}};
  if (sources.cuda.text.empty()) return project;
  project.holes["GPU"] = "include(${CMAKE_CURRENT_LIST_DIR}/gpu.cmake)\n";
  project.holes["GPU_FILES"] =
      "| `src/kernels.cu`, `gpu.cmake` | the kernels of the GPU, and how nvcc compiles them |\n";
  const std::vector<GpuImage> images = wanted_images(c.settings);
  std::vector<std::string> names, rows;
  for (const GpuImage& image : images) {
    names.push_back(file_name(image));
    rows.push_back(fmt::format("row {}, {}, \"{}\"", image.arch, image.kind, names.back()));
  }
  project.holes["IMAGES"] = fmt::format("{}", fmt::join(names, " "));
  project.holes["IMAGE_ROWS"] = fmt::format("{}", fmt::join(rows, "\n"));
  project.files["src/" + sources.cuda.name] = sources.cuda.text;
  project.templates["gpu.cmake"] = "gpu.cmake.in";
  project.templates["src/gpu_images.S"] = "gpu_images.S.in";
  add_images(project, images, c, sources);
  return project;
}

}  // namespace aotc
