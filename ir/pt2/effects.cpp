// Ops with side effects are wrapped: with_effects(token, op, arguments...) -> (token, results...).
// The token orders them, which the list of nodes does already.
#include "ir/pt2/inliner.h"

namespace aotc::pt2 {

std::optional<Node> without_token(const Node& n) {
  if (n.target != "torch.ops.higher_order.with_effects") return std::nullopt;
  constexpr size_t kOp = 1;
  if (n.inputs.size() <= kOp || n.outputs.empty()) return std::nullopt;
  const auto* op = std::get_if<OperatorName>(&n.inputs[kOp].arg.value);
  if (!op) return std::nullopt;  // a subgraph or an object's method
  Node bare = n;
  bare.target = op->name;
  bare.inputs.erase(bare.inputs.begin(), bare.inputs.begin() + kOp + 1);
  bare.outputs.erase(bare.outputs.begin());
  if (bare.outputs.size() == 1 && std::holds_alternative<None>(bare.outputs[0].value))
    bare.outputs.clear();
  return bare;
}

}  // namespace aotc::pt2
