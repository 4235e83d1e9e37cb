// The process's thread pool behind parallel_for. Each library that contains this code (a lone
// model.so, or libaotc.so for all packages it opens) has one; it starts on first need and stops
// with its last user.
#pragma once
#include "aotc/aotc.h"

namespace aotc::model {

constexpr int32_t kMaxThreads = 1024;

// The CPUs that the process may run on, at least 1.
int32_t usable_cpus();

// Threads exist only between the first pool_parallel_for and the last pool_release: whoever may
// call pool_parallel_for holds a reference, so no thread runs in a library that is being unmapped.
void pool_retain();
void pool_release();

// An AotcParallelFor. `context` points to an int32_t: at most that many threads take part, the
// caller included. Runs serially in the caller when the pool is busy with another caller's job (so
// nested and concurrent calls cannot deadlock), when threads cannot be created, and when the work
// is one grain.
void pool_parallel_for(void* context, int64_t n, int64_t grain, AotcRangeFn fn, void* arg);

}  // namespace aotc::model
