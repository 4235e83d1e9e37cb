// Control over the replaced malloc of a test program.
#pragma once
#include <cstdint>

namespace aotc::test {

// The allocation after `count` more fails in this thread, and all later ones with it; negative:
// none.
void fail_allocations_after(int64_t count);
// Blocks allocated and not yet freed by this thread.
int64_t live_blocks();

}  // namespace aotc::test
