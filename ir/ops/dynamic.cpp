// Ops whose result sizes or values are known only at run time: nonzero, item, and the sizes of
// tensors as integers. A size that depends on data is a symbol that a host kernel defines.
#include "ir/ops/index_math.h"
#include "ir/ops/scalar_math.h"
#include "ir/ops/tensor_expr.h"

namespace aotc {
namespace {

E is_nonzero(KernelBuilder& k, Value* v, const Index& at) {
  return cast(k.lowering().load(k, v, at), DType::Bool);
}

loops::BufferId count_nonzero(Lowering& l, const Node& n, Value* self) {
  loops::BufferId count = l.temp(temp_name(l, n, "count"), DType::Int64, {});
  KernelBuilder k(l, l.unique_kernel_name("count_nonzero"));
  Index at = k.inner_axes(self->type.sizes);
  int total = k.accumulate(Prim::add, cast(is_nonzero(k, self, at), DType::Int64));
  k.begin_phase();
  k.store(count, {}, k.result(total));
  l.finish(k, n);
  return count;
}

// Row by row the positions of the nonzero elements, in order; at most `limit` of them.
void store_positions(Lowering& l, const Node& n, Value* self, loops::BufferId out,
                     const Sym* limit) {
  KernelBuilder k(l, l.unique_kernel_name("nonzero"));
  k.begin_phase(true);
  Index at = k.inner_axes(self->type.sizes);
  E here = is_nonzero(k, self, at);
  E so_far = k.result(k.accumulate(Prim::add, cast(here, DType::Int64), true));
  E row = so_far - like(so_far, 1);
  if (limit) here = here && (row < k.index(*limit));
  for (size_t d = 0; d < at.size(); ++d)
    k.store(out, {k.value_of(row), Sym(static_cast<int64_t>(d))}, k.index(at[d]), here);
  l.finish(k, n);
}

Types nonzero_type(const Node& n) {
  const TensorType& t = self_of(n)->type;
  Sym count = Sym::symbol("count_" + n.name);
  return {contiguous_type(DType::Int64, {count, Sym(static_cast<int64_t>(t.rank()))}, t.device)};
}

void lower_nonzero(Lowering& l, const Node& n) {
  define_size(l, n, n.output()->type.sizes[0], count_nonzero(l, n, self_of(n)));
  loops::BufferId out = l.output(n);
  if (self_of(n)->type.rank() > 0) return store_positions(l, n, self_of(n), out, nullptr);
  KernelBuilder k(l, l.unique_kernel_name("no_positions"));  // rows without elements
  k.store(out, k.axes(n.output()->type.sizes), k.constant(int64_t{0}, DType::Int64));
  l.finish(k, n);
}

Types nonzero_static_type(const Node& n) {
  const TensorType& t = self_of(n)->type;
  return {contiguous_type(DType::Int64, {sym_arg(n, "size"), Sym(static_cast<int64_t>(t.rank()))},
                          t.device)};
}

void lower_nonzero_static(Lowering& l, const Node& n) {
  loops::BufferId out = l.output(n);
  KernelBuilder k(l, l.unique_kernel_name("fill"));
  Index at = k.axes(n.output()->type.sizes);
  k.store(out, at, number(k, n, "fill_value", DType::Int64));
  l.finish(k, n);
  Sym limit = sym_arg(n, "size");
  store_positions(l, n, self_of(n), out, &limit);
}

// One vector of positions per dimension.
Values nonzero_numpy(Rewriter& r) {
  TensorExpr self = in(r, r.node.op->schema.args[0].name);
  if (self.rank() == 0) self = self.reshape({Sym(1)});
  TensorExpr positions = self.apply("aten.nonzero.default");
  if (!r.node.outputs.empty()) positions.v->type.sizes[0] = r.node.output()->type.sizes[0];
  Values results;
  for (int64_t d = 0; d < self.rank(); ++d) results.push_back(positions.select(1, d));
  return results;
}

Values argwhere(Rewriter& r) {
  TensorExpr positions = in(r, "self").apply("aten.nonzero.default");
  if (!r.node.outputs.empty()) positions.v->type.sizes[0] = r.node.output()->type.sizes[0];
  return {positions};
}

// ---- integers out of tensors

void lower_item(Lowering& l, const Node& n) {
  Value* self = self_of(n);
  if (n.outputs.empty()) return;
  if (is_complex(self->type.dtype))
    unsupported(n, "item() of a complex tensor", "keep the value in a tensor");
  loops::BufferId value = l.temp(temp_name(l, n, "value"), DType::Int64, {});
  KernelBuilder k(l, l.unique_kernel_name("item"));
  E element = l.load(k, self, Index(self->type.rank(), Sym(0)));
  k.store(value, {},
          is_float(n.output()->sym)
              ? k.apply(Prim::bitcast, {cast(element, DType::Float64)}, DType::Int64)
              : cast(element, DType::Int64));
  l.finish(k, n);
  define_size(l, n, n.output()->sym, value);
}

Types no_types(const Node&) { return {}; }

// A size is an expression that the graph already has, unless it is a symbol that only the view
// whose size it is can define: then it is what the view's arguments make it.
void define_from_view(Lowering& l, const Node& n, const std::optional<Sym>& value) {
  if (n.outputs.empty()) return;
  auto symbol = n.output()->sym.symbol_name();
  if (!symbol || !value || value->symbols().contains(*symbol)) return;
  auto info = l.graph().symbols.find(*symbol);
  if (info == l.graph().symbols.end() || !info->second.unbacked) return;
  KernelBuilder k(l, l.unique_kernel_name("define_" + *symbol));
  k.index(*value);
  k.kernel().kind = loops::KernelKind::Host;
  k.kernel().symbol = *symbol;
  l.finish(k, n);
}

void lower_size(Lowering& l, const Node& n) {
  const Node* producer = self_of(n)->producer;
  if (!producer || !producer->op->is_view()) return;
  std::vector<TensorType> types = producer->op->infer(*producer);
  auto dim = static_cast<size_t>(
      wrap_dim(int_arg(n, "dim"), static_cast<int64_t>(self_of(n)->type.rank()), n));
  define_from_view(l, n, types.at(static_cast<size_t>(self_of(n)->output_index)).sizes.at(dim));
}

// Where the tensor starts in its storage: the first element of its views, of which the innermost
// base starts at 0.
void lower_storage_offset(Lowering& l, const Node& n) {
  const Value* v = self_of(n);
  Index at(v->type.rank(), Sym(0));
  for (const Node* p = v->producer; p && p->op->is_view(); p = v->producer) {
    at = p->op->as<ViewMeaning>()->map(*p, v->output_index, at);
    v = std::get<Value*>(p->args[0]);
  }
  Sym offset = 0;
  std::vector<Sym> strides = strides_of(v->type);
  for (size_t d = 0; d < at.size(); ++d) offset = offset + at[d] * strides[d];
  define_from_view(l, n, offset);
}

void lower_nothing(Lowering&, const Node&) {}

OpDef size_op(std::string_view schema, void (*lower)(Lowering&, const Node&)) {
  return loops_op(schema, LoopsKind::Host, no_types, lower);
}

// The integer in a tensor, as a symbol of the graph.
Sym item(TensorExpr x) {
  Rewriter& r = *x.r;
  Node* n = r.emit("aten._local_scalar_dense.default", {x.v});
  std::string name;
  for (int i = 0; name.empty() || r.graph.symbols.contains(name); ++i)
    name = fmt::format("item{}", i);
  Value* v = r.graph.new_symbol_value(name, Sym::symbol(name));
  r.graph.symbols[name] = {.min = std::nullopt, .max = std::nullopt, .unbacked = true};
  v->producer = n;
  n->outputs.push_back(v);
  return v->sym;
}

// Split positions that are data: slices between them. The sizes keep the names that the program
// gives them.
Values tensor_split(Rewriter& r) {
  TensorExpr self = in(r, "self"), places = in(r, "tensor_indices_or_sections");
  auto count = places.rank() == 1 ? places.size(0).constant() : std::nullopt;
  if (!count)
    unsupported(r.node, "a number of sections that is data", "pass it as a Python integer");
  int64_t dim = wrap_dim(int_arg(r.node, "dim"), self.rank(), r.node);
  Values results;
  Sym begin = 0;
  for (int64_t i = 0; i <= *count; ++i) {
    Sym end = i < *count ? item(places.select(0, i)) : self.size(dim);
    TensorExpr part = self.slice(dim, begin, end);
    auto k = static_cast<size_t>(i);
    if (k < r.node.outputs.size()) part.v->type.sizes = r.node.output(k)->type.sizes;
    results.push_back(part);
    begin = end;
  }
  return results;
}

}  // namespace

Rows dynamic_ops() {
  return {
      loops_op("aten.nonzero.default(Tensor self) -> Tensor", LoopsKind::Index, nonzero_type,
               lower_nonzero),
      loops_op(
          "aten.nonzero_static.default(Tensor self, *, SymInt size, int fill_value=-1) -> Tensor",
          LoopsKind::Index, nonzero_static_type, lower_nonzero_static),
      rewrite_op("aten.nonzero_numpy.default(Tensor self) -> Tensor[]", nonzero_numpy),
      rewrite_op("aten.where.default(Tensor condition) -> Tensor[]", nonzero_numpy),
      rewrite_op("aten.argwhere.default(Tensor self) -> Tensor", argwhere),
      loops_op("aten.item.default(Tensor self) -> Scalar", LoopsKind::Host, no_types, lower_item),
      loops_op("aten._local_scalar_dense.default(Tensor self) -> Scalar", LoopsKind::Host, no_types,
               lower_item),
      rewrite_op("aten.tensor_split.tensor_indices_or_sections(Tensor(a -> *) self, Tensor "
                 "tensor_indices_or_sections, int dim=0) -> Tensor(a)[]",
                 tensor_split),
      size_op("aten.sym_size.int(Tensor self, int dim) -> SymInt", lower_size),
      size_op("aten.sym_stride.int(Tensor self, int dim) -> SymInt", lower_nothing),
      size_op("aten.sym_numel.default(Tensor self) -> SymInt", lower_nothing),
      size_op("aten.sym_storage_offset.default(Tensor self) -> SymInt", lower_storage_offset),
  };
}

}  // namespace aotc
