// view.dtype: a storage's bits as elements of another type. Types of another size join elements of
// the last dimension or cut them into several, the lowest bits first.
#include "ir/ops/require.h"
#include "ir/ops/scalar_math.h"
#include "ir/ops/shape_math.h"
#include "ir/ops/tensor_expr.h"

namespace aotc {
namespace {

int64_t bytes_of(DType t) { return static_cast<int64_t>(element_size(t)); }

DType integer_of(int64_t bytes) {
  return bytes == 1   ? DType::Int8
         : bytes == 2 ? DType::Int16
         : bytes == 4 ? DType::Int32
                      : DType::Int64;
}

Types bits_type(const Node& n) {
  TensorType t = input_type(n);
  const DType to = std::get<DType>(arg(n, "dtype"));
  const int64_t from_bytes = bytes_of(t.dtype), to_bytes = bytes_of(to);
  t.strides = strides_of(t);
  if (from_bytes != to_bytes) {
    if (std::max(from_bytes, to_bytes) > 8)
      unsupported(n, fmt::format("a view of {} as {}", name(t.dtype), name(to)),
                  "use view_as_real first");
    require(n, !t.sizes.empty(), "a 0-d tensor of {} cannot be viewed as {}, of another size",
            name(t.dtype), name(to));
    require(n, can_hold(sym_or(sym_eq(t.strides.back(), 1), sym_eq(t.sizes.back(), 1))),
            "'self' must be contiguous in its last dimension to be viewed as {}", name(to));
    Sym& last = t.sizes.back();
    require(n, can_be_equal(mod(last * Sym(from_bytes), Sym(to_bytes)), 0),
            "the last dimension of 'self' is {}, which {} of {} do not fit into", last.str(),
            name(to), name(t.dtype));
    auto scaled = [&](const Sym& s) { return floordiv(s * Sym(from_bytes), Sym(to_bytes)); };
    last = scaled(last);
    for (size_t i = 0; i + 1 < t.strides.size(); ++i) t.strides[i] = scaled(t.strides[i]);
    t.strides.back() = 1;
  }
  t.dtype = to;
  return {t};
}

E as_int64(E x) { return cast(x, DType::Int64); }

E shifted(Prim shift, E x, Sym bits) { return binary(shift, x, x.k->index(bits)); }

E bits(KernelBuilder& k, const Node& n, const Index& at) {
  Value* self = self_of(n);
  const DType from = self->type.dtype, to = n.output()->type.dtype;
  const int64_t from_bytes = bytes_of(from), to_bytes = bytes_of(to);
  auto element = [&](const Sym& last) {
    Index i = at;
    if (!i.empty()) i.back() = last;
    return k.lowering().load(k, self, i);
  };
  auto view = [&](E x, DType t) { return k.apply(Prim::bitcast, {x}, t); };
  if (from_bytes == to_bytes) return view(element(at.empty() ? Sym(0) : at.back()), to);
  E all = k.constant(int64_t{0}, DType::Int64);
  if (from_bytes > to_bytes) {
    const Sym parts = from_bytes / to_bytes;
    E whole = as_int64(view(element(floordiv(at.back(), parts)), integer_of(from_bytes)));
    all = shifted(Prim::shift_right, whole, mod(at.back(), parts) * Sym(8 * to_bytes));
  } else {
    const int64_t mask = (int64_t{1} << (8 * from_bytes)) - 1;
    for (int64_t part = 0; part < to_bytes / from_bytes; ++part) {
      E low = as_int64(view(element(at.back() * Sym(to_bytes / from_bytes) + Sym(part)),
                            integer_of(from_bytes)));
      low = binary(Prim::bitwise_and, low, k.constant(mask, DType::Int64));
      all = binary(Prim::bitwise_or, all, shifted(Prim::shift_left, low, 8 * from_bytes * part));
    }
  }
  return view(cast(all, integer_of(to_bytes)), to);
}

}  // namespace

Rows bit_view_ops() {
  OpDef view = formula_op("aten.view.dtype(Tensor(a) self, ScalarType dtype) -> Tensor(a)",
                          LoopsKind::Index, bits_type, bits);
  view.put = [](Rewriter& r, Value* self, Value* written) {
    // Bytes other than 0 and 1 would not stay what they are.
    if (is_bool(self->type.dtype) || is_bool(written->type.dtype))
      unsupported(r.node, "a write through a view of or as bool", "write to the tensor itself");
    return r("aten.view.dtype", {written, self->type.dtype});
  };
  return {view};
}

}  // namespace aotc
