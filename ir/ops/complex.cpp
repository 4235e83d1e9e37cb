// Arithmetic of complex numbers, and complex numbers of two real ones.
#include <cmath>

#include "ir/ops/scalar_math.h"
#include "ir/ops/tensor_expr.h"

namespace aotc {
Rows complex_ops();
namespace {

DType real_part_type(DType t) {
  switch (t) {
    case DType::Complex32:
      return DType::Float16;
    case DType::Complex64:
      return DType::Float32;
    case DType::Complex128:
      return DType::Float64;
    default:
      return t;
  }
}

E real_of(E z, Prim part) { return z.k->apply(part, {z}, real_part_type(z.dtype())); }

E complex_of(E real, E imaginary) {
  DType t = real.dtype() == DType::Float64 ? DType::Complex128 : DType::Complex64;
  return real.k->apply(Prim::complex, {real, imaginary}, t);
}

// A pointwise row whose result for a complex argument is real.
OpDef real_valued(OpDef op) {
  op.infer = [inner = std::move(op.infer)](const Node& n) {
    Types types = inner(n);
    types[0].dtype = real_part_type(types[0].dtype);
    return types;
  };
  return op;
}

E absolute(Elements& x) {
  if (is_bool(x.common)) return x[0];
  return is_complex(x.common) ? real_of(x[0], Prim::abs) : abs(x[0]);
}

E angle(Elements& x) {
  if (is_complex(x.common))
    return binary(Prim::atan2, real_of(x[0], Prim::imag), real_of(x[0], Prim::real));
  return where(isnan(x[0]), x[0], where(x[0] < 0.0, M_PI, x.number(0)));
}

E conjugate(Elements& x) { return is_complex(x.common) ? unary(Prim::conj, x[0]) : x[0]; }

// z / |z|, and 0 for 0.
E sgn(Elements& x) {
  if (!is_complex(x.common)) return sign(x[0]);
  E z = x[0], size = real_of(z, Prim::abs), zero = like(size, 0);
  E real = real_of(z, Prim::real) / size, imaginary = real_of(z, Prim::imag) / size;
  return where(size == zero, complex_of(zero, zero), complex_of(real, imaginary));
}

// Two real tensors that broadcast, as one complex one.
Types pair_type(const Node& n) {
  const TensorType &a = std::get<Value*>(n.args[0])->type, &b = std::get<Value*>(n.args[1])->type;
  bool wide = a.dtype == DType::Float64;
  if (a.dtype != b.dtype || !(wide || a.dtype == DType::Float32))
    unsupported(n, fmt::format("a complex number of {} and {}", name(a.dtype), name(b.dtype)),
                "pass two float32 or two float64 tensors");
  DType t = wide ? DType::Complex128 : DType::Complex64;
  return {contiguous_type(t, broadcast_sizes({a.sizes, b.sizes}, n), a.device)};
}

OpDef pair_op(std::string_view schema, E (*formula)(E, E)) {
  return formula_op(schema, LoopsKind::Index, pair_type,
                    [formula](KernelBuilder& k, const Node& n, const Index& at) {
                      auto element = [&](size_t i) {
                        Value* v = std::get<Value*>(n.args[i]);
                        return k.lowering().load(k, v, broadcast_index(v->type.sizes, at));
                      };
                      return formula(element(0), element(1));
                    });
}

E polar(E radius, E angle) { return complex_of(radius * cos(angle), radius * sin(angle)); }

}  // namespace

Rows complex_ops() {
  constexpr TypeRule Promote = TypeRule::Promote;
  return {
      real_valued(scalar_op("aten.abs.default(Tensor self) -> Tensor", Promote, absolute)),
      real_valued(scalar_op("aten.absolute.default(Tensor self) -> Tensor", Promote, absolute)),
      real_valued(scalar_op("aten.angle.default(Tensor self) -> Tensor", TypeRule::Float, angle)),
      scalar_op("aten._conj_physical.default(Tensor self) -> Tensor", Promote, conjugate),
      scalar_op("aten.sgn.default(Tensor self) -> Tensor", Promote, sgn),
      pair_op("aten.complex.default(Tensor real, Tensor imag) -> Tensor", complex_of),
      pair_op("aten.polar.default(Tensor abs, Tensor angle) -> Tensor", polar),
  };
}

}  // namespace aotc
