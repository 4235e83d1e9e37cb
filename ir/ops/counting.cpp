// Ops that count or enumerate: bincount, histc, repeat_interleave with counts that are data,
// triangle indices.
#include <algorithm>

#include "ir/ops/index_math.h"
#include "ir/ops/scalar_math.h"
#include "ir/ops/tensor_expr.h"

namespace aotc {
namespace {

E zero(KernelBuilder& k) { return k.constant(int64_t{0}, DType::Int64); }
E one(KernelBuilder& k) { return k.constant(int64_t{1}, DType::Int64); }

void check_not_negative(Lowering& l, const Node& n, Value* v) {
  l.check(n, v->type.sizes, "a negative value", [&](KernelBuilder& k, const Index& at, E& report) {
    report = cast(l.load(k, v, at), DType::Int64);
    return report >= zero(k);
  });
}

// ---- repeat_interleave: position i occurs repeats[i] times

// totals[i] = repeats[0] + ... + repeats[i]
loops::BufferId running_totals(Lowering& l, const Node& n, Value* repeats) {
  loops::BufferId totals = l.temp(temp_name(l, n, "totals"), DType::Int64, repeats->type.sizes);
  KernelBuilder k(l, l.unique_kernel_name("running_totals"));
  k.begin_phase(true);
  Sym i = k.inner_axis(repeats->type.sizes[0]);
  E so_far = k.result(k.accumulate(Prim::add, cast(l.load(k, repeats, {i}), DType::Int64), true));
  k.store(totals, {i}, so_far);
  l.finish(k, n);
  return totals;
}

loops::BufferId grand_total(Lowering& l, const Node& n, Value* repeats) {
  loops::BufferId total = l.temp(temp_name(l, n, "total"), DType::Int64, {});
  KernelBuilder k(l, l.unique_kernel_name("total"));
  Sym i = k.inner_axis(repeats->type.sizes[0]);
  int sum = k.accumulate(Prim::add, cast(l.load(k, repeats, {i}), DType::Int64));
  k.begin_phase();
  k.store(total, {}, k.result(sum));
  l.finish(k, n);
  return total;
}

Types repeats_type(const Node& n) {
  const TensorType& t = self_of(n)->type;
  Sym total =
      arg_is_none(n, "output_size") ? Sym::symbol("count_" + n.name) : sym_arg(n, "output_size");
  return {contiguous_type(t.dtype, {total}, t.device)};
}

void lower_repeats(Lowering& l, const Node& n) {
  Value* repeats = self_of(n);
  if (repeats->type.rank() != 1) unsupported(n, "repeats that are no vector", "flatten them");
  check_not_negative(l, n, repeats);
  define_size(l, n, n.output()->type.sizes[0], grand_total(l, n, repeats));
  loops::BufferId totals = running_totals(l, n, repeats);
  KernelBuilder k(l, l.unique_kernel_name("repeat_interleave"));
  Sym place = k.axis(n.output()->type.sizes[0]), i = k.inner_axis(repeats->type.sizes[0]);
  E passed = k.load(totals, {i}) <= k.index(place);
  int count = k.accumulate(Prim::add, cast(passed, DType::Int64));
  k.begin_phase();
  k.store(l.output(n), {place}, k.result(count));
  l.finish(k, n);
}

Values repeat_by_tensor(Rewriter& r) {
  TensorExpr self = in(r, "self"), repeats = in(r, "repeats");
  bool flat = arg_is_none(r.node, "dim");
  if (flat) self = self.reshape({product(self.sizes())});
  int64_t dim = flat ? 0 : wrap_dim(int_arg(r.node, "dim"), self.rank(), r.node);
  if (repeats.rank() == 0 || repeats.size(0).is(1))
    repeats = repeats.reshape({Sym(1)}).expand({self.size(dim)});
  bool counted = arg_is_none(r.node, "output_size");
  TensorExpr places = repeats.apply("aten.repeat_interleave.Tensor", {arg(r.node, "output_size")});
  if (counted && !r.node.outputs.empty())  // the symbol that the program has for it
    places.v->type.sizes[0] = r.node.output()->type.sizes[static_cast<size_t>(dim)];
  return {self.apply("aten.index_select.default", {Sym(dim), places.v})};
}

// ---- bincount

DType count_type(const Node& n) {
  Value* weights = tensor_arg(n, "weights");
  if (!weights) return DType::Int64;
  return weights->type.dtype == DType::Float32 ? DType::Float32 : DType::Float64;
}

Types bincount_type(const Node& n) {
  return {
      contiguous_type(count_type(n), {Sym::symbol("count_" + n.name)}, self_of(n)->type.device)};
}

// The largest value plus one, at least minlength.
loops::BufferId bin_count(Lowering& l, const Node& n) {
  loops::BufferId bins = l.temp(temp_name(l, n, "bins"), DType::Int64, {});
  KernelBuilder k(l, l.unique_kernel_name("bins"));
  Sym i = k.inner_axis(self_of(n)->type.sizes[0]);
  int largest = k.accumulate(Prim::maximum, cast(l.load(k, self_of(n), {i}), DType::Int64));
  k.begin_phase();
  k.store(bins, {},
          maximum(maximum(k.result(largest), k.constant(int64_t{-1}, DType::Int64)) + one(k),
                  k.index(sym_arg(n, "minlength"))));
  l.finish(k, n);
  return bins;
}

void lower_bincount(Lowering& l, const Node& n) {
  Value *self = self_of(n), *weights = tensor_arg(n, "weights");
  if (self->type.rank() != 1)
    unsupported(n, "bincount of a tensor that is no vector", "flatten it");
  check_not_negative(l, n, self);
  define_size(l, n, n.output()->type.sizes[0], bin_count(l, n));
  loops::BufferId out = l.output(n);
  KernelBuilder clear(l, l.unique_kernel_name("clear_bins"));
  Sym bin = clear.axis(n.output()->type.sizes[0]);
  clear.store(out, {bin}, clear.constant(0.0, count_type(n)));
  l.finish(clear, n);
  KernelBuilder k(l, l.unique_kernel_name("bincount"));
  k.begin_phase(true);
  Sym i = k.inner_axis(self->type.sizes[0]);
  Sym target = k.value_of(cast(l.load(k, self, {i}), DType::Int64));
  E weight = weights ? cast(l.load(k, weights, {i}), count_type(n)) : one(k);
  k.store(out, {target}, weight, {}, true);
  l.finish(k, n);
}

// ---- histc: elements per bin of equal width; both ends count, what lies outside does not

struct Range {
  TensorExpr least, greatest;
};

// Equal ends ask for the range of the data; a range without width gets one.
Range histogram_range(Rewriter& r, TensorExpr x) {
  double least = double_arg(r.node, "min"), greatest = double_arg(r.node, "max");
  auto number = [&](double v) { return TensorExpr{&r, r.full({}, v, x.dtype())}; };
  if (least != greatest) return {number(least), number(greatest)};
  if (x.size(0).is(0)) return {number(least - 1), number(greatest + 1)};
  TensorExpr low = or_if_empty(x.amin({0}, false), x.size(0), 0),
             high = or_if_empty(x.amax({0}, false), x.size(0), 0);
  TensorExpr finite =
      (low - low == 0.0).apply("aten.logical_and.default", {(high - high == 0.0).v});
  r.emit("aten._assert_async.msg", {finite.v, std::string("histc needs finite values")});
  TensorExpr flat = low == high;
  return {where(flat, (low - 1.0).v, low.v), where(flat, (high + 1.0).v, high.v)};
}

// In the element type at each step, as eager computes it.
Values histogram(Rewriter& r) {
  TensorExpr self = in(r, "self"), x = self.reshape({product(self.sizes())});
  const int64_t bins = int_arg(r.node, "bins");
  Range range = histogram_range(r, x);
  TensorExpr inside =
      (x >= range.least).apply("aten.logical_and.default", {(x <= range.greatest).v});
  TensorExpr place = (x - range.least) * static_cast<double>(bins) / (range.greatest - range.least);
  TensorExpr bin = where(inside, place.v, 0.0).cast(DType::Int64);
  bin = bin.apply("aten.clamp.default", {None{}, Sym(bins - 1)});
  TensorExpr counts{&r, r.full({Sym(bins)}, 0, x.dtype())};
  return {counts.apply("aten.scatter_add.default", {Sym(0), bin.v, inside.cast(x.dtype()).v})};
}

// ---- rows and columns of a triangle, row by row

struct Triangle {
  int64_t rows, columns, offset;
  bool lower;
  int64_t row_length(int64_t r) const {
    int64_t below = std::clamp<int64_t>(r + offset + (lower ? 1 : 0), 0, columns);
    return lower ? below : columns - below;
  }
};

Triangle triangle_of(const Node& n, bool lower) {
  return {int_arg(n, "row"), int_arg(n, "col"), int_arg(n, "offset"), lower};
}

OpDef triangle_op(std::string_view schema, bool lower) {
  auto types = [lower](const Node& n) {
    Triangle t = triangle_of(n, lower);
    int64_t count = 0;
    for (int64_t r = 0; r < t.rows; ++r) count += t.row_length(r);
    return Types{contiguous_type(dtype_or(n, DType::Int64), {Sym(2), Sym(count)}, device_of(n))};
  };
  return loops_op(schema, LoopsKind::Creation, types, [lower](Lowering& l, const Node& n) {
    Triangle t = triangle_of(n, lower);
    loops::BufferId out = l.output(n);
    KernelBuilder k(l, l.unique_kernel_name("triangle"));
    k.begin_phase(true);
    Sym row = k.inner_axis(t.rows), column = k.inner_axis(t.columns);
    E above = k.index(column - row), limit = k.constant(t.offset, DType::Int64);
    E here = lower ? above <= limit : above >= limit;
    E place = k.result(k.accumulate(Prim::add, cast(here, DType::Int64), true)) - one(k);
    k.store(out, {Sym(0), k.value_of(place)}, k.index(row), here);
    k.store(out, {Sym(1), k.value_of(place)}, k.index(column), here);
    l.finish(k, n);
  });
}

}  // namespace

Rows counting_ops() {
  return {
      loops_op(
          "aten.repeat_interleave.Tensor(Tensor repeats, *, SymInt? output_size=None) -> Tensor",
          LoopsKind::Index, repeats_type, lower_repeats),
      rewrite_op("aten.repeat_interleave.self_Tensor(Tensor self, Tensor repeats, int? dim=None, "
                 "*, SymInt? output_size=None) -> Tensor",
                 repeat_by_tensor),
      loops_op(
          "aten.bincount.default(Tensor self, Tensor? weights=None, SymInt minlength=0) -> Tensor",
          LoopsKind::Scatter, bincount_type, lower_bincount),
      rewrite_op(
          "aten.histc.default(Tensor self, int bins=100, Scalar min=0, Scalar max=0) -> Tensor",
          histogram),
      triangle_op(
          "aten.tril_indices.default(int row, int col, int offset=0, *, ScalarType? dtype=4, "
          "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
          true),
      triangle_op(
          "aten.triu_indices.default(int row, int col, int offset=0, *, ScalarType? dtype=4, "
          "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
          false),
  };
}

}  // namespace aotc
