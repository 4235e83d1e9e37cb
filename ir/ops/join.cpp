// Several tensors into one (cat, stack and their kin), and lists of tensors brought to common
// shapes.
#include <algorithm>

#include "ir/ops/tensor_expr.h"

namespace aotc {
namespace {

const Values& tensors_arg(const Node& n) { return std::get<Values>(n.args[0]); }

// ---- cat: one store per input into its region of the result

// Eager skips one-dimensional tensors without elements, whatever the rank of the others.
bool is_skipped(const Value* v) { return v->type.rank() == 1 && v->type.sizes[0].is(0); }

Values joined(const Node& n) {
  Values kept;
  for (Value* v : tensors_arg(n))
    if (!is_skipped(v)) kept.push_back(v);
  if (kept.empty()) kept.push_back(tensors_arg(n).at(0));
  return kept;
}

Types cat_type(const Node& n) {
  Values parts = joined(n);
  TensorType t = parts[0]->type;
  auto dim = static_cast<size_t>(wrap_dim(int_arg(n, "dim"), static_cast<int64_t>(t.rank()), n));
  for (size_t i = 1; i < parts.size(); ++i) {
    if (parts[i]->type.rank() != t.rank())
      user_error("{}: node '{}' ({}): tensors of rank {} and {} cannot be joined", n.source.str(),
                 n.name, n.op->name(), t.rank(), parts[i]->type.rank());
    t.sizes[dim] = t.sizes[dim] + parts[i]->type.sizes[dim];
  }
  return {contiguous_type(result_type(n, {0}), t.sizes, t.device)};
}

void lower_cat(Lowering& l, const Node& n) {
  Values parts = joined(n);
  auto dim = static_cast<size_t>(
      wrap_dim(int_arg(n, "dim"), static_cast<int64_t>(parts[0]->type.rank()), n));
  loops::BufferId out = l.output(n);
  Sym start = 0;
  for (Value* v : parts) {
    l.copy_into(n, v, out, [&](const Index& index) {
      Index at = index;
      at[dim] = at[dim] + start;
      return at;
    });
    start = start + v->type.sizes[dim];
  }
}

// ---- rewrites of lists

std::vector<TensorExpr> inputs(Rewriter& r) {
  std::vector<TensorExpr> list;
  for (Value* v : tensors_arg(r.node)) list.push_back({&r, v});
  return list;
}

TensorExpr cat(Rewriter& r, const std::vector<TensorExpr>& parts, int64_t dim) {
  Values values;
  for (const TensorExpr& p : parts) values.push_back(p);
  return {&r, r("aten.cat.default", {values, Sym(dim)})};
}

TensorExpr at_least_1d(TensorExpr x) { return x.rank() == 0 ? x.reshape({Sym(1)}) : x; }
TensorExpr at_least_2d(TensorExpr x) { return x.rank() >= 2 ? x : at_least_1d(x).unsqueeze(0); }
TensorExpr at_least_3d(TensorExpr x) {
  return x.rank() >= 3 ? x : at_least_2d(x).unsqueeze(x.rank() <= 1 ? 2 : -1);
}

using Adjust = TensorExpr (*)(TensorExpr);

OpDef adjusting_op(std::string_view schema, Adjust adjust) {
  return rewrite_op(schema, [adjust](Rewriter& r) { return Values{adjust(in(r, "self"))}; });
}

OpDef adjusting_list_op(std::string_view schema, Adjust adjust) {
  return rewrite_op(schema, [adjust](Rewriter& r) {
    Values results;
    for (TensorExpr x : inputs(r)) results.push_back(adjust(x));
    return results;
  });
}

// Adjusts every input, then joins along a dimension that may depend on the first one's rank.
OpDef stacking_op(std::string_view schema, Adjust adjust, int64_t (*dim)(TensorExpr)) {
  return rewrite_op(schema, [adjust, dim](Rewriter& r) {
    std::vector<TensorExpr> parts;
    for (TensorExpr x : inputs(r)) parts.push_back(adjust(x));
    return Values{cat(r, parts, dim(parts[0]))};
  });
}

Values stack(Rewriter& r) {
  std::vector<TensorExpr> parts = inputs(r);
  int64_t dim = wrap_dim(int_arg(r.node, "dim"), parts.at(0).rank() + 1, r.node);
  for (TensorExpr& p : parts) p = p.unsqueeze(dim);
  return {cat(r, parts, dim)};
}

// Columns from vectors, matrices as they are.
TensorExpr as_columns(TensorExpr x) { return x.rank() <= 1 ? at_least_1d(x).unsqueeze(1) : x; }

Values broadcast_tensors(Rewriter& r) {
  std::vector<Index> shapes;
  for (TensorExpr x : inputs(r)) shapes.push_back(x.sizes());
  Index common = broadcast_sizes(shapes, r.node);
  Values results;
  for (TensorExpr x : inputs(r)) results.push_back(x.expand(common));
  return results;
}

// Tensor i varies along dimension i; with indexing "xy" the first two tensors change places for it.
Values meshgrid(Rewriter& r) {
  std::vector<TensorExpr> parts = inputs(r);
  bool swap = r.node.op->schema.index_of("indexing") >= 0 && parts.size() >= 2 &&
              std::get<std::string>(arg(r.node, "indexing")) == "xy";
  if (swap) std::swap(parts[0], parts[1]);
  Index common;
  for (TensorExpr& p : parts) common.push_back(product(p.sizes()));
  Values results;
  for (size_t i = 0; i < parts.size(); ++i) {
    Index own(parts.size(), Sym(1));
    own[i] = common[i];
    results.push_back(parts[i].reshape(own).expand(common));
  }
  if (swap) std::swap(results[0], results[1]);
  return results;
}

Values cartesian_prod(Rewriter& r) {
  std::vector<TensorExpr> parts = inputs(r);
  if (parts.size() == 1) return {parts[0]};
  Index common;
  for (TensorExpr& p : parts) common.push_back(p.size(0));
  std::vector<TensorExpr> columns;
  for (size_t i = 0; i < parts.size(); ++i) {
    Index own(parts.size(), Sym(1));
    own[i] = common[i];
    columns.push_back(parts[i].reshape(own).expand(common).reshape({product(common), Sym(1)}));
  }
  return {cat(r, columns, 1)};
}

// Matrices along the diagonal, zeros elsewhere.
Values block_diag(Rewriter& r) {
  std::vector<TensorExpr> blocks, rows;
  for (TensorExpr x : inputs(r)) blocks.push_back(at_least_2d(x));
  DType common = result_type(r.node, {0});
  Sym width = 0, left = 0;
  for (TensorExpr& b : blocks) width = width + b.size(1);
  for (TensorExpr& b : blocks) {
    Index pad{left, width - left - b.size(1)};
    rows.push_back(b.cast(common).apply("aten.constant_pad_nd.default", {pad, 0.0}));
    left = left + b.size(1);
  }
  return {cat(r, rows, 0)};
}

}  // namespace

Rows join_ops() {
  auto first = [](TensorExpr) -> int64_t { return 0; };
  auto second = [](TensorExpr) -> int64_t { return 1; };
  auto horizontal = [](TensorExpr x) -> int64_t { return x.rank() == 1 ? 0 : 1; };
  return {
      loops_op("aten.cat.default(Tensor[] tensors, int dim=0) -> Tensor", LoopsKind::Index,
               cat_type, lower_cat),
      alias_op("aten.concat.default(Tensor[] tensors, int dim=0) -> Tensor", "aten.cat.default"),
      alias_op("aten.concatenate.default(Tensor[] tensors, int dim=0) -> Tensor",
               "aten.cat.default"),
      rewrite_op("aten.stack.default(Tensor[] tensors, int dim=0) -> Tensor", stack),
      rewrite_op("aten._stack.default(Tensor[] tensors, int dim=0) -> Tensor", stack),
      stacking_op("aten.hstack.default(Tensor[] tensors) -> Tensor", at_least_1d, horizontal),
      stacking_op("aten.vstack.default(Tensor[] tensors) -> Tensor", at_least_2d, first),
      stacking_op("aten.row_stack.default(Tensor[] tensors) -> Tensor", at_least_2d, first),
      stacking_op("aten.dstack.default(Tensor[] tensors) -> Tensor", at_least_3d,
                  [](TensorExpr) -> int64_t { return 2; }),
      stacking_op("aten.column_stack.default(Tensor[] tensors) -> Tensor", as_columns, second),
      adjusting_op("aten.atleast_1d.default(Tensor(a) self) -> Tensor(a)", at_least_1d),
      adjusting_op("aten.atleast_2d.default(Tensor(a) self) -> Tensor(a)", at_least_2d),
      adjusting_op("aten.atleast_3d.default(Tensor(a) self) -> Tensor(a)", at_least_3d),
      adjusting_list_op("aten.atleast_1d.Sequence(Tensor(a)[] tensors) -> Tensor(a)[]",
                        at_least_1d),
      adjusting_list_op("aten.atleast_2d.Sequence(Tensor(a)[] tensors) -> Tensor(a)[]",
                        at_least_2d),
      adjusting_list_op("aten.atleast_3d.Sequence(Tensor(a)[] tensors) -> Tensor(a)[]",
                        at_least_3d),
      rewrite_op("aten.broadcast_tensors.default(Tensor(a)[] tensors) -> Tensor(a)[]",
                 broadcast_tensors),
      rewrite_op("aten.meshgrid.default(Tensor(a)[] tensors) -> Tensor(a)[]", meshgrid),
      rewrite_op("aten.meshgrid.indexing(Tensor(a)[] tensors, *, str indexing) -> Tensor(a)[]",
                 meshgrid),
      rewrite_op("aten.cartesian_prod.default(Tensor(a)[] tensors) -> Tensor(a)", cartesian_prod),
      rewrite_op("aten.block_diag.default(Tensor[] tensors) -> Tensor", block_diag),
  };
}

}  // namespace aotc
