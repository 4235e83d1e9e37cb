// Regions under torch.autocast: the archive holds their ops without the casts that the dispatcher
// makes. The declared result types tell where it makes them.
#include <fmt/format.h>

#include <set>

#include "ir/pt2/inliner.h"

namespace aotc::pt2 {
namespace {

// Ops that autocast may run in its lower precision.
bool lowers(std::string_view op) {
  static const std::set<std::string_view> kOps = {"_convolution",
                                                  "conv1d",
                                                  "conv2d",
                                                  "conv3d",
                                                  "conv_tbc",
                                                  "conv_transpose1d",
                                                  "conv_transpose2d",
                                                  "conv_transpose3d",
                                                  "convolution",
                                                  "prelu",
                                                  "mm",
                                                  "mv",
                                                  "bmm",
                                                  "addmm",
                                                  "addmv",
                                                  "addr",
                                                  "addbmm",
                                                  "baddbmm",
                                                  "matmul",
                                                  "linear",
                                                  "bilinear",
                                                  "einsum",
                                                  "inner",
                                                  "tensordot",
                                                  "dot",
                                                  "vdot",
                                                  "chain_matmul",
                                                  "linalg_vecdot",
                                                  "linalg_matmul",
                                                  "linalg_multi_dot",
                                                  "scaled_dot_product_attention",
                                                  "_native_multi_head_attention",
                                                  "lstm",
                                                  "gru",
                                                  "rnn_tanh",
                                                  "rnn_relu",
                                                  "lstm_cell",
                                                  "gru_cell",
                                                  "rnn_tanh_cell",
                                                  "rnn_relu_cell"};
  return kOps.contains(op);
}

bool writes(const Node& n) {
  const std::string_view base = aten_name(n.target);
  return (base.ends_with("_") && !base.ends_with("__")) || n.target.ends_with("out");
}

}  // namespace

std::optional<Autocast> autocast_of(const Node& n) {
  constexpr size_t kDevice = 0, kType = 1, kEnabled = 2;
  if (n.inputs.size() <= kEnabled) return std::nullopt;
  const auto* device = std::get_if<std::string>(&n.inputs[kDevice].arg.value);
  const auto* type = std::get_if<ScalarTypeArg>(&n.inputs[kType].arg.value);
  const bool* enabled = std::get_if<bool>(&n.inputs[kEnabled].arg.value);
  if (!device || !enabled) return std::nullopt;
  const DType usual = *device == "cpu" ? DType::BFloat16 : DType::Float16;
  return Autocast{*enabled, *device, type ? type->dtype : usual};
}

void Inliner::add_with_casts(const Node& n) {
  const std::vector<Argument> results = flat(n.outputs);
  const auto* result = results.empty() ? nullptr : std::get_if<TensorName>(&results[0].value);
  auto declared = result ? out_.tensor_values.find(result->name) : out_.tensor_values.end();
  if (declared == out_.tensor_values.end() || writes(n)) return out_.nodes.push_back(n);
  const DType to = declared->second.dtype;
  // What promotion or an fp32 op makes of lower operands is exact.
  const bool raises = to == DType::Float32;
  if (!raises && !(to == autocast_.type && lowers(aten_name(n.target))))
    return out_.nodes.push_back(n);
  Node cast = n;
  for (NamedArgument& a : cast.inputs) a.arg = cast_argument(n, a.arg, to);
  out_.nodes.push_back(std::move(cast));
}

// Floating-point tensors of the region's device, but for float64.
Argument Inliner::cast_argument(const Node& n, const Argument& a, DType to) {
  if (auto* list = std::get_if<std::vector<Argument>>(&a.value)) {
    Argument out = a;
    auto& items = std::get<std::vector<Argument>>(out.value);
    for (size_t i = 0; i < items.size(); ++i) items[i] = cast_argument(n, (*list)[i], to);
    return out;
  }
  const auto* name = std::get_if<TensorName>(&a.value);
  auto it = name ? out_.tensor_values.find(name->name) : out_.tensor_values.end();
  if (it == out_.tensor_values.end()) return a;
  TensorMeta meta = it->second;
  if (!is_floating(meta.dtype) || meta.dtype == DType::Float64 || meta.dtype == to ||
      meta.device.type != autocast_.device)
    return a;
  meta.dtype = to;
  const Argument out = new_tensor(name->name + "_cast", meta);
  emit(n, "torch.ops.aten.to.dtype", {a, {ScalarTypeArg{to}, "as_scalar_type"}}, {out});
  return out;
}

}  // namespace aotc::pt2
