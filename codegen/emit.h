// Stage 7: text. Emitters print what the plan says and decide nothing.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "codegen/plan.h"
#include "codegen/schedule.h"
#include "codegen/toolchain.h"
#include "codegen/weights.h"

namespace aotc {

// What is emitted: sources, what their kernels may store through, and the weights blob they refer
// to.
struct Sources {
  std::string name;  // the model's name, a C identifier
  std::vector<SourceFile> files;
  StoreTable stores;  // for kernels.cpp
  WeightBlob weights;
  std::set<std::string> templates;        // files of templates/ to link, without .cpp
  SourceFile cuda;                        // kernels.cu; no text: nothing runs on a GPU
  std::vector<std::string> cuda_kernels;  // their names, by number
  bool embed_weights = false;
  std::string manifest;  // JSON, built in (the package's manifest.json adds the files)
};

struct EmitOptions {
  std::string cpu_level;
  std::string name;  // identifier for the model; also the suffix of its API function when embedded
  bool embedded =
      false;  // names carry the model's name, so that several models link into one program
  bool embed_weights = false;
  size_t gpu_images = 0;  // that will be in the table of images
};

const char* cpp_type(DType t);
std::string cpp_constant(const ScalarValue& v);
// Integer expression as C++ whose operands have type `type`; symbols print as their names, "%n" as
// v<n>.
std::string cpp_index(const Sym& s, const Assumptions& a, const char* type = "int64_t");
SourceFile kernels_file(const Plan& plan, const std::vector<ScheduledKernel>& kernels,
                        const EmitOptions& options, StoreTable& stores);
// The kernel's function with names that say nothing: equal for kernels that do the same.
std::string canonical_text(const loops::LoopProgram& p, const ScheduledKernel& k);
SourceFile program_file(const Plan& plan, const std::vector<ScheduledKernel>& kernels,
                        const EmitOptions& options, Sources& sources);
Sources emit(const Plan& plan, const EmitOptions& options);

// How a kernel is called: its parameters in order.
struct KernelParameters {
  std::vector<loops::BufferId> buffers;  // pointers to the home of each
  std::vector<loops::BufferId> values;   // single numbers of the host, for GPU kernels
  std::vector<std::string> symbols;      // int64_t values
  bool parallel = false;
};
KernelParameters parameters_of(const loops::LoopProgram& p, const ScheduledKernel& k);
std::string pointer_name(const loops::LoopProgram& p, loops::BufferId b);
// Whether the kernel is a function of kernels.cpp.
bool runs_on_host(const ScheduledKernel& s);
// The comment above a kernel: its name, ops and Python lines.
std::string comment_for(const loops::Kernel& k);

}  // namespace aotc
