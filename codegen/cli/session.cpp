// Calls of the C ABI with their failures as exceptions.
#include "codegen/cli/session.h"

#include <nlohmann/json.hpp>

namespace aotc::cli {
namespace {

TensorSpec read_spec(const AotcModel* model, int32_t i, const char* name,
                     AotcStatus (*get)(const AotcModel*, int32_t, AotcTensorSpec*)) {
  AotcTensorSpec found{};
  check_status(get(model, i, &found));
  const auto list = [&](const int64_t* v) {
    return v ? std::vector<int64_t>(v, v + found.ndim) : std::vector<int64_t>();
  };
  TensorSpec spec;
  spec.name = name ? name : "";
  if (const auto dtype = dtype_of(found.dtype)) spec.dtype = *dtype;
  spec.device = found.device;
  spec.sizes = list(found.sizes);
  spec.min_sizes = list(found.min_sizes);
  spec.max_sizes = list(found.max_sizes);
  return spec;
}

}  // namespace

void check_status(AotcStatus status) {
  if (status == AOTC_OK) return;
  if (status == AOTC_INTERNAL) throw InternalError(aotc_last_error());
  throw CallError(status, aotc_last_error());
}

Model::Model(const std::string& path, const std::string& weights) {
  nlohmann::json options = nlohmann::json::object();
  if (!weights.empty()) options["weights"] = weights;
  check_status(aotc_model_open(path.c_str(), options.dump().c_str(), &handle_));
  for (int32_t i = 0; i < aotc_model_num_inputs(handle_); ++i)
    inputs_.push_back(
        read_spec(handle_, i, aotc_model_input_name(handle_, i), aotc_model_input_spec));
  for (int32_t i = 0; i < aotc_model_num_outputs(handle_); ++i)
    outputs_.push_back(
        read_spec(handle_, i, aotc_model_output_name(handle_, i), aotc_model_output_spec));
  for (int32_t i = 0; i < aotc_model_num_states(handle_); ++i)
    states_.push_back(
        read_spec(handle_, i, aotc_model_state_name(handle_, i), aotc_model_state_spec));
}

Model::~Model() { aotc_model_close(handle_); }

std::string Model::manifest() const {
  const char* text = aotc_model_manifest(handle_);
  return text ? text : "{}";
}

bool Model::uses_device() const {
  for (const auto* specs : {&inputs_, &outputs_, &states_})
    for (const TensorSpec& spec : *specs)
      if (spec.device.device_type != kDLCPU && spec.device.device_type != 0) return true;
  return false;
}

void Results::clear() {
  for (DLManagedTensor*& t : tensors_) {
    if (t && t->deleter) t->deleter(t);
    t = nullptr;
  }
}

Session::Session(const Model& model, int threads) : outputs_(model.outputs().size()) {
  nlohmann::json options = nlohmann::json::object();
  if (threads > 0) options["threads"] = threads;
  if (model.uses_device()) options["host_io"] = true;
  check_status(aotc_session_create(model.handle(), options.dump().c_str(), &handle_));
}

Session::~Session() { aotc_session_destroy(handle_); }

Results Session::run(const std::vector<HostTensor>& inputs) {
  std::vector<DLTensor> tensors;
  for (const HostTensor& t : inputs) tensors.push_back(t.dl());
  Results results(outputs_);
  check_status(try_run(tensors, results));
  return results;
}

AotcStatus Session::try_run(const std::vector<DLTensor>& inputs, Results& results) {
  return aotc_session_run(handle_, inputs.data(), static_cast<int32_t>(inputs.size()),
                          results.data(), static_cast<int32_t>(results.size()));
}

HostTensor Session::host_copy(const std::string& name, DType dtype,
                              const std::vector<int64_t>& sizes) const {
  HostTensor into;
  into.dtype = dtype;
  into.sizes = sizes;
  into.strides = contiguous_strides(sizes);
  into.storage = std::make_shared<HostStorage>(count_elements(sizes) * element_size(dtype));
  DLTensor tensor = into.dl();
  check_status(aotc_session_state_get(handle_, name.c_str(), &tensor));
  return into;
}

Array Session::state(const std::string& name, DType dtype,
                     const std::vector<int64_t>& sizes) const {
  return value_of(host_copy(name, dtype, sizes));
}

void Session::go_on_after_failure(const Model& model) {
  if (!model.uses_device()) return;
  if (model.states().empty()) return reset();
  const TensorSpec& first = model.states()[0];
  const HostTensor value = host_copy(first.name, first.dtype, first.sizes);
  const DLTensor tensor = value.dl();
  check_status(aotc_session_state_set(handle_, first.name.c_str(), &tensor));
}

void Session::reset() { check_status(aotc_session_state_reset(handle_)); }

}  // namespace aotc::cli
