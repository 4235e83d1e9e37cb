// aotc verify: compiles programs, runs the cases beside them and compares.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "codegen/cli/commands.h"
#include "codegen/cli/compile_flags.h"
#include "codegen/cli/crash_report.h"
#include "codegen/cli/verify_program.h"
#include "codegen/cli/worker_pool.h"
#include "codegen/human_text.h"
#include "codegen/process.h"

namespace fs = std::filesystem;
using json = nlohmann::ordered_json;

namespace aotc::cli {
namespace {

struct VerifyArguments {
  CompileFlags flags;
  OutputFlags output;
  std::vector<std::string> paths, cases;
  int threads = 0;
  WorkerSettings workers;
};

// Counts results and prints them as they come.
class Report {
 public:
  Report(const std::vector<ProgramCases>& programs, const OutputFlags& output)
      : programs_(programs), output_(output) {}

  void add(size_t index, const JobOutcome& outcome) {
    const ProgramCases& program = programs_[index];
    if (!program.skip.empty()) return add_skipped(program);
    for (size_t i = 0; i < program.cases.size(); ++i) {
      if (i < outcome.reports.size())
        add_result(program, i, parse(outcome.reports[i]));
      else if (i == outcome.reports.size())
        add_result(program, i, {false, outcome.failure});
      else
        add_result(program, i, {false, "not run: " + outcome.failure + " in an earlier case"});
    }
    show_progress(index + 1);
  }

  void finish() {
    end_progress();
    json result = {{"passed", passed_}, {"failed", failed_}, {"cases", cases_}};
    if (output_.json)
      fmt::print("{}\n", result.dump(1, ' ', false, json::error_handler_t::replace));
    else
      fmt::print("{} passed, {} failed\n", passed_, failed_);
  }

  size_t failed() const { return failed_; }
  size_t total() const { return passed_ + failed_; }

  // A result as text, to cross from a worker to here.
  static std::string format(const CaseResult& r) { return (r.ok ? "1" : "0") + r.message; }

 private:
  static CaseResult parse(const std::string& text) {
    return {text.starts_with("1"), text.substr(1)};
  }

  void add_skipped(const ProgramCases& program) {
    list(program, nullptr, "skipped", program.skip);
    if (!output_.quiet) line("skipped", program.label, "", ": " + program.skip);
  }

  void list(const ProgramCases& program, const json& name, const char* status,
            const std::string& message) {
    if (output_.json)
      cases_.push_back({{"program", program.program.string()},
                        {"case", name},
                        {"status", status},
                        {"message", message}});
  }

  void add_result(const ProgramCases& program, size_t i, const CaseResult& r) {
    (r.ok ? passed_ : failed_)++;
    const std::string name = case_name(program, i);
    list(program, name, r.ok ? "ok" : "failed", r.message);
    if (r.ok && output_.quiet) return;
    const bool said = !r.ok && i > 0 && r.message == last_message_;
    last_message_ = r.message;
    std::string text = said ? "as the case before" : one_line(r.message);
    if (!text.empty()) text = r.ok ? " (" + text + ")" : ": " + text;
    line(r.ok ? "ok" : "FAILED", program.label, " " + name, text);
  }

  // NAME.case0 is case0; a folder given with --case has its own name.
  static std::string case_name(const ProgramCases& program, size_t i) {
    const std::string folder = program.cases[i].filename().string();
    const size_t dot = folder.rfind(".case");
    return dot == std::string::npos ? folder : folder.substr(dot + 1);
  }

  void line(const char* status, const std::string& label, const std::string& name,
            const std::string& text) {
    if (output_.json) return;
    end_progress();
    fmt::print("{} {}{}{}\n", status, label, name, text);
    std::fflush(stdout);
  }

  // Only where a person watches and the lines themselves do not tell.
  void show_progress(size_t programs) {
    if (!(output_.quiet || output_.json) || !isatty(STDERR_FILENO)) return;
    fmt::print(stderr, "\r{} of {} programs", programs, programs_.size());
    in_progress_ = true;
  }
  void end_progress() {
    if (in_progress_) fmt::print(stderr, "\r\033[K");
    in_progress_ = false;
  }

  const std::vector<ProgramCases>& programs_;
  const OutputFlags& output_;
  json cases_ = json::array();
  size_t passed_ = 0, failed_ = 0;
  std::string last_message_;
  bool in_progress_ = false;
};

bool keep_packages() {
  const char* keep = std::getenv("AOTC_KEEP");
  return keep && *keep && std::string(keep) != "0";
}

// With AOTC_KEEP, packages go to a folder that stays.
fs::path kept_folder() {
  const fs::path folder = fs::temp_directory_path() / fmt::format("aotc-verify-{}", getpid());
  fs::create_directories(folder);
  fmt::print(stderr, "aotc: packages are kept in {}\n", folder.string());
  return folder;
}

// Programs that nothing is known of are left out, and said.
std::vector<ProgramCases> programs_with_cases(const VerifyArguments& o) {
  std::vector<ProgramCases> all = find_programs(o.paths, o.cases), chosen;
  for (ProgramCases& p : all) {
    if (!p.cases.empty())
      chosen.push_back(std::move(p));
    else if (!o.output.quiet && !o.output.json)
      fmt::print("skipped {}: no case folder (NAME.case0) beside it\n", p.label);
  }
  if (chosen.empty())
    user_error(
        "{}: nothing to verify: no program has a case folder NAME.case0 beside it; name one "
        "with --case DIR",
        fmt::join(o.paths, " "));
  return chosen;
}

int run_verify(const VerifyArguments& o) {
  VerifySettings settings;
  settings.compile = settings_of(o.flags);
  settings.threads = o.threads;
  settings.keep = keep_packages();
  const std::vector<ProgramCases> programs = programs_with_cases(o);
  const TemporaryFolder temporary;
  settings.work_folder = settings.keep ? kept_folder() : temporary.path();
  Report report(programs, o.output);
  run_in_workers(
      programs.size(), o.workers,
      [&](size_t i, const std::function<void(const std::string&)>& send) {
        stop_reporting_crashes();
        if (programs[i].skip.empty())
          verify_program(programs[i], settings,
                         [&](size_t, const CaseResult& r) { send(Report::format(r)); });
      },
      [&](size_t i, const JobOutcome& outcome) { report.add(i, outcome); });
  report.finish();
  return report.failed() ? kExitUser : kExitOk;
}

}  // namespace

void add_verify(CLI::App& app, Action& action) {
  auto o = std::make_shared<VerifyArguments>();
  o->workers.timeout_seconds = 600;
  CLI::App* command = app.add_subcommand(
      "verify",
      "compile programs, run the cases beside them and compare; exit code 1 if one fails");
  command
      ->add_option("PATH", o->paths,
                   "programs (.pt2) and folders of them; NAME.case<k>/ belongs to NAME.pt2 and "
                   "NAME.decomp.pt2")
      ->required();
  command
      ->add_option("--case", o->cases, "use this case folder instead of those beside the program")
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->type_name("DIR");
  add_compile_flags(*command, o->flags);
  command->add_option("-j,--jobs", o->workers.workers, "programs at a time")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command->add_option("--threads", o->threads, "of each program; default: the CPUs of the process")
      ->check(thread_count());
  command->add_option("--timeout", o->workers.timeout_seconds, "seconds per program; 0: none")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  add_output_flags(*command, o->output);
  command->footer("Environment:\n  AOTC_KEEP=1   keeps the packages, and says where");
  command->callback([o, &action] { action = [o] { return run_verify(*o); }; });
}

}  // namespace aotc::cli
