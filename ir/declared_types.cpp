// Comparing declared and inferred types, as far as provable.
#include "ir/declared_types.h"

#include <algorithm>

#include "ir/ops/op.h"

namespace aotc {
namespace {

// torch's own declarations of half-type statistics differ from what its kernels yield: what is
// computed counts.
bool contradicts(const TensorType& declared, const TensorType& found) {
  const bool both_floating = is_floating(declared.dtype) && is_floating(found.dtype);
  if ((declared.dtype != found.dtype && !both_floating) || declared.rank() != found.rank())
    return true;
  for (size_t i = 0; i < declared.rank(); ++i) {
    const auto difference = (declared.sizes[i] - found.sizes[i]).constant();
    if (difference && *difference != 0) return true;
  }
  return false;
}

std::string type_text(const TensorType& t) {
  std::string sizes;
  for (const Sym& s : t.sizes) sizes += (sizes.empty() ? "" : ", ") + s.str();
  return fmt::format("{} [{}]", name(t.dtype), sizes);
}

}  // namespace

std::set<const Value*> used_values(const Graph& g) {
  std::set<const Value*> used;
  for (const auto& n : g.nodes) Graph::for_each_operand(*n, [&](Value* v) { used.insert(v); });
  for (const Output& o : g.outputs) used.insert(o.value);
  for (const WriteBack& w : g.write_backs) used.insert(w.value);
  return used;
}

void check_complex(const Node& n, const TensorType& declared, const TensorType& found) {
  if (declared.dtype == found.dtype) return;
  Graph::for_each_operand(n, [&](const Value* v) {
    if (v->kind != ValueKind::Tensor || !is_complex(v->type.dtype)) return;
    user_error(
        "{}: node '{}': {} is not supported for {}; compute it with the real and imaginary parts",
        n.source.str(), n.name, n.op->name(), name(v->type.dtype));
  });
}

void check_declared(const Node& n, const std::vector<Value*>& results,
                    const std::set<const Value*>& used) {
  for (size_t i = 0; i < std::min(results.size(), n.outputs.size()); ++i) {
    const Value* declared = n.outputs[i];
    const Value* found = results[i];
    if (!used.contains(declared) || !found || declared->kind != ValueKind::Tensor ||
        found->kind != ValueKind::Tensor)
      continue;
    if (!contradicts(declared->type, found->type)) continue;
    check_complex(n, declared->type, found->type);
    user_error(
        "{}: node '{}': the archive declares '{}' as {}, {} of its operands yields {}; export the "
        "program again",
        n.source.str(), n.name, declared->name, type_text(declared->type), n.op->name(),
        type_text(found->type));
  }
}

}  // namespace aotc
