#include "codegen/cuda/gpu_images.h"

#include <algorithm>
#include <fstream>

#include "codegen/cpp_text.h"
#include "codegen/source_library.h"

// Compiling kernels.cu.
namespace aotc {

namespace {

const std::vector<std::string> kUsual = {"sm_80", "sm_90", "sm_100"};

// "sm_90" -> 90; 0: no such name.
int arch_number(const std::string& arch) {
  if (!arch.starts_with("sm_") || arch.size() < 5 || arch.size() > 7) return 0;
  int n = 0;
  for (char c : arch.substr(3)) {
    if (c < '0' || c > '9') return 0;
    n = 10 * n + (c - '0');
  }
  return n;
}

// The simulator's header (tests/simt), which makes the kernels host code.
std::string simulator_header() {
  const std::filesystem::path file = support_directory() / "simt" / "cuda_sim.h";
  std::ifstream in(file, std::ios::binary);
  if (!in)
    user_error("--gpu sim needs {}, which is missing: this aotc was built without the simulator",
               file.string());
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::string compile_for_simulator(const SourceFile& source, const std::vector<std::string>& kernels,
                                  Toolchain& tools) {
  SourceFile host{"kernels_sim.cpp", simulator_header() + source.text};
  host.text += "\nusing namespace aotc;\n";
  for (const std::string& name : kernels) host.text += fmt::format("AOTC_SIM_KERNEL({});\n", name);
  CompileOptions options;
  options.cpu_level = native_cpu_level();
  LinkOptions link;
  link.cpu_level = options.cpu_level;
  link.export_list = "aotc_sim_image";
  link.soname = "kernels_sim.so";
  return tools.link({tools.compile(host, options)}, link);
}

}  // namespace

std::vector<GpuImage> wanted_images(const CompileSettings& settings) {
  std::vector<std::string> archs = settings.gpu_archs.empty() ? kUsual : settings.gpu_archs;
  std::vector<GpuImage> images;
  std::string latest;
  for (const std::string& arch : archs) {
    if (std::ranges::any_of(images, [&](const GpuImage& i) { return i.arch == arch; })) continue;
    if (arch == "sim") {
      images.push_back({"sim", "sim"});
      continue;
    }
    if (arch_number(arch) < 75)
      user_error("--gpu {}: expected sm_75 or later (sm_80, sm_90, sm_100, ...), or sim", arch);
    images.push_back({arch, "cubin"});
    if (latest.empty() || arch_number(arch) > arch_number(latest)) latest = arch;
  }
  if (!latest.empty()) images.push_back({"compute_" + latest.substr(3), "ptx"});
  return images;
}

void compile_images(std::vector<GpuImage>& images, const SourceFile& source,
                    const std::vector<std::string>& kernels, Toolchain& tools) {
  for (GpuImage& image : images)
    image.bytes = image.kind == "sim" ? compile_for_simulator(source, kernels, tools)
                                      : compile_with_nvrtc(source, image.arch, image.kind);
}

std::vector<ObjectFile> image_objects(const std::vector<GpuImage>& images, Toolchain& tools,
                                      const CompileOptions& options) {
  std::vector<ObjectFile> objects;
  std::string declarations, rows;
  for (size_t i = 0; i < images.size(); ++i) {
    const std::string symbol = fmt::format("aotc_gpu_image_{}", i);
    objects.push_back(make_data_object(symbol, images[i].bytes, options.cpu_level));
    declarations += fmt::format("extern \"C\" const char {}[];\n", symbol);
    rows += fmt::format("{{{}, {}, {}, {}}},\n", cpp_string(images[i].arch),
                        cpp_string(images[i].kind), symbol, images[i].bytes.size());
  }
  const SourceFile table{
      "images.cpp", fmt::format("{}#define NULL 0\n{}{}extern \"C\" const AotcDeviceImage "
                                "aotc_gpu_images[] = {{\n{}}};\n",
                                number_types_text(), program_declarations(), declarations, rows)};
  objects.push_back(tools.compile(table, options));
  return objects;
}

}  // namespace aotc
