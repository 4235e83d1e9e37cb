// The way of a program, stage by stage. One list (pipeline.cpp) is the table of contents: dump,
// verify, timing,
// --emit, --from and --help all come from it.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "codegen/emit.h"
#include "codegen/plan.h"
#include "codegen/toolchain.h"
#include "ir/graph.h"

namespace aotc {

// What the user asks of a compilation; the flags of `aotc compile`.
struct CompileSettings {
  std::string device = "as-exported";             // as-exported | cpu | cuda
  std::map<std::string, std::string> device_map;  // "cuda:0" -> "cpu"
  std::vector<std::string> cpu_levels = {"native"};
  std::vector<std::string> gpu_archs = {};  // sm_80, ..., sim; empty: sm_80, sm_90, sm_100
  std::string in_place = "prefer";          // prefer | require
  std::vector<std::pair<std::string, std::string>> aliases;  // --alias IN=OUT
  std::string backend = "clang";                             // clang | g++
  std::string weights = "auto";  // auto (embed up to 1 MB) | embed | external
  bool check_stages = false;
  bool optimize = true;       // false: -O0 and no fusion (tests)
  std::string embedded_name;  // not empty: symbols carry this name (emit-source, static embedding)
  std::function<void(const std::string&)> progress =
      {};  // called with the name of each stage as it begins
};

// One member of the package.
struct PackageFile {
  std::string name;
  std::string bytes = {};
  WeightBlob weights = {};  // follow the bytes
  uint64_t size() const { return bytes.size() + static_cast<uint64_t>(weights.size()); }
};

// An entry of AotcGpu.images: see AotcDeviceImage in runtime_support/model/program.h.
struct GpuImage {
  std::string arch, kind;
  std::string bytes = {};
};

// The products of the stages so far. Each is there once its stage has run.
struct Compilation {
  CompileSettings settings;
  std::shared_ptr<const pt2::ExportedProgram> exported;
  std::optional<ImportedGraph> graph;
  std::optional<FunctionalGraph> functional;
  std::optional<CoreGraph> core;
  std::optional<loops::LoopProgram> loops;  // stages `loops` and `fused`
  std::optional<Plan> plan;
  std::vector<Sources> sources;                               // one per CPU level
  std::vector<std::pair<std::string, std::string>> binaries;  // CPU level, bytes of model.so
  std::vector<GpuImage> gpu_images;                           // in each of them
  std::string explain;                                        // text of `aotc explain`
  std::string explain_json;                                   // the same, for programs
  std::vector<PackageFile> package;                           // everything that goes into the .aotc
  std::map<std::string, double> milliseconds;                 // per stage
};

struct Stage {
  const char* name;
  const char* purpose;  // one sentence
  void (*run)(Compilation&);
  std::string (*print)(const Compilation&);  // what --emit=NAME shows
  void (*parse)(Compilation&, const std::string& text,
                const std::string& file);  // --from; may be null
};

const std::vector<Stage>& stages();
const Stage& stage_named(const std::string& name);  // UserError listing the names

// Reads the archive (stage 0) and runs all stages up to and including `last` ("" : all).
Compilation compile_model(const std::string& pt2_path, const CompileSettings& settings,
                          const std::string& last = "");
// Starts after `from` with its text form; `pt2_path` (may be empty) supplies weights and sample
// inputs.
Compilation compile_from(const std::string& from, const std::string& text_file,
                         const std::string& pt2_path, const CompileSettings& settings,
                         const std::string& last = "");

// UserError where no package can be written: a folder or device, or no permission.
void check_package_path(const std::string& path);
// Writes the package to `path`: to a temporary name beside it first, then renamed. UserError when
// that fails.
void write_package(const Compilation& c, const std::string& path);
// Reads one member of a package; nullopt if there is none. UserError if the file is no package.
std::optional<std::string> read_package_member(const std::string& path, const std::string& member);
std::vector<std::string> list_package(const std::string& path);

// One row per kernel: Python lines, ops, bytes read and written, storage, direct or copied
// write-back and why.
std::string explain(const Plan& plan);
// The fields are described in codegen/cli/README.md.
std::string explain_json(const Plan& plan);
// Signature, shapes and ranges, mutations, aliased_io, devices, arena, as text, from a manifest.
std::string describe_manifest(const std::string& manifest_json);

}  // namespace aotc
