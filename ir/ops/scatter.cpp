// Writing into a region of a tensor: views, slices, advanced indices. Each lowers to a kernel that
// copies `self` to the result and a second one that stores the region, so that where self is not
// needed any more the copy can go and the cost is that of the region.
#include "ir/ops/index_math.h"
#include "ir/ops/scalar_math.h"
#include "ir/ops/tensor_expr.h"

namespace aotc {
namespace {

// The result buffer of n, holding a copy of argument 0.
loops::BufferId copy_of_self(Lowering& l, const Node& n) {
  loops::BufferId out = l.output(n);
  l.copy_into(n, std::get<Value*>(n.args[0]), out, nullptr);
  return out;
}

// ---- through a view

// The index into `base` of element `index` of `view`, which is computed from base by views only.
Index through_views(const Value* view, const Value* base, Index index, const Node& n) {
  while (view != base) {
    const Node* producer = view->producer;
    if (!producer || !producer->op->is_view())
      internal_error("{}: %{} is no view of %{}", n.name, view->name, base->name);
    index = producer->op->as<ViewMeaning>()->map(*producer, view->output_index, index);
    view = std::get<Value*>(producer->args[0]);
  }
  return index;
}

void lower_write_view(Lowering& l, const Node& n) {
  Value *base = tensor_arg(n, "base"), *view = tensor_arg(n, "view"), *src = tensor_arg(n, "src");
  loops::BufferId out = copy_of_self(l, n);
  KernelBuilder k(l, l.unique_kernel_name("write_view"));
  Index index = k.axes(view->type.sizes);
  E value = l.load(k, src, broadcast_index(src->type.sizes, index));
  k.store(out, through_views(view, base, index, n), value);
  l.finish(k, n);
}

// self with the view that `op` takes of it (with the same further arguments) replaced by src.
OpDef view_scatter_op(std::string_view schema, std::string_view op) {
  return rewrite_op(schema, [op = std::string(op)](Rewriter& r) {
    std::vector<Arg> args = r.node.args;
    args.erase(args.begin() + 1);
    Value* self = r.tensor("self");
    Value* src = r.cast(r.tensor("src"), self->type.dtype);
    return Values{r("aotc.write_view", {self, r(op, args), src})};
  });
}

Rows view_scatters() {
  return {
      loops_op("aotc.write_view(Tensor base, Tensor view, Tensor src) -> Tensor",
               LoopsKind::Scatter, same_type, lower_write_view),
      view_scatter_op("aten.slice_scatter.default(Tensor self, Tensor src, int dim=0, SymInt? "
                      "start=None, SymInt? end=None, SymInt step=1) -> Tensor",
                      "aten.slice.Tensor"),
      view_scatter_op(
          "aten.select_scatter.default(Tensor self, Tensor src, int dim, SymInt index) -> Tensor",
          "aten.select.int"),
      view_scatter_op("aten.diagonal_scatter.default(Tensor self, Tensor src, int offset=0, int "
                      "dim1=0, int dim2=1) -> Tensor",
                      "aten.diagonal.default"),
      view_scatter_op("aten.as_strided_scatter.default(Tensor self, Tensor src, SymInt[] size, "
                      "SymInt[] stride, SymInt? storage_offset=None) -> Tensor",
                      "aten.as_strided.default"),
  };
}

// ---- index_put: advanced indices, in order where they may repeat

void lower_index_put(Lowering& l, const Node& n) {
  AdvancedIndex region(n, std::get<Values>(arg(n, "indices")), input_type(n));
  Value* values = tensor_arg(n, "values");
  bool accumulate = bool_arg(n, "accumulate");
  region.check(l, n);
  loops::BufferId out = copy_of_self(l, n);
  KernelBuilder k(l, l.unique_kernel_name("index_put"));
  // Positions that no index names are independent; those that come from indices may repeat.
  Index index(region.sizes().size());
  auto from_indices = [&](size_t d) {
    return d >= region.first() && d < region.first() + region.count();
  };
  for (size_t d = 0; d < index.size(); ++d)
    if (!from_indices(d)) index[d] = k.axis(region.sizes()[d]);
  bool may_repeat = false;
  for (size_t d = 0; d < index.size(); ++d)
    may_repeat |= from_indices(d) && !region.sizes()[d].is(1);
  if (may_repeat) k.begin_phase(true);
  for (size_t d = 0; d < index.size(); ++d)
    if (from_indices(d)) index[d] = may_repeat ? k.inner_axis(region.sizes()[d]) : Sym(0);
  E value = l.load(k, values, broadcast_index(values->type.sizes, index));
  k.store(out, region.at(k, index), cast(value, input_type(n).dtype), {}, accumulate);
  l.finish(k, n);
}

bool is_mask(const Value* v) {
  return v && (is_bool(v->type.dtype) || v->type.dtype == DType::UInt8);
}

// One mask and one value: a selection, whatever the mask counts. The mask may have fewer
// dimensions.
std::optional<Value*> as_masked_fill(Rewriter& r, const Values& indices, TensorExpr values) {
  Value* mask = nullptr;
  size_t leading = 0;
  for (size_t i = 0; i < indices.size(); ++i) {
    if (!indices[i]) continue;
    if (mask || !is_mask(indices[i])) return std::nullopt;
    mask = indices[i];
    leading = i;
  }
  if (!mask || !product(values.sizes()).is(1)) return std::nullopt;
  TensorExpr self = in(r, "self"), m = TensorExpr{&r, mask}.cast(DType::Bool);
  Index sizes(leading, Sym(1));
  sizes.insert(sizes.end(), m.sizes().begin(), m.sizes().end());
  sizes.resize(static_cast<size_t>(self.rank()), Sym(1));
  TensorExpr value = values.reshape({}).cast(self.dtype());
  if (bool_arg(r.node, "accumulate")) value = self + value;
  return where(m.reshape(sizes), value.v, self.v).v;
}

std::optional<Sym> value_count(const Rewriter& r, const Value* values) {
  for (const Sym& s : values->type.sizes)
    if (r.is_found_in_data(s)) return s;
  return std::nullopt;
}

Values index_put(Rewriter& r) {
  const Values& indices = std::get<Values>(arg(r.node, "indices"));
  TensorExpr values = in(r, "values");
  if (auto filled = as_masked_fill(r, indices, values)) return {*filled};
  Values expanded = expand_masks(r, indices, value_count(r, values));
  return {r("aotc.index_put", {r.tensor("self"), expanded, values.v, arg(r.node, "accumulate")})};
}

// Adds values where the mask holds, at indices clamped elsewhere.
Values unsafe_masked_index_put(Rewriter& r) {
  TensorExpr self = in(r, "self"), mask = in(r, "mask");
  Values indices = std::get<Values>(arg(r.node, "indices"));
  for (size_t d = 0; d < indices.size(); ++d)
    if (indices[d])
      indices[d] = TensorExpr{&r, indices[d]}.apply(
          "aten.clamp.default",
          {0 - self.size(static_cast<int64_t>(d)), self.size(static_cast<int64_t>(d)) - 1});
  TensorExpr kept = where(mask, in(r, "values").v, whole(0, in(r, "values").dtype()));
  return {r("aotc.index_put", {self.v, indices, kept.v, true})};
}

Rows index_puts() {
  Rows rows = {
      loops_op("aotc.index_put(Tensor self, Tensor?[] indices, Tensor values, bool "
               "accumulate=False) -> Tensor",
               LoopsKind::Scatter, same_type, lower_index_put),
      rewrite_op("aten._unsafe_masked_index_put_accumulate.default(Tensor self, Tensor mask, "
                 "Tensor?[] indices, Tensor values) -> Tensor",
                 unsafe_masked_index_put),
  };
  for (std::string_view schema :
       {"aten.index_put.default(Tensor self, Tensor?[] indices, Tensor values, bool "
        "accumulate=False) -> Tensor",
        "aten._unsafe_index_put.default(Tensor self, Tensor?[] indices, Tensor values, bool "
        "accumulate=False) -> Tensor",
        "aten._index_put_impl.default(Tensor self, Tensor?[] indices, Tensor values, bool "
        "accumulate=False, bool unsafe=False) -> Tensor"})
    rows.push_back(rewrite_op(schema, index_put));
  return rows;
}

}  // namespace

Rows scatter_ops() {
  Rows rows = view_scatters();
  append(rows, index_puts());
  append(rows, scatter_dim_ops());
  append(rows, fill_diagonal_ops());
  return rows;
}

}  // namespace aotc
