// Time per kernel, from the trace that a session's profiler writes.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "codegen/cli/session.h"

namespace aotc::cli {

struct KernelTime {
  std::string name;
  int64_t calls = 0;
  double microseconds = 0;  // in all
};

// Profiles calls for `seconds`, not fewer than 20 and not more than 1000, after a few that are not
// counted.
std::vector<KernelTime> profile_kernels(Session& session, double seconds,
                                        const std::function<void()>& call);
// By the steps of the trace that succeeded; the longest first.
std::vector<KernelTime> kernel_times(const std::string& chrome_trace, const std::string& where);
std::string kernel_table(const std::vector<KernelTime>& times);

}  // namespace aotc::cli
