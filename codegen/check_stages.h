// --check-stages: the interpreter runs the program before and after each stage, on random inputs,
// and the results must agree.
#pragma once
#include <memory>
#include <string>

#include "codegen/pipeline.h"

namespace aotc {

class StageChecker {
 public:
  // Interprets what the compilation holds now, if its settings ask for it.
  explicit StageChecker(const Compilation& c);
  ~StageChecker();
  // Interprets again after `stage`; InternalError if the results differ.
  void compare_after(const std::string& stage);

 private:
  struct Results;
  const Compilation& c_;
  std::unique_ptr<Results> before_;
};

}  // namespace aotc
