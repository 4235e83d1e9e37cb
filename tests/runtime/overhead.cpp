// Prints the time of one session_run for small programs, best of several rounds.
#include <chrono>
#include <cstdio>

#include "support.h"

using namespace aotc;
using namespace aotc::test;

namespace {
// Nanoseconds per call; `given` storage for all outputs or results allocated and freed.
double measure(GetApi get_api, const std::vector<Tensor>& inputs,
               std::vector<DLManagedTensor*> given) {
  Program program(get_api, "{\"threads\": 1}");
  const AotcApi* api = program.model.api();
  std::vector<DLTensor> tensors;
  for (const Tensor& input : inputs) tensors.push_back(input.dl_tensor());
  double best = 1e9;
  for (int round = 0; round < 200; ++round) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 1000; ++i) {
      std::vector<DLManagedTensor*>& outputs = given;
      DLManagedTensor* results[8];
      for (size_t o = 0; o < outputs.size(); ++o) results[o] = outputs[o];
      const AotcStatus status = api->session_run(program.session.handle(), tensors.data(),
                                                 static_cast<int32_t>(tensors.size()), results,
                                                 static_cast<int32_t>(outputs.size()));
      if (status) std::puts(api->last_error());
      for (size_t o = 0; o < outputs.size(); ++o)
        if (!outputs[o]) results[o]->deleter(results[o]);
    }
    const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - start;
    best = time.count() / 1000 < best ? time.count() / 1000 : best;
  }
  return best;
}
}  // namespace

int main() {
  Floats x(4), w(1), y(4), one(1);
  const Tensor given_y = over(y, {1, 4}), given_one = over(one);
  std::printf("1 input, 1 output, 1 state, result allocated: %.0f ns\n",
              measure(aotc_parallel_get_api, {over(one)}, {nullptr}));
  Floats into(1);
  const Tensor given_into = over(into);
  std::printf("1 input, 1 output, 1 state, storage given:    %.0f ns\n",
              measure(aotc_parallel_get_api, {over(one)}, {given_into.managed()}));
  std::printf("2 inputs, 1 mutated, result allocated:        %.0f ns\n",
              measure(aotc_pointwise_get_api, {over(x, {1, 4}), over(w)}, {nullptr}));
  std::printf("2 inputs, 1 mutated, storage given:           %.0f ns\n",
              measure(aotc_pointwise_get_api, {over(x, {1, 4}), over(w)}, {given_y.managed()}));
  Floats window(20), spread(3), a(2), b(2), c(2), d(4);
  std::vector<std::complex<double>> z(2);
  std::printf("7 inputs, 3 mutated, 2 results allocated:     %.0f ns\n",
              measure(aotc_layouts_get_api,
                      {over(window, {2, 3}, {10, 1}), over(spread, {2, 3}, {0, 1}), over(a),
                       over(b), over(c), over(d), over(z)},
                      {nullptr, nullptr}));
}
