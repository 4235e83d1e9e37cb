// The function `run` of a program: it calls the kernels in order, gives data-dependent sizes their
// memory as soon as they are known, and returns at the first check that fails.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "codegen/cuda/emit_launch.h"
#include "codegen/emit.h"
#include "codegen/sizes.h"
#include "codegen/weights.h"

namespace aotc {

struct RunText {
  std::string declarations;          // of the kernels
  std::string functions;             // that run calls: sizes known during the call
  std::string run;                   // the function
  std::vector<std::string> steps;    // rows of AotcStep: what run does, in order
  std::vector<std::string> scratch;  // byte counts of templates' scratch, which follows the arena
  int scratch_slots = 0;             // for AotcProgram.n_scratch_slots
  std::set<std::string> templates;   // files of templates/ that run calls, without .cpp
};

RunText run_text(const Plan& plan, const std::vector<ScheduledKernel>& kernels,
                 const CudaSources& cuda, const WeightLayout& weights, Sizes& sizes);

}  // namespace aotc
