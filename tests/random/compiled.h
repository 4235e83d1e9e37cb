// A program through the real compiler, loaded into this process and called through the C ABI.
#pragma once
#include <memory>

#include "aotc/aotc.hpp"
#include "codegen/pipeline.h"
#include "ir/interp/interp.h"

namespace aotc::random_graphs {

// The compiler, loaded once.
class Compiler {
 public:
  Compiler();
  // From a finished plan to the table of the model.so; the library stays loaded.
  const AotcApi* build(Compilation& c);

 private:
  std::unique_ptr<Toolchain> tools_;
  std::string level_;
  std::vector<std::string> archives_;
};

// One session of a model, seen as the interpreter sees programs.
class CompiledProgram {
 public:
  CompiledProgram(const Graph& graph, const AotcApi* api);
  // States continue from call to call.
  interp::RunResult run(const interp::RunInputs& inputs);
  // Called with true before the call and false after it.
  std::function<void(bool begins)> around_call = {};

 private:
  std::vector<Tensor> arguments(const interp::RunInputs& inputs, interp::RunResult& r);
  interp::RunValue output(size_t i, const Tensor& t) const;
  void read_states(interp::RunResult& r);

  const Graph& graph_;
  Model model_;
  Session session_;
};

}  // namespace aotc::random_graphs
