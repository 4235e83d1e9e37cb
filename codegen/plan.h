// Stage 6: every value has storage. Temporaries get offsets in the arena, as expressions of the
// call's symbols; write-backs are proved direct or stay copies.
#pragma once
#include <map>

#include "ir/loops.h"

namespace aotc {

struct Plan {
  loops::LoopProgram program;
  std::map<loops::BufferId, Sym> arena_offset;  // bytes, multiples of 64
  Sym arena_bytes;
  // Temporaries whose size depends on data: segments of their own, kept from call to call.
  std::map<loops::BufferId, int> scratch_slot;
  std::map<loops::BufferId, Sym> scratch_bytes;
  int scratch_slots = 0;
};

Plan make_plan(loops::LoopProgram program);
std::string print(const Plan& plan);

}  // namespace aotc
