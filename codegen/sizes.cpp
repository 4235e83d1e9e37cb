// Text of the functions that compute sizes. Each is a template: run first on doubles, whose rounded
// results show whether the exact ones fit in 62 bits, then on int64_t.
#include "codegen/sizes.h"

#include <algorithm>

#include "codegen/emit.h"

namespace aotc {

Sizes::Sizes(const Graph& g) : graph_(g), assumptions_(g.assumptions()) {}

std::string Sizes::operator()(const Sym& s) {
  if (auto c = s.constant()) return fmt::format("{{{}, -1}}", *c);
  return fmt::format("{{0, {}}}", entry(s));
}

int Sizes::entry(const Sym& s) {
  auto [it, added] = index_.emplace(s.str(), static_cast<int>(entries_.size()));
  if (added) entries_.push_back({s});
  return it->second;
}

std::vector<std::string> Sizes::data_dependent(const Sym& s) const {
  std::vector<std::string> names;
  for (const std::string& n : s.symbols())
    if (graph_.symbols.at(n).unbacked) names.push_back(n);
  return names;
}

bool Sizes::is_known(const Sym& s, const std::vector<std::string>& known) const {
  const std::vector<std::string> needed = data_dependent(s);
  return std::all_of(needed.begin(), needed.end(), [&](const std::string& n) {
    return std::find(known.begin(), known.end(), n) != known.end();
  });
}

std::string Sizes::function(const std::string& name, const std::vector<std::string>& known) {
  std::string lines;
  std::map<std::string, int> used;
  for (size_t i = 0; i < entries_.size(); ++i) {
    Entry& e = entries_[i];
    if (e.computed || depends_on_data(e.size) == known.empty() || !is_known(e.size, known))
      continue;
    e.computed = true;
    for (const std::string& n : e.size.symbols()) used[n] = symbol_index(graph_, n);
    // Floats are in no sum of sizes, and bits are no estimate.
    if (is_float(e.size)) lines += "if (T(1) / 2 == 0) ";
    lines += fmt::format("sizes[{}] = {};\n", i, cpp_index(e.size, assumptions_, "T"));
  }
  if (lines.empty()) return "";
  std::string text =
      fmt::format("template <typename T>\nvoid {}({}const int64_t* symbols, T* sizes) {{\n", name,
                  used.empty() ? "[[maybe_unused]] " : "");
  for (const auto& [n, at] : used) {
    const char* type = is_float(Sym::symbol(n)) ? "int64_t" : "T";
    text += fmt::format("const {} {} = {}(symbols[{}]);\n", type, n, type, at);
  }
  return text + lines + "}\n\n";
}

std::string Sizes::call(const std::string& name) const {
  return fmt::format(
      "{{\ndouble rough[{}] = {{}};\n{}(frame->symbols, rough);\nif (!fit(rough, {})) {{\n"
      "frame->failure.message = \"a tensor of this call would be too large for any memory\";\n"
      "return 1;\n}}\n{}(frame->symbols, frame->extents);\n}}\n",
      entries_.size(), name, entries_.size(), name);
}

void Sizes::check_complete() const {
  for (const Entry& e : entries_)
    AOTC_CHECK(e.computed, "the size {} uses a symbol that the program never reads", e.size.str());
}

int symbol_index(const Graph& g, const std::string& name) {
  auto it = g.symbols.find(name);
  AOTC_CHECK(it != g.symbols.end(), "unknown symbol {}", name);
  return static_cast<int>(std::distance(g.symbols.begin(), it));
}

}  // namespace aotc
