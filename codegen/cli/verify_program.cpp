// Compile once, then every case: a sequence on one session, others on a session each.
#include "codegen/cli/verify_program.h"

#include <optional>

#include "codegen/cli/case_folder.h"

namespace fs = std::filesystem;

namespace aotc::cli {
namespace {

// NAME.aotc, with the label's folders as part of the name: programs of one name may be in several.
fs::path package_path(const ProgramCases& program, const VerifySettings& settings) {
  std::string name = program.label;
  for (char& c : name)
    if (c == '/') c = '_';
  return settings.work_folder / fs::path(name).replace_extension(".aotc");
}

// Opened packages are mapped; the name is not needed any more.
std::unique_ptr<Model> compile_and_open(const ProgramCases& program,
                                        const VerifySettings& settings) {
  const fs::path package = package_path(program, settings);
  const auto remove = [&] {
    std::error_code ignored;
    if (!settings.keep) fs::remove(package, ignored);
  };
  write_package(compile_model(program.program.string(), settings.compile), package.string());
  try {
    auto model = std::make_unique<Model>(package.string());
    remove();
    return model;
  } catch (...) {
    remove();
    throw;
  }
}

class CaseRunner {
 public:
  CaseRunner(const Model& model, const ProgramCases& program, int threads)
      : model_(model), threads_(threads) {
    rules_.strict_aliases = !program.decomposed;
    rules_.mutated_inputs = mutated_inputs(model.manifest());
  }

  CaseResult run(const fs::path& folder) {
    try {
      if (!read_case_meta(folder).sequence) {
        Session session(model_, threads_);
        return check_case(folder, model_, session, rules_);
      }
      if (!sequence_) sequence_.emplace(model_, threads_);
      return check_case(folder, model_, *sequence_, rules_);
    } catch (const std::exception& e) {
      return {false, e.what()};
    }
  }

 private:
  const Model& model_;
  const int threads_;
  CaseRules rules_;
  std::optional<Session> sequence_;
};

}  // namespace

void verify_program(const ProgramCases& program, const VerifySettings& settings,
                    const std::function<void(size_t, const CaseResult&)>& report) {
  std::unique_ptr<Model> model;
  std::string refusal, failure, stage;
  VerifySettings own = settings;
  own.compile.progress = [&](const std::string& name) { stage = name; };
  try {
    model = compile_and_open(program, own);
  } catch (const UserError& e) {
    refusal = e.what();
  } catch (const std::exception& e) {
    failure = fmt::format("internal error in stage '{}': {}", stage, e.what());
  }
  std::optional<CaseRunner> runner;
  if (model) runner.emplace(*model, program, settings.threads);
  for (size_t i = 0; i < program.cases.size(); ++i) {
    if (runner)
      report(i, runner->run(program.cases[i]));
    else if (failure.empty())
      report(i, judge_refusal(program.cases[i], refusal));
    else
      report(i, {false, failure});
  }
}

}  // namespace aotc::cli
