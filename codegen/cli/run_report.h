// One call and what it did, as text and as JSON.
#pragma once
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "codegen/cli/call_inputs.h"

namespace aotc::cli {

struct TensorReport {
  std::string name;
  std::optional<Array> value;  // after the call; nothing: None
  std::vector<int64_t> strides;
  bool changed = false;  // inputs and states
  std::string alias;     // outputs: "input x" or "state k" whose storage it is
};

struct StepReport {
  std::string origin;  // of the inputs
  std::vector<TensorReport> inputs, outputs, states;
};

// Runs once. Throws what the call reports.
StepReport run_step(const Model& model, Session& session, const CallInputs& inputs);
// `step` < 0: the only one.
std::string step_text(const StepReport& report, int step);
nlohmann::ordered_json step_json(const StepReport& report);

}  // namespace aotc::cli
