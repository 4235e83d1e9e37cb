// Stage 6: every value has storage. Temporaries get offsets in the arena, as expressions of the
// call's symbols; write-backs are proved direct or stay copies.
#pragma once
#include <map>

#include "codegen/launch_groups.h"
#include "ir/loops.h"

namespace aotc {

// Scratch memory of one device.
struct Memory {
  Sym arena_bytes;
  int scratch_slots = 0;  // segments of their own, for sizes that depend on data
};

struct Plan {
  loops::LoopProgram program;
  std::map<loops::BufferId, Sym> arena_offset;  // bytes, multiples of the device's alignment
  // Temporaries whose size depends on data: segments of their own, kept from call to call.
  std::map<loops::BufferId, int> scratch_slot;
  std::map<loops::BufferId, Sym> scratch_bytes;
  std::vector<LaunchGroup> groups;  // in order; a kernel is in one at most
  Memory host, gpu;

  Memory& memory(const Device& d) { return d == Device{} ? host : gpu; }
  // The GPU that the program uses; the host's if it uses none.
  Device gpu_device() const;
  // The group that the kernel is in, or nullptr.
  const LaunchGroup* group_of(size_t kernel) const;
};

Plan make_plan(loops::LoopProgram program);
std::string print(const Plan& plan);

}  // namespace aotc
