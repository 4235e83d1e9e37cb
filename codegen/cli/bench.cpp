// aotc bench: the latency of one call, repeated until it is known.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <nlohmann/json.hpp>

#include "codegen/cli/call_inputs.h"
#include "codegen/cli/commands.h"
#include "codegen/cli/compile_flags.h"
#include "codegen/cli/kernel_profile.h"
#include "codegen/human_text.h"

using json = nlohmann::ordered_json;

namespace aotc::cli {
namespace {

using Clock = std::chrono::steady_clock;

struct BenchArguments {
  OutputFlags output;
  std::string package, weights;
  std::vector<std::string> inputs;
  int threads = 0;
  double seconds = 1;
  bool kernels = false;
};

struct Latency {
  double minimum = 0, median = 0, p95 = 0;  // nanoseconds per call
  int64_t calls = 0;
};

// Calls of one session on one set of inputs. Mutated inputs are put back between rounds, so that
// values do not drift away; states go on, and are reset when the program refuses to go on (a full
// cache).
class Caller {
 public:
  Caller(const Model& model, Session& session, CallInputs inputs)
      : session_(session), inputs_(std::move(inputs)), results_(model.outputs().size()) {
    for (const HostTensor& t : inputs_.tensors) {
      tensors_.push_back(t.dl());
      saved_.emplace_back(reinterpret_cast<const char*>(t.storage->data()),
                          static_cast<size_t>(t.storage->size()));
    }
  }

  // Nanoseconds per call of a round.
  double time_round(int64_t calls) {
    restore();
    for (int attempt = 0;; ++attempt) {
      const Clock::time_point begin = Clock::now();
      AotcStatus status = AOTC_OK;
      for (int64_t i = 0; i < calls && status == AOTC_OK; ++i) status = call();
      const double ns = std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
      if (status == AOTC_OK) return ns / static_cast<double>(calls);
      if (attempt > 0 || status != AOTC_FAILED_CHECK) check_status(status);
      session_.reset();
    }
  }

 private:
  AotcStatus call() {
    const AotcStatus status = session_.try_run(tensors_, results_);
    results_.clear();
    return status;
  }
  void restore() {
    for (size_t i = 0; i < saved_.size(); ++i)
      std::memcpy(inputs_.tensors[i].storage->data(), saved_[i].data(), saved_[i].size());
  }

  Session& session_;
  CallInputs inputs_;
  std::vector<DLTensor> tensors_;
  std::vector<std::string> saved_;
  Results results_;
};

constexpr double kRoundNs = 20'000;  // shorter rounds would measure the clock
constexpr int kFewestRounds = 10;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

Latency measure(Caller& caller, double seconds) {
  const Clock::time_point warm_up = Clock::now();
  double ns = caller.time_round(1);
  while (seconds_since(warm_up) < seconds / 10) ns = caller.time_round(1);
  const int64_t calls = std::max<int64_t>(1, static_cast<int64_t>(kRoundNs / std::max(ns, 1.0)));
  std::vector<double> rounds;
  const Clock::time_point begin = Clock::now();
  while (seconds_since(begin) < seconds || rounds.size() < kFewestRounds)
    rounds.push_back(caller.time_round(calls));
  std::sort(rounds.begin(), rounds.end());
  Latency l;
  l.minimum = rounds.front();
  l.median = rounds[rounds.size() / 2];
  l.p95 = rounds[rounds.size() * 95 / 100];
  l.calls = calls * static_cast<int64_t>(rounds.size());
  return l;
}

json latency_json(const Latency& l) {
  return {{"ns_min", l.minimum}, {"ns_median", l.median}, {"ns_p95", l.p95}, {"calls", l.calls}};
}

// What the session option means: 0 is the run time's own choice.
std::string threads_text(int threads) { return threads ? std::to_string(threads) : "default"; }

int run_bench(const BenchArguments& o) {
  const Model model(o.package, o.weights);
  Session session(model, o.threads);
  CallInputs inputs = choose_inputs(o.inputs, o.package, model);
  const std::string origin = inputs.origin;
  Caller caller(model, session, std::move(inputs));
  std::string kernels;
  json result = {{"package", o.package}, {"inputs_from", origin}, {"threads", o.threads}};
  if (o.kernels) {
    const std::vector<KernelTime> times =
        profile_kernels(session, o.seconds, [&] { caller.time_round(1); });
    kernels = kernel_table(times);
    for (const KernelTime& k : times)
      result["kernels"].push_back({{"name", k.name}, {"calls", k.calls}, {"us", k.microseconds}});
  } else {
    const Latency l = measure(caller, o.seconds);
    result.update(latency_json(l));
    if (!o.output.json)
      fmt::print("{}: min {}, median {}, 95% {} per call; {} calls, threads: {}, inputs: {}\n",
                 o.package, nanoseconds_text(l.minimum), nanoseconds_text(l.median),
                 nanoseconds_text(l.p95), l.calls, threads_text(o.threads), origin);
  }
  if (o.output.json)
    fmt::print("{}\n", result.dump(1));
  else
    fmt::print("{}", kernels);
  return kExitOk;
}

}  // namespace

void add_bench(CLI::App& app, Action& action) {
  auto o = std::make_shared<BenchArguments>();
  CLI::App* command = app.add_subcommand("bench", "measure the latency of a package");
  command->add_option("PACKAGE", o->package, "what aotc compile wrote")->required();
  command->add_flag("--kernels", o->kernels, "time per kernel instead of per call");
  command->add_option("--inputs", o->inputs, "as for aotc run")->type_name("DIR | FILE...");
  command->add_option("--threads", o->threads, "default: the CPUs that the process may use")
      ->check(thread_count());
  command->add_option("--seconds", o->seconds, "how long to measure")
      ->check(CLI::Range(0.01, 3600.0))
      ->capture_default_str();
  command->add_option("--weights-file", o->weights, "a file with the weights, for a bare model.so")
      ->type_name("FILE");
  add_output_flags(*command, o->output);
  command->callback([o, &action] { action = [o] { return run_bench(*o); }; });
}

}  // namespace aotc::cli
