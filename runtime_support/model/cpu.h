// CPU levels by name ("x86-64" to "x86-64-v4", "aarch64") and what this machine has of them.
#pragma once
#include <stdint.h>

namespace aotc::model {

// Higher is better within one architecture; -1: no level of that name.
int32_t cpu_level_rank(const char* level);

// NULL when this CPU and its operating system run code of that level, else what is missing, e.g.
// "avx512f". `level` is one that cpu_level_rank knows.
const char* missing_cpu_feature(const char* level);

}  // namespace aotc::model
