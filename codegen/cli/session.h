// libaotc's models and sessions as owners that throw: the only way in which the commands run
// programs.
#pragma once
#include <string>
#include <vector>

#include "aotc/aotc.h"
#include "codegen/cli/host_tensor.h"
#include "ir/error.h"

namespace aotc::cli {

// A call of the C ABI that failed.
class CallError : public UserError {
 public:
  CallError(AotcStatus status, const std::string& message) : UserError(message), status_(status) {}
  AotcStatus status() const { return status_; }

 private:
  AotcStatus status_;
};

// Throws the message of the failed call: InternalError for AOTC_INTERNAL, else CallError.
void check_status(AotcStatus status);

struct TensorSpec {
  std::string name;
  DType dtype = DType::Float32;
  DLDevice device{};
  std::vector<int64_t> sizes, min_sizes, max_sizes;  // -1: symbolic
};

class Model {
 public:
  // A package, an unpacked one or a bare model.so. `weights`: a file with the weights, or empty.
  explicit Model(const std::string& path, const std::string& weights = "");
  ~Model();
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  AotcModel* handle() const { return handle_; }
  std::string manifest() const;
  // `None` outputs have a name only.
  const std::vector<TensorSpec>& inputs() const { return inputs_; }
  const std::vector<TensorSpec>& outputs() const { return outputs_; }
  const std::vector<TensorSpec>& states() const { return states_; }
  // Inputs or outputs on a device other than the host.
  bool uses_device() const;

 private:
  AotcModel* handle_ = nullptr;
  std::vector<TensorSpec> inputs_, outputs_, states_;
};

// The results of a call; released together.
class Results {
 public:
  explicit Results(size_t count) : tensors_(count, nullptr) {}
  ~Results() { clear(); }
  Results(Results&& other) noexcept : tensors_(std::move(other.tensors_)) {
    other.tensors_.clear();
  }
  Results& operator=(Results&&) = delete;

  DLManagedTensor** data() { return tensors_.data(); }
  size_t size() const { return tensors_.size(); }
  // NULL for a None output.
  const DLTensor* at(size_t i) const { return tensors_[i] ? &tensors_[i]->dl_tensor : nullptr; }
  // Releases the tensors and keeps the entries, empty, for another call.
  void clear();

 private:
  std::vector<DLManagedTensor*> tensors_;
};

class Session {
 public:
  // threads 0: the run time's default. Inputs and outputs are host tensors whatever the device.
  explicit Session(const Model& model, int threads = 0);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  AotcSession* handle() const { return handle_; }
  Results run(const std::vector<HostTensor>& inputs);
  // The same without an exception, for loops that time it.
  AotcStatus try_run(const std::vector<DLTensor>& inputs, Results& results);
  // The value of any state, buffer, parameter or constant.
  Array state(const std::string& name, DType dtype, const std::vector<int64_t>& sizes) const;
  Array state(const TensorSpec& spec) const { return state(spec.name, spec.dtype, spec.sizes); }
  void reset();
  // A session that failed on a device runs again, from the states that it has.
  void go_on_after_failure(const Model& model);

 private:
  HostTensor host_copy(const std::string& name, DType dtype,
                       const std::vector<int64_t>& sizes) const;
  AotcSession* handle_ = nullptr;
  size_t outputs_;
};

}  // namespace aotc::cli
