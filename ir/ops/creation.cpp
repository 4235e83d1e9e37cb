// Tensors made from numbers: constants, sequences, identity and triangles. Uninitialised tensors
// are zeros.
#include <cmath>

#include "ir/ops/scalar_math.h"
#include "ir/ops/tensor_expr.h"

namespace aotc {
namespace {

// The type that torch.tensor gives a Python number.
DType type_of_number(const Arg& a) {
  if (std::holds_alternative<bool>(a)) return DType::Bool;
  if (is_whole(a)) return DType::Int64;
  if (std::holds_alternative<Complex>(a)) return DType::Complex64;
  if (auto* v = std::get_if<Value*>(&a)) return (*v)->type.dtype;
  return DType::Float32;
}

// ---- one value everywhere

using TypeOf = TensorType (*)(const Node&);

TensorType sized(const Node& n) {
  return contiguous_type(dtype_or(n, DType::Float32), syms_arg(n, "size"), device_of(n));
}
TensorType full_type(const Node& n) {
  DType t = dtype_or(n, type_of_number(arg(n, "fill_value")));
  return contiguous_type(t, syms_arg(n, "size"), device_of(n));
}
TensorType like_input(const Node& n) {
  const TensorType& t = input_type(n);
  return contiguous_type(dtype_or(n, t.dtype), t.sizes, device_of(n));
}
TensorType type_of_self(const Node& n) { return input_type(n); }
TensorType new_type(const Node& n) {
  return contiguous_type(dtype_or(n, input_type(n).dtype), syms_arg(n, "size"), device_of(n));
}
TensorType number_type(const Node& n) {
  return contiguous_type(dtype_or(n, DType::Float32), {}, device_of(n));
}

// Every element is the argument `value`, or the constant where `value` is empty.
OpDef filled(std::string_view schema, TypeOf type, std::string value, double constant = 0) {
  return formula_op(
      schema, LoopsKind::Creation, [type](const Node& n) { return Types{type(n)}; },
      [value, constant](KernelBuilder& k, const Node& n, const Index&) {
        DType t = n.output()->type.dtype;
        return value.empty() ? k.constant(constant, t) : number(k, n, value, t);
      });
}

Rows constants() {
  return {
      filled("aten.full.default(SymInt[] size, Scalar fill_value, *, ScalarType? dtype=None, "
             "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
             full_type, "fill_value"),
      filled("aten.full_like.default(Tensor self, Scalar fill_value, *, ScalarType? dtype=None, "
             "Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? "
             "memory_format=None) -> Tensor",
             like_input, "fill_value"),
      filled(
          "aten.new_full.default(Tensor self, SymInt[] size, Scalar fill_value, *, ScalarType? "
          "dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
          new_type, "fill_value"),
      filled("aten.scalar_tensor.default(Scalar s, *, ScalarType? dtype=None, Layout? layout=None, "
             "Device? device=None, bool? pin_memory=None) -> Tensor",
             number_type, "s"),
      filled("aten.fill.Scalar(Tensor self, Scalar value) -> Tensor", type_of_self, "value"),
      filled("aten.fill.Tensor(Tensor self, Tensor value) -> Tensor", type_of_self, "value"),
      filled("aten.zero.default(Tensor self) -> Tensor", type_of_self, ""),
      filled("aten.zeros.default(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, "
             "Device? device=None, bool? pin_memory=None) -> Tensor",
             sized, ""),
      filled(
          "aten.zeros_like.default(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, "
          "Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
          like_input, ""),
      filled("aten.new_zeros.default(Tensor self, SymInt[] size, *, ScalarType? dtype=None, "
             "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
             new_type, ""),
      filled("aten.ones.default(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, "
             "Device? device=None, bool? pin_memory=None) -> Tensor",
             sized, "", 1),
      filled(
          "aten.ones_like.default(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, "
          "Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
          like_input, "", 1),
      filled("aten.new_ones.default(Tensor self, SymInt[] size, *, ScalarType? dtype=None, Layout? "
             "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
             new_type, "", 1),
      filled(
          "aten.empty.memory_format(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, "
          "Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
          sized, ""),
      filled(
          "aten.empty_like.default(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, "
          "Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
          like_input, ""),
      filled(
          "aten.empty_permuted.default(SymInt[] size, int[] physical_layout, *, ScalarType? "
          "dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
          sized, ""),
      filled(
          "aten.empty_strided.default(SymInt[] size, SymInt[] stride, *, ScalarType? dtype=None, "
          "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
          sized, ""),
      filled("aten.new_empty.default(Tensor self, SymInt[] size, *, ScalarType? dtype=None, "
             "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
             new_type, ""),
      filled("aten.new_empty_strided.default(Tensor self, SymInt[] size, SymInt[] stride, *, "
             "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? "
             "pin_memory=None) -> Tensor",
             new_type, ""),
  };
}

// ---- sequences

Arg arange_start(const Node& n) {
  return n.op->schema.index_of("start") < 0 ? Arg(Sym(0)) : arg(n, "start");
}
Arg arange_step(const Node& n) {
  return n.op->schema.index_of("step") < 0 ? Arg(Sym(1)) : arg(n, "step");
}

// ceil((end - start) / step), never negative.
Sym arange_length(const Node& n) {
  const Arg start = arange_start(n), step = arange_step(n);
  const Arg& end = arg(n, "end");
  if (is_whole(start) && is_whole(step) && is_whole(end)) {
    const Sym by = number_arg(step), way = number_arg(end) - number_arg(start);
    const auto known = by.constant();
    return sym_max(known && *known < 0 ? ceildiv(Sym(0) - way, Sym(0) - by)
                   : known             ? ceildiv(way, by)
                                       : Sym(0) - floordiv(Sym(0) - way, by),
                   0);
  }
  Sym span = float_sub(number_arg(end), number_arg(start));
  return sym_max(ceil_to_int(float_div(span, number_arg(step))), 0);
}

TensorType arange_type(const Node& n) {
  bool whole = is_whole(arange_start(n)) && is_whole(arange_step(n)) && is_whole(arg(n, "end"));
  DType t = dtype_or(n, whole ? DType::Int64 : DType::Float32);
  return contiguous_type(t, {arange_length(n)}, device_of(n));
}

// Integers in int64, floating-point numbers in float64, rounded once.
E arange(KernelBuilder& k, const Node& n, const Index& index) {
  DType t = is_floating(n.output()->type.dtype) ? DType::Float64 : DType::Int64;
  auto value = [&](const Arg& a) { return cast(k.index(number_arg(a)), t); };
  return value(arange_start(n)) + value(arange_step(n)) * cast(k.index(index[0]), t);
}

OpDef arange_op(std::string_view schema) {
  return formula_op(
      schema, LoopsKind::Creation, [](const Node& n) { return Types{arange_type(n)}; }, arange);
}

TensorType steps_type(const Node& n) {
  return contiguous_type(dtype_or(n, DType::Float32), {sym_arg(n, "steps")}, device_of(n));
}

// Counted from the nearer end, as eager, so that both ends are exact.
E linspace(KernelBuilder& k, const Node& n, const Index& index) {
  DType result = n.output()->type.dtype;
  DType t = is_floating(result) ? compute_type(result) : DType::Float64;
  E start = number(k, n, "start", t), end = number(k, n, "end", t);
  Sym steps = sym_arg(n, "steps");
  if (steps.is(1)) return start;
  E step = (end - start) / cast(k.index(steps - 1), t);
  E i = k.index(index[0]);
  E from_start = start + step * cast(i, t);
  E from_end = end - step * cast(k.index(steps - 1 - index[0]), t);
  return where(i < k.index(floordiv(steps, 2)), from_start, from_end);
}

E logspace(KernelBuilder& k, const Node& n, const Index& index) {
  E exponent = linspace(k, n, index);
  return pow(like(exponent, double_arg(n, "base")), exponent);
}

Rows sequences() {
  auto steps = [](const Node& n) { return Types{steps_type(n)}; };
  Rows rows = {
      arange_op("aten.arange.default(Scalar end, *, ScalarType? dtype=None, Layout? layout=None, "
                "Device? device=None, bool? pin_memory=None) -> Tensor"),
      arange_op("aten.arange.start(Scalar start, Scalar end, *, ScalarType? dtype=None, Layout? "
                "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"),
      arange_op("aten.arange.start_step(Scalar start, Scalar end, Scalar step=1, *, ScalarType? "
                "dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> "
                "Tensor")};
  for (std::string_view schema :
       {"aten.linspace.default(Scalar start, Scalar end, int steps, *, ScalarType? dtype=None, "
        "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        "aten.linspace.Tensor_Tensor(Tensor start, Tensor end, int steps, *, ScalarType? "
        "dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        "aten.linspace.Tensor_Scalar(Tensor start, Scalar end, int steps, *, ScalarType? "
        "dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        "aten.linspace.Scalar_Tensor(Scalar start, Tensor end, int steps, *, ScalarType? "
        "dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"})
    rows.push_back(formula_op(schema, LoopsKind::Creation, steps, linspace));
  for (std::string_view schema :
       {"aten.logspace.default(Scalar start, Scalar end, int steps, float base=10., *, ScalarType? "
        "dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        "aten.logspace.Tensor_Tensor(Tensor start, Tensor end, int steps, float base=10., *, "
        "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) "
        "-> Tensor",
        "aten.logspace.Tensor_Scalar(Tensor start, Scalar end, int steps, float base=10., *, "
        "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) "
        "-> Tensor",
        "aten.logspace.Scalar_Tensor(Scalar start, Tensor end, int steps, float base=10., *, "
        "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) "
        "-> Tensor"})
    rows.push_back(formula_op(schema, LoopsKind::Creation, steps, logspace));
  return rows;
}

// ---- identity, triangles, diagonals

TensorType eye_type(const Node& n) {
  Sym rows = sym_arg(n, "n");
  Sym columns = n.op->schema.index_of("m") < 0 ? rows : sym_arg(n, "m");
  return contiguous_type(dtype_or(n, DType::Float32), {rows, columns}, device_of(n));
}

E eye(KernelBuilder& k, const Node& n, const Index& index) {
  return cast(k.index(index[0]) == k.index(index[1]), n.output()->type.dtype);
}

// Column minus row of the element.
E above_diagonal(Elements& x) {
  size_t rank = x.index.size();
  if (rank < 2) unsupported(x.node, "a triangle of a tensor that is no matrix", "add a dimension");
  return x.k.index(x.index[rank - 1] - x.index[rank - 2]);
}

// Puts the last dimension of the input on a diagonal of two new dimensions; zeros elsewhere.
TensorType diag_embed_type(const Node& n) {
  const TensorType& t = input_type(n);
  auto rank = static_cast<int64_t>(t.rank()) + 1;
  Sym side = t.sizes.back() + std::abs(int_arg(n, "offset"));
  Index sizes(t.sizes.begin(), t.sizes.end() - 1);
  int64_t a = wrap_dim(int_arg(n, "dim1"), rank, n), b = wrap_dim(int_arg(n, "dim2"), rank, n);
  for (int64_t d : {std::min(a, b), std::max(a, b)}) sizes.insert(sizes.begin() + d, side);
  return contiguous_type(t.dtype, sizes, t.device);
}

E diag_embed(KernelBuilder& k, const Node& n, const Index& index) {
  auto rank = static_cast<int64_t>(index.size());
  auto a = static_cast<size_t>(wrap_dim(int_arg(n, "dim1"), rank, n));
  auto b = static_cast<size_t>(wrap_dim(int_arg(n, "dim2"), rank, n));
  int64_t offset = int_arg(n, "offset");
  Index at;
  for (size_t d = 0; d < index.size(); ++d)
    if (d != a && d != b) at.push_back(index[d]);
  at.push_back(offset >= 0 ? index[a] : index[b]);
  E on_diagonal = k.index(index[b] - index[a]) == k.constant(offset, DType::Int64);
  E zero = k.constant(0.0, input_type(n).dtype);
  return k.lowering().load(k, std::get<Value*>(n.args[0]), at, on_diagonal, zero);
}

std::vector<Value*> diag(Rewriter& r) {
  TensorExpr x = in(r, "self");
  Sym shift = sym_arg(r.node, "diagonal");
  if (x.rank() == 1) return {x.apply("aten.diag_embed.default", {shift})};
  return {x.apply("aten.diagonal.default", {shift}).apply("aten.clone.default")};
}

std::vector<Value*> diagflat(Rewriter& r) {
  TensorExpr x = in(r, "self");
  return {x.reshape({product(x.sizes())})
              .apply("aten.diag_embed.default", {sym_arg(r.node, "offset")})};
}

Rows diagonals() {
  using enum TypeRule;
  auto eye_types = [](const Node& n) { return Types{eye_type(n)}; };
  return {
      formula_op("aten.eye.default(SymInt n, *, ScalarType? dtype=None, Layout? layout=None, "
                 "Device? device=None, bool? pin_memory=None) -> Tensor",
                 LoopsKind::Creation, eye_types, eye),
      formula_op("aten.eye.m(SymInt n, SymInt m, *, ScalarType? dtype=None, Layout? layout=None, "
                 "Device? device=None, bool? pin_memory=None) -> Tensor",
                 LoopsKind::Creation, eye_types, eye),
      scalar_op("aten.tril.default(Tensor self, SymInt diagonal=0) -> Tensor", SameAs0,
                [](Elements& x) {
                  E limit = x.k.index(sym_arg(x.node, "diagonal"));
                  return where(above_diagonal(x) <= limit, x[0], x.number(0));
                }),
      scalar_op("aten.triu.default(Tensor self, SymInt diagonal=0) -> Tensor", SameAs0,
                [](Elements& x) {
                  E limit = x.k.index(sym_arg(x.node, "diagonal"));
                  return where(above_diagonal(x) >= limit, x[0], x.number(0));
                }),
      formula_op(
          "aten.diag_embed.default(Tensor self, int offset=0, int dim1=-2, int dim2=-1) -> Tensor",
          LoopsKind::Creation, [](const Node& n) { return Types{diag_embed_type(n)}; }, diag_embed),
      rewrite_op("aten.diag.default(Tensor self, int diagonal=0) -> Tensor", diag),
      rewrite_op("aten.diagflat.default(Tensor self, int offset=0) -> Tensor", diagflat),
  };
}

}  // namespace

Rows creation_ops() {
  Rows rows = constants();
  for (Rows (*part)() :
       {sequences, diagonals, conversion_ops, join_ops, pad_ops, window_ops, sequence_ops})
    append(rows, part());
  return rows;
}

}  // namespace aotc
