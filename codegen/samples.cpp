#include "codegen/samples.h"

#include <algorithm>
#include <cstring>

#include "ir/npy.h"

// Sample inputs, so that `aotc run` has something to run on.
namespace aotc {
namespace {

// A view that repeats its storage may be absurdly large; such samples are drawn instead.
constexpr int64_t kMaxRepeated = 16 << 20;

bool is_reasonable(const pt2::ExportedProgram& p, const pt2::StoredTensor& t) {
  int64_t bytes = element_size(t.dtype);
  for (int64_t s : t.sizes)
    if (__builtin_mul_overflow(bytes, s, &bytes)) return false;
  return bytes <=
         std::max(kMaxRepeated,
                  static_cast<int64_t>(p.storages[static_cast<size_t>(t.storage)].bytes.size()));
}

// The elements of a strided view in C order.
std::string gather(const pt2::ExportedProgram& p, const pt2::StoredTensor& t) {
  std::string_view bytes = p.storages[static_cast<size_t>(t.storage)].bytes;
  size_t element = static_cast<size_t>(element_size(t.dtype));
  int64_t count = 1;
  for (int64_t s : t.sizes) count *= s;
  std::string out;
  out.reserve(static_cast<size_t>(count) * element);
  std::vector<int64_t> at(t.sizes.size(), 0);
  for (int64_t i = 0; i < count; ++i) {
    int64_t offset = t.offset;
    for (size_t d = 0; d < at.size(); ++d) offset += at[d] * t.strides[d];
    out.append(bytes.substr(static_cast<size_t>(offset) * element, element));
    for (size_t d = at.size(); d-- > 0;) {
      if (++at[d] < t.sizes[d]) break;
      at[d] = 0;
    }
  }
  return out;
}

template <typename T>
NpyArray scalar(DType t, T value) {
  NpyArray a;
  a.dtype = t;
  a.data.assign(reinterpret_cast<const char*>(&value), sizeof value);
  return a;
}

std::optional<PackageFile> sample_file(const pt2::ExportedProgram& p, const pt2::SampleInput& s,
                                       size_t position) {
  std::string name = fmt::format("samples/in{}", position);
  if (auto* b = std::get_if<bool>(&s))
    return PackageFile{name + ".npy", format_npy(scalar(DType::Bool, static_cast<uint8_t>(*b)))};
  if (auto* i = std::get_if<int64_t>(&s))
    return PackageFile{name + ".npy", format_npy(scalar(DType::Int64, *i))};
  if (auto* d = std::get_if<double>(&s))
    return PackageFile{name + ".npy", format_npy(scalar(DType::Float64, *d))};
  auto* t = std::get_if<pt2::StoredTensor>(&s);
  if (!t || !is_reasonable(p, *t)) return std::nullopt;
  NpyArray a;
  a.dtype = t->dtype;
  a.shape = t->sizes;
  a.data = gather(p, *t);
  if (a.dtype == DType::Bool)  // archives may hold any byte
    for (char& c : a.data) c = c != 0;
  std::string suffix = ".npy";
  for (const NpyBits& form : kNpyBits)
    if (form.dtype == t->dtype) {
      a.dtype = form.bits;
      suffix = form.suffix;
    }
  return PackageFile{name + suffix, format_npy(a)};
}

}  // namespace

// Positions are those of the call: None and strings take none. All or nothing: a partial set is of
// no use.
std::vector<PackageFile> sample_files(const Compilation& c) {
  std::vector<PackageFile> files;
  if (!c.exported || !c.exported->has_sample_inputs) return files;
  size_t position = 0;
  for (const pt2::SampleInput& s : c.exported->sample_inputs) {
    if (std::holds_alternative<pt2::None>(s) || std::holds_alternative<std::string>(s)) continue;
    auto f = sample_file(*c.exported, s, position++);
    if (!f) return {};
    files.push_back(std::move(*f));
  }
  size_t expected = 0;
  for (const Input& in : c.plan->program.graph->inputs) expected += in.is_user();
  return files.size() == expected ? files : std::vector<PackageFile>{};
}

}  // namespace aotc
