// Whether two runs agree. All numbers must be equal, except where the program adds up
// floating-point numbers: there results may differ as the order of additions lets them. How much
// that is, through whatever the program does with the sums, is found by trying: the reference is
// run again with sums that are off by a few units in the last place (RunOptions::jitter). A number
// that such runs do not change must be equal; one that they change may differ by a multiple of
// what they change it by, so that neither cancellation nor a floor() of a sum is a false alarm.
#pragma once
#include <functional>

#include "ir/interp/interp.h"

namespace aotc::random_graphs {

class Reference {
 public:
  // The results of `graph`, which must outlive this, on the inputs.
  Reference(const Graph& graph, interp::RunInputs inputs);

  const interp::RunInputs& inputs() const { return inputs_; }
  const interp::RunResult& result() const { return result_; }
  // nullopt if `other` agrees; else the first difference.
  std::optional<std::string> difference(const interp::RunResult& other);
  // `other` agreed only within what the order of additions changes.
  bool was_inexact() const { return inexact_; }

 private:
  void shake();
  const Graph* graph_;
  interp::RunInputs inputs_;
  interp::RunResult result_;
  std::vector<interp::RunResult> shaken_;
  bool inexact_ = false;
};

}  // namespace aotc::random_graphs
