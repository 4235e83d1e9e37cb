// Jobs in forked processes: a job that crashes or hangs is a result like any other.
#pragma once
#include <functional>
#include <string>

namespace aotc::random_graphs {

struct JobResult {
  uint64_t job = 0;
  bool finished = false;  // else it crashed, or had no answer in time
  std::string text;       // what `work` returned, or how it ended
};

// Runs work(first) ... work(first + count - 1) in `processes` processes, `seconds` at most each,
// and hands every result to `done` in this process, in the order in which they finish.
void run_jobs(uint64_t first, uint64_t count, int processes, int seconds,
              const std::function<std::string(uint64_t)>& work,
              const std::function<void(const JobResult&)>& done);

}  // namespace aotc::random_graphs
