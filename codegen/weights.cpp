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

// Archives may hold any byte for a bool; generated code relies on 0 and 1. A storage that names of other types
// share keeps its bytes.
bool holds_bools(const WeightLayout& w, int storage) {
  return std::all_of(w.names.begin(), w.names.end(), [&](const WeightName& n) { return n.storage != storage || n.dtype == DType::Bool; });
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
        user_error("the program's text has no weights ('{}' has some): name the MODEL.pt2 that it came from as well", in.target);
    return w;
  }
  const pt2::ExportedProgram& p = *g.program;
  std::set<int> mutated;
  for (const WriteBack& wb : g.write_backs) mutated.insert(g.inputs[static_cast<size_t>(wb.input)].stored.storage);
  auto add_name = [&](const std::string& name, const pt2::StoredTensor& t) {
    auto it = std::find_if(w.storages.begin(), w.storages.end(), [&](const WeightStorage& s) { return s.archive == t.storage; });
    if (it == w.storages.end()) {
      WeightStorage s;
      s.archive = t.storage;
      s.bytes = static_cast<int64_t>(p.storages[static_cast<size_t>(t.storage)].bytes.size());
      s.state = mutated.contains(t.storage);
      w.storages.push_back(s);
      it = std::prev(w.storages.end());
    }
    w.names.push_back({name, static_cast<int>(it - w.storages.begin()), t.dtype, t.sizes, t.strides, t.offset, it->state});
  };
  std::set<std::string> listed;
  // Signature order first, then names that only the archive knows.
  for (const Input& in : g.inputs) {
    if (in.stored.storage < 0 || !listed.insert(in.target).second) continue;
    auto it = p.state_dict.find(in.target);
    if (it == p.state_dict.end()) it = p.constants.find(in.target);
    add_name(in.target, it->second);
  }
  for (const auto* table : {&p.state_dict, &p.constants})
    for (const auto& [name, t] : *table)
      if (listed.insert(name).second) add_name(name, t);
  for (size_t i = 0; i < w.storages.size(); ++i) {
    WeightStorage& s = w.storages[i];
    std::string_view bytes = p.storages[static_cast<size_t>(s.archive)].bytes;
    if (s.state && all_zero(bytes)) continue;
    w.blob.resize((w.blob.size() + 63) / 64 * 64);
    s.offset = static_cast<int64_t>(w.blob.size());
    w.blob.append(bytes);
    if (holds_bools(w, static_cast<int>(i)))
      for (size_t at = static_cast<size_t>(s.offset); at < w.blob.size(); ++at) w.blob[at] = w.blob[at] != 0;
  }
  return w;
}

uint64_t weights_blob_digest(const std::string& blob) { return weights_digest(blob.data(), static_cast<int64_t>(blob.size())); }

}  // namespace aotc
