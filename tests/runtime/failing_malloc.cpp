// Replaces the C library's allocation functions by ones that can refuse, and count.
#include "failing_malloc.h"

#include <cerrno>
#include <cstddef>

extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
void __libc_free(void*);
}

namespace {
thread_local int64_t allowed = -1;
thread_local int64_t live = 0;

bool refuse() {
  if (allowed < 0) return false;
  if (allowed > 0) {
    --allowed;
    return false;
  }
  errno = ENOMEM;
  return true;
}
void* counted(void* block) {
  if (block) ++live;
  return block;
}
}  // namespace

namespace aotc::test {
void fail_allocations_after(int64_t count) { allowed = count; }
int64_t live_blocks() { return live; }
}  // namespace aotc::test

extern "C" {
void* malloc(size_t size) { return refuse() ? nullptr : counted(__libc_malloc(size)); }
void* calloc(size_t n, size_t size) { return refuse() ? nullptr : counted(__libc_calloc(n, size)); }
void* realloc(void* block, size_t size) {
  if (!block) return malloc(size);
  return refuse() ? nullptr : __libc_realloc(block, size);
}
void* aligned_alloc(size_t alignment, size_t size) {
  return refuse() ? nullptr : counted(__libc_memalign(alignment, size));
}
void* memalign(size_t alignment, size_t size) { return aligned_alloc(alignment, size); }
int posix_memalign(void** out, size_t alignment, size_t size) {
  void* block = aligned_alloc(alignment, size);
  if (!block) return ENOMEM;
  *out = block;
  return 0;
}
void free(void* block) {
  if (block) --live;
  __libc_free(block);
}
}
