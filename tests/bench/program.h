// What the benchmark programs share: opening a compiled program, inputs for it, storage for its
// outputs.
#pragma once

#include <string>
#include <vector>

#include "aotc/aotc.hpp"

namespace aotc::bench {

// A package (through libaotc), or a bare model.so (opened with dlopen; its own table serves it).
Model open_program(const std::string& path, const std::string& options = "{}");

// Zeros of the smallest sizes that the program takes, but no empty tensors.
std::vector<Tensor> smallest_inputs(const Model& model);
// FOLDER/in0.npy, in1.npy, ...: one per input of the program, in C order.
std::vector<Tensor> read_inputs(const Model& model, const std::string& folder);

// The arguments of session_run, made once: calling costs nothing but session_run itself.
class Call {
 public:
  // `give_storage`: the caller's tensors for all outputs; for one that aliases an input or a state,
  // its storage.
  Call(Session& session, std::vector<Tensor> inputs, bool give_storage);
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  // Runs once and frees what the call allocated. Inputs and states that a program mutates go on.
  void operator()();
  // Puts the inputs' and the states' first values back.
  void restore();

 private:
  Tensor storage_for(const Tensor& first, int32_t output) const;

  Session& session_;
  const AotcApi* api_;
  std::vector<Tensor> inputs_;
  std::vector<std::string> first_values_;
  std::vector<DLTensor> arguments_;
  std::vector<Tensor> storage_;  // an undefined one stands for an output that the call allocates
  std::vector<DLManagedTensor*> given_, results_;
};

}  // namespace aotc::bench
