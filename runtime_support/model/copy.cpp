// Copies between any two layouts: dimensions are ordered by the target's strides and merged where
// both sides allow it, so that the usual cases become few long runs.
#include <string.h>

#include "tensor.h"

namespace aotc::model {
namespace {

struct Loop {
  int64_t size, to, from;  // strides in bytes
};

int64_t magnitude(int64_t n) { return n < 0 ? -n : n; }

// Outermost loop first; returns their number.
int32_t make_loops(const View& to, const View& from, Loop* loops) {
  int32_t count = 0;
  for (int32_t d = 0; d < to.ndim; ++d) {
    if (to.sizes[d] == 1) continue;
    const Loop loop = {to.sizes[d], to.strides[d] * to.item, from.strides[d] * from.item};
    int32_t at = count++;
    for (; at > 0 && magnitude(loops[at - 1].to) < magnitude(loop.to); --at)
      loops[at] = loops[at - 1];
    loops[at] = loop;
  }
  return count;
}

int32_t merge_loops(Loop* loops, int32_t count) {
  int32_t merged = 0;
  for (int32_t i = 0; i < count; ++i) {
    Loop* outer = merged ? &loops[merged - 1] : nullptr;
    if (outer && outer->to == loops[i].to * loops[i].size &&
        outer->from == loops[i].from * loops[i].size)
      *outer = {outer->size * loops[i].size, loops[i].to, loops[i].from};
    else
      loops[merged++] = loops[i];
  }
  return merged;
}

template <int64_t kItem>
void copy_line(char* to, const char* from, const Loop& loop) {
  for (int64_t i = 0; i < loop.size; ++i) memcpy(to + i * loop.to, from + i * loop.from, kItem);
}

void copy_innermost(char* to, const char* from, const Loop& loop, int64_t item) {
  if (loop.to == item && loop.from == item) {
    memcpy(to, from, static_cast<size_t>(loop.size * item));
    return;
  }
  switch (item) {
    case 1:
      return copy_line<1>(to, from, loop);
    case 2:
      return copy_line<2>(to, from, loop);
    case 4:
      return copy_line<4>(to, from, loop);
    case 8:
      return copy_line<8>(to, from, loop);
    case 16:
      return copy_line<16>(to, from, loop);
    default:
      for (int64_t i = 0; i < loop.size; ++i)
        memcpy(to + i * loop.to, from + i * loop.from, static_cast<size_t>(item));
  }
}

}  // namespace

void copy_elements(const View& to, const View& from) {
  Loop loops[kMaxRank + 1];
  if (count_elements(to.sizes, to.ndim) == 0) return;
  int32_t count = merge_loops(loops, make_loops(to, from, loops));
  if (count == 0) loops[count++] = {1, to.item, to.item};
  const Loop inner = loops[--count];
  int64_t index[kMaxRank] = {};
  char* target = to.data;
  const char* source = from.data;
  for (;;) {
    copy_innermost(target, source, inner, to.item);
    int32_t d = count - 1;
    for (; d >= 0; --d) {
      target += loops[d].to;
      source += loops[d].from;
      if (++index[d] < loops[d].size) break;
      target -= loops[d].to * loops[d].size;
      source -= loops[d].from * loops[d].size;
      index[d] = 0;
    }
    if (d < 0) return;
  }
}

}  // namespace aotc::model
