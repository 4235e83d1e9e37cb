// Elements of a row that several phases of a kernel touch are loaded once.
#pragma once
#include "codegen/cuda/gpu_launch.h"

namespace aotc {

// A number that a phase without loops leaves in a temporary for later phases is forwarded to them.
// Stores to temporaries that nothing reads any more go.
void forward_row_numbers(const loops::LoopProgram& p, loops::Kernel& k);

// Decides what the threads of a row keep, given unit, threads and width.
void keep_rows(const loops::LoopProgram& p, const loops::Kernel& k, GpuLaunch& launch);

}  // namespace aotc
