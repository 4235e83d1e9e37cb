// Opens programs and makes the arguments of their calls.
#include "program.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <sstream>

namespace aotc::bench {
namespace {

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

[[noreturn]] void fail(const std::string& message) { throw Error(AOTC_INVALID_ARGUMENT, message); }

size_t byte_size(const Tensor& tensor) {
  const DLDataType dtype = tensor.dtype();
  return static_cast<size_t>(tensor.count()) * dtype.bits / 8;
}

// The integers in "... 'key': (1, 2), ..." of an array file's header.
std::vector<int64_t> header_sizes(const std::string& header) {
  const size_t begin = header.find('(', header.find("'shape'"));
  const size_t end = header.find(')', begin);
  if (end == std::string::npos) fail("an array file's header has no shape");
  std::vector<int64_t> sizes;
  std::istringstream words(header.substr(begin + 1, end - begin - 1));
  for (std::string word; std::getline(words, word, ',');)
    if (word.find_first_of("0123456789") != std::string::npos) sizes.push_back(std::stoll(word));
  return sizes;
}

Tensor read_array(const std::string& path, DLDataType dtype) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  const std::string bytes = text.str();
  if (bytes.size() < 10 || bytes.compare(1, 5, "NUMPY") != 0) fail(path + ": not an array file");
  if (bytes[6] != 1) fail(path + ": expected version 1 of the format");
  const size_t length =
      static_cast<unsigned char>(bytes[8]) + 256u * static_cast<unsigned char>(bytes[9]);
  const std::string header = bytes.substr(10, length);
  if (header.find("'fortran_order': False") == std::string::npos) fail(path + ": expected C order");
  Tensor tensor = Tensor::zeros(dtype, header_sizes(header));
  if (bytes.size() - std::min(bytes.size(), 10 + length) != byte_size(tensor))
    fail(path + ": its elements are not of the input's type");
  std::memcpy(tensor.raw(), bytes.data() + 10 + length, byte_size(tensor));
  return tensor;
}

}  // namespace

Model open_program(const std::string& path, const std::string& options) {
  if (!ends_with(path, ".so")) return Model(path, options);
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) fail(dlerror());
  const auto get_api =
      reinterpret_cast<const AotcApi* (*)(uint32_t)>(dlsym(library, "aotc_get_api"));
  if (!get_api) fail(dlerror());
  return Model::built_in(get_api(AOTC_ABI_VERSION), options);
}

std::vector<Tensor> smallest_inputs(const Model& model) {
  std::vector<Tensor> inputs;
  const auto count = static_cast<int32_t>(model.input_names().size());
  for (int32_t i = 0; i < count; ++i) {
    const TensorSpec spec = model.input_spec(i);
    std::vector<int64_t> sizes = spec.sizes;
    for (size_t d = 0; d < sizes.size(); ++d)
      if (sizes[d] < 0) sizes[d] = std::max<int64_t>(1, spec.min_sizes[d]);
    inputs.push_back(Tensor::zeros(spec.dtype, sizes));
  }
  return inputs;
}

std::vector<Tensor> read_inputs(const Model& model, const std::string& folder) {
  std::vector<Tensor> inputs;
  const auto count = static_cast<int32_t>(model.input_names().size());
  for (int32_t i = 0; i < count; ++i)
    inputs.push_back(
        read_array(folder + "/in" + std::to_string(i) + ".npy", model.input_spec(i).dtype));
  return inputs;
}

Call::Call(Session& session, std::vector<Tensor> inputs, bool give_storage)
    : session_(session), api_(session.model().api()), inputs_(std::move(inputs)) {
  for (const Tensor& input : inputs_) {
    arguments_.push_back(input.dl_tensor());
    first_values_.emplace_back(static_cast<const char*>(input.raw()), byte_size(input));
  }
  storage_.resize(session.model().output_names().size());
  if (give_storage) {
    const std::vector<Tensor> first = session.run(inputs_);
    for (size_t i = 0; i < first.size(); ++i)
      if (first[i].defined()) storage_[i] = storage_for(first[i], static_cast<int32_t>(i));
    restore();
  }
  for (const Tensor& tensor : storage_) given_.push_back(tensor.managed());
  results_.resize(given_.size());
}

Tensor Call::storage_for(const Tensor& first, int32_t output) const {
  const Model& model = session_.model();
  if (!model.aliased_input(output) && !model.aliased_state(output))
    return Tensor::zeros(first.dtype(), first.sizes());
  return Tensor::borrow_raw(first.raw(), first.dtype(), first.sizes(), first.strides());
}

void Call::operator()() {
  std::copy(given_.begin(), given_.end(), results_.begin());
  session_.model().check(api_->session_run(session_.handle(), arguments_.data(),
                                           static_cast<int32_t>(arguments_.size()), results_.data(),
                                           static_cast<int32_t>(results_.size())));
  for (size_t i = 0; i < results_.size(); ++i)
    if (!given_[i] && results_[i] && results_[i]->deleter) results_[i]->deleter(results_[i]);
}

void Call::restore() {
  for (size_t i = 0; i < inputs_.size(); ++i)
    std::memcpy(inputs_[i].raw(), first_values_[i].data(), first_values_[i].size());
  session_.reset_states();
}

}  // namespace aotc::bench
