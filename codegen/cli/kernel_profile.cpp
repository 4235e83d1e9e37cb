// Adds up the steps of a Chrome trace by name.
#include "codegen/cli/kernel_profile.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>

#include "codegen/human_text.h"
#include "codegen/process.h"

namespace aotc::cli {
namespace {

constexpr int kWarmupCalls = 5, kFewestCalls = 20;
constexpr int kMostCalls = 1000;  // the trace of many steps stays small enough to be read

// An event per step; a call's event holds those of its steps, and a step that failed did not do its
// work.
bool counts(const nlohmann::json& event) {
  if (event.value("ph", "") != "X" || event.value("cat", "step") == "call") return false;
  return !event.contains("args") || !event.at("args").value("failed", false);
}

}  // namespace

std::vector<KernelTime> profile_kernels(Session& session, double seconds,
                                        const std::function<void()>& call) {
  using Clock = std::chrono::steady_clock;
  const TemporaryFolder folder;
  const std::string trace = (folder.path() / "trace.json").string();
  for (int i = 0; i < kWarmupCalls; ++i) call();
  check_status(aotc_session_profile_start(session.handle(), nullptr));
  const Clock::time_point end =
      Clock::now() + std::chrono::nanoseconds(static_cast<int64_t>(seconds * 1e9));
  for (int i = 0; i < kFewestCalls || (i < kMostCalls && Clock::now() < end); ++i) call();
  check_status(aotc_session_profile_stop(session.handle(), trace.c_str()));
  return kernel_times(read_file(trace), trace);
}

std::vector<KernelTime> kernel_times(const std::string& chrome_trace, const std::string& where) {
  std::map<std::string, KernelTime> by_name;
  try {
    const nlohmann::json trace = nlohmann::json::parse(chrome_trace);
    const nlohmann::json& events = trace.is_array() ? trace : trace.at("traceEvents");
    for (const nlohmann::json& e : events) {
      if (!counts(e)) continue;
      KernelTime& k = by_name[e.at("name").get<std::string>()];
      k.name = e.at("name").get<std::string>();
      ++k.calls;
      k.microseconds += e.value("dur", 0.0);
    }
  } catch (const nlohmann::json::exception& e) {
    internal_error("{}: the profiler's trace is not as expected: {}", where, e.what());
  }
  std::vector<KernelTime> times;
  for (auto& [name, time] : by_name) times.push_back(std::move(time));
  std::stable_sort(times.begin(), times.end(), [](const KernelTime& a, const KernelTime& b) {
    return a.microseconds > b.microseconds;
  });
  return times;
}

std::string kernel_table(const std::vector<KernelTime>& times) {
  double total = 0;
  for (const KernelTime& t : times) total += t.microseconds;
  std::vector<std::vector<std::string>> rows = {{"kernel", "calls", "per call", "share"}};
  for (const KernelTime& t : times)
    rows.push_back({t.name, std::to_string(t.calls),
                    nanoseconds_text(1000 * t.microseconds / static_cast<double>(t.calls)),
                    fmt::format("{:.1f} %", total > 0 ? 100 * t.microseconds / total : 0)});
  return table_text(rows);
}

}  // namespace aotc::cli
