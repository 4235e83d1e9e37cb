// Running the kernels of a loop program, shared by both levels.
#pragma once
#include "ir/interp/buffers.h"
#include "ir/interp/interp.h"

namespace aotc::interp {

// Runs all kernels in order. Throws CheckFailed.
void run_kernels(const loops::LoopProgram& program, Buffers& buffers, Symbols& symbols,
                 const RunOptions& options);
// A buffer that an output is in, all of its elements written.
Tensor output_buffer(Buffers& buffers, loops::BufferId id, const std::string& name);

}  // namespace aotc::interp
