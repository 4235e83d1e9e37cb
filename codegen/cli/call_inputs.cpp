// Finds sample inputs in a package (zip or folder) and draws what is missing.
#include "codegen/cli/call_inputs.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <random>

#include "codegen/cli/case_folder.h"
#include "codegen/pipeline.h"
#include "ir/sym.h"

namespace fs = std::filesystem;
using json = nlohmann::ordered_json;

namespace aotc::cli {
namespace {

CallInputs inputs_from_files(const std::vector<std::string>& paths) {
  CallInputs inputs;
  for (const std::string& path : paths) inputs.tensors.push_back(make_tensor(read_array(path)));
  inputs.origin = paths.size() == 1 ? paths[0] : fmt::format("{} files", paths.size());
  return inputs;
}

bool is_zip(const std::string& path) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return false;
  return !fs::path(path).filename().string().ends_with(".so");
}

// Sample i's file name and bytes, or nothing.
std::vector<std::pair<std::string, std::string>> sample_members(const std::string& package) {
  std::map<std::string, std::string> by_stem;
  std::vector<std::pair<std::string, std::string>> samples;
  if (!is_zip(package)) return samples;
  constexpr char kFolder[] = "samples/";
  for (const std::string& member : list_package(package))
    if (member.starts_with(kFolder)) by_stem[array_stem(member.substr(strlen(kFolder)))] = member;
  for (size_t i = 0;; ++i) {
    const auto found = by_stem.find(fmt::format("in{}", i));
    if (found == by_stem.end()) return samples;
    samples.emplace_back(found->second, read_package_member(package, found->second).value_or(""));
  }
}

std::optional<CallInputs> package_samples(const std::string& package, const Model& model) {
  CallInputs inputs;
  inputs.origin = "the package's sample inputs";
  std::error_code ignored;
  const fs::path folder = fs::path(package) / "samples";
  if (fs::is_directory(folder, ignored)) inputs.tensors = read_case_inputs(folder, {});
  for (const auto& [member, bytes] : sample_members(package))
    inputs.tensors.push_back(make_tensor(parse_array(bytes, package + "/" + member)));
  if (inputs.tensors.size() != model.inputs().size()) return std::nullopt;
  return inputs;
}

// Values for the manifest's symbols.
class SymbolValues {
 public:
  explicit SymbolValues(const json& symbols) {
    for (const json& s : symbols) {
      const int64_t low = s.value("min", int64_t{0});
      const int64_t high = s.value("max", std::max<int64_t>(low, kPreferred));
      values_[s.at("name").get<std::string>()] = std::clamp<int64_t>(kPreferred, low, high);
    }
  }
  int64_t eval(const json& size) const {
    if (size.is_number()) return size.get<int64_t>();
    return Sym::parse(size.get<std::string>()).eval([&](const std::string& symbol) {
      const auto found = values_.find(symbol);
      if (found == values_.end()) user_error("the manifest does not declare symbol {}", symbol);
      return found->second;
    });
  }

 private:
  static constexpr int64_t kPreferred = 4;
  std::map<std::string, int64_t> values_;
};

template <typename T>
void put(Array& array, T value) {
  array.data.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// The bits of a value in [-1, 1) of a half or float8 type, by truncating a float's exponent and
// mantissa where the formats nest, else of one of a few exact values.
void put_drawn(Array& array, std::mt19937_64& random) {
  const double unit = static_cast<double>(random() >> 11) * 0x1p-53;  // [0, 1)
  const float value = static_cast<float>(2 * unit - 1);
  const uint16_t coin = random() & 1;
  switch (array.dtype) {
    case DType::Float64:
      return put(array, 2 * unit - 1);
    case DType::Complex128:
      put(array, unit);
      return put(array, 2 * unit - 1);
    case DType::Float32:
      return put(array, value);
    case DType::Complex64:
      put(array, static_cast<float>(unit));
      return put(array, value);
    case DType::BFloat16: {
      uint32_t bits;
      std::memcpy(&bits, &value, sizeof bits);
      return put(array, static_cast<uint16_t>(bits >> 16));
    }
    // Random mantissas and signs with exponent -1: magnitudes in [0.5, 1).
    case DType::Float16:
      return put(array, static_cast<uint16_t>((random() & 0x83ff) | 0x3800));
    case DType::Complex32:
      return put(array, static_cast<uint32_t>(0x38003800 | (random() & 0x83ff83ff)));
    case DType::Float8E4M3FN:
      return put(array, static_cast<uint8_t>((random() & 0x87) | 0x30));
    case DType::Float8E4M3FNUZ:
      return put(array, static_cast<uint8_t>((random() & 0x87) | 0x38));
    case DType::Float8E5M2:
      return put(array, static_cast<uint8_t>((random() & 0x83) | 0x38));
    case DType::Float8E5M2FNUZ:
      return put(array, static_cast<uint8_t>((random() & 0x83) | 0x3c));
    default: {
      std::string bytes(static_cast<size_t>(element_size(array.dtype)), '\0');
      bytes[0] = static_cast<char>(coin);
      array.data += bytes;
    }
  }
}

// A Python scalar has the value that the program was exported with.
Array exported_scalar(const json& input, DType dtype, const SymbolValues& symbols) {
  Array array{dtype, {}, {}};
  if (input.contains("symbol"))
    put(array, symbols.eval(input["symbol"]));
  else if (dtype == DType::Float64)
    put(array, input["value"].get<double>());
  else if (dtype == DType::Bool)
    put(array, static_cast<uint8_t>(input["value"].get<bool>()));
  else
    put(array, input["value"].get<int64_t>());
  return array;
}

Array draw_input(const json& input, const SymbolValues& symbols, std::mt19937_64& random) {
  const std::string type = input.at("dtype").get<std::string>();
  const auto dtype = dtype_from_name(type);
  if (!dtype) user_error("the manifest names an unknown element type '{}'", type);
  if (input.contains("symbol") || input.contains("value"))
    return exported_scalar(input, *dtype, symbols);
  Array array{*dtype, {}, {}};
  for (const json& size : input.at("sizes")) array.shape.push_back(symbols.eval(size));
  const int64_t count = count_elements(array.shape);
  for (int64_t i = 0; i < count; ++i) put_drawn(array, random);
  return array;
}

}  // namespace

CallInputs draw_inputs(const std::string& manifest) {
  CallInputs inputs;
  inputs.origin = "drawn values (seed 0): the package has no sample inputs";
  std::mt19937_64 random(0);
  try {
    const json m = json::parse(manifest);
    const SymbolValues symbols(m.value("symbols", json::array()));
    for (const json& input : m.at("inputs"))
      inputs.tensors.push_back(make_tensor(draw_input(input, symbols, random)));
  } catch (const json::exception& e) {
    user_error("the package's manifest is not as expected: {}; compile the program again",
               e.what());
  }
  return inputs;
}

CallInputs inputs_from_folder(const std::string& folder) {
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored))
    user_error("{}: no such folder; a folder with in0.npy, in1.npy, ... is expected", folder);
  return {read_case_inputs(folder, read_case_meta(folder)), "folder " + folder};
}

CallInputs choose_inputs(const std::vector<std::string>& paths, const std::string& package,
                         const Model& model) {
  std::error_code ignored;
  if (paths.size() == 1 && fs::is_directory(paths[0], ignored)) return inputs_from_folder(paths[0]);
  if (paths.size() == 1 && !paths[0].ends_with(".npy")) return inputs_from_folder(paths[0]);
  if (!paths.empty()) return inputs_from_files(paths);
  if (auto samples = package_samples(package, model)) return std::move(*samples);
  return draw_inputs(model.manifest());
}

}  // namespace aotc::cli
