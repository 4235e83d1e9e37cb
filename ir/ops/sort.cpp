// Sorting and selection. Equal elements keep their order, NaN comes last (first when descending).
#include <limits>

#include "ir/ops/index_math.h"
#include "ir/ops/scalar_math.h"
#include "ir/ops/tensor_expr.h"

namespace aotc {
namespace {

// ---- the core form: sort along one of up to five dimensions, the first `count` places kept

constexpr size_t kMaxDims = 5;

Types sorted_types(const Node& n) {
  TensorType t = input_type(n);
  t.sizes[static_cast<size_t>(int_arg(n, "dim"))] = sym_arg(n, "count");
  return {contiguous_type(t.dtype, t.sizes, t.device),
          contiguous_type(DType::Int64, t.sizes, t.device)};
}

void lower_sort(Lowering& l, const Node& n) {
  Value* self = std::get<Value*>(n.args[0]);
  const Lowering::Strided from = l.strided(n, self);
  auto s = std::make_shared<loops::Sort>();
  s->sizes = self->type.sizes;
  s->dim = static_cast<int>(int_arg(n, "dim"));
  s->count = sym_arg(n, "count");
  s->descending = bool_arg(n, "descending");
  s->x = from.buffer;
  s->offset = from.offset;
  s->strides = from.strides;
  s->values = l.output(n, 0);
  s->indices = l.output(n, 1);
  KernelBuilder k(l, l.unique_kernel_name("sort"));
  k.kernel().kind = loops::KernelKind::Template;
  k.kernel().sort = std::move(s);
  l.finish(k, n);
}

// ---- torch's spellings

struct Sorted {
  TensorExpr values, indices;
};

// `count` places (all by default) are kept. Where there are too many dimensions, those before and
// those after the sorted one become one each.
Sorted sorted(Rewriter& r, TensorExpr x, int64_t dim, bool descending,
              std::optional<Sym> count = {}) {
  if (x.rank() == 0) {
    TensorExpr zero{&r, r.full({}, 0, DType::Int64)};
    return {x.apply("aten.clone.default"), zero};
  }
  dim = wrap_dim(dim, x.rank(), r.node);
  const Sym kept = count.value_or(x.size(dim));
  Index sizes = x.sizes();
  const auto at = sizes.begin() + static_cast<std::ptrdiff_t>(dim);
  const bool flatten = sizes.size() > kMaxDims;
  if (flatten) {
    const Sym before = product({sizes.begin(), at}), after = product({at + 1, sizes.end()});
    x = x.reshape({before, *at, after});
  }
  Node* node = r.emit("aotc.sort", {x.v, Sym(flatten ? 1 : dim), kept, descending});
  Sorted s{{&r, node->output(0)}, {&r, node->output(1)}};
  *at = kept;
  if (flatten) s = {s.values.reshape(sizes), s.indices.reshape(sizes)};
  return s;
}

Values sort(Rewriter& r) {
  Sorted s = sorted(r, in(r, "self"), int_arg(r.node, "dim"), bool_arg(r.node, "descending"));
  return {s.values, s.indices};
}

Values argsort(Rewriter& r) {
  return {sorted(r, in(r, "self"), int_arg(r.node, "dim"), bool_arg(r.node, "descending")).indices};
}

Values topk(Rewriter& r) {
  Sorted s = sorted(r, in(r, "self"), int_arg(r.node, "dim"), bool_arg(r.node, "largest"),
                    sym_arg(r.node, "k"));
  return {s.values, s.indices};
}

// Element `place` (from 0) in ascending order along `dim`.
Sorted at_place(Rewriter& r, TensorExpr x, int64_t dim, const Sym& place, bool keep) {
  Sorted s = sorted(r, x, dim, false, place + 1);
  if (x.rank() == 0) return s;
  auto pick = [&](TensorExpr v) {
    return keep ? v.slice(dim, place, place + 1) : v.select(dim, place);
  };
  return {pick(s.values), pick(s.indices)};
}

Values kthvalue(Rewriter& r) {
  TensorExpr x = in(r, "self");
  int64_t dim = wrap_dim(int_arg(r.node, "dim"), x.rank(), r.node);
  Sorted s = at_place(r, x, dim, sym_arg(r.node, "k") - 1, bool_arg(r.node, "keepdim"));
  return {s.values, s.indices};
}

// The lower of the two middle elements. A NaN anywhere is the median, unless NaNs are left out.
Sorted median_along(Rewriter& r, TensorExpr x, int64_t dim, bool keep, bool skip_nan) {
  if (x.rank() == 0) return sorted(r, x, 0, false);
  Sorted s = sorted(r, x, dim, false);
  Sym n = x.size(dim);
  if (!is_floating(x.dtype())) {
    Sym middle = floordiv(n - 1, 2);
    auto pick = [&](TensorExpr v) {
      return keep ? v.slice(dim, middle, middle + 1) : v.select(dim, middle);
    };
    return {pick(s.values), pick(s.indices)};
  }
  TensorExpr nans = isnan(x).sum({dim});
  // Sorted, the numbers stand in front: n - nans of them.
  TensorExpr numbers = nans * Sym(-1) + n, middle;
  if (skip_nan) {
    middle = (numbers - Sym(1)).apply("aten.div.Tensor_mode", {Sym(2), std::string("floor")});
    middle = middle.apply("aten.clamp.default", {Sym(0)});
  } else {
    TensorExpr first_nan = numbers.apply("aten.clamp.default", {Sym(0), n - 1});
    middle = where(nans > 0.0, first_nan.v, floordiv(n - 1, 2));
  }
  auto pick = [&](TensorExpr v) {
    TensorExpr picked = v.apply("aten.gather.default", {Sym(dim), middle.v});
    return keep ? picked : picked.squeeze(dim);
  };
  return {pick(s.values), pick(s.indices)};
}

// The vector, or one NaN where it has no elements; what that is as an integer, eager does not say.
TensorExpr or_nan(Rewriter& r, TensorExpr x) {
  const Sym missing = r.graph.assumptions().simplify(sym_max(Sym(1) - x.size(0), 0));
  if (missing.is(0)) return x;
  Value* nan = r.full({missing}, std::numeric_limits<double>::quiet_NaN(), DType::Float32);
  return {&r, r("aten.cat.default", {Values{x, r.cast(nan, x.dtype())}, Sym(0)})};
}

OpDef median_op(std::string_view schema, bool whole, bool skip_nan) {
  return rewrite_op(schema, [whole, skip_nan](Rewriter& r) {
    TensorExpr x = in(r, "self");
    if (whole)
      return Values{
          median_along(r, or_nan(r, x.reshape({product(x.sizes())})), 0, false, skip_nan).values};
    int64_t dim = wrap_dim(int_arg(r.node, "dim"), x.rank(), r.node);
    Sorted s = median_along(r, x, dim, bool_arg(r.node, "keepdim"), skip_nan);
    return Values{s.values, s.indices};
  });
}

}  // namespace

Rows sort_ops() {
  return {
      loops_op("aotc.sort(Tensor self, int dim, SymInt count, bool descending) -> (Tensor, Tensor)",
               LoopsKind::Sort, sorted_types, lower_sort),
      rewrite_op("aten.sort.default(Tensor self, int dim=-1, bool descending=False) -> (Tensor "
                 "values, Tensor indices)",
                 sort),
      rewrite_op("aten.sort.stable(Tensor self, *, bool? stable, int dim=-1, bool "
                 "descending=False) -> (Tensor values, Tensor indices)",
                 sort),
      rewrite_op("aten.argsort.default(Tensor self, int dim=-1, bool descending=False) -> Tensor",
                 argsort),
      rewrite_op("aten.argsort.stable(Tensor self, *, bool stable, int dim=-1, bool "
                 "descending=False) -> Tensor",
                 argsort),
      rewrite_op("aten.msort.default(Tensor self) -> Tensor",
                 [](Rewriter& r) { return Values{sorted(r, in(r, "self"), 0, false).values}; }),
      rewrite_op("aten.topk.default(Tensor self, SymInt k, int dim=-1, bool largest=True, bool "
                 "sorted=True) -> (Tensor values, Tensor indices)",
                 topk),
      rewrite_op("aten.kthvalue.default(Tensor self, SymInt k, int dim=-1, bool keepdim=False) -> "
                 "(Tensor values, Tensor indices)",
                 kthvalue),
      median_op("aten.median.default(Tensor self) -> Tensor", true, false),
      median_op("aten.median.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, "
                "Tensor indices)",
                false, false),
      median_op("aten.nanmedian.default(Tensor self) -> Tensor", true, true),
      median_op("aten.nanmedian.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, "
                "Tensor indices)",
                false, true),
  };
}

}  // namespace aotc
