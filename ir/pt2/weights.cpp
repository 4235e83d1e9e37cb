// State dict and constants: pickled dictionaries, or files of raw bytes that a JSON config lists.
#include "ir/error.h"
#include "ir/pt2/payload.h"
#include "ir/pt2/quote.h"
#include "ir/pt2/schema.h"
#include "ir/pt2/torch_file.h"

namespace aotc::pt2 {
namespace {

constexpr int kStridedLayout = 7;  // schema.Layout.Strided

using Tensors = std::map<std::string, StoredTensor>;

std::string label_of(const ZipArchive& archive, const ZipMember& member) {
  return fmt::format("{}: {}", archive.label(), quote(member.name));
}

StoredTensor require_tensor(const PickleValue& value, const std::string& where) {
  if (const auto* tensor = std::get_if<StoredTensor>(&value)) return *tensor;
  if (std::holds_alternative<FakeTensor>(value))
    user_error("{}: is a fake tensor without data; export the program with real weights", where);
  user_error("{}: is {}, expected a tensor", where, describe(value));
}

// torch writes nothing at all for None, which stands for an empty dictionary.
void read_pickled(const ZipArchive& archive, const ZipMember& member, StorageTable& storages,
                  Tensors& tensors) {
  const std::string label = label_of(archive, member);
  const std::string_view bytes = archive.read(member, storages.backing());
  if (bytes.empty()) return;
  const Pickle pickle = read_torch_file(bytes, label, storages);
  const auto* dict = pickle.heap.get<PickleDict>(pickle.root);
  if (dict == nullptr)
    user_error("{}: is {}, expected a dict of tensors", label,
               describe(pickle.heap.at(pickle.root)));
  for (const auto& [key, value] : dict->entries) {
    const auto* name = pickle.heap.get<std::string>(key);
    if (name == nullptr) user_error("{}: a key that is no string", label);
    tensors[*name] =
        require_tensor(pickle.heap.at(value), fmt::format("{}: {}", label, quote(*name)));
  }
}

// Reads the tensors that one config lists.
class ConfigReader {
 public:
  ConfigReader(const ZipArchive& archive, const std::string& folder, bool big_endian,
               StorageTable& storages, ExportedProgram& program)
      : archive_(archive),
        folder_(folder),
        big_endian_(big_endian),
        storages_(storages),
        program_(program) {}

  void read(const ZipMember& config, Tensors& tensors) {
    const JsonDocument document(archive_.read_checked(config, storages_.backing()),
                                label_of(archive_, config));
    for (const auto& [name, entry] : document.root().require("config").members())
      read_entry(std::string(name), entry, tensors);
  }

 private:
  void read_entry(const std::string& name, JsonRef entry, Tensors& tensors) {
    const auto meta = entry.find("tensor_meta");
    const auto pickled = entry.find("use_pickle");
    if (!meta) {
      program_.notes.push_back(fmt::format(
          "constant {} is a custom object; it is not read, and code that uses it is refused",
          quote(name)));
    } else if (pickled && pickled->boolean()) {
      tensors[name] = read_pickled_entry(name, entry);
    } else {
      tensors[name] = read_raw_entry(name, entry, *meta);
    }
  }

  const ZipMember& file_of(JsonRef entry) const {
    const JsonRef path = entry.require("path_name");
    const ZipMember* member = archive_.find(folder_ + path.text());
    if (member == nullptr)
      path.fail(fmt::format("the archive has no member {}", quote(folder_ + path.text())));
    return *member;
  }

  StoredTensor read_pickled_entry(const std::string& name, JsonRef entry) {
    const ZipMember& member = file_of(entry);
    const std::string label = label_of(archive_, member);
    const std::string_view bytes = archive_.read(member, storages_.backing());
    const Pickle pickle = read_torch_file(bytes, label, storages_);
    return require_tensor(pickle.heap.at(pickle.root), fmt::format("{}: {}", label, quote(name)));
  }

  StoredTensor read_raw_entry(const std::string& name, JsonRef entry, JsonRef meta) {
    const TensorMeta parsed = parse_tensor_meta(meta);
    if (parsed.layout != kStridedLayout)
      meta.fail(fmt::format("layout {}; aotc reads strided tensors", parsed.layout));
    StoredTensor tensor;
    tensor.dtype = parsed.dtype;
    tensor.requires_grad = parsed.requires_grad;
    for (const JsonRef size : meta.require("sizes").elements())
      tensor.sizes.push_back(parse_concrete_size(size));
    for (const JsonRef stride : meta.require("strides").elements())
      tensor.strides.push_back(parse_concrete_size(stride));
    tensor.offset = parse_concrete_size(meta.require("storage_offset"));
    tensor.storage = storage_of(file_of(entry));
    storages_.admit(tensor, fmt::format("{}: {}", archive_.label(), quote(name)));
    return tensor;
  }

  // Tensors with the same file are views of one storage.
  int storage_of(const ZipMember& member) {
    const auto known = storage_by_member_.find(&member);
    if (known != storage_by_member_.end()) return known->second;
    return storage_by_member_[&member] = storages_.add(archive_, member, big_endian_);
  }

  const ZipArchive& archive_;
  const std::string& folder_;
  bool big_endian_;
  StorageTable& storages_;
  ExportedProgram& program_;
  std::map<const ZipMember*, int> storage_by_member_;
};

}  // namespace

void read_weights(const ZipArchive& archive, const Container& parts, StorageTable& storages,
                  ExportedProgram& program) {
  if (parts.weights_pickle != nullptr) {
    read_pickled(archive, *parts.weights_pickle, storages, program.state_dict);
  } else {
    ConfigReader(archive, parts.weights_folder, parts.big_endian, storages, program)
        .read(*parts.weights_config, program.state_dict);
  }
  if (parts.constants_pickle != nullptr) {
    read_pickled(archive, *parts.constants_pickle, storages, program.constants);
  } else {
    ConfigReader(archive, parts.constants_folder, parts.big_endian, storages, program)
        .read(*parts.constants_config, program.constants);
  }
}

}  // namespace aotc::pt2
