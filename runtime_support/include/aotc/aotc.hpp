// The C ABI of aotc (aotc.h) as C++17 classes: handles that close themselves, tensors that own or
// borrow memory, failures as exceptions. Header only; it adds nothing that the C table does not
// have.
//
//   aotc::Model model("decoder.aotc");
//   aotc::Session session(model);
//   std::vector<float> x(4 * 8);
//   std::vector<aotc::Tensor> y = session.run({aotc::Tensor::borrow(x.data(), {4, 8})});
//
// Link libaotc, or pass the table of a model.so (its aotc_get_api) to Model.
#ifndef AOTC_AOTC_HPP_
#define AOTC_AOTC_HPP_

#include <complex>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "aotc/aotc.h"

namespace aotc {

// A failed call: what() is the library's message.
class Error : public std::runtime_error {
 public:
  Error(AotcStatus status, const std::string& message)
      : std::runtime_error(message), status_(status) {}
  AotcStatus status() const { return status_; }

 private:
  AotcStatus status_;
};

// The DLPack type of a C++ type; instantiating it for a type without one does not compile.
template <class T>
constexpr DLDataType dtype_of() {
  using U = std::remove_cv_t<T>;
  constexpr bool is_complex =
      std::is_same_v<U, std::complex<float>> || std::is_same_v<U, std::complex<double>>;
  static_assert(std::is_arithmetic_v<U> || is_complex, "this type has no DLPack type of its own");
  constexpr uint8_t code = is_complex                    ? kDLComplex
                           : std::is_same_v<U, bool>     ? kDLBool
                           : std::is_floating_point_v<U> ? kDLFloat
                           : std::is_signed_v<U>         ? kDLInt
                                                         : kDLUInt;
  return {code, static_cast<uint8_t>(8 * sizeof(U)), 1};
}

// A shared handle of a tensor in host or device memory; copies refer to the same memory. An undefined one
// (the default) stands for Python's None, and in the outputs of run() for "allocate it".
class Tensor {
 public:
  Tensor() = default;

  // Takes over a tensor of the C interface; its deleter runs with the last copy. NULL gives an
  // undefined one.
  explicit Tensor(DLManagedTensor* managed) {
    if (managed)
      managed_ = std::shared_ptr<DLManagedTensor>(managed, [](DLManagedTensor* tensor) {
        if (tensor->deleter) tensor->deleter(tensor);
      });
  }

  // Memory of the caller, which must outlive all copies. Strides count elements; empty means
  // contiguous.
  static Tensor borrow_raw(void* data, DLDataType dtype, std::vector<int64_t> sizes,
                           std::vector<int64_t> strides = {}, DLDevice device = {kDLCPU, 0}) {
    auto holder = std::make_shared<Holder>();
    holder->sizes = std::move(sizes);
    holder->strides = std::move(strides);
    if (!holder->strides.empty() && holder->strides.size() != holder->sizes.size())
      throw Error(AOTC_INVALID_ARGUMENT, "a tensor needs as many strides as sizes");
    DLTensor& tensor = holder->managed.dl_tensor;
    tensor.data = data;
    tensor.device = device;
    tensor.ndim = static_cast<int32_t>(holder->sizes.size());
    tensor.dtype = dtype;
    tensor.shape = holder->sizes.data();
    tensor.strides = holder->strides.empty() ? nullptr : holder->strides.data();
    Tensor out;
    out.managed_ = std::shared_ptr<DLManagedTensor>(holder, &holder->managed);
    return out;
  }
  template <class T>
  static Tensor borrow(T* data, std::vector<int64_t> sizes, std::vector<int64_t> strides = {}) {
    static_assert(!std::is_const_v<T>,
                  "a program may write its inputs: pass memory that is not const");
    return borrow_raw(static_cast<void*>(data), dtype_of<T>(), std::move(sizes),
                      std::move(strides));
  }

  // New contiguous memory, all zero bytes, freed with the last copy.
  static Tensor zeros(DLDataType dtype, std::vector<int64_t> sizes) {
    const size_t bytes = static_cast<size_t>(bytes_of(dtype, sizes));
    auto memory = std::make_shared<std::vector<unsigned char>>(bytes);
    return borrow_raw(memory->data(), dtype, std::move(sizes)).keeping(memory);
  }
  template <class T>
  static Tensor zeros(std::vector<int64_t> sizes) {
    return zeros(dtype_of<T>(), std::move(sizes));
  }

  bool defined() const { return managed_ != nullptr; }
  const DLTensor& dl_tensor() const {
    if (!managed_) throw Error(AOTC_INVALID_ARGUMENT, "the tensor is undefined (None)");
    return managed_->dl_tensor;
  }
  DLManagedTensor* managed() const { return managed_.get(); }
  DLDataType dtype() const { return dl_tensor().dtype; }
  std::vector<int64_t> sizes() const {
    const DLTensor& tensor = dl_tensor();
    return std::vector<int64_t>(tensor.shape, tensor.shape + tensor.ndim);
  }
  // In elements, also when the tensor was made without them.
  std::vector<int64_t> strides() const {
    const DLTensor& tensor = dl_tensor();
    if (tensor.strides) return std::vector<int64_t>(tensor.strides, tensor.strides + tensor.ndim);
    std::vector<int64_t> strides(static_cast<size_t>(tensor.ndim), 1);
    for (size_t d = strides.size(); d-- > 1;) strides[d - 1] = strides[d] * tensor.shape[d];
    return strides;
  }
  int64_t count() const {
    const DLTensor& tensor = dl_tensor();
    int64_t count = 1;
    for (int32_t d = 0; d < tensor.ndim; ++d) count *= tensor.shape[d];
    return count;
  }
  // The first element. Throws when T is not the tensor's type.
  template <class T>
  T* data() const {
    constexpr DLDataType wanted = dtype_of<T>();
    const DLTensor& tensor = dl_tensor();
    if (tensor.dtype.code != wanted.code || tensor.dtype.bits != wanted.bits ||
        tensor.dtype.lanes != wanted.lanes)
      throw Error(AOTC_INVALID_ARGUMENT, "the tensor's elements are not of the type asked for");
    return static_cast<T*>(raw());
  }
  // The same for any type.
  void* raw() const {
    const DLTensor& tensor = dl_tensor();
    return tensor.data ? static_cast<char*>(tensor.data) + tensor.byte_offset : nullptr;
  }
  DLDevice device() const { return dl_tensor().device; }
  // Bytes of a contiguous tensor of these sizes. Throws where they do not fit in memory.
  static int64_t bytes_of(DLDataType dtype, const std::vector<int64_t>& sizes) {
    int64_t bytes = (int64_t{dtype.bits} * dtype.lanes + 7) / 8;
    for (int64_t size : sizes) {
      if (size < 0 || (size && bytes > INT64_MAX / size))
        throw Error(AOTC_INVALID_ARGUMENT, "a tensor of these sizes does not fit in memory");
      bytes *= size;
    }
    return bytes;
  }
  // The same tensor, which keeps `owner` as long as a copy of it lives.
  Tensor keeping(std::shared_ptr<void> owner) const {
    auto both =
        std::make_shared<std::pair<std::shared_ptr<DLManagedTensor>, std::shared_ptr<void>>>(
            managed_, std::move(owner));
    return Tensor(std::shared_ptr<DLManagedTensor>(both, managed_.get()));
  }
  // The value of a tensor of one element.
  template <class T>
  T item() const {
    if (count() != 1) throw Error(AOTC_INVALID_ARGUMENT, "item() needs a tensor of one element");
    return *data<T>();
  }

 private:
  friend class TensorSlot;
  explicit Tensor(std::shared_ptr<DLManagedTensor> managed) : managed_(std::move(managed)) {}

  struct Holder {
    DLManagedTensor managed = {};
    std::vector<int64_t> sizes, strides;
  };
  std::shared_ptr<DLManagedTensor> managed_;
};

// A place for a tensor of the C interface, made before the call that yields it: taking it over
// then allocates nothing, so a call that has changed the caller's tensors cannot end in bad_alloc.
class TensorSlot {
 public:
  // The slot owns `managed` (not NULL) from now on; used once.
  Tensor take(DLManagedTensor* managed) {
    owner_->managed = managed;
    return Tensor(std::shared_ptr<DLManagedTensor>(std::move(owner_), managed));
  }

 private:
  struct Owner {
    DLManagedTensor* managed = nullptr;
    Owner() = default;
    Owner(const Owner&) = delete;
    Owner& operator=(const Owner&) = delete;
    ~Owner() {
      if (managed && managed->deleter) managed->deleter(managed);
    }
  };
  std::shared_ptr<Owner> owner_ = std::make_shared<Owner>();
};

// What a position accepts or yields. Sizes of -1 are symbolic, within [min_sizes, max_sizes].
struct TensorSpec {
  std::string name;
  DLDataType dtype;
  DLDevice device;
  std::vector<int64_t> sizes, min_sizes, max_sizes;
};

// An opened program: immutable, shared by any number of threads and sessions. Copies share the
// handle.
class Model {
 public:
  // A package, an unpacked one, or a bare model.so, through libaotc (or another table that serves
  // paths).
  explicit Model(const std::string& path, const std::string& options = "{}",
                 const AotcApi* api = aotc_get_api(AOTC_ABI_VERSION))
      : Model(api) {
    AotcModel* model = nullptr;
    check(api_->model_open(path.c_str(), options.c_str(), &model));
    own(model);
  }
  // The program built into the library that `api` comes from.
  static Model built_in(const AotcApi* api, const std::string& options = "{}") {
    Model out(api);
    AotcModel* model = nullptr;
    out.check(out.api_->model_open(nullptr, options.c_str(), &model));
    out.own(model);
    return out;
  }
  // A package in memory, which must outlive the model.
  static Model from_memory(const void* data, uint64_t size, const std::string& options = "{}",
                           const AotcApi* api = aotc_get_api(AOTC_ABI_VERSION)) {
    Model out(api);
    AotcModel* model = nullptr;
    out.check(out.api_->model_open_memory(data, size, options.c_str(), &model));
    out.own(model);
    return out;
  }

  std::string manifest() const { return text(api_->model_manifest(handle())); }
  std::vector<std::string> input_names() const {
    return names(api_->model_num_inputs, api_->model_input_name);
  }
  std::vector<std::string> output_names() const {
    return names(api_->model_num_outputs, api_->model_output_name);
  }
  std::vector<std::string> state_names() const {
    return names(api_->model_num_states, api_->model_state_name);
  }
  std::vector<std::string> weight_names() const {
    return names(api_->model_num_weights, api_->model_weight_name);
  }
  TensorSpec input_spec(int32_t i) const { return spec(api_->model_input_spec, i); }
  TensorSpec output_spec(int32_t i) const { return spec(api_->model_output_spec, i); }
  TensorSpec state_spec(int32_t i) const { return spec(api_->model_state_spec, i); }
  // The input or state that an output points into.
  std::optional<std::string> aliased_input(int32_t output) const {
    return optional_text(api_->model_aliased_input(handle(), output));
  }
  std::optional<std::string> aliased_state(int32_t output) const {
    return optional_text(api_->model_aliased_state(handle(), output));
  }

  // Contiguous tensors on the GPU that the program uses (`device`, as in its specs), for programs
  // without a toolkit: memory that nobody has written, and copies there and back. They keep the
  // model open.
  Tensor device_empty(DLDataType dtype, std::vector<int64_t> sizes,
                      DLDevice device = {kDLCUDA, 0}) const {
    void* data = nullptr;
    check(api_->device_alloc(handle(), static_cast<uint64_t>(Tensor::bytes_of(dtype, sizes)),
                             &data));
    std::shared_ptr<void> memory(
        data, [model = *this](void* p) { model.api_->device_free(model.handle(), p); });
    return Tensor::borrow_raw(data, dtype, std::move(sizes), {}, device).keeping(memory);
  }
  Tensor to_device(const Tensor& from, DLDevice device = {kDLCUDA, 0}) const {
    const Tensor out = device_empty(from.dtype(), from.sizes(), device);
    copy(out, from);
    return out;
  }
  Tensor to_host(const Tensor& from) const {
    const Tensor out = Tensor::zeros(from.dtype(), from.sizes());
    copy(out, from);
    return out;
  }
  // Between contiguous tensors of the same type and sizes, in any memory.
  void copy(const Tensor& to, const Tensor& from) const {
    const std::vector<int64_t> sizes = from.sizes();
    const DLDataType a = to.dtype(), b = from.dtype();
    if (sizes != to.sizes() || a.code != b.code || a.bits != b.bits || a.lanes != b.lanes ||
        !is_contiguous(to) || !is_contiguous(from))
      throw Error(AOTC_INVALID_ARGUMENT,
                  "a copy needs contiguous tensors of the same type and sizes");
    check(api_->device_copy(handle(), to.raw(), to.device(), from.raw(), from.device(),
                            static_cast<uint64_t>(Tensor::bytes_of(b, sizes))));
  }

  AotcModel* handle() const { return handle_.get(); }
  const AotcApi* api() const { return api_; }
  void check(AotcStatus status) const {
    if (status) throw Error(status, api_->last_error());
  }

 private:
  explicit Model(const AotcApi* api) : api_(api) {
    if (!api) throw Error(AOTC_UNSUPPORTED, "the library does not serve this version of the ABI");
  }
  void own(AotcModel* model) { handle_ = std::shared_ptr<AotcModel>(model, api_->model_close); }
  static bool is_contiguous(const Tensor& tensor) {
    const std::vector<int64_t> sizes = tensor.sizes(), strides = tensor.strides();
    int64_t expected = 1;
    for (size_t d = sizes.size(); d-- > 0;) {
      if (sizes[d] != 1 && strides[d] != expected) return tensor.count() == 0;
      expected *= sizes[d];
    }
    return true;
  }
  static std::string text(const char* text) { return text ? text : ""; }
  static std::optional<std::string> optional_text(const char* text) {
    return text ? std::optional<std::string>(text) : std::nullopt;
  }
  std::vector<std::string> names(int32_t (*count)(const AotcModel*),
                                 const char* (*name)(const AotcModel*, int32_t)) const {
    std::vector<std::string> out;
    for (int32_t i = 0; i < count(handle()); ++i) out.push_back(text(name(handle(), i)));
    return out;
  }
  TensorSpec spec(AotcStatus (*get)(const AotcModel*, int32_t, AotcTensorSpec*), int32_t i) const {
    AotcTensorSpec found;
    check(get(handle(), i, &found));
    const auto list = [&](const int64_t* sizes) {
      return std::vector<int64_t>(sizes, sizes + found.ndim);
    };
    return {text(found.name),  found.dtype,           found.device,
            list(found.sizes), list(found.min_sizes), list(found.max_sizes)};
  }

  const AotcApi* api_;
  std::shared_ptr<AotcModel> handle_;
};

// The states, scratch memory and thread settings of one user of a model: one thread at a time.
class Session {
 public:
  explicit Session(const Model& model, const std::string& options = "{}") : model_(model) {
    AotcSession* session = nullptr;
    model_.check(api()->session_create(model_.handle(), options.c_str(), &session));
    own(session);
  }

  // Runs the program. Outputs that are None come back undefined.
  std::vector<Tensor> run(const std::vector<Tensor>& inputs) {
    std::vector<Tensor> outputs(static_cast<size_t>(api()->model_num_outputs(model_.handle())));
    run(inputs, outputs);
    return outputs;
  }
  // The same with storage for the outputs that are defined; the others are filled in.
  void run(const std::vector<Tensor>& inputs, std::vector<Tensor>& outputs) {
    std::vector<DLTensor> given;
    std::vector<DLManagedTensor*> results;
    given.reserve(inputs.size());
    results.reserve(outputs.size());
    for (const Tensor& input : inputs) given.push_back(input.dl_tensor());
    for (const Tensor& output : outputs) results.push_back(output.managed());
    std::vector<TensorSlot> slots(outputs.size());
    model_.check(api()->session_run(handle(), given.data(), static_cast<int32_t>(given.size()),
                                    results.data(), static_cast<int32_t>(results.size())));
    for (size_t i = 0; i < outputs.size(); ++i)
      if (!outputs[i].defined() && results[i]) outputs[i] = slots[i].take(results[i]);
  }
  void synchronize() { model_.check(api()->session_synchronize(handle())); }

  // A copy of a state by its name in the archive.
  Tensor state(const std::string& name) const {
    const std::vector<std::string> names = model_.state_names();
    for (size_t i = 0; i < names.size(); ++i)
      if (names[i] == name) {
        const TensorSpec spec = model_.state_spec(static_cast<int32_t>(i));
        const Tensor out = Tensor::zeros(spec.dtype, spec.sizes);
        get_state(name, out);
        return out;
      }
    throw Error(AOTC_NOT_FOUND, "the program has no state '" + name + "'");
  }
  // Any state, buffer, parameter or constant, into a tensor of exactly its sizes and type.
  void get_state(const std::string& name, const Tensor& into) const {
    DLTensor tensor = into.dl_tensor();
    model_.check(api()->session_state_get(handle(), name.c_str(), &tensor));
  }
  void set_state(const std::string& name, const Tensor& from) {
    model_.check(api()->session_state_set(handle(), name.c_str(), &from.dl_tensor()));
  }
  // The state lives in `storage` from now on; the session keeps the tensor (not memory that it
  // borrows).
  void bind_state(const std::string& name, const Tensor& storage) {
    bound_.push_back(storage);
    model_.check(api()->session_state_bind(handle(), name.c_str(), &storage.dl_tensor()));
  }
  void reset_states() { model_.check(api()->session_state_reset(handle())); }
  Session fork() const {
    AotcSession* session = nullptr;
    model_.check(api()->session_fork(handle(), &session));
    return Session(model_, session);
  }
  void save(const std::string& path) const {
    model_.check(api()->session_save(handle(), path.c_str()));
  }
  void load(const std::string& path) { model_.check(api()->session_load(handle(), path.c_str())); }

  // Times every step of the calls from here on; options as in aotc.h: wait, warmup, active.
  void profile_start(const std::string& options = "{}") {
    model_.check(api()->session_profile_start(handle(), options.c_str()));
  }
  // Writes a Chrome trace. When that fails the profile goes on.
  void profile_stop(const std::string& path) {
    model_.check(api()->session_profile_stop(handle(), path.c_str()));
  }
  void profile_discard() { model_.check(api()->session_profile_stop(handle(), nullptr)); }

  // The host's own thread pool; NULL returns to the run time's.
  void set_parallel_for(AotcParallelFor fn, void* context, int32_t threads) {
    model_.check(api()->session_set_parallel_for(handle(), fn, context, threads));
  }
  int64_t scratch_size() const { return api()->session_scratch_size(handle()); }
  // Why option cuda_graph has no effect; "" where it has, or was not given.
  std::string graph_trouble() const {
    const char* text = api()->session_graph_trouble(handle());
    return text ? text : "";
  }

  const Model& model() const { return model_; }
  AotcSession* handle() const { return handle_.get(); }

 private:
  Session(const Model& model, AotcSession* session) : model_(model) { own(session); }
  const AotcApi* api() const { return model_.api(); }
  void own(AotcSession* session) { handle_ = {session, api()->session_destroy}; }

  // In this order: the session ends before the tensors it is bound to and the model.
  Model model_;
  std::vector<Tensor> bound_;
  std::unique_ptr<AotcSession, void (*)(AotcSession*)> handle_{nullptr, nullptr};
};

}  // namespace aotc

#endif  // AOTC_AOTC_HPP_
