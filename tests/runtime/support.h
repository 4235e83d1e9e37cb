// The embedded test programs and a session that reports statuses instead of throwing.
#pragma once
#include <string>
#include <vector>

#include "aotc/aotc.hpp"

extern "C" {
const AotcApi* aotc_pointwise_get_api(uint32_t);
const AotcApi* aotc_counter_get_api(uint32_t);
const AotcApi* aotc_external_get_api(uint32_t);
const AotcApi* aotc_views_get_api(uint32_t);
const AotcApi* aotc_strict_views_get_api(uint32_t);
const AotcApi* aotc_kinds_get_api(uint32_t);
const AotcApi* aotc_layouts_get_api(uint32_t);
const AotcApi* aotc_linear_get_api(uint32_t);
const AotcApi* aotc_parallel_get_api(uint32_t);
const AotcApi* aotc_steps_get_api(uint32_t);
}

namespace aotc::test {

using GetApi = const AotcApi* (*)(uint32_t);

// A session of a built-in program. Results of the last run are in `outputs`, its message in
// `message`.
struct Program {
  explicit Program(GetApi get_api, const std::string& options = "{}")
      : model(Model::built_in(get_api(AOTC_ABI_VERSION))), session(model, options) {}

  AotcStatus run(const std::vector<Tensor>& inputs) {
    return run(inputs, std::vector<Tensor>(model.output_names().size()));
  }
  AotcStatus run(const std::vector<Tensor>& inputs, std::vector<Tensor> given) {
    outputs = std::move(given);
    try {
      session.run(inputs, outputs);
      message.clear();
      return AOTC_OK;
    } catch (const Error& error) {
      message = error.what();
      return error.status();
    }
  }
  std::string message_of(const std::vector<Tensor>& inputs) {
    return run(inputs) ? message : "(succeeded)";
  }

  Model model;
  Session session;
  std::vector<Tensor> outputs;
  std::string message;
};

// A contiguous tensor over `values`, of one dimension unless sizes are given.
template <class T>
Tensor over(std::vector<T>& values, std::vector<int64_t> sizes = {},
            std::vector<int64_t> strides = {}) {
  if (sizes.empty()) sizes = {static_cast<int64_t>(values.size())};
  return Tensor::borrow(values.data(), std::move(sizes), std::move(strides));
}
template <class T>
Tensor scalar(T& value) {
  return Tensor::borrow(&value, {});
}

// The elements in row-major order, through the tensor's strides.
template <class T>
std::vector<T> values(const Tensor& tensor) {
  std::vector<T> out;
  const std::vector<int64_t> sizes = tensor.sizes(), strides = tensor.strides();
  for (int64_t i = 0; i < tensor.count(); ++i) {
    int64_t rest = i, offset = 0;
    for (size_t d = sizes.size(); d-- > 0;) {
      offset += rest % sizes[d] * strides[d];
      rest /= sizes[d];
    }
    out.push_back(tensor.data<T>()[offset]);
  }
  return out;
}

using Floats = std::vector<float>;
using Integers = std::vector<int64_t>;

}  // namespace aotc::test
