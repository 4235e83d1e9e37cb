// Storages drawn for the views that the signature has of them.
#include "program.h"

#include <algorithm>
#include <deque>

#include "ir/interp/random_data.h"
#include "ir/text/print_graph.h"

namespace aotc::random_graphs {

void attach_program(Graph& g, uint64_t seed) {
  auto p = std::make_shared<pt2::ExportedProgram>();
  auto bytes = std::make_shared<std::deque<interp::Memory>>();
  p->path = p->name = g.name;
  interp::Random random(seed);
  std::map<int, std::pair<int64_t, DType>> needed;
  for (const Input& in : g.inputs) {
    if (in.stored.storage < 0) continue;
    auto& [size, dtype] = needed[in.stored.storage];
    dtype = in.value->type.dtype;
    size = std::max(size, text::byte_of(text::end_of_view(in.stored), dtype));
    auto& table = in.kind == InputKind::Constant ? p->constants : p->state_dict;
    table[in.target] = {
        dtype, in.stored.sizes, in.stored.strides, in.stored.offset, in.stored.storage, false};
  }
  for (const auto& [number, need] : needed) {
    while (static_cast<int>(bytes->size()) <= number) bytes->emplace_back(0);
    interp::Memory& m = bytes->at(static_cast<size_t>(number)) = interp::Memory(need.first);
    random.fill(m, need.second, {0, 7}, false);
  }
  for (const interp::Memory& m : *bytes)
    p->storages.push_back({{reinterpret_cast<const char*>(m.data()), static_cast<size_t>(m.size())},
                           "",
                           std::nullopt});
  p->mapping = bytes;
  g.program = p;
}

}  // namespace aotc::random_graphs
