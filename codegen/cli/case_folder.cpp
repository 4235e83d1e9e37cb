// Reads meta.json and rebuilds inputs in the memory layout that it describes.
#include "codegen/cli/case_folder.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <nlohmann/json.hpp>

#include "codegen/cli/numbers.h"
#include "ir/error.h"

namespace fs = std::filesystem;
using json = nlohmann::ordered_json;

namespace aotc::cli {
namespace {

std::vector<int64_t> int_list(const json& list) {
  std::vector<int64_t> out;
  for (const json& item : list) out.push_back(item.get<int64_t>());
  return out;
}

InputLayout read_layout(const json& j) {
  InputLayout layout;
  layout.sizes = int_list(j.at("size"));
  layout.strides = j.contains("stride") ? int_list(j["stride"]) : contiguous_strides(layout.sizes);
  layout.offset = j.value("offset", int64_t{0});
  layout.storage = j.contains("storage") ? j["storage"].get<int64_t>()
                                         : layout.offset + view_span(layout.sizes, layout.strides);
  if (j.contains("storage_id") && !j["storage_id"].is_null())
    layout.storage_id = j["storage_id"].dump();
  return layout;
}

std::optional<int64_t> position(const json& j, const char* key) {
  if (!j.is_object() || !j.contains(key) || j[key].is_null()) return std::nullopt;
  return j[key].get<int64_t>();
}

void read_meta(const json& j, CaseMeta& meta) {
  meta.sequence = j.value("sequence", false);
  meta.may_refuse = j.value("may_refuse", false);
  if (j.contains("inputs"))
    for (const json& item : j["inputs"])
      meta.inputs.push_back(item.is_null() ? std::nullopt : std::optional(read_layout(item)));
  if (j.contains("outputs")) {
    meta.has_outputs = true;
    int64_t i = 0;
    for (const json& item : j["outputs"])
      meta.outputs[i++] = {position(item, "alias_in"), position(item, "alias_out")};
  }
  if (j.contains("ambiguous_outputs"))
    for (int64_t i : int_list(j["ambiguous_outputs"])) meta.ambiguous_outputs.insert(i);
}

// Every element of the view lies in the storage, and the values fit the view.
void check_layout(const InputLayout& l, const Array& values, const fs::path& file) {
  if (l.sizes != values.shape)
    user_error("{}: has sizes {}, but meta.json describes this input with size {}", file.string(),
               sizes_text(values.shape), sizes_text(l.sizes));
  if (l.strides.size() != l.sizes.size())
    user_error("{}: meta.json gives {} strides for {} dimensions", file.string(), l.strides.size(),
               l.sizes.size());
  const bool negative =
      std::any_of(l.strides.begin(), l.strides.end(), [](int64_t s) { return s < 0; });
  if (negative || l.offset < 0 || l.storage < 0 ||
      l.offset + view_span(l.sizes, l.strides) > l.storage)
    user_error(
        "{}: meta.json describes a view with size {}, stride {}, offset {} that leaves its storage "
        "of {} elements",
        file.string(), sizes_text(l.sizes), sizes_text(l.strides), l.offset, l.storage);
}

InputLayout plain_layout(const Array& values) {
  InputLayout l;
  l.sizes = values.shape;
  l.strides = contiguous_strides(values.shape);
  l.storage = count_elements(values.shape);
  return l;
}

using Storages = std::map<std::string, std::shared_ptr<HostStorage>>;

// One storage per id, as large as its largest user says.
Storages shared_storages(const std::vector<InputLayout>& layouts,
                         const std::vector<Array>& values) {
  std::map<std::string, int64_t> bytes;
  for (size_t i = 0; i < layouts.size(); ++i) {
    int64_t& size = bytes[layouts[i].storage_id];
    size = std::max(size, layouts[i].storage * element_size(values[i].dtype));
  }
  Storages storages;
  for (const auto& [id, size] : bytes)
    if (!id.empty()) storages[id] = std::make_shared<HostStorage>(size);
  return storages;
}

HostTensor place(const InputLayout& l, const Array& values, const Storages& storages) {
  HostTensor t;
  t.dtype = values.dtype;
  t.sizes = l.sizes;
  t.strides = l.strides;
  t.offset = l.offset;
  t.storage = l.storage_id.empty()
                  ? std::make_shared<HostStorage>(l.storage * element_size(t.dtype))
                  : storages.at(l.storage_id);
  scatter(t.storage->data() + l.offset * element_size(t.dtype), t.dtype, l.sizes, l.strides,
          values.data);
  return t;
}

}  // namespace

CaseMeta read_case_meta(const fs::path& folder) {
  CaseMeta meta;
  meta.must_refuse = fs::exists(folder / "error.txt");
  const fs::path file = folder / "meta.json";
  std::ifstream in(file, std::ios::binary);
  if (!in) return meta;
  try {
    read_meta(json::parse(in), meta);
  } catch (const json::exception& e) {
    user_error("{}: not as expected of a case's meta.json: {}", file.string(), e.what());
  }
  return meta;
}

std::vector<HostTensor> read_case_inputs(const fs::path& folder, const CaseMeta& meta) {
  std::vector<Array> values;
  std::vector<InputLayout> layouts;
  for (const auto& [i, file] : numbered_arrays(folder, "in")) {
    if (i != static_cast<int64_t>(values.size()))
      user_error("{}: there is no in{}.npy before it", file.string(), values.size());
    values.push_back(read_array(file));
    const size_t k = static_cast<size_t>(i);
    const bool described = k < meta.inputs.size() && meta.inputs[k];
    layouts.push_back(described ? *meta.inputs[k] : plain_layout(values.back()));
    check_layout(layouts.back(), values.back(), file);
  }
  const Storages storages = shared_storages(layouts, values);
  std::vector<HostTensor> tensors;
  for (size_t i = 0; i < values.size(); ++i)
    tensors.push_back(place(layouts[i], values[i], storages));
  return tensors;
}

std::map<std::string, fs::path> case_arrays(const fs::path& folder, const std::string& stem) {
  std::map<std::string, fs::path> found;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const std::string name = array_stem(entry.path().filename().string());
    if (name.starts_with(stem)) found[name.substr(stem.size())] = entry.path();
  }
  if (error) user_error("{}: cannot read the folder: {}", folder.string(), error.message());
  return found;
}

std::map<int64_t, fs::path> numbered_arrays(const fs::path& folder, const std::string& stem) {
  std::map<int64_t, fs::path> numbered;
  for (const auto& [text, file] : case_arrays(folder, stem)) {
    int64_t number = -1;
    const char* end = text.data() + text.size();
    const auto result = std::from_chars(text.data(), end, number);
    if (!text.empty() && result.ec == std::errc() && result.ptr == end && number >= 0)
      numbered[number] = file;
  }
  return numbered;
}

}  // namespace aotc::cli
