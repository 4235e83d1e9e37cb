// How a GPU kernel runs: what its threads share, how wide they access memory, and which elements of
// a row stay in their registers from one phase to a later one.
#pragma once
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ir/loops.h"

namespace aotc {

// Elements that threads keep: each those of its own first iterations.
struct KeptRow {
  loops::BufferId buffer = -1;  // whose elements
  loops::ExprId load = -1;      // that fills it; -1: a store does
};

using StoreId = std::pair<int, int>;  // phase, store of that phase

struct GpuLaunch {
  // Thread: each thread does whole independent iterations. Row: the threads of a row share the
  // loops of one independent iteration, and barriers lie between its phases.
  enum class Unit : uint8_t { Thread, Row };
  Unit unit = Unit::Thread;
  int threads = 256;  // per block, or per row
  int rows = 1;       // per block; more than one only where a row is a warp
  // Adjacent iterations of the innermost axis that a thread takes at once.
  int width = 1;
  int rounds = 0;  // of a phase's loop, counted by thread: their elements are kept
  std::vector<KeptRow> kept;
  std::map<loops::ExprId, int> kept_loads;  // served from (or, the first one, put into) kept[i]
  std::map<StoreId, int> kept_stores;       // that also go into kept[i]
  std::set<StoreId> chip_stores;            // whose kept elements nobody needs in memory
  std::set<loops::BufferId> chip_buffers;   // that are in registers only
};

// Decides for a kernel whose accesses are flat. May move the last axis of a pointwise kernel into
// its phase, which then runs `width` iterations at once.
GpuLaunch gpu_launch(const loops::LoopProgram& p, loops::Kernel& k);

// Iterations of the axes in the order in which threads take them: how many packs of `width`
// adjacent ones there are, and whether each pack is full.
struct PackedAxes {
  PackedAxes(const std::vector<loops::Axis>& axes, int width);
  Sym in_last;  // packs of the last axis
  Sym count;    // of all axes
  bool full;
};

// Whether the access of a pack is of adjacent elements: `at` is this axis plus what does not depend
// on it.
bool is_adjacent(const loops::Kernel& k, const Sym& at, const std::string& axis);
// The same text for accesses, in two phases, in which each thread touches the same elements in each
// of its iterations; none if that is not known.
std::optional<std::string> own_place(const loops::Kernel& k, const loops::Phase& ph,
                                     loops::BufferId b, const Sym& at, int width);

// Bytes that a scheduled kernel moves between memory and chip: what it loads again counts again.
struct Traffic {
  Sym read, written;
};
Traffic gpu_traffic(const loops::LoopProgram& p, const loops::Kernel& scheduled,
                    const GpuLaunch& launch);

}  // namespace aotc
