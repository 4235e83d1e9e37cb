// random_graphs: interpreter against generated code on random programs. README.md beside this file.
#include <CLI/CLI.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "check.h"
#include "ir/text/text.h"
#include "maker.h"
#include "shrink.h"
#include "verdict_text.h"
#include "workers.h"

namespace aotc::random_graphs {
namespace {

struct Settings {
  uint64_t count = 200, seed = 1;
  MakerOptions maker;
  bool stage_only = false, no_shrink = false, print = false, list = false;
  int jobs = 1, seconds = 60;
  std::string save;
  std::vector<std::string> files;
};

bool optimizes(uint64_t seed) { return seed % 4 != 3; }

CheckOptions options_for(uint64_t seed, Compiler* compiler) {
  return {compiler, optimizes(seed), seed};
}

std::string made(uint64_t seed, const MakerOptions& options) {
  DrawLog log;
  return print(*make_graph(seed, options, log));
}

// A saved case starts with "# seed N"; without one the seed is 1.
uint64_t seed_of(const std::string& text) {
  uint64_t seed = 1;
  std::sscanf(text.c_str(), "# seed %lu", &seed);
  return seed;
}

class Run {
 public:
  explicit Run(const Settings& s) : s_(s) {
    if (!s.stage_only) compiler_ = std::make_unique<Compiler>();
  }

  int seeds() {
    auto begin = std::chrono::steady_clock::now();
    run_jobs(
        s_.seed, s_.count, s_.jobs, s_.seconds,
        [&](uint64_t seed) {
          return to_text(check_graph(made(seed, s_.maker), options_for(seed, compiler_.get())));
        },
        [&](const JobResult& r) { add(r); });
    double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    for (const auto& [name, seeds] : failures_) report(name, seeds);
    summary(seconds);
    return failures_.empty() ? 0 : 1;
  }

  // Saved cases.
  int files() {
    int failed = 0;
    for (const std::string& file : s_.files) {
      std::ifstream in(file);
      std::stringstream text;
      text << in.rdbuf();
      Verdict v = in ? isolated(text.str(), seed_of(text.str()))
                     : Verdict{Outcome::Internal, "", "cannot read the file", false};
      bool ok = v.outcome == Outcome::Agrees;
      failed += !ok;
      fmt::print("{} {}{}\n", ok ? "ok" : "FAILED", file, ok ? "" : ": " + describe(v));
    }
    return failed ? 1 : 0;
  }

 private:
  Verdict isolated(const std::string& text, uint64_t seed) {
    Verdict v;
    run_jobs(
        0, 1, 1, s_.seconds,
        [&](uint64_t) { return to_text(check_graph(text, options_for(seed, compiler_.get()))); },
        [&](const JobResult& r) {
          v = r.finished ? verdict_from_text(r.text) : Verdict{Outcome::Crash, "", r.text, false};
        });
    return v;
  }

  void add(const JobResult& r) {
    Verdict v = r.finished ? verdict_from_text(r.text) : Verdict{Outcome::Crash, "", r.text, false};
    ++counts_[v.outcome];
    inexact_ += v.inexact;
    if (s_.list) fmt::print("{} {}\n", r.job, describe(v));
    if (v.outcome == Outcome::Refused || v.outcome == Outcome::Unusable) ++reasons_[reason(v)];
    if (!v.fails()) return;
    auto& list = failures_[signature(v)];
    if (list.empty()) fmt::print("FAILED seed {}: {}\n", r.job, describe(v).substr(0, 400));
    std::fflush(stdout);
    list.push_back(r.job);
  }

  // The op in parentheses and the words after it.
  static std::string reason(const Verdict& v) {
    std::string line = v.message.substr(0, v.message.find('\n'));
    size_t op = line.find("aten.");
    return (v.outcome == Outcome::Refused ? "refused " : "no inputs ") +
           (op == std::string::npos ? line : line.substr(op)).substr(0, 110);
  }

  void report(const std::string& name, const std::vector<uint64_t>& seeds) {
    fmt::print("\n---- {} of {} graphs fail as '{}', the first with seed {}\n", seeds.size(),
               s_.count, name, seeds[0]);
    uint64_t seed = seeds[0];
    std::string text;
    run_jobs(
        0, 1, 1, s_.seconds, [&](uint64_t) { return made(seed, s_.maker); },
        [&](const JobResult& r) { text = r.finished ? r.text : ""; });
    if (text.empty()) {
      fmt::print("making the graph itself fails\n");
      return;
    }
    Verdict v = isolated(text, seed);
    if (!s_.no_shrink)
      text =
          shrink(text, [&](const std::string& t) { return signature(isolated(t, seed)) == name; });
    if (Verdict after = isolated(text, seed); after.fails()) v = after;
    text =
        fmt::format("# seed {}\n# {}\n{}", seed, v.message.substr(0, v.message.find('\n')), text);
    fmt::print("{}\n{}\nrepeat with: random_graphs --seed {} --count 1 --nodes {}{}{}\n",
               describe(v), text, seed, s_.maker.max_nodes,
               s_.maker.ops.empty() ? "" : " --ops " + s_.maker.ops,
               s_.stage_only ? " --stage-only" : "");
    std::fflush(stdout);
    if (!s_.save.empty()) save(text, seed);
  }

  void save(const std::string& text, uint64_t seed) {
    std::filesystem::create_directories(s_.save);
    std::ofstream(std::filesystem::path(s_.save) / fmt::format("seed_{}.ir", seed)) << text;
  }

  void summary(double seconds) {
    for (const auto& [text, n] : reasons_) fmt::print("{:6} {}\n", n, text);
    uint64_t failed =
        counts_[Outcome::Mismatch] + counts_[Outcome::Internal] + counts_[Outcome::Crash];
    fmt::print(
        "{} graphs in {:.1f} s: {} agree ({} of them within what the order of additions changes), "
        "{} refused, {} without inputs, {} failed\n",
        s_.count, seconds, counts_[Outcome::Agrees], inexact_, counts_[Outcome::Refused],
        counts_[Outcome::Unusable], failed);
  }

  const Settings& s_;
  std::unique_ptr<Compiler> compiler_;
  std::map<Outcome, uint64_t> counts_;
  std::map<std::string, std::vector<uint64_t>> failures_;  // by signature
  std::map<std::string, int> reasons_;
  uint64_t inexact_ = 0;
};

// How often each op is drawn, and what its type rule says to nonsense.
int list_draws(const Settings& s) {
  DrawLog log;
  for (uint64_t i = 0; i < s.count; ++i) make_graph(s.seed + i, s.maker, log);
  for (const OpDef* op : all_ops())
    if (!op->name().starts_with("aotc."))
      fmt::print("{:6} taken {:6} rejected {}\n", log.taken[op->name()], log.rejected[op->name()],
                 op->name());
  for (const auto& [op, message] : log.internal)
    fmt::print("internal error of {}: {}\n", op, message);
  return 0;
}

int run(int argc, char** argv) {
  CLI::App app(
      "Random graphs: the interpreter against every stage and against the compiled program.");
  Settings s;
  bool draws = false;
  app.add_option("FILE", s.files, "saved cases to repeat, instead of random graphs");
  app.add_option("--count", s.count, "graphs")->capture_default_str();
  app.add_option("--seed", s.seed, "of the first graph; the next ones count up")
      ->capture_default_str();
  app.add_option("--nodes", s.maker.max_nodes, "at most")->capture_default_str();
  app.add_option("--ops", s.maker.ops,
                 "only ops whose names contain this, besides views and mutations");
  app.add_flag("--stage-only,--no-compile", s.stage_only, "interpret the stages, compile nothing");
  app.add_flag("--no-shrink", s.no_shrink, "report failures as they were drawn");
  app.add_flag("--print", s.print, "print the graphs and do nothing else");
  app.add_flag("--list", s.list, "a line per graph");
  app.add_flag("--draws", draws, "how often each op is drawn; checks nothing");
  app.add_option("--jobs,-j", s.jobs, "processes")->capture_default_str();
  app.add_option("--timeout", s.seconds, "seconds per graph")->capture_default_str();
  app.add_option("--save", s.save, "folder for minimal failing cases");
  CLI11_PARSE(app, argc, argv);
  if (draws) return list_draws(s);
  if (s.print) {
    for (uint64_t i = 0; i < s.count; ++i)
      fmt::print("# seed {}\n{}", s.seed + i, made(s.seed + i, s.maker));
    return 0;
  }
  Run r(s);
  return s.files.empty() ? r.seeds() : r.files();
}

}  // namespace
}  // namespace aotc::random_graphs

int main(int argc, char** argv) {
  try {
    return aotc::random_graphs::run(argc, argv);
  } catch (const std::exception& e) {
    fmt::print(stderr, "random_graphs: {}\n", e.what());
    return 2;
  }
}
