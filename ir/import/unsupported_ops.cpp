#include "ir/import/unsupported_ops.h"

#include <algorithm>

#include "ir/ops/op.h"

namespace aotc {
namespace {

// What the node does: for an op inside a wrapper (with_effects(token, op, ...)), that op.
std::string target_of(const pt2::Node& node) {
  for (const pt2::NamedArgument& a : node.inputs)
    if (auto* op = std::get_if<pt2::OperatorName>(&a.arg.value))
      return fmt::format("{} of {}", node.target, op->name);
  return node.target;
}

// Decomposing a program twice changes nothing.
bool is_decomposed(const pt2::ExportedProgram& program) {
  const std::vector<std::string>& dialects = program.verifiers;
  return !dialects.empty() && std::ranges::find(dialects, "TRAINING") == dialects.end();
}

const char* remedy_for(const std::string& target, const pt2::ExportedProgram& program) {
  if (target.starts_with("torch.ops.aten._foreach_"))  // lists stay lists in every form
    return "write the loop over the tensors in the model";
  return is_decomposed(program)
             ? "replace it in the model"
             : "try run_decompositions() before saving, or replace it in the model";
}

}  // namespace

static std::string place_of(const pt2::Node& node, const Source& source) {
  return fmt::format("{} (node '{}')", source.str(), node.name.empty() ? node.target : node.name);
}

void UnsupportedOps::add(const pt2::Node& node, const Source& source) {
  places_[target_of(node)].push_back(place_of(node, source));
}

void UnsupportedOps::add_random(const pt2::Node& node, const Source& source,
                                const std::string& remedy) {
  Random& r = random_[node.target];
  r.places.push_back(place_of(node, source));
  r.remedy = remedy;
}

void UnsupportedOps::report(const pt2::ExportedProgram& program, ErrorList& errors) const {
  for (const auto& [target, places] : places_) {
    const std::vector<std::string> near = similar_ops(target);
    const std::string hint =
        near.empty() ? "" : fmt::format(" (nearest: {})", fmt::join(near, ", "));
    errors.add(fmt::format("{}: unsupported op {}{} at {}; {}", program.path, target, hint,
                           fmt::join(places, ", "), remedy_for(target, program)));
  }
  for (const auto& [target, random] : random_)
    errors.add(
        fmt::format("{}: unsupported op {} at {}: it draws random numbers, which a compiled "
                    "program does not; {}",
                    program.path, target, fmt::join(random.places, ", "), random.remedy));
}

}  // namespace aotc
