// Comparisons, logic, bits, and selection by a mask.
#include <cmath>

#include "ir/ops/row_helpers.h"
#include "ir/ops/scalar_math.h"

namespace aotc {
namespace {

using enum TypeRule;

Rows comparisons() {
  Rows rows;
  const std::pair<std::string_view, Prim> table[] = {
      {"aten.eq.Tensor(Tensor self, Tensor other) -> Tensor", Prim::eq},
      {"aten.eq.Scalar(Tensor self, Scalar other) -> Tensor", Prim::eq},
      {"aten.ne.Tensor(Tensor self, Tensor other) -> Tensor", Prim::ne},
      {"aten.ne.Scalar(Tensor self, Scalar other) -> Tensor", Prim::ne},
      {"aten.lt.Tensor(Tensor self, Tensor other) -> Tensor", Prim::lt},
      {"aten.lt.Scalar(Tensor self, Scalar other) -> Tensor", Prim::lt},
      {"aten.le.Tensor(Tensor self, Tensor other) -> Tensor", Prim::le},
      {"aten.le.Scalar(Tensor self, Scalar other) -> Tensor", Prim::le},
      {"aten.gt.Tensor(Tensor self, Tensor other) -> Tensor", Prim::gt},
      {"aten.gt.Scalar(Tensor self, Scalar other) -> Tensor", Prim::gt},
      {"aten.ge.Tensor(Tensor self, Tensor other) -> Tensor", Prim::ge},
      {"aten.ge.Scalar(Tensor self, Scalar other) -> Tensor", Prim::ge},
      {"aten.not_equal.Tensor(Tensor self, Tensor other) -> Tensor", Prim::ne},
      {"aten.not_equal.Scalar(Tensor self, Scalar other) -> Tensor", Prim::ne},
      {"aten.less.Tensor(Tensor self, Tensor other) -> Tensor", Prim::lt},
      {"aten.less.Scalar(Tensor self, Scalar other) -> Tensor", Prim::lt},
      {"aten.less_equal.Tensor(Tensor self, Tensor other) -> Tensor", Prim::le},
      {"aten.less_equal.Scalar(Tensor self, Scalar other) -> Tensor", Prim::le},
      {"aten.greater.Tensor(Tensor self, Tensor other) -> Tensor", Prim::gt},
      {"aten.greater.Scalar(Tensor self, Scalar other) -> Tensor", Prim::gt},
      {"aten.greater_equal.Tensor(Tensor self, Tensor other) -> Tensor", Prim::ge},
      {"aten.greater_equal.Scalar(Tensor self, Scalar other) -> Tensor", Prim::ge},
  };
  for (auto [schema, prim] : table) rows.push_back(prim_op(schema, Compare, prim, 2));
  return rows;
}

E is_finite(Elements& x) {
  if (!is_floating(x.common)) return x.k.boolean(true);
  return !isnan(x[0]) && !isinf(x[0]);
}

E is_exactly(Elements& x, double infinity) {
  if (!is_floating(x.common)) return x.k.boolean(false);
  return x[0] == infinity;
}

E sign_bit(Elements& x) {
  if (is_bool(x.common)) return x.k.boolean(false);
  if (!is_floating(x.common)) return x[0] < 0.0;
  return copysign(x.number(1), x[0]) < 0.0;
}

// |self - other| <= atol + rtol * |other|, equal infinities included.
E is_close(Elements& x) {
  E a = x[0], b = x[1];
  E close = a == b;
  if (is_floating(x.common)) {
    E allowed =
        x.number(double_arg(x.node, "atol")) + abs(x.number(double_arg(x.node, "rtol")) * b);
    E error = abs(a - b);
    close = close || ((error <= allowed) && !isinf(error) && !isnan(error));
    if (bool_arg(x.node, "equal_nan")) close = close || (isnan(a) && isnan(b));
    return close;
  }
  // Whole numbers are compared in float32.
  E from = cast(a, DType::Float32), to = cast(b, DType::Float32);
  E allowed = like(to, double_arg(x.node, "atol")) + abs(to * double_arg(x.node, "rtol"));
  return close || (abs(from - to) <= allowed);
}

Rows classification() {
  return {
      scalar_op(
          "aten.isnan.default(Tensor self) -> Tensor", Compare,
          [](Elements& x) { return is_floating(x.common) ? isnan(x[0]) : x.k.boolean(false); }),
      scalar_op(
          "aten.isinf.default(Tensor self) -> Tensor", Compare,
          [](Elements& x) { return is_floating(x.common) ? isinf(x[0]) : x.k.boolean(false); }),
      scalar_op("aten.isfinite.default(Tensor self) -> Tensor", Compare, is_finite),
      scalar_op("aten.isposinf.default(Tensor self) -> Tensor", Compare,
                [](Elements& x) { return is_exactly(x, INFINITY); }),
      scalar_op("aten.isneginf.default(Tensor self) -> Tensor", Compare,
                [](Elements& x) { return is_exactly(x, -INFINITY); }),
      scalar_op("aten.isreal.default(Tensor self) -> Tensor", Compare,
                [](Elements& x) { return x.k.boolean(true); }),
      scalar_op("aten.signbit.default(Tensor self) -> Tensor", Compare, sign_bit),
      scalar_op("aten.isclose.default(Tensor self, Tensor other, float "
                "rtol=1.0000000000000001e-05, float atol=1e-08, bool equal_nan=False) -> Tensor",
                Compare, is_close),
  };
}

Rows logic() {
  return {
      scalar_op("aten.logical_not.default(Tensor self) -> Tensor", Bool,
                [](Elements& x) { return !x[0]; }),
      scalar_op("aten.logical_and.default(Tensor self, Tensor other) -> Tensor", Bool,
                [](Elements& x) { return x[0] && x[1]; }),
      scalar_op("aten.logical_or.default(Tensor self, Tensor other) -> Tensor", Bool,
                [](Elements& x) { return x[0] || x[1]; }),
      scalar_op("aten.logical_xor.default(Tensor self, Tensor other) -> Tensor", Bool,
                [](Elements& x) { return x[0] != x[1]; }),
  };
}

// Shifts by a negative count or by the width and more: left gives 0, right gives the sign.
Rows bits() {
  Rows rows = {
      prim_op("aten.bitwise_not.default(Tensor self) -> Tensor", Promote, Prim::bitwise_not)};
  const std::pair<std::string_view, Prim> table[] = {
      {"aten.bitwise_and.Tensor(Tensor self, Tensor other) -> Tensor", Prim::bitwise_and},
      {"aten.bitwise_and.Scalar(Tensor self, Scalar other) -> Tensor", Prim::bitwise_and},
      {"aten.bitwise_and.Scalar_Tensor(Scalar self, Tensor other) -> Tensor", Prim::bitwise_and},
      {"aten.__and__.Tensor(Tensor self, Tensor other) -> Tensor", Prim::bitwise_and},
      {"aten.__and__.Scalar(Tensor self, Scalar other) -> Tensor", Prim::bitwise_and},
      {"aten.bitwise_or.Tensor(Tensor self, Tensor other) -> Tensor", Prim::bitwise_or},
      {"aten.bitwise_or.Scalar(Tensor self, Scalar other) -> Tensor", Prim::bitwise_or},
      {"aten.bitwise_or.Scalar_Tensor(Scalar self, Tensor other) -> Tensor", Prim::bitwise_or},
      {"aten.__or__.Tensor(Tensor self, Tensor other) -> Tensor", Prim::bitwise_or},
      {"aten.__or__.Scalar(Tensor self, Scalar other) -> Tensor", Prim::bitwise_or},
      {"aten.bitwise_xor.Tensor(Tensor self, Tensor other) -> Tensor", Prim::bitwise_xor},
      {"aten.bitwise_xor.Scalar(Tensor self, Scalar other) -> Tensor", Prim::bitwise_xor},
      {"aten.bitwise_xor.Scalar_Tensor(Scalar self, Tensor other) -> Tensor", Prim::bitwise_xor},
      {"aten.__xor__.Tensor(Tensor self, Tensor other) -> Tensor", Prim::bitwise_xor},
      {"aten.__xor__.Scalar(Tensor self, Scalar other) -> Tensor", Prim::bitwise_xor},
      {"aten.bitwise_left_shift.Tensor(Tensor self, Tensor other) -> Tensor", Prim::shift_left},
      {"aten.bitwise_left_shift.Tensor_Scalar(Tensor self, Scalar other) -> Tensor",
       Prim::shift_left},
      {"aten.bitwise_left_shift.Scalar_Tensor(Scalar self, Tensor other) -> Tensor",
       Prim::shift_left},
      {"aten.__lshift__.Tensor(Tensor self, Tensor other) -> Tensor", Prim::shift_left},
      {"aten.__lshift__.Scalar(Tensor self, Scalar other) -> Tensor", Prim::shift_left},
      {"aten.bitwise_right_shift.Tensor(Tensor self, Tensor other) -> Tensor", Prim::shift_right},
      {"aten.bitwise_right_shift.Tensor_Scalar(Tensor self, Scalar other) -> Tensor",
       Prim::shift_right},
      {"aten.bitwise_right_shift.Scalar_Tensor(Scalar self, Tensor other) -> Tensor",
       Prim::shift_right},
      {"aten.__rshift__.Tensor(Tensor self, Tensor other) -> Tensor", Prim::shift_right},
      {"aten.__rshift__.Scalar(Tensor self, Scalar other) -> Tensor", Prim::shift_right},
  };
  for (auto [schema, prim] : table) {
    OpDef op = prim_op(schema, Promote, prim, 2);
    std::string name = op.name();
    if (name.starts_with("aten.__")) op = in_place_as(op, name.insert(7, "i"));  // __iand__
    rows.push_back(std::move(op));
  }
  return rows;
}

// The mask as bool: torch also takes uint8 masks.
E mask(Elements& x, int i) { return cast(x.raw(i), DType::Bool); }

Rows selection() {
  Rows rows;
  for (std::string_view schema :
       {"aten.where.self(Tensor condition, Tensor self, Tensor other) -> Tensor",
        "aten.where.ScalarSelf(Tensor condition, Scalar self, Tensor other) -> Tensor",
        "aten.where.ScalarOther(Tensor condition, Tensor self, Scalar other) -> Tensor",
        "aten.where.Scalar(Tensor condition, Scalar self, Scalar other) -> Tensor"})
    rows.push_back(scalar_op(schema, Promote,
                             [](Elements& x) { return where(mask(x, 0), x[1], x[2]); },
                             {"self", "other"}));
  for (std::string_view schema :
       {"aten.masked_fill.Scalar(Tensor self, Tensor mask, Scalar value) -> Tensor",
        "aten.masked_fill.Tensor(Tensor self, Tensor mask, Tensor value) -> Tensor"})
    rows.push_back(
        scalar_op(schema, SameAs0, [](Elements& x) { return where(mask(x, 1), x[2], x[0]); }));
  return rows;
}

}  // namespace

Rows compare_ops() {
  Rows rows = comparisons();
  for (Rows (*part)() : {classification, logic, bits, selection}) append(rows, part());
  return rows;
}

}  // namespace aotc
