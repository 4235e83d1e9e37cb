// A thread that wakes once a second; it only reads the name of the stage.
#include "codegen/cli/stage_clock.h"

#include <fmt/format.h>

#include <atomic>

namespace aotc::cli {
namespace {

// The name of a row of stages(), which lasts as long as the process.
std::atomic<const char*>& stage_name() {
  static std::atomic<const char*> name{""};
  return name;
}

const char* lasting_name(const std::string& stage) {
  for (const Stage& s : stages())
    if (s.name == stage) return s.name;
  return "";
}

}  // namespace

const char* current_stage() { return stage_name().load(); }

StageClock::StageClock(CompileSettings& settings, bool quiet) : start_(Clock::now()) {
  settings.progress = [this](const std::string& stage) { begin(stage); };
  if (!quiet) watcher_ = std::thread([this] { watch(); });
}

StageClock::~StageClock() {
  finish();
  if (watcher_.joinable()) watcher_.join();
}

double StageClock::since(Clock::time_point start) const {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

void StageClock::begin(const std::string& stage) {
  std::lock_guard lock(mutex_);
  if (!stage_.empty()) times_.emplace_back(stage_, since(stage_start_));
  stage_ = stage;
  stage_name() = lasting_name(stage);
  stage_start_ = Clock::now();
}

void StageClock::finish() {
  std::lock_guard lock(mutex_);
  if (done_) return;
  if (!stage_.empty()) times_.emplace_back(stage_, since(stage_start_));
  done_ = true;
  changed_.notify_all();
}

void StageClock::watch() {
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, std::chrono::seconds(1), [this] { return done_; })) {
    if (stage_ == told_) continue;
    told_ = stage_;
    fmt::print(stderr, "aotc: {:.0f} s: {}\n", since(start_) / 1000, stage_);
  }
}

std::vector<std::pair<std::string, double>> StageClock::times() const {
  std::lock_guard lock(mutex_);
  return times_;
}

double StageClock::total() const {
  double sum = 0;
  for (const auto& [stage, ms] : times()) sum += ms;
  return sum;
}

std::string StageClock::table() const {
  std::string text;
  for (const auto& [stage, ms] : times()) text += fmt::format("{:<12} {:>10.2f} ms\n", stage, ms);
  return text + fmt::format("{:<12} {:>10.2f} ms\n", "total", total());
}

}  // namespace aotc::cli
