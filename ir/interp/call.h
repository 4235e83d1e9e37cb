// What one call works on: copies of the inputs' memory, the archive's storages, the symbols.
#pragma once
#include "ir/interp/bind.h"
#include "ir/interp/interp.h"

namespace aotc::interp {

class Call {
 public:
  Call(const Graph& graph, const RunInputs& inputs);

  const Graph& graph() const { return graph_; }
  // The tensor of graph input i; its memory is null if it has none.
  const Tensor& input(size_t i) const { return tensors_[i]; }
  const std::vector<Tensor>& inputs() const { return tensors_; }
  std::shared_ptr<Memory> storage(int number);

  // Inputs whose strides are not the compiled ones (or, with keep_exported, those of the archive),
  // and inputs i with must_stage(i), are replaced by copies that have the compiled ones; unstage()
  // writes the changed ones back through their real strides.
  void stage(const std::function<bool(size_t)>& must_stage, bool keep_exported);
  void unstage();

  // The result's inputs and storages as they are now; outputs are the caller's.
  RunResult result() const;
  // The index of the input (user tensor or buffer) whose memory t lies in, or -1.
  int owner_of(const Tensor& t) const;

  Symbols symbols;

 private:
  struct Staged {
    size_t input;
    Tensor given, original;
  };
  void copy_inputs(const RunInputs& inputs);
  Tensor stored(const Input& in);
  const Graph& graph_;
  std::vector<Tensor> tensors_;
  std::vector<RunValue> values_;  // the inputs as the caller sees them
  std::map<int, std::shared_ptr<Memory>> storages_;
  std::vector<Staged> staged_;
};

}  // namespace aotc::interp
