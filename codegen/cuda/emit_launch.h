// Statements of program.cpp that launch kernels of kernels.cu.
#pragma once
#include <functional>
#include <string>

#include "codegen/cuda/emit_cuda.h"
#include "codegen/emit_template.h"

namespace aotc {

class LaunchEmitter {
 public:
  // `index` prints a size, `home` the address of a buffer's home.
  using Index = std::function<std::string(const Sym&)>;
  using Home = std::function<std::string(loops::BufferId)>;
  LaunchEmitter(const CudaSources& sources, const loops::LoopProgram& program, Index index,
                Home home, const TemplateEmitter& templates)
      : sources_(sources),
        p_(program),
        index_(std::move(index)),
        home_(std::move(home)),
        templates_(templates) {}

  std::string loops(const ScheduledKernel& s) const;
  // A matrix product that is stored, or whose elements `consumer` takes.
  std::string product(const loops::Matmul& m, const ScheduledKernel* consumer) const;

 private:
  // Where the arguments of a launch are, and the statements that make them.
  struct Arguments {
    std::string text;
    std::vector<std::string> addresses;
    void add(const std::string& type, const std::string& value);
    std::string array() const;
  };
  void add_parameters(Arguments& arguments, const ScheduledKernel& s) const;

  const CudaSources& sources_;
  const loops::LoopProgram& p_;
  Index index_;
  Home home_;
  const TemplateEmitter& templates_;
};

}  // namespace aotc
