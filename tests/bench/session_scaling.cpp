// Throughput of sessions on threads: calls per second of one session, and of N sessions of the
// same model on N threads, in turns; medians over rounds.
//   session_scaling [--threads N] PACKAGE.aotc...
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <thread>

#include "program.h"

namespace {

using namespace aotc;
using namespace aotc::bench;
using Clock = std::chrono::steady_clock;

constexpr int kRounds = 15;
constexpr double kRoundSeconds = 0.1;

struct Worker {
  explicit Worker(const Model& model)
      : session(model, "{\"threads\": 1}"), call(session, smallest_inputs(model), true) {}
  int64_t run_until(Clock::time_point end) {
    int64_t calls = 0;
    for (; Clock::now() < end; calls += 16)
      for (int i = 0; i < 16; ++i) call();
    return calls;
  }
  Session session;
  Call call;
};

double calls_per_second(std::vector<std::unique_ptr<Worker>>& workers, size_t count) {
  std::vector<int64_t> calls(count);
  std::vector<std::thread> threads;
  const Clock::time_point begin = Clock::now();
  const Clock::time_point end = begin + std::chrono::duration_cast<Clock::duration>(
                                            std::chrono::duration<double>(kRoundSeconds));
  for (size_t i = 0; i < count; ++i)
    threads.emplace_back([&, i] { calls[i] = workers[i]->run_until(end); });
  for (std::thread& t : threads) t.join();
  double total = 0;
  for (int64_t n : calls) total += static_cast<double>(n);
  return total / std::chrono::duration<double>(Clock::now() - begin).count();
}

void measure(const std::string& path, size_t count) {
  const Model model = open_program(path);
  std::vector<std::unique_ptr<Worker>> workers;
  for (size_t i = 0; i < count; ++i) workers.push_back(std::make_unique<Worker>(model));
  std::vector<double> one, all, ratio;
  for (int round = 0; round < kRounds; ++round) {
    one.push_back(calls_per_second(workers, 1));
    all.push_back(calls_per_second(workers, count));
    ratio.push_back(all.back() / one.back());
  }
  for (std::vector<double>* list : {&one, &all, &ratio}) std::sort(list->begin(), list->end());
  std::printf("%s: one session %.0f calls/s, %zu sessions %.0f calls/s, ratio %.2f (best %.2f)\n",
              path.substr(path.rfind('/') + 1).c_str(), one[kRounds / 2], count, all[kRounds / 2],
              ratio[kRounds / 2], ratio.back());
}

}  // namespace

int main(int argc, char** argv) try {
  size_t count = 8;
  int first = 1;
  if (argc > 2 && !std::strcmp(argv[1], "--threads")) {
    count = std::stoul(argv[2]);
    first = 3;
  }
  for (int i = first; i < argc; ++i) measure(argv[i], count);
  return argc <= first;
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
