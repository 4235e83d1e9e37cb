// Runs numbered jobs in child processes, so that one that crashes or hangs costs only itself.
#pragma once
#include <functional>
#include <string>
#include <vector>

namespace aotc::cli {

struct WorkerSettings {
  int workers = 1;              // processes at a time
  double timeout_seconds = 0;   // of a job; 0: none
  size_t jobs_per_worker = 32;  // then a fresh process, so that memory stays bounded
};

// Text that a job reported, in order, and how it ended.
struct JobOutcome {
  std::vector<std::string> reports;
  std::string failure;  // empty: it ended by itself; else e.g. "crashed: Segmentation fault"
};

// Calls work(job, report) in a child process for every job from 0 to count - 1, and done(job,
// outcome) in this process, in order of jobs. The calling process must have a single thread. Throws
// UserError when no process can be started.
void run_in_workers(
    size_t count, const WorkerSettings& settings,
    const std::function<void(size_t, const std::function<void(const std::string&)>&)>& work,
    const std::function<void(size_t, const JobOutcome&)>& done);

}  // namespace aotc::cli
