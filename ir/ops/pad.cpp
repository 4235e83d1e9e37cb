// Padding: by a constant, by reflection, by the nearest element, around in a circle. Pads are
// listed from the last dimension backwards, before and after; negative ones crop.
#include "ir/ops/shape_math.h"
#include "ir/ops/tensor_expr.h"

namespace aotc {
namespace {

Types padded_type(const Node& n) {
  TensorType t = input_type(n);
  Index pad = syms_arg(n, "pad");
  for (size_t d = 0; d < t.rank(); ++d) {
    size_t i = 2 * (t.rank() - 1 - d);
    if (i < pad.size()) t.sizes[d] = t.sizes[d] + pad[i] + pad[i + 1];
  }
  return {contiguous_type(t.dtype, t.sizes, t.device)};
}

// Inside the input its element, outside `value`.
E constant_pad(KernelBuilder& k, const Node& n, const Index& index) {
  const TensorType& t = input_type(n);
  Index pad = syms_arg(n, "pad"), at = index;
  E inside = k.boolean(true);
  for (size_t d = 0; d < t.rank(); ++d) {
    size_t i = 2 * (t.rank() - 1 - d);
    if (i >= pad.size() || (pad[i].is(0) && pad[i + 1].is(0))) continue;
    at[d] = index[d] - pad[i];
    E position = k.index(at[d]);
    if (!pad[i].is(0)) inside = inside && (position >= k.constant(int64_t{0}, DType::Int64));
    if (!pad[i + 1].is(0)) inside = inside && (position < k.index(t.sizes[d]));
  }
  return k.lowering().load(k, std::get<Value*>(n.args[0]), at, inside,
                           number(k, n, "value", t.dtype));
}

// Where padded position i of a dimension of `size` elements reads.
Sym padded_position(const std::string& mode, const Sym& i, const Sym& size) {
  if (mode == "replicate") return sym_min(sym_max(i, 0), size - 1);
  Sym distance = sym_max(i, 0 - i);  // reflect: mirror at 0, then at size - 1
  Sym beyond = size - 1 - distance;
  return size - 1 - sym_max(beyond, 0 - beyond);
}

// What is left after negative padding repeats.
Sym circular_position(const Sym& i, const Sym& size, const Sym& before, const Sym& after) {
  const Sym first = sym_max(0 - before, 0), kept = size - first - sym_max(0 - after, 0);
  return first + mod(i - first, kept);
}

Index pad_map(const Node& n, int, const Index& index) {
  const TensorType& t = input_type(n);
  Index pad = syms_arg(n, "pad"), at = index;
  std::string mode = std::get<std::string>(arg(n, "mode"));
  for (size_t d = 0; d < t.rank(); ++d) {
    const size_t before = 2 * (t.rank() - 1 - d);
    if (before >= pad.size()) continue;
    const Sym i = index[d] - pad[before];
    at[d] = mode == "circular" ? circular_position(i, t.sizes[d], pad[before], pad[before + 1])
                               : padded_position(mode, i, t.sizes[d]);
  }
  return at;
}

// The elements in order, under other sizes; where there are too few, zeros follow.
E resized(KernelBuilder& k, const Node& n, const Index& index) {
  const TensorType& t = input_type(n);
  const Sym place = linearize(index, n.output()->type.sizes);
  const E inside = k.index(place) < k.index(product(t.sizes));
  return k.lowering().load(k, std::get<Value*>(n.args[0]), delinearize(place, t.sizes), inside,
                           k.constant(0.0, t.dtype));
}

OpDef resize_row(std::string_view schema, Index (*sizes)(const Node&)) {
  return formula_op(
      schema, LoopsKind::Index,
      [sizes](const Node& n) {
        const TensorType& t = input_type(n);
        return Types{contiguous_type(t.dtype, sizes(n), t.device)};
      },
      resized);
}

OpDef padding_op(std::string_view schema, std::string mode) {
  return rewrite_op(schema, [mode](Rewriter& r) {
    TensorExpr x = in(r, "self");
    return std::vector<Value*>{x.apply("aotc.pad", {arg(r.node, "padding"), mode})};
  });
}

std::vector<Value*> pad(Rewriter& r) {
  TensorExpr x = in(r, "self");
  std::string mode = std::get<std::string>(arg(r.node, "mode"));
  Arg value = arg(r.node, "value");
  if (std::holds_alternative<None>(value)) value = 0.0;
  if (mode == "constant")
    return {x.apply("aten.constant_pad_nd.default", {arg(r.node, "pad"), value})};
  return {x.apply("aotc.pad", {arg(r.node, "pad"), mode})};
}

}  // namespace

Rows pad_ops() {
  return {
      formula_op(
          "aten.constant_pad_nd.default(Tensor self, SymInt[] pad, Scalar value=0) -> Tensor",
          LoopsKind::Index, padded_type, constant_pad),
      resize_row("aten.resize.default(Tensor self, SymInt[] size, *, MemoryFormat? "
                 "memory_format=None) -> Tensor",
                 [](const Node& n) { return syms_arg(n, "size"); }),
      resize_row("aten.resize_as.default(Tensor self, Tensor the_template, *, MemoryFormat? "
                 "memory_format=None) -> Tensor",
                 [](const Node& n) { return tensor_arg(n, "the_template")->type.sizes; }),
      view_op("aotc.pad(Tensor self, SymInt[] pad, str mode) -> Tensor", padded_type, pad_map),
      rewrite_op("aten.pad.default(Tensor self, SymInt[] pad, str mode=\"constant\", float? "
                 "value=None) -> Tensor",
                 pad),
      padding_op("aten.reflection_pad1d.default(Tensor self, SymInt[2] padding) -> Tensor",
                 "reflect"),
      padding_op("aten.reflection_pad2d.default(Tensor self, SymInt[4] padding) -> Tensor",
                 "reflect"),
      padding_op("aten.reflection_pad3d.default(Tensor self, SymInt[6] padding) -> Tensor",
                 "reflect"),
      padding_op("aten.replication_pad1d.default(Tensor self, SymInt[2] padding) -> Tensor",
                 "replicate"),
      padding_op("aten.replication_pad2d.default(Tensor self, SymInt[4] padding) -> Tensor",
                 "replicate"),
      padding_op("aten.replication_pad3d.default(Tensor self, SymInt[6] padding) -> Tensor",
                 "replicate"),
      rewrite_op("aten._pad_circular.default(Tensor self, SymInt[] pad) -> Tensor",
                 [](Rewriter& r) {
                   return std::vector<Value*>{in(r, "self").apply(
                       "aotc.pad", {arg(r.node, "pad"), std::string("circular")})};
                 }),
  };
}

}  // namespace aotc
