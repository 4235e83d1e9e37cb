// fill_diagonal_: one number along the main diagonal, written in place.
#include "ir/ops/arguments.h"
#include "ir/ops/require.h"
#include "ir/ops/tensor_expr.h"

namespace aotc {
namespace {

// The sizes along which the diagonal runs: all equal, but for a matrix.
void check_diagonal(const Node& n) {
  require_rank(n, "self", 2);
  const Index& sizes = sizes_of(n, "self");
  if (sizes.size() == 2) return;
  for (const Sym& s : sizes)
    require(n, can_be_equal(s, sizes[0]),
            "'self' has the sizes {}, expected equal ones for more than two dimensions",
            sizes_text(sizes));
}

// In a matrix of w columns the diagonal starts again below row w, one row further down.
Value* wrapped_diagonal(const TensorExpr& x, const Arg& value) {
  Rewriter& r = *x.r;
  auto numbers = [&](const Sym& n) {
    return TensorExpr{&r, r("aten.arange.default", {n, DType::Int64})};
  };
  TensorExpr row = numbers(x.size(0)).unsqueeze(1), column = numbers(x.size(1));
  TensorExpr on_diagonal = row.apply("aten.remainder.Scalar", {x.size(1) + 1}) == column;
  TensorExpr filled = x.apply("aten.fill.Scalar", {value});
  return on_diagonal.apply("aten.where.self", {filled.v, x.v});
}

Values fill_diagonal(Rewriter& r) {
  check_diagonal(r.node);
  TensorExpr x = in(r, "self");
  const Arg& value = arg(r.node, "fill_value");
  if (x.rank() == 2 && bool_arg(r.node, "wrap"))
    return {r("aten.copy_.default", {x.v, wrapped_diagonal(x, value)})};
  TensorExpr diagonal = x;
  while (diagonal.rank() > 1) diagonal = diagonal.apply("aten.diagonal.default");
  r.emit("aten.fill_.Scalar", {diagonal.v, value});
  return {x};
}

}  // namespace

Rows fill_diagonal_ops() {
  OpDef op = rewrite_op(
      "aten.fill_diagonal_.default(Tensor(a!) self, Scalar fill_value, bool wrap=False) -> "
      "Tensor(a!)",
      fill_diagonal);
  std::get<RewriteMeaning>(op.meaning).writes_arguments = true;
  return {op};
}

}  // namespace aotc
