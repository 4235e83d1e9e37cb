// Follows a compilation: which stage runs, how long each took, and word of it when it takes long.
#pragma once
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "codegen/pipeline.h"

namespace aotc::cli {

class StageClock {
 public:
  // Becomes the progress callback of `settings`, which must not outlive it. After a second, and
  // unless `quiet`, prints a line per stage on standard error.
  StageClock(CompileSettings& settings, bool quiet);
  ~StageClock();
  StageClock(const StageClock&) = delete;
  StageClock& operator=(const StageClock&) = delete;

  // Ends the last stage.
  void finish();
  // Milliseconds per stage in order, and their sum.
  std::vector<std::pair<std::string, double>> times() const;
  double total() const;
  // A table for standard error.
  std::string table() const;

 private:
  using Clock = std::chrono::steady_clock;
  void begin(const std::string& stage);
  void watch();
  double since(Clock::time_point start) const;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::pair<std::string, double>> times_;
  std::string stage_, told_;
  Clock::time_point start_, stage_start_;
  bool done_ = false;
  std::thread watcher_;
};

// The stage that a compilation of this process is in or ended in; "" if none began. For error
// reports, also from a signal handler.
const char* current_stage();

}  // namespace aotc::cli
