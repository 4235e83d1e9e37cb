// Complex tensors and their parts: conjugates, real and imaginary parts, complex numbers as pairs.
// Eager keeps them as the same storage under other numbers, and so do the images here (OpDef::put):
// what is written to one of them is written to the tensor.
#include <algorithm>

#include "ir/ops/require.h"
#include "ir/ops/scalar_math.h"
#include "ir/ops/shape_math.h"
#include "ir/ops/tensor_expr.h"

namespace aotc {
namespace {

using Put = Value* (*)(Rewriter&, Value* self, Value* written);
using Infer = Types (*)(const Node&);

// A storage under other numbers; `formula` yields one of them.
OpDef image_op(std::string_view schema, Infer infer, ElementFormula formula, Put put) {
  OpDef op = formula_op(schema, LoopsKind::Index, infer, std::move(formula));
  op.put = put;
  return op;
}

E element(KernelBuilder& k, const Node& n, const Index& at) {
  return k.lowering().load(k, self_of(n), at);
}

E real_part(Prim part, E z) {
  DType t = z.dtype() == DType::Complex128 ? DType::Float64 : DType::Float32;
  return z.k->apply(part, {z}, t);
}

E complex_number(E real, E imaginary) {
  DType t = real.dtype() == DType::Float64 ? DType::Complex128 : DType::Complex64;
  return real.k->apply(Prim::complex, {real, imaginary}, t);
}

// ---- types, with the strides that eager has

Types same_layout(const Node& n) { return {input_type(n)}; }

// Strides count real numbers.
TensorType parts_type(const Node& n) {
  TensorType t = input_type(n);
  require(n, t.dtype == DType::Complex64 || t.dtype == DType::Complex128,
          "'self' is {}, expected complex64 or complex128", name(t.dtype));
  t.dtype = t.dtype == DType::Complex128 ? DType::Float64 : DType::Float32;
  t.strides = strides_of(t);
  for (Sym& s : t.strides) s = s * 2;
  return t;
}

Types part_type(const Node& n) { return {parts_type(n)}; }

Types pairs_type(const Node& n) {
  TensorType t = parts_type(n);
  t.sizes.push_back(2);
  t.strides.push_back(1);
  return {t};
}

Types complex_type(const Node& n) {
  TensorType t = input_type(n);
  bool paired = !t.sizes.empty() && can_be_equal(t.sizes.back(), Sym(2));
  require(n, paired && (t.dtype == DType::Float32 || t.dtype == DType::Float64),
          "'self' is {}{}, expected float32 or float64 with a last dimension of size 2",
          name(t.dtype), sizes_text(t.sizes));
  t.dtype = t.dtype == DType::Float64 ? DType::Complex128 : DType::Complex64;
  t.strides = strides_of(t);
  t.sizes.pop_back();
  t.strides.pop_back();
  for (Sym& s : t.strides) s = floordiv(s, 2);
  return {t};
}

Rows images() {
  return {
      image_op(
          "aotc.conj(Tensor(a) self) -> Tensor(a)", same_layout,
          [](KernelBuilder& k, const Node& n, const Index& at) {
            return unary(Prim::conj, element(k, n, at));
          },
          [](Rewriter& r, Value*, Value* written) { return r("aotc.conj", {written}); }),
      image_op(
          "aotc.negated(Tensor(a) self) -> Tensor(a)", same_layout,
          [](KernelBuilder& k, const Node& n, const Index& at) { return -element(k, n, at); },
          [](Rewriter& r, Value*, Value* written) { return r("aotc.negated", {written}); }),
      image_op(
          "aotc.real(Tensor(a) self) -> Tensor(a)", part_type,
          [](KernelBuilder& k, const Node& n, const Index& at) {
            return real_part(Prim::real, element(k, n, at));
          },
          [](Rewriter& r, Value* self, Value* written) {
            return r("aten.complex.default", {written, r("aotc.imag", {self})});
          }),
      image_op(
          "aotc.imag(Tensor(a) self) -> Tensor(a)", part_type,
          [](KernelBuilder& k, const Node& n, const Index& at) {
            return real_part(Prim::imag, element(k, n, at));
          },
          [](Rewriter& r, Value* self, Value* written) {
            return r("aten.complex.default", {r("aotc.real", {self}), written});
          }),
      image_op(
          "aten.view_as_real.default(Tensor(a) self) -> Tensor(a)", pairs_type,
          [](KernelBuilder& k, const Node& n, const Index& at) {
            E z = element(k, n, Index(at.begin(), at.end() - 1));
            E first = k.index(at.back()) == k.constant(int64_t{0}, DType::Int64);
            return where(first, real_part(Prim::real, z), real_part(Prim::imag, z));
          },
          [](Rewriter& r, Value*, Value* written) {
            return r("aten.view_as_complex.default", {written});
          }),
      image_op(
          "aten.view_as_complex.default(Tensor(a) self) -> Tensor(a)", complex_type,
          [](KernelBuilder& k, const Node& n, const Index& at) {
            Index real = at, imaginary = at;
            real.push_back(0);
            imaginary.push_back(1);
            return complex_number(element(k, n, real), element(k, n, imaginary));
          },
          [](Rewriter& r, Value*, Value* written) {
            return r("aten.view_as_real.default", {written});
          }),
  };
}

// ---- torch's spellings, which leave real tensors as they are

TensorExpr conj(TensorExpr x) { return is_complex(x.dtype()) ? x.apply("aotc.conj") : x; }

bool is_named(const Node& n, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), n.op->name()) != names.end();
}

// Whether eager has marked the tensor as the conjugate of what is in memory: an odd number of
// conjugations in the views that it is.
bool is_marked_conjugate(const Value* v) {
  bool marked = false;
  for (const Node* p = v->producer; p && p->op; p = v->producer) {
    bool conjugates =
        is_named(*p, {"aten.conj.default", "aten._conj.default", "aotc.conj",
                      "aten.adjoint.default", "aten.mH.default", "aten.matrix_H.default"});
    if (!conjugates && !p->op->is_view()) break;
    marked ^= conjugates;
    v = std::get<Value*>(p->args[0]);
  }
  return marked && is_complex(v->type.dtype);
}

bool is_marked_negative(const Value* v) {
  bool marked = false;
  for (const Node* p = v->producer; p && p->op; p = v->producer) {
    bool part = is_named(*p, {"aten.imag.default", "aotc.imag"});
    bool negates = is_named(*p, {"aten._neg_view.default", "aotc.negated"});
    if (!part && !negates && !p->op->is_view()) break;
    v = std::get<Value*>(p->args[0]);
    if (part) return marked ^ is_marked_conjugate(v);
    marked ^= negates;
  }
  return marked;
}

Values adjoint(Rewriter& r) { return {conj(in(r, "self").apply("aten.mT.default"))}; }
Values lazy_conj(Rewriter& r) { return {conj(in(r, "self"))}; }

Values real(Rewriter& r) {
  TensorExpr x = in(r, "self");
  return {is_complex(x.dtype()) ? x.apply("aotc.real") : x};
}

// A marked tensor is copied, any other is the result itself.
Values resolved(Rewriter& r, bool marked) {
  TensorExpr x = in(r, "self");
  return {marked ? x.apply("aten.clone.default") : x};
}

Rows spellings() {
  return {
      rewrite_op("aten.conj.default(Tensor(a) self) -> Tensor(a)", lazy_conj),
      rewrite_op("aten._conj.default(Tensor(a) self) -> Tensor(a)", lazy_conj),
      rewrite_op("aten.mH.default(Tensor(a) self) -> Tensor(a)", adjoint),
      rewrite_op("aten.matrix_H.default(Tensor(a) self) -> Tensor(a)", adjoint),
      rewrite_op("aten.adjoint.default(Tensor(a) self) -> Tensor(a)", adjoint),
      rewrite_op("aten.real.default(Tensor(a) self) -> Tensor(a)", real),
      rewrite_op("aten.imag.default(Tensor(a) self) -> Tensor(a)",
                 [](Rewriter& r) { return Values{in(r, "self").apply("aotc.imag")}; }),
      rewrite_op("aten._neg_view.default(Tensor(a) self) -> Tensor(a)",
                 [](Rewriter& r) { return Values{in(r, "self").apply("aotc.negated")}; }),
      rewrite_op("aten.resolve_conj.default(Tensor(a) self) -> Tensor(a)",
                 [](Rewriter& r) { return resolved(r, is_marked_conjugate(r.tensor("self"))); }),
      rewrite_op("aten.resolve_neg.default(Tensor(a) self) -> Tensor(a)",
                 [](Rewriter& r) { return resolved(r, is_marked_negative(r.tensor("self"))); }),
      rewrite_op("aten.conj_physical.default(Tensor(a) self) -> Tensor(a)",
                 [](Rewriter& r) {
                   TensorExpr x = in(r, "self");
                   return Values{is_complex(x.dtype()) ? x.apply("aten._conj_physical.default")
                                                       : x};
                 }),
  };
}

}  // namespace

Rows complex_view_ops() {
  Rows rows = images();
  append(rows, spellings());
  return rows;
}

}  // namespace aotc
