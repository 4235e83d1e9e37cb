// Worker processes: order, crashes, hangs, bounded lives.
#include <signal.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <set>

#include "codegen/cli/worker_pool.h"

namespace aotc::cli::test {
namespace {

using Report = std::function<void(const std::string&)>;

std::vector<JobOutcome> outcomes(size_t count, const WorkerSettings& settings,
                                 const std::function<void(size_t, const Report&)>& work) {
  std::vector<JobOutcome> all;
  run_in_workers(count, settings, work, [&](size_t job, const JobOutcome& outcome) {
    CHECK(job == all.size());
    all.push_back(outcome);
  });
  CHECK(all.size() == count);
  return all;
}

void crash() { raise(SIGKILL); }

}  // namespace

TEST_CASE("outcomes arrive complete and in order", "[workers]") {
  for (int workers : {1, 3}) {
    const auto all = outcomes(10, {workers, 0, 4}, [](size_t job, const Report& report) {
      if (job % 3 == 0) usleep(20000);
      report("first " + std::to_string(job));
      report(std::string(200000, 'x'));
    });
    for (size_t i = 0; i < all.size(); ++i) {
      CHECK(all[i].failure.empty());
      REQUIRE(all[i].reports.size() == 2);
      CHECK(all[i].reports[0] == "first " + std::to_string(i));
      CHECK(all[i].reports[1].size() == 200000);
    }
  }
}

TEST_CASE("a crash costs its own job only", "[workers]") {
  for (int workers : {1, 2}) {
    const auto all = outcomes(6, {workers, 0, 3}, [](size_t job, const Report& report) {
      report("begun");
      if (job == 1 || job == 2) crash();
      if (job == 4) _exit(3);
      report("ended");
    });
    for (size_t i : {0u, 3u, 5u}) CHECK(all[i].reports.size() == 2);
    CHECK(all[1].reports.size() == 1);
    CHECK(all[1].failure == "crashed: Killed");
    CHECK(all[2].failure == "crashed: Killed");
    CHECK(all[4].failure == "ended its process with exit code 3");
  }
}

TEST_CASE("a job that hangs is stopped", "[workers]") {
  const auto all = outcomes(3, {1, 0.3, 8}, [](size_t job, const Report& report) {
    if (job == 1)
      for (;;) pause();
    report("ended");
  });
  CHECK(all[1].failure == "timed out after 0.3 s");
  CHECK(all[2].reports.size() == 1);
}

TEST_CASE("a process serves a bounded number of jobs", "[workers]") {
  const auto all = outcomes(9, {1, 0, 4},
                            [](size_t, const Report& report) { report(std::to_string(getpid())); });
  std::set<std::string> processes;
  for (const JobOutcome& o : all) processes.insert(o.reports.at(0));
  CHECK(processes.size() == 3);
}

TEST_CASE("no jobs, no processes", "[workers]") {
  outcomes(0, {2, 0, 4}, [](size_t, const Report&) { FAIL("there is no job"); });
}

}  // namespace aotc::cli::test
