// The functions that torch's pickles call, each done here in its own way; everything else is
// refused by name.
#include "ir/pt2/torch_file.h"

#include <map>

#include "ir/pt2/quote.h"

namespace aotc::pt2 {
namespace {

using Arguments = std::span<const PickleRef>;

struct StorageClass {
  std::string_view name;  // in module torch
  DType dtype;
};

constexpr StorageClass kStorageClasses[] = {
    {"FloatStorage", DType::Float32},
    {"DoubleStorage", DType::Float64},
    {"HalfStorage", DType::Float16},
    {"BFloat16Storage", DType::BFloat16},
    {"LongStorage", DType::Int64},
    {"IntStorage", DType::Int32},
    {"ShortStorage", DType::Int16},
    {"CharStorage", DType::Int8},
    {"ByteStorage", DType::UInt8},
    {"BoolStorage", DType::Bool},
    {"ComplexFloatStorage", DType::Complex64},
    {"ComplexDoubleStorage", DType::Complex128},
};

// Functions of well-formed pickles that yield what aotc does not represent.
struct Refused {
  std::string_view function;
  std::string_view what;
};

constexpr Refused kRefused[] = {
    {"torch._utils._rebuild_sparse_tensor", "a sparse tensor"},
    {"torch._utils._rebuild_sparse_csr_tensor", "a sparse tensor"},
    {"torch._utils._rebuild_qtensor", "a quantized tensor"},
    {"torch._utils._rebuild_nested_tensor", "a nested tensor"},
    {"torch._utils._rebuild_wrapper_subclass", "a tensor of a subclass"},
    {"torch._utils._rebuild_device_tensor_from_numpy", "a tensor of a device without storage"},
};

std::string_view without_prefix(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix ? text.substr(prefix.size()) : std::string_view();
}

// The byte string whose Latin-1 reading is the text, which is how old pickles hold bytes.
std::optional<std::string> encode_latin1(std::string_view utf8) {
  std::string out;
  for (size_t i = 0; i < utf8.size(); ++i) {
    const auto c = static_cast<unsigned char>(utf8[i]);
    if (c < 0x80) {
      out += static_cast<char>(c);
    } else if ((c == 0xc2 || c == 0xc3) && i + 1 < utf8.size()) {
      out += static_cast<char>((c & 3) << 6 | (static_cast<unsigned char>(utf8[++i]) & 0x3f));
    } else {
      return std::nullopt;
    }
  }
  return out;
}

class TorchCalls : public PickleCalls {
 public:
  TorchCalls(const ZipArchive& archive, std::string prefix, StorageTable& storages)
      : archive_(archive),
        prefix_(std::move(prefix)),
        storages_(storages),
        big_endian_(is_big_endian(archive, prefix_, storages.backing())) {}

  PickleValue call(const std::string& function, Arguments arguments,
                   const PickleHeap& heap) override {
    const Call c{function, arguments, heap};
    if (function == "torch._utils._rebuild_tensor_v2") return rebuild_tensor(c, std::nullopt, 6);
    if (function == "torch._utils._rebuild_tensor_v3") {
      need(c, 7);
      return rebuild_tensor(c, dtype_argument(c, 6), 7);
    }
    if (function == "torch._utils._rebuild_parameter" ||
        function == "torch._utils._rebuild_parameter_with_state")
      return rebuild_parameter(c);
    if (function == "torch._tensor._rebuild_from_type_v2") return rebuild_from_type(c);
    if (function == "torch._utils._rebuild_device_tensor_from_cpu_tensor") return moved_tensor(c);
    if (function == "torch._utils._rebuild_meta_tensor_no_storage" ||
        function == "torch._export.serde.serialize._reconstruct_fake_tensor")
      return FakeTensor{};
    return plain_value(c);
  }

  PickleValue persistent(PickleRef id, const PickleHeap& heap) override {
    const auto* parts = heap.get<PickleSequence>(id);
    if (parts == nullptr || parts->items.size() != 5) fail("a persistent id is no storage");
    const auto* tag = heap.get<std::string>(parts->items[0]);
    const auto* type = heap.get<PickleGlobal>(parts->items[1]);
    const auto* key = heap.get<std::string>(parts->items[2]);
    const auto* count = heap.get<int64_t>(parts->items[4]);
    if (tag == nullptr || *tag != "storage" || type == nullptr || key == nullptr ||
        count == nullptr)
      fail("a persistent id is no storage");
    const std::optional<DType> dtype = storage_dtype(type->name);
    const int storage = storage_of(*key);
    const int64_t unit = dtype ? element_size(*dtype) : 1;
    if (*count < 0 || *count > storages_.size_of(storage) / unit)
      fail(fmt::format("storage {} should hold {} elements of {} bytes, its member has {} bytes",
                       quote(*key), *count, unit, storages_.size_of(storage)));
    return PickleStorage{storage, dtype};
  }

 private:
  struct Call {
    const std::string& function;
    Arguments arguments;
    const PickleHeap& heap;
  };

  [[noreturn]] void fail(const std::string& what) const {
    user_error("{}: malformed pickle: {}; export the program again", archive_.label(), what);
  }

  template <typename T>
  const T& argument(const Call& c, size_t i) const {
    const T* value = i < c.arguments.size() ? c.heap.get<T>(c.arguments[i]) : nullptr;
    if (value == nullptr) fail(fmt::format("{}: argument {} is not as expected", c.function, i));
    return *value;
  }

  void need(const Call& c, size_t count) const {
    if (c.arguments.size() < count)
      fail(fmt::format("{}: {} arguments, expected {}", c.function, c.arguments.size(), count));
  }

  std::vector<int64_t> integers(const Call& c, size_t i) const {
    std::vector<int64_t> out;
    for (const PickleRef item : argument<PickleSequence>(c, i).items) {
      const auto* value = c.heap.get<int64_t>(item);
      if (value == nullptr) fail(fmt::format("{}: a size that is no integer", c.function));
      out.push_back(*value);
    }
    return out;
  }

  DType dtype_argument(const Call& c, size_t i) const {
    const std::string& global = argument<PickleGlobal>(c, i).name;
    const auto dtype = dtype_from_name(without_prefix(global, "torch."));
    if (!dtype)
      unsupported("{}: a tensor of element type {}, which aotc does not know", archive_.label(),
                  quote(global));
    return *dtype;
  }

  std::optional<DType> storage_dtype(const std::string& global) const {
    if (global == "torch.storage.UntypedStorage" || global == "torch.UntypedStorage")
      return std::nullopt;
    for (const StorageClass& row : kStorageClasses)
      if (without_prefix(global, "torch.") == row.name) return row.dtype;
    unsupported("{}: a storage of type {}, which aotc does not know", archive_.label(),
                quote(global));
  }

  int storage_of(const std::string& key) {
    const auto known = storage_by_key_.find(key);
    if (known != storage_by_key_.end()) return known->second;
    const ZipMember* member = archive_.find(prefix_ + "data/" + key);
    if (member == nullptr) fail(fmt::format("the member of storage {} is missing", quote(key)));
    return storage_by_key_[key] = storages_.add(archive_, *member, big_endian_);
  }

  // (storage, offset, sizes, strides, requires_grad, hooks[, dtype][, metadata])
  PickleValue rebuild_tensor(const Call& c, std::optional<DType> dtype, size_t metadata) {
    need(c, metadata);
    const auto& storage = argument<PickleStorage>(c, 0);
    StoredTensor tensor;
    if (!dtype) dtype = storage.dtype;
    if (!dtype) fail(fmt::format("{}: a tensor without an element type", c.function));
    tensor.dtype = *dtype;
    tensor.storage = storage.storage;
    tensor.offset = argument<int64_t>(c, 1);
    tensor.sizes = integers(c, 2);
    tensor.strides = integers(c, 3);
    tensor.requires_grad = argument<bool>(c, 4);
    if (metadata < c.arguments.size()) check_metadata(c, metadata);
    storages_.admit(tensor, fmt::format("{}: a tensor", archive_.label()));
    return tensor;
  }

  // Lazily conjugated and negated tensors say so in a dict of flags.
  void check_metadata(const Call& c, size_t i) const {
    if (c.heap.get<None>(c.arguments[i]) != nullptr) return;
    for (const auto& [key, value] : argument<PickleDict>(c, i).entries) {
      const auto* flag = c.heap.get<bool>(value);
      if (flag != nullptr && !*flag) continue;
      unsupported(
          "{}: a tensor with pending {}; call resolve_conj().resolve_neg() on it before export",
          archive_.label(), describe(c.heap.at(key)));
    }
  }

  // (tensor, requires_grad, hooks[, state]); state is Python attributes.
  PickleValue rebuild_parameter(const Call& c) const {
    need(c, 3);
    if (c.heap.get<FakeTensor>(c.arguments[0]) != nullptr) return FakeTensor{};
    StoredTensor tensor = argument<StoredTensor>(c, 0);
    tensor.requires_grad = argument<bool>(c, 1);
    return tensor;
  }

  // (function, type, arguments, state): a tensor with attributes, or of a subclass.
  PickleValue rebuild_from_type(const Call& c) {
    need(c, 4);
    const std::string& type = argument<PickleGlobal>(c, 1).name;
    if (type != "torch.Tensor" && type != "torch._tensor.Tensor" &&
        type != "torch.nn.parameter.Parameter" && type != "torch.nn.parameter.Buffer")
      unsupported("{}: a tensor of subclass {}; aotc reads plain tensors", archive_.label(),
                  quote(type));
    const std::string& inner = argument<PickleGlobal>(c, 0).name;
    if (inner == c.function) fail(c.function + " calls itself");
    return call(inner, argument<PickleSequence>(c, 2).items, c.heap);
  }

  // (CPU tensor, dtype, device, requires_grad)
  PickleValue moved_tensor(const Call& c) const {
    need(c, 4);
    StoredTensor tensor = argument<StoredTensor>(c, 0);
    if (dtype_argument(c, 1) != tensor.dtype)
      unsupported("{}: a tensor that changes its type when loaded", archive_.label());
    tensor.requires_grad = argument<bool>(c, 3);
    return tensor;
  }

  PickleValue plain_value(const Call& c) const {
    const std::string& f = c.function;
    if (f == "collections.OrderedDict" && c.arguments.empty()) return PickleDict{};
    if (f == "collections.defaultdict" && c.arguments.size() <= 1) return PickleDict{};
    if (f == "collections.deque" && c.arguments.empty()) return PickleSequence{};
    if (f == "torch.Size" && c.arguments.size() == 1)
      return PickleSequence{argument<PickleSequence>(c, 0).items, true};
    if (f == "torch.device") return PickleOther{"a torch.device"};
    if (f == "__builtin__.complex" || f == "builtins.complex")
      return PickleOther{"a complex number"};
    if (f == "_codecs.encode" && c.arguments.size() == 2) {
      auto bytes = encode_latin1(argument<std::string>(c, 0));
      if (!bytes) fail("bytes that are not Latin-1 text");
      return PickleBytes{std::move(*bytes)};
    }
    for (const Refused& row : kRefused)
      if (f == row.function)
        unsupported("{}: {}; aotc reads dense, strided tensors", archive_.label(), row.what);
    unsupported("{}: calls {}; aotc reads tensors and plain values and runs no code of an archive",
                archive_.label(), quote(f));
  }

  const ZipArchive& archive_;
  std::string prefix_;
  StorageTable& storages_;
  bool big_endian_;
  std::map<std::string, int> storage_by_key_;
};

// The member data.pkl, in whatever folder: torch names it after the file or "archive".
const ZipMember& find_pickle(const ZipArchive& archive) {
  constexpr std::string_view kName = "data.pkl";
  const ZipMember* found = nullptr;
  for (const ZipMember& m : archive.members()) {
    const bool named = m.name == kName || m.name.ends_with("/data.pkl");
    if (named && (found == nullptr || m.name.size() < found->name.size())) found = &m;
  }
  if (found == nullptr)
    user_error("{}: has no member data.pkl, so it was not written by torch.save", archive.label());
  return *found;
}

}  // namespace

bool is_legacy_torch_file(std::string_view bytes) {
  // The pickle of the number 0x1950a86a20f9469cfc6c.
  constexpr std::string_view kMagic = "\x80\x02\x8a\nl\xfc\x9c\x46\xf9\x20j\xa8P\x19";
  return bytes.substr(0, kMagic.size()) == kMagic;
}

bool is_big_endian(const ZipArchive& archive, const std::string& prefix, Backing& backing) {
  const ZipMember* member = archive.find(prefix + "byteorder");
  if (member == nullptr) return false;
  const std::string_view order = archive.read_checked(*member, backing);
  if (order != "little" && order != "big")
    user_error("{}: byte order {}, expected 'little' or 'big'", archive.label(), quote(order));
  return order == "big";
}

Pickle read_torch_file(std::string_view bytes, const std::string& label, StorageTable& storages) {
  if (is_legacy_torch_file(bytes))
    user_error(
        "{}: written by torch.save's format before zip; save it again without "
        "_use_new_zipfile_serialization=False",
        label);
  const ZipArchive archive(bytes, label);
  const ZipMember& pickle = find_pickle(archive);
  const std::string prefix = pickle.name.substr(0, pickle.name.size() - 8);
  TorchCalls calls(archive, prefix, storages);
  const std::string_view program = archive.read_checked(pickle, storages.backing());
  return read_pickle(program, fmt::format("{}: {}", label, quote(pickle.name)), calls);
}

}  // namespace aotc::pt2
