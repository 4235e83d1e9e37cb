// Copies and conversions: clone, copy, to. A conversion that changes nothing is its argument, as in
// eager.
#include "ir/ops/shape_math.h"
#include "ir/ops/tensor_expr.h"

namespace aotc {
namespace {

using enum TypeRule;

OpDef with_infer(OpDef op, std::function<Types(const Node&)> infer) {
  op.infer = std::move(infer);
  return op;
}

Types converted_type(const Node& n) {
  TensorType t = std::get<Value*>(n.args[0])->type;
  t.dtype = dtype_arg(n, "dtype").value_or(t.dtype);
  if (n.op->schema.index_of("device") >= 0)
    if (auto* d = std::get_if<Device>(&arg(n, "device"))) t.device = *d;
  return {contiguous_type(t.dtype, t.sizes, t.device)};
}

// Whether a tensor's elements lie in memory as eager's channels-last formats have them: all steps
// of eager's comparison of strides, in its order. A step that the sizes leave open takes both ways;
// nullopt where they do not agree.
class ChannelsLast {
 public:
  ChannelsLast(const TensorType& t, const Assumptions& known)
      : sizes_(t.sizes), strides_(strides_of(t)), known_(known) {
    if (t.rank() == 4) order_ = {1, 3, 2, 0};
    if (t.rank() == 5) order_ = {1, 4, 3, 2, 0};
  }

  std::optional<bool> holds() const {
    if (order_.empty()) return false;
    return unless(sym_eq(strides_[1], 0), [&] { return from(0, Sym(0)); });
  }

 private:
  using Rest = std::function<std::optional<bool>()>;

  // False where `refuted` holds, else what the rest finds.
  std::optional<bool> unless(const Sym& refuted, const Rest& rest) const {
    const auto is = known_.simplify(refuted).constant();
    if (is) return *is != 0 ? std::optional<bool>(false) : rest();
    return rest() == std::optional<bool>(false) ? std::optional<bool>(false) : std::nullopt;
  }

  // The dimensions from `i` on, innermost first, given the extent of those before.
  std::optional<bool> from(size_t i, const Sym& extent) const {
    if (i == order_.size()) return true;
    const size_t d = order_[i];
    return unless(sym_eq(sizes_[d], 0), [&, d] {
      return unless(sym_lt(strides_[d], extent), [&, d] {
        const Sym ambiguous = d == 0 ? sym_eq(extent, strides_[1]) : Sym(0);
        return unless(ambiguous, [&, d] { return from(i + 1, strides_[d] * sizes_[d]); });
      });
    });
  }

  const Index& sizes_;
  const Index strides_;
  const Assumptions& known_;
  std::vector<size_t> order_;
};

// Numbers of memory formats in an archive; 0 is the contiguous one where a schema has it as
// default.
enum MemoryFormat : int64_t {
  kContiguous = 1,
  kChannelsLast = 2,
  kChannelsLast3d = 3,
  kPreserve = 4
};

// Whether eager takes the argument to have the format that is asked for.
bool has_asked_format(const Rewriter& r, const TensorType& t) {
  if (arg_is_none(r.node, "memory_format")) return true;
  const int64_t asked = int_arg(r.node, "memory_format");
  if (asked == kPreserve) return true;
  const Assumptions known = r.graph.assumptions();
  const auto last = ChannelsLast(t, known).holds();
  if (!last)
    unsupported(r.node, "a memory format that only some sizes of a call have",
                "clone the tensor with that memory_format");
  const int64_t own = !*last ? kContiguous : t.rank() == 4 ? kChannelsLast : kChannelsLast3d;
  return own == asked || (own == kContiguous && asked == 0);
}

// The argument itself where dtype, device and memory format stay and no copy is asked for.
std::vector<Value*> to(Rewriter& r, std::optional<DType> dtype, std::optional<Device> device) {
  TensorExpr self = in(r, "self");
  const bool formats = r.node.op->schema.index_of("memory_format") >= 0;
  bool copy = r.node.op->schema.index_of("copy") >= 0 && bool_arg(r.node, "copy");
  DType target = dtype.value_or(self.dtype());
  bool moves = device && !(*device == self.v->type.device);
  if (!copy && !moves && target == self.dtype() && (!formats || has_asked_format(r, self.v->type)))
    return {self};
  Arg layout = None{}, place = moves ? Arg(*device) : Arg(None{});
  return {self.apply("aten._to_copy.default", {target, layout, place})};
}

std::optional<Device> device_argument(const Node& n) {
  if (auto* d = std::get_if<Device>(&arg(n, "device"))) return *d;
  return std::nullopt;
}

std::vector<Value*> to_other(Rewriter& r) {
  const TensorType& other = r.tensor("other")->type;
  return to(r, other.dtype, other.device);
}

OpDef to_op(std::string_view schema, bool has_device) {
  return rewrite_op(schema, [has_device](Rewriter& r) {
    return to(r, dtype_arg(r.node, "dtype"), has_device ? device_argument(r.node) : std::nullopt);
  });
}

Rows copies() {
  auto itself = [](Elements& x) { return x[0]; };
  auto second = [](Elements& x) { return x[1]; };
  return {
      scalar_op("aten.clone.default(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor",
                SameAs0, itself),
      // The source takes the sizes and type of self.
      scalar_op("aten.copy.default(Tensor self, Tensor src, bool non_blocking=False) -> Tensor",
                SameAs0, second),
      with_infer(scalar_op("aten._to_copy.default(Tensor self, *, ScalarType? dtype=None, Layout? "
                           "layout=None, Device? device=None, bool? pin_memory=None, bool "
                           "non_blocking=False, MemoryFormat? memory_format=None) -> Tensor",
                           Dtype, itself),
                 converted_type),
      with_infer(scalar_op("prims.copy_strided.default(Tensor a, SymInt[] stride) -> Tensor",
                           SameAs0, itself),
                 [](const Node& n) {
                   TensorType t = tensor_arg(n, "a")->type;
                   t.strides = syms_arg(n, "stride");
                   if (t.strides.size() != t.rank())
                     user_error("{}: node '{}' ({}): {} strides for a tensor of rank {}",
                                n.source.str(), n.name, n.op->name(), t.strides.size(), t.rank());
                   return Types{t};
                 }),
      scalar_op("prims.convert_element_type.default(Tensor a, ScalarType dtype) -> Tensor", Dtype,
                itself),
  };
}

// In inference dropout is its argument itself.
std::vector<Value*> dropout(Rewriter& r) {
  if (bool_arg(r.node, "train") && double_arg(r.node, "p") != 0)
    unsupported(r.node, "random dropout", "export the model in eval mode");
  return {r.tensor("input")};
}

std::vector<Value*> native_dropout(Rewriter& r) {
  TensorExpr input = in(r, "input");
  bool train = arg_is_none(r.node, "train") || bool_arg(r.node, "train");
  if (train && double_arg(r.node, "p") != 0)
    unsupported(r.node, "random dropout", "export the model in eval mode");
  Value* mask = input.apply("aten.ones_like.default", {DType::Bool});
  return {input.apply("aten.clone.default"), mask};
}

}  // namespace

Rows conversion_ops() {
  Rows rows = copies();
  append(
      rows,
      {
          to_op("aten.to.dtype(Tensor(a) self, ScalarType dtype, bool non_blocking=False, bool "
                "copy=False, MemoryFormat? memory_format=None) -> Tensor(a)",
                false),
          to_op(
              "aten.to.device(Tensor(a) self, Device device, ScalarType dtype, bool "
              "non_blocking=False, bool copy=False, MemoryFormat? memory_format=None) -> Tensor(a)",
              true),
          to_op("aten.to.dtype_layout(Tensor(a) self, *, ScalarType? dtype=None, Layout? "
                "layout=None, Device? device=None, bool? pin_memory=None, bool non_blocking=False, "
                "bool copy=False, MemoryFormat? memory_format=None) -> Tensor(a)",
                true),
          rewrite_op("aten.to.other(Tensor(a) self, Tensor other, bool non_blocking=False, bool "
                     "copy=False, MemoryFormat? memory_format=None) -> Tensor(a)",
                     to_other),
          rewrite_op("aten.type_as.default(Tensor(a) self, Tensor other) -> Tensor(a)", to_other),
          rewrite_op("aten.dropout.default(Tensor(a) input, float p, bool train) -> Tensor(a)",
                     dropout),
          rewrite_op(
              "aten.feature_dropout.default(Tensor(a) input, float p, bool train) -> Tensor(a)",
              dropout),
          rewrite_op(
              "aten.alpha_dropout.default(Tensor(a) input, float p, bool train) -> Tensor(a)",
              dropout),
          rewrite_op("aten.feature_alpha_dropout.default(Tensor(a) input, float p, bool train) -> "
                     "Tensor(a)",
                     dropout),
          rewrite_op(
              "aten.native_dropout.default(Tensor input, float p, bool? train) -> (Tensor, Tensor)",
              native_dropout),
      });
  return rows;
}

}  // namespace aotc
