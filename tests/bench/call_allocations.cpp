// Counts the memory that one session_run obtains: calls of malloc and its like, and of mmap, per
// call.
//   call_allocations [--threads N] PACKAGE.aotc|MODEL.so...
// Columns: program, first call, later calls with results allocated by the call, with storage given
// by the caller.
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "program.h"

extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
}

namespace {
std::atomic<int64_t> allocations{0};
}

// The program's definitions take the place of the C library's in everything that is loaded later.
extern "C" {
void* malloc(size_t size) {
  ++allocations;
  return __libc_malloc(size);
}
void* calloc(size_t n, size_t size) {
  ++allocations;
  return __libc_calloc(n, size);
}
void* realloc(void* block, size_t size) {
  ++allocations;
  return __libc_realloc(block, size);
}
void* memalign(size_t alignment, size_t size) {
  ++allocations;
  return __libc_memalign(alignment, size);
}
void* aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }
int posix_memalign(void** out, size_t alignment, size_t size) {
  *out = memalign(alignment, size);
  return *out ? 0 : ENOMEM;
}
void* mmap(void* at, size_t size, int protection, int flags, int file, off_t offset) noexcept {
  ++allocations;
  return reinterpret_cast<void*>(syscall(SYS_mmap, at, size, protection, flags, file, offset));
}
}

namespace {

using namespace aotc;
using namespace aotc::bench;

constexpr int kCalls = 1000;

int64_t count(Call& call, int calls) {
  const int64_t before = allocations;
  for (int i = 0; i < calls; ++i) call();
  return allocations - before;
}

void measure(const std::string& program, int threads) {
  const Model model = open_program(program);
  const std::string options = "{\"threads\": " + std::to_string(threads) + "}";
  Session session(model, options), other(model, options);
  Call allocated(session, smallest_inputs(model), false),
      given(other, smallest_inputs(model), true);
  const int64_t first = count(allocated, 1), warm = count(given, 1);
  (void)warm;
  std::printf("%s\t%lld\t%.3f\t%.3f\n", program.c_str(), static_cast<long long>(first),
              static_cast<double>(count(allocated, kCalls)) / kCalls,
              static_cast<double>(count(given, kCalls)) / kCalls);
}

}  // namespace

int main(int argc, char** argv) try {
  int threads = 1;
  for (int i = 1; i < argc; ++i)
    if (!std::strcmp(argv[i], "--threads") && i + 1 < argc)
      threads = std::atoi(argv[++i]);
    else
      measure(argv[i], threads);
} catch (const std::exception& e) {
  std::fprintf(stderr, "call_allocations: %s\n", e.what());
  return 1;
}
