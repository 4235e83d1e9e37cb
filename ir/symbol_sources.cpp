// Which symbols the inputs give values, and refusals of those that nothing does.
#include "ir/symbol_sources.h"

#include <map>
#include <set>

namespace aotc {
namespace {

// Of factors and offsets, so that their texts are literals and solving stays simple.
constexpr int64_t kMaxLinear = int64_t{1} << 62;

// The sizes and the integer of an input, with their places for messages.
std::vector<std::pair<std::string, Sym>> given_sizes(const Input& in) {
  std::vector<std::pair<std::string, Sym>> given;
  const std::string place = fmt::format("input '{}'", in.name);
  if (const Sym* s = std::get_if<Sym>(&in.scalar)) given.emplace_back(place, *s);
  if (in.kind == InputKind::User && in.value)
    for (size_t d = 0; d < in.value->type.rank(); ++d)
      given.emplace_back(fmt::format("{} dimension {}", place, d), in.value->type.sizes[d]);
  return given;
}

}  // namespace

std::optional<LinearSize> linear_size(const Sym& s) {
  const std::set<std::string> symbols = s.symbols();
  if (symbols.size() != 1) return std::nullopt;
  const auto linear = s.linear_in(*symbols.begin());
  if (!linear) return std::nullopt;
  const auto factor = linear->coefficient.constant(), offset = linear->rest.constant();
  const auto fits = [](int64_t n) { return n >= -kMaxLinear && n <= kMaxLinear; };
  if (!factor || !offset || *factor == 0 || !fits(*factor) || !fits(*offset)) return std::nullopt;
  return LinearSize{*symbols.begin(), *factor, *offset};
}

void require_solvable_inputs(const Graph& g) {
  std::set<std::string> solved;
  std::map<std::string, std::string> needed;  // symbol -> the first place that has it
  for (const Input& in : g.inputs)
    for (const auto& [place, size] : given_sizes(in)) {
      if (const auto linear = linear_size(size)) solved.insert(linear->symbol);
      for (const std::string& name : size.symbols())
        needed.emplace(name, fmt::format("{} is {}", place, size.str()));
    }
  ErrorList errors;
  for (const auto& [name, place] : needed)
    if (!solved.contains(name))
      errors.add(
          fmt::format("{}, but no input has a size of the form a*{} + b that gives '{}' a value; "
                      "export with dimensions that do not depend on each other",
                      place, name, name));
  errors.throw_if_any();
}

void require_defined_sizes(const loops::LoopProgram& p) {
  std::set<std::string> defined;
  for (const loops::Kernel& k : p.kernels)
    if (!k.symbol.empty()) defined.insert(k.symbol);
  for (const loops::Buffer& b : p.buffers)
    for (const Sym& size : b.sizes)
      for (const std::string& name : size.symbols()) {
        const auto info = p.graph->symbols.find(name);
        if (info != p.graph->symbols.end() && info->second.unbacked && !defined.contains(name))
          user_error(
              "tensor '{}' has the size {}, but neither an input nor a node gives '{}' a value; "
              "export the program again",
              b.name, size.str(), name);
      }
}

}  // namespace aotc
