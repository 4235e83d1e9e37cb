#include "codegen/weights.h"

#include <algorithm>
#include <set>

#include "runtime_support/model/digest.h"

// Which storages a package carries, and where.
namespace aotc {

int WeightLayout::storage_index(int archive_storage) const {
  for (size_t i = 0; i < storages.size(); ++i)
    if (storages[i].archive == archive_storage) return static_cast<int>(i);
  internal_error("storage {} is in no table", archive_storage);
}

namespace {

// Archives may hold any byte for a bool; generated code relies on 0 and 1. A storage that names of
// other types share keeps its bytes.
bool holds_bools(const WeightLayout& w, int storage) {
  return std::all_of(w.names.begin(), w.names.end(), [&](const WeightName& n) {
    return n.storage != storage || n.dtype == DType::Bool;
  });
}

// Kernels may load whole cache lines.
constexpr int64_t kStorageAlignment = 64;

int64_t round_up(int64_t n, int64_t unit) { return (n + unit - 1) / unit * unit; }

void take_bools(std::string_view bytes, const std::function<void(std::string_view)>& take) {
  constexpr size_t kPiece = 1 << 16;
  for (size_t at = 0; at < bytes.size(); at += kPiece) {
    std::string piece(bytes.substr(at, kPiece));
    for (char& c : piece) c = c != 0;
    take(piece);
  }
}

bool all_zero(std::string_view bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](char c) { return c == 0; });
}

}  // namespace

WeightLayout layout_weights(const Graph& g) {
  WeightLayout w;
  if (!g.program) {
    for (const Input& in : g.inputs)
      if (in.stored.storage >= 0)
        user_error(
            "the program's text has no weights ('{}' has some): name the MODEL.pt2 that it came "
            "from as well",
            in.target);
    return w;
  }
  const pt2::ExportedProgram& p = *g.program;
  std::set<int> mutated;
  for (const WriteBack& wb : g.write_backs)
    mutated.insert(g.inputs[static_cast<size_t>(wb.input)].stored.storage);
  auto add_name = [&](const std::string& name, const pt2::StoredTensor& t) {
    auto it = std::find_if(w.storages.begin(), w.storages.end(),
                           [&](const WeightStorage& s) { return s.archive == t.storage; });
    if (it == w.storages.end()) {
      WeightStorage s;
      s.archive = t.storage;
      s.bytes = static_cast<int64_t>(p.storages[static_cast<size_t>(t.storage)].bytes.size());
      s.state = mutated.contains(t.storage);
      w.storages.push_back(s);
      it = std::prev(w.storages.end());
    }
    w.names.push_back({name, static_cast<int>(it - w.storages.begin()), t.dtype, t.sizes, t.strides,
                       t.offset, it->state});
  };
  std::set<std::string> listed;
  // Signature order first, then names that only the archive knows.
  for (const Input& in : g.inputs) {
    if (in.stored.storage < 0 || !listed.insert(in.target).second) continue;
    auto it = p.state_dict.find(in.target);
    if (it == p.state_dict.end()) it = p.constants.find(in.target);
    add_name(in.target, it->second);
  }
  for (const Input& in : g.inputs)
    if (in.value && in.stored.storage >= 0)
      w.storages[static_cast<size_t>(w.storage_index(in.stored.storage))].device =
          in.value->type.device;
  for (const auto* table : {&p.state_dict, &p.constants})
    for (const auto& [name, t] : *table)
      if (listed.insert(name).second) add_name(name, t);
  for (size_t i = 0; i < w.storages.size(); ++i) {
    WeightStorage& s = w.storages[i];
    std::string_view bytes = p.storages[static_cast<size_t>(s.archive)].bytes;
    if (s.state && all_zero(bytes)) continue;
    s.offset = round_up(w.blob_bytes, kStorageAlignment);
    s.bools = holds_bools(w, static_cast<int>(i));
    w.blob_bytes = s.offset + s.bytes;
  }
  return w;
}

WeightBlob::WeightBlob(const Graph& g, const WeightLayout& layout)
    : program_(g.program), size_(layout.blob_bytes) {
  for (const WeightStorage& s : layout.storages)
    if (s.offset >= 0) storages_.push_back(s);
}

void WeightBlob::read(int64_t begin, int64_t end,
                      const std::function<void(std::string_view)>& take) const {
  const std::string zeros(kStorageAlignment, '\0');
  int64_t at = begin;
  for (const WeightStorage& s : storages_) {
    const int64_t first = std::max(at, s.offset), last = std::min(end, s.offset + s.bytes);
    if (first >= last) continue;
    take(std::string_view(zeros).substr(0, static_cast<size_t>(first - at)));
    const std::string_view bytes =
        std::string_view(program_->storages[static_cast<size_t>(s.archive)].bytes)
            .substr(static_cast<size_t>(first - s.offset), static_cast<size_t>(last - first));
    s.bools ? take_bools(bytes, take) : take(bytes);
    at = last;
  }
  // An empty storage at the end has its place as well.
  take(std::string_view(zeros).substr(0, static_cast<size_t>(end - at)));
}

std::string WeightBlob::range(int64_t begin, int64_t end) const {
  std::string bytes;
  bytes.reserve(static_cast<size_t>(end - begin));
  read(begin, end, [&](std::string_view piece) { bytes += piece; });
  return bytes;
}

std::string WeightBlob::str() const { return range(0, size_); }

uint64_t WeightBlob::digest() const {
  const int64_t part = weights_digest_part(size_);
  return weights_digest(range(0, part).data(), range(size_ - part, size_).data(), size_);
}

}  // namespace aotc
