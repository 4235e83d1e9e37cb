// Reading at indices that are data: index, gather, index_select, embedding, take, searchsorted.
#include "ir/ops/index_math.h"
#include "ir/ops/scalar_math.h"
#include "ir/ops/tensor_expr.h"

namespace aotc {
namespace {

// ---- advanced indexing

AdvancedIndex advanced_index(const Node& n) {
  return AdvancedIndex(n, std::get<Values>(arg(n, "indices")), input_type(n));
}

Types index_type(const Node& n) {
  const TensorType& t = input_type(n);
  return {contiguous_type(t.dtype, advanced_index(n).sizes(), t.device)};
}

void lower_index(Lowering& l, const Node& n) {
  AdvancedIndex region = advanced_index(n);
  region.check(l, n);
  KernelBuilder k(l, l.unique_kernel_name("index"));
  Index index = k.axes(region.sizes());
  E value = l.load(k, std::get<Value*>(n.args[0]), region.at(k, index));
  k.store(l.output(n), index, value);
  l.finish(k, n);
}

// The number of true elements, as the program names it: the first region dimension that is not the
// size of the input there.
std::optional<Sym> masked_count(const Rewriter& r) {
  if (r.node.outputs.empty()) return std::nullopt;
  for (const Sym& s : r.node.output()->type.sizes)
    if (r.is_found_in_data(s)) return s;
  return std::nullopt;
}

Values index_tensor(Rewriter& r) {
  Values indices = expand_masks(r, std::get<Values>(arg(r.node, "indices")), masked_count(r));
  return {r("aotc.index", {r.tensor("self"), indices})};
}

// The elements where the mask holds, else `fill`; indices outside are clamped where the mask is
// false.
Values unsafe_masked_index(Rewriter& r) {
  TensorExpr self = in(r, "self"), mask = in(r, "mask");
  Values indices = std::get<Values>(arg(r.node, "indices"));
  for (size_t d = 0; d < indices.size(); ++d)
    if (indices[d])
      indices[d] = TensorExpr{&r, indices[d]}.apply(
          "aten.clamp.default", {Sym(0), self.size(static_cast<int64_t>(d)) - 1});
  TensorExpr picked{&r, r("aotc.index", {self.v, indices})};
  return {where(mask, picked.v, arg(r.node, "fill"))};
}

Values masked_select(Rewriter& r) {
  TensorExpr self = in(r, "self"), mask = in(r, "mask");
  Index common = broadcast_sizes({self.sizes(), mask.sizes()}, r.node);
  self = self.expand(common);
  mask = mask.expand(common);
  if (common.empty()) {
    self = self.reshape({Sym(1)});
    mask = mask.reshape({Sym(1)});
  }
  return {r("aotc.index", {self.v, expand_masks(r, {mask.v}, masked_count(r))})};
}

// ---- one index per element along a dimension

Types gather_type(const Node& n) {
  const TensorType& t = input_type(n);
  return {contiguous_type(t.dtype, tensor_arg(n, "index")->type.sizes, t.device)};
}

void lower_gather(Lowering& l, const Node& n) {
  Value *self = std::get<Value*>(n.args[0]), *indices = tensor_arg(n, "index");
  size_t dim = dim_arg(n);
  Sym size = self->type.rank() == 0 ? Sym(1) : self->type.sizes[dim];
  check_indices(l, n, indices, size, Negative::Refused);
  KernelBuilder k(l, l.unique_kernel_name("gather"));
  Index index = k.axes(indices->type.sizes), at = index;
  if (self->type.rank() == 0) {
    at.clear();
  } else if (indices->type.rank() == 0) {
    at = {index_value(k, indices, index, size, Negative::Refused)};
  } else {
    at[dim] = index_value(k, indices, index, size, Negative::Refused);
  }
  k.store(l.output(n), index, l.load(k, self, at));
  l.finish(k, n);
}

// Without a dimension both are flattened; otherwise they broadcast against each other outside of
// it.
Values take_along_dim(Rewriter& r) {
  TensorExpr self = in(r, "self"), indices = in(r, "indices");
  if (arg_is_none(r.node, "dim")) {
    Index flat{product(indices.sizes())};
    return {self.reshape({product(self.sizes())})
                .apply("aten.gather.default", {Sym(0), indices.reshape(flat).v})};
  }
  int64_t dim = wrap_dim(int_arg(r.node, "dim"), self.rank(), r.node);
  auto d = static_cast<size_t>(dim);
  Index self_sizes = self.sizes(), index_sizes = indices.sizes();
  self_sizes[d] = index_sizes[d] = 1;
  Index common = broadcast_sizes({self_sizes, index_sizes}, r.node);
  self_sizes = index_sizes = common;
  self_sizes[d] = self.size(dim);
  index_sizes[d] = indices.size(dim);
  return {self.expand(self_sizes)
              .apply("aten.gather.default", {Sym(dim), indices.expand(index_sizes).v})};
}

// ---- whole slices by index

struct SliceLookup {
  Value *table, *indices;
  size_t dim;
};

Types lookup_type(const SliceLookup& s) {
  TensorType t = s.table->type;
  Index sizes = t.sizes;
  if (!sizes.empty()) sizes.erase(sizes.begin() + static_cast<std::ptrdiff_t>(s.dim));
  if (t.rank() > 0)
    sizes.insert(sizes.begin() + static_cast<std::ptrdiff_t>(s.dim), s.indices->type.sizes.begin(),
                 s.indices->type.sizes.end());
  return {contiguous_type(t.dtype, sizes, t.device)};
}

void lower_lookup(Lowering& l, const Node& n, const SliceLookup& s) {
  const Index& table = s.table->type.sizes;
  Sym size = table.empty() ? Sym(1) : table[s.dim];
  check_indices(l, n, s.indices, size, Negative::Refused);
  KernelBuilder k(l, l.unique_kernel_name("lookup"));
  Index index = k.axes(n.output()->type.sizes), at;
  if (!table.empty()) {
    auto begin = index.begin() + static_cast<std::ptrdiff_t>(s.dim);
    auto count = static_cast<std::ptrdiff_t>(s.indices->type.rank());
    Index position(begin, begin + count);
    at.assign(index.begin(), begin);
    at.push_back(index_value(k, s.indices, position, size, Negative::Refused));
    at.insert(at.end(), begin + count, index.end());
  }
  k.store(l.output(n), index, l.load(k, s.table, at));
  l.finish(k, n);
}

OpDef lookup_op(std::string_view schema, SliceLookup (*plan)(const Node&)) {
  return loops_op(
      schema, LoopsKind::Index, [plan](const Node& n) { return lookup_type(plan(n)); },
      [plan](Lowering& l, const Node& n) { lower_lookup(l, n, plan(n)); });
}

SliceLookup index_select(const Node& n) {
  return {std::get<Value*>(n.args[0]), tensor_arg(n, "index"), dim_arg(n)};
}

// An index of rank 0 selects one slice and keeps the dimension.
Values index_select_row(Rewriter& r) {
  TensorExpr self = in(r, "self"), index = in(r, "index");
  if (index.rank() == 0 && self.rank() > 0) index = index.reshape({Sym(1)});
  return {self.apply("aotc.index_select", {arg(r.node, "dim"), index.v})};
}

SliceLookup embedding(const Node& n) {
  return {tensor_arg(n, "weight"), tensor_arg(n, "indices"), 0};
}

// The element at each position of the flattened input; negative positions count from the end.
Types take_type(const Node& n) {
  const TensorType& t = input_type(n);
  return {contiguous_type(t.dtype, tensor_arg(n, "index")->type.sizes, t.device)};
}

void lower_take(Lowering& l, const Node& n) {
  Value *self = std::get<Value*>(n.args[0]), *indices = tensor_arg(n, "index");
  Sym size = product(self->type.sizes);
  check_indices(l, n, indices, size, Negative::Wraps);
  KernelBuilder k(l, l.unique_kernel_name("take"));
  Index index = k.axes(indices->type.sizes);
  Sym position = index_value(k, indices, index, size, Negative::Wraps);
  k.store(l.output(n), index, l.load(k, self, delinearize(position, self->type.sizes)));
  l.finish(k, n);
}

}  // namespace

Rows index_ops() {
  Rows rows = {
      loops_op("aotc.index(Tensor self, Tensor?[] indices) -> Tensor", LoopsKind::Index, index_type,
               lower_index),
      rewrite_op("aten.index.Tensor(Tensor self, Tensor?[] indices) -> Tensor", index_tensor),
      rewrite_op("aten._unsafe_index.Tensor(Tensor self, Tensor?[] indices) -> Tensor",
                 index_tensor),
      rewrite_op("aten._unsafe_masked_index.default(Tensor self, Tensor mask, Tensor?[] indices, "
                 "Scalar fill) -> Tensor",
                 unsafe_masked_index),
      rewrite_op("aten.masked_select.default(Tensor self, Tensor mask) -> Tensor", masked_select),
      loops_op("aten.gather.default(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) "
               "-> Tensor",
               LoopsKind::Index, gather_type, lower_gather),
      rewrite_op(
          "aten.take_along_dim.default(Tensor self, Tensor indices, int? dim=None) -> Tensor",
          take_along_dim),
      lookup_op("aotc.index_select(Tensor self, int dim, Tensor index) -> Tensor", index_select),
      rewrite_op("aten.index_select.default(Tensor self, int dim, Tensor index) -> Tensor",
                 index_select_row),
      lookup_op("aten.embedding.default(Tensor weight, Tensor indices, SymInt padding_idx=-1, bool "
                "scale_grad_by_freq=False, bool sparse=False) -> Tensor",
                embedding),
      loops_op("aten.take.default(Tensor self, Tensor index) -> Tensor", LoopsKind::Index,
               take_type, lower_take),
  };
  for (Rows (*part)() : {scatter_ops, search_ops, scan_ops, sort_ops, dynamic_ops, counting_ops,
                         grouped_ops, unique_ops})
    append(rows, part());
  return rows;
}

}  // namespace aotc
