// The rules of one kernel.
#pragma once
#include <set>
#include <string>

#include "ir/loops.h"
#include "ir/text/violations.h"

namespace aotc::text {

// What holds before the kernel runs.
struct KernelContext {
  const loops::LoopProgram& program;
  std::set<std::string> symbols;      // that have a value
  std::set<loops::BufferId> written;  // buffers whose elements something has written
};

void verify_kernel(const loops::Kernel& k, const KernelContext& context, Violations& found);
// Buffers that the kernel stores to.
std::set<loops::BufferId> stored_buffers(const loops::Kernel& k);

}  // namespace aotc::text
