// Records values before and after a call and prints them.
#include "codegen/cli/run_report.h"

#include "codegen/cli/numbers.h"
#include "codegen/human_text.h"

using json = nlohmann::ordered_json;

namespace aotc::cli {
namespace {

std::string alias_of(const Model& model, int32_t output) {
  if (const char* input = aotc_model_aliased_input(model.handle(), output))
    return std::string("input ") + input;
  if (const char* state = aotc_model_aliased_state(model.handle(), output))
    return std::string("state ") + state;
  return "";
}

std::vector<TensorReport> report_outputs(const Model& model, const Results& results) {
  std::vector<TensorReport> reports;
  for (size_t i = 0; i < results.size(); ++i) {
    TensorReport r;
    r.name = model.outputs()[i].name;
    r.alias = alias_of(model, static_cast<int32_t>(i));
    if (const DLTensor* t = results.at(i)) {
      r.value = value_of(*t);
      r.strides = t->strides ? std::vector<int64_t>(t->strides, t->strides + t->ndim)
                             : contiguous_strides(r.value->shape);
    }
    reports.push_back(std::move(r));
  }
  return reports;
}

std::vector<std::string> row(const char* kind, const std::string& position, const TensorReport& r,
                             bool may_change) {
  std::vector<std::string> cells = {fmt::format("{}{}", kind, position), r.name};
  if (!r.value) return cells.push_back("None"), cells;
  const Summary s = summarize(*r.value);
  const int64_t count = count_elements(r.value->shape);
  cells.push_back(fmt::format("{} {}", name(r.value->dtype), sizes_text(r.value->shape)));
  std::string text;
  if (may_change) text += r.changed ? "changed    " : "unchanged  ";
  text += fmt::format("{}{}", fmt::join(s.first, " "),
                      count > static_cast<int64_t>(s.first.size()) ? " ..." : "");
  if (count > 1 && s.has_range)
    text += fmt::format("  (min {:.6g}, max {:.6g}, mean {:.6g}", s.minimum, s.maximum, s.mean);
  if (count > 1 && s.has_range)
    text += s.nan_count ? fmt::format(", {} NaN)", s.nan_count) : ")";
  else if (s.nan_count > 1)
    text += fmt::format("  ({} NaN)", s.nan_count);
  if (!r.alias.empty()) text += "  = " + r.alias;
  cells.push_back(text);
  return cells;
}

json tensor_json(const TensorReport& r) {
  json j = {{"name", r.name}};
  if (!r.value) return j["none"] = true, j;
  const Summary s = summarize(*r.value);
  j["dtype"] = name(r.value->dtype);
  j["sizes"] = r.value->shape;
  if (!r.strides.empty() || r.value->shape.empty()) j["strides"] = r.strides;
  if (!r.alias.empty()) j["alias"] = r.alias;
  j["first"] = s.first;
  j["nan"] = s.nan_count;
  if (s.has_range) {
    j["min"] = s.minimum;
    j["max"] = s.maximum;
    j["mean"] = s.mean;
  }
  return j;
}

json changing_json(const TensorReport& r) {
  json j = tensor_json(r);
  j["changed"] = r.changed;
  return j;
}

}  // namespace

StepReport run_step(const Model& model, Session& session, const CallInputs& inputs) {
  StepReport report;
  report.origin = inputs.origin;
  std::vector<Array> before, states;
  for (const HostTensor& t : inputs.tensors) before.push_back(value_of(t));
  for (const TensorSpec& spec : model.states()) states.push_back(session.state(spec));
  const Results results = session.run(inputs.tensors);
  report.outputs = report_outputs(model, results);
  for (size_t i = 0; i < before.size(); ++i) {
    Array now = value_of(inputs.tensors[i]);
    const bool changed = now.data != before[i].data;
    report.inputs.push_back(
        {model.inputs()[i].name, std::move(now), inputs.tensors[i].strides, changed, ""});
  }
  for (size_t i = 0; i < states.size(); ++i) {
    Array now = session.state(model.states()[i]);
    const bool changed = now.data != states[i].data;
    report.states.push_back({model.states()[i].name, std::move(now), {}, changed, ""});
  }
  return report;
}

std::string step_text(const StepReport& report, int step) {
  std::vector<std::vector<std::string>> rows;
  for (size_t i = 0; i < report.inputs.size(); ++i)
    rows.push_back(row("in", std::to_string(i), report.inputs[i], true));
  for (size_t i = 0; i < report.outputs.size(); ++i)
    rows.push_back(row("out", std::to_string(i), report.outputs[i], false));
  for (const TensorReport& state : report.states) rows.push_back(row("state", "", state, true));
  const std::string title = step < 0 ? "inputs: " : fmt::format("step {}: ", step);
  return title + report.origin + "\n" + table_text(rows, "  ");
}

nlohmann::ordered_json step_json(const StepReport& report) {
  json j = {{"inputs_from", report.origin}};
  for (const char* key : {"inputs", "outputs", "states"}) j[key] = json::array();
  for (const TensorReport& r : report.inputs) j["inputs"].push_back(changing_json(r));
  for (const TensorReport& r : report.outputs) j["outputs"].push_back(tensor_json(r));
  for (const TensorReport& r : report.states) j["states"].push_back(changing_json(r));
  return j;
}

}  // namespace aotc::cli
