// kernels.cu of a program.
#pragma once
#include <string>
#include <vector>

#include "codegen/emit.h"

namespace aotc {

// The kernel's function. `checked`: earlier kernels of the call may have failed a check; then it
// does nothing. `comment`: whole lines; `canonical`: names say nothing.
std::string cuda_text(const loops::LoopProgram& p, const ScheduledKernel& k, bool canonical,
                      bool checked, const std::string& comment);

// What program.cpp says of the kernels in the images, and the file itself. No text: there are none.
struct CudaSources {
  SourceFile kernels;                                // kernels.cu
  std::vector<std::string> names;                    // of kernels, by number
  std::vector<std::pair<std::string, bool>> checks;  // (message, reports a value), by number
  bool capturable = false;
  int number_of(const std::string& kernel) const;
};
CudaSources cuda_sources(const Plan& plan, const std::vector<ScheduledKernel>& kernels,
                         const EmitOptions& options);

}  // namespace aotc
