#include <algorithm>

#include "codegen/cuda/cuda_body.h"

// What the threads of a row do together.
namespace aotc {

using namespace loops;

std::string CudaBody::shared_loop(const Phase& ph, const std::set<ExprId>& inner) {
  const GpuLaunch& l = *s_.launch;
  const PackedAxes packed(ph.axes, width());
  const std::string at = counter(ph), n = index(packed.count);
  std::string text, first = "lane";
  if (keeps(ph, inner)) {
    text += kept_rounds(ph, inner);
    const int64_t kept = int64_t{l.rounds} * l.threads;
    if (assumptions_.proves_le(packed.count, Sym(kept))) return text;
    first = fmt::format("lane + {}", kept);
  }
  looping_ = &ph;
  text += fmt::format("for ({5} {0} = {1}; {0} < {2}; {0} += {3}) {{\n{4}}}\n", at, first, n,
                      l.threads, axes_of_pack(ph) + pack_iteration(ph, inner), index_type());
  looping_ = nullptr;
  return text;
}

bool CudaBody::keeps(const Phase& ph, const std::set<ExprId>& inner) const {
  const GpuLaunch& l = *s_.launch;
  const auto f = static_cast<int>(&ph - k_.phases.data());
  return std::ranges::any_of(inner, [&](ExprId id) { return l.kept_loads.contains(id); }) ||
         std::ranges::any_of(l.kept_stores, [&](const auto& s) { return s.first.first == f; });
}

// The text for each of a thread's first iterations that there are.
std::string CudaBody::in_round(const Phase& ph, const std::string& text) const {
  const GpuLaunch& l = *s_.launch;
  const Sym count = PackedAxes(ph.axes, width()).count;
  const std::string at = counter(ph);
  const bool all = count == Sym(int64_t{l.rounds} * l.threads);
  return fmt::format(
      "AOTC_UNROLL\nfor (int round = 0; round < {}; ++round) {{\nconst {} {} = lane + round * "
      "{};\n{}{}{}}}\n",
      l.rounds, index_type(), at, l.threads,
      all ? "" : fmt::format("if ({} < {}) {{\n", at, index(count)), axes_of_pack(ph) + text,
      all ? "" : "}\n");
}

std::string CudaBody::kept_element(int row) const {
  return fmt::format("kept{}[round]{}", row, width() > 1 ? ".of[element]" : "");
}

std::string CudaBody::kept_rounds(const Phase& ph, const std::set<ExprId>& inner) {
  const GpuLaunch& l = *s_.launch;
  const auto f = static_cast<int>(&ph - k_.phases.data());
  std::vector<ExprId> filled;
  std::string text;
  const auto declare = [&](int row) {
    const BufferId b = l.kept[static_cast<size_t>(row)].buffer;
    const char* type = cpp_type(p_.buffers[static_cast<size_t>(b)].dtype);
    text += width() > 1 ? fmt::format("Pack<{}, {}> kept{}[{}];\n", type, width(), row, l.rounds)
                        : fmt::format("{} kept{}[{}];\n", type, row, l.rounds);
  };
  for (ExprId id : inner) {
    const auto it = l.kept_loads.find(id);
    if (it == l.kept_loads.end() || l.kept[static_cast<size_t>(it->second)].load != id) continue;
    filled.push_back(id);
    declare(it->second);
  }
  for (const auto& [store, row] : l.kept_stores)
    if (store.first == f) declare(row);
  looping_ = &ph;
  in_rounds_ = true;
  if (!filled.empty()) text += fill_kept(ph, filled);
  text += in_round(ph, pack_iteration(ph, inner));
  in_rounds_ = false;
  looping_ = nullptr;
  return text;
}

// Loads of all rounds come before the first use.
std::string CudaBody::fill_kept(const Phase& ph, const std::vector<ExprId>& loads) {
  const std::string& axis = ph.axes.back().name;
  const bool full = PackedAxes(ph.axes, width()).full;
  std::string whole, elements;
  for (ExprId id : loads) {
    const Expr& e = k_.exprs[static_cast<size_t>(id)];
    const int row = s_.launch->kept_loads.at(id);
    if (width() > 1 && is_adjacent(k_, e.at[0], axis))
      whole += fmt::format("kept{}[round] = load_pack<{}>({}{});\n", row, width(),
                           address(e.buffer, e.at[0], axis), full ? "" : ", left");
    else
      elements +=
          fmt::format("{} = {}[{}];\n", kept_element(row), pointer(e.buffer), index(e.at[0]));
  }
  return in_round(ph, whole + (elements.empty() ? "" : each_element(ph, elements)));
}

std::string CudaBody::combine_row(const Phase& ph) const {
  std::string text;
  for (int id : ph.accumulators) {
    const Accumulator& a = k_.accumulators[static_cast<size_t>(id)];
    const bool is_companion = std::ranges::any_of(
        k_.accumulators, [&](const Accumulator& o) { return o.companion == id; });
    if (is_companion) continue;
    if (a.companion >= 0) {
      text += combine_best(id);
      continue;
    }
    const char* type = cpp_type(a.dtype);
    text += fmt::format(
        "{0} = combine_row<{1}>({0}, [](const {2}& a, const {2}& b) -> {2} {{ return {3}; }}, "
        "shared);\n",
        accumulator_name(id), s_.launch->threads, type, combine(a, "a", "b"));
  }
  return text;
}

std::string CudaBody::combine_best(int id) const {
  const Accumulator& a = k_.accumulators[static_cast<size_t>(id)];
  const std::string value = accumulator_name(id), at = accumulator_name(a.companion);
  const std::string type = fmt::format("Best<{}>", cpp_type(a.dtype));
  return fmt::format(
      "{{\nconst {0} best = combine_row<{1}>({0}{{{2}, {3}}}, [](const {0}& a, const {0}& b) -> "
      "{0} {{ return b.at != -1 "
      "&& takes_over_{4}_at(b.value, a.value, b.at, a.at) ? b : a; }}, shared);\n{2} = "
      "best.value;\n{3} = best.at;\n}}\n",
      type, s_.launch->threads, value, at, prim_name(a.combine));
}

}  // namespace aotc
