// Prints the time of one session_run of compiled programs, in turns: minimum and median over
// rounds, in nanoseconds.
//   call_cost [--threads N] [--inputs FOLDER] [--rounds N] PACKAGE.aotc|MODEL.so...
// Without --inputs each program gets zeros of its smallest sizes. Columns: program, results
// allocated by the call (minimum, median), storage given by the caller (minimum, median).
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>

#include "program.h"

namespace {

using namespace aotc;
using namespace aotc::bench;
using Clock = std::chrono::steady_clock;

struct Options {
  int threads = 1, rounds = 200;
  std::string inputs;
  std::vector<std::string> programs;
};

constexpr double kRoundNs = 100'000;  // far above the cost of reading the clock

double time_calls(Call& call, int64_t calls) {
  call.restore();
  const Clock::time_point begin = Clock::now();
  for (int64_t i = 0; i < calls; ++i) call();
  return std::chrono::duration<double, std::nano>(Clock::now() - begin).count() /
         static_cast<double>(calls);
}

// One program with one way to receive its results.
struct Subject {
  Subject(const Model& model, const Options& options, bool give_storage)
      : session(model, "{\"threads\": " + std::to_string(options.threads) + "}"),
        call(session,
             options.inputs.empty() ? smallest_inputs(model) : read_inputs(model, options.inputs),
             give_storage) {
    for (int i = 0; i < 3; ++i) time_calls(call, 1);
    calls =
        std::max<int64_t>(1, static_cast<int64_t>(kRoundNs / std::max(1.0, time_calls(call, 10))));
  }
  Session session;
  Call call;
  int64_t calls = 1;
  std::vector<double> times;
};

void print(const std::string& program, Subject& allocated, Subject& given) {
  std::printf("%s", program.c_str());
  for (Subject* subject : {&allocated, &given}) {
    std::sort(subject->times.begin(), subject->times.end());
    std::printf("\t%.0f\t%.0f", subject->times.front(), subject->times[subject->times.size() / 2]);
  }
  std::printf("\n");
}

void measure(const Options& options) {
  std::vector<std::unique_ptr<Subject>> subjects;
  for (const std::string& program : options.programs) {
    const Model model = open_program(program);
    for (const bool give_storage : {false, true})
      subjects.push_back(std::make_unique<Subject>(model, options, give_storage));
  }
  for (int round = 0; round < options.rounds; ++round)
    for (const auto& subject : subjects)
      subject->times.push_back(time_calls(subject->call, subject->calls));
  for (size_t i = 0; i < options.programs.size(); ++i)
    print(options.programs[i], *subjects[2 * i], *subjects[2 * i + 1]);
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const bool has_value = i + 1 < argc;
    if (!std::strcmp(argv[i], "--threads") && has_value)
      options.threads = std::atoi(argv[++i]);
    else if (!std::strcmp(argv[i], "--rounds") && has_value)
      options.rounds = std::max(1, std::atoi(argv[++i]));
    else if (!std::strcmp(argv[i], "--inputs") && has_value)
      options.inputs = argv[++i];
    else
      options.programs.push_back(argv[i]);
  }
  return options;
}

}  // namespace

int main(int argc, char** argv) try {
  measure(parse(argc, argv));
} catch (const std::exception& e) {
  std::fprintf(stderr, "call_cost: %s\n", e.what());
  return 1;
}
