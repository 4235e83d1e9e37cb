// aotc run: runs a package and shows what came out and what changed.
#include <filesystem>
#include <nlohmann/json.hpp>

#include "codegen/cli/call_inputs.h"
#include "codegen/cli/commands.h"
#include "codegen/cli/compile_flags.h"
#include "codegen/cli/run_report.h"

namespace fs = std::filesystem;

namespace aotc::cli {
namespace {

struct RunArguments {
  OutputFlags output;
  std::string package, outputs, profile, weights;
  std::vector<std::string> inputs, steps;
  int threads = 0;
};

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) user_error("{}: cannot create the folder: {}", folder.string(), error.message());
}

// out<i>, and of inputs and states those that changed, so that the folder can serve as a case.
void write_results(const StepReport& step, const fs::path& folder) {
  make_folder(folder);
  for (size_t i = 0; i < step.outputs.size(); ++i)
    if (step.outputs[i].value) write_array(folder, fmt::format("out{}", i), *step.outputs[i].value);
  for (size_t i = 0; i < step.inputs.size(); ++i)
    if (step.inputs[i].changed) write_array(folder, fmt::format("mut{}", i), *step.inputs[i].value);
  for (const TensorReport& state : step.states)
    if (state.changed) write_array(folder, "buf_" + state.name, *state.value);
}

std::vector<CallInputs> all_steps(const RunArguments& o, const Model& model) {
  std::vector<CallInputs> steps;
  if (o.steps.empty()) steps.push_back(choose_inputs(o.inputs, o.package, model));
  for (const std::string& folder : o.steps) steps.push_back(inputs_from_folder(folder));
  return steps;
}

// A profile of the session, if one is asked for. A call that fails is the last of its trace, and is
// the error to report, whether or not the trace can be written.
class ProfiledRun {
 public:
  ProfiledRun(const RunArguments& o, const Session& session) : o_(o), session_(session.handle()) {
    if (o.profile.empty()) return;
    check_status(aotc_session_profile_start(session_, nullptr));
    running_ = true;
  }
  ~ProfiledRun() {
    if (running_) aotc_session_profile_stop(session_, o_.profile.c_str());
  }
  ProfiledRun(const ProfiledRun&) = delete;
  ProfiledRun& operator=(const ProfiledRun&) = delete;

  void write() {
    if (!running_) return;
    running_ = false;
    check_status(aotc_session_profile_stop(session_, o_.profile.c_str()));
    if (!o_.output.quiet && !o_.output.json) fmt::print("profile: {}\n", o_.profile);
  }

 private:
  const RunArguments& o_;
  AotcSession* session_;
  bool running_ = false;
};

int run_package(const RunArguments& o) {
  const Model model(o.package, o.weights);
  Session session(model, o.threads);
  const std::vector<CallInputs> steps = all_steps(o, model);
  nlohmann::ordered_json results = nlohmann::ordered_json::array();
  ProfiledRun profile(o, session);
  for (size_t i = 0; i < steps.size(); ++i) {
    const StepReport step = run_step(model, session, steps[i]);
    const fs::path folder =
        o.steps.empty() ? fs::path(o.outputs) : fs::path(o.outputs) / fmt::format("step{}", i);
    if (!o.outputs.empty()) write_results(step, folder);
    if (o.output.json)
      results.push_back(step_json(step));
    else if (!o.output.quiet)
      fmt::print("{}", step_text(step, o.steps.empty() ? -1 : static_cast<int>(i)));
  }
  profile.write();
  if (o.output.json) fmt::print("{}\n", nlohmann::ordered_json{{"steps", results}}.dump(1));
  return kExitOk;
}

}  // namespace

void add_run(CLI::App& app, Action& action) {
  auto o = std::make_shared<RunArguments>();
  CLI::App* command = app.add_subcommand(
      "run", "run a package and show outputs, and which inputs and states changed");
  command->add_option("PACKAGE", o->package, "what aotc compile wrote; also a bare model.so")
      ->required();
  auto* inputs =
      command
          ->add_option("--inputs", o->inputs,
                       "a folder with in0.npy, in1.npy, ..., or a file per input (bfloat16: "
                       "*.bf16.npy); default: the package's sample inputs")
          ->type_name("DIR | FILE...");
  command
      ->add_option("--outputs", o->outputs,
                   "write out<i>.npy, and mut<i>.npy and buf_<state>.npy of what changed (with "
                   "--steps: in a folder step<k> each)")
      ->type_name("DIR");
  command->add_option("--steps", o->steps, "run these folders' inputs in order on one session")
      ->type_name("DIR...")
      ->excludes(inputs);
  command
      ->add_option("--profile", o->profile,
                   "write the times of kernels as a trace for chrome://tracing or ui.perfetto.dev")
      ->type_name("FILE");
  command->add_option("--threads", o->threads, "default: the CPUs that the process may use")
      ->check(thread_count());
  command->add_option("--weights-file", o->weights, "a file with the weights, for a bare model.so")
      ->type_name("FILE");
  add_output_flags(*command, o->output);
  command->callback([o, &action] { action = [o] { return run_package(*o); }; });
}

}  // namespace aotc::cli
