// Looking values up in sorted or unsorted lists: searchsorted, bucketize, isin, one_hot; and
// embedding bags.
#include "ir/ops/index_math.h"
#include "ir/ops/scalar_math.h"
#include "ir/ops/tensor_expr.h"

namespace aotc {
namespace {

// ---- searchsorted: the number of boundaries before the value

struct Search {
  Value* boundaries;
  std::string values;  // the argument: a tensor or a number
  Value* sorter;       // or nullptr
  bool right;
};

Value* values_of(const Node& n, const Search& s) {
  auto* v = std::get_if<Value*>(&arg(n, s.values));
  return v ? *v : nullptr;
}

Types search_type(const Node& n, const Search& s) {
  if (s.boundaries->type.rank() == 0)
    unsupported(n, "a sorted sequence without dimensions", "give it one dimension");
  Value* values = values_of(n, s);
  DType t = bool_arg(n, "out_int32") ? DType::Int32 : DType::Int64;
  return {contiguous_type(t, values ? values->type.sizes : Index{}, s.boundaries->type.device)};
}

void lower_search(Lowering& l, const Node& n, const Search& s) {
  Value* values = values_of(n, s);
  DType t = s.boundaries->type.dtype;
  if (values)
    t = promote(t, values->type.dtype);
  else if (std::holds_alternative<double>(arg(n, s.values)) && !is_floating(t))
    t = DType::Float32;
  t = compute_type(t);
  if (s.sorter) check_indices(l, n, s.sorter, s.boundaries->type.sizes.back(), Negative::Refused);
  KernelBuilder k(l, l.unique_kernel_name("search"));
  Index index = k.axes(n.output()->type.sizes);
  E value = values ? cast(l.load(k, values, index), t) : number(k, n, s.values, t);
  Sym length = s.boundaries->type.sizes.back();
  Sym position = k.inner_axis(length);
  Index at = s.boundaries->type.rank() == 1 ? Index{} : Index(index.begin(), index.end() - 1);
  at.push_back(position);
  if (s.sorter) at.back() = k.value_of(cast(l.load(k, s.sorter, at), DType::Int64));
  E boundary = cast(l.load(k, s.boundaries, at), t);
  E before = s.right ? !(boundary > value) : !(boundary >= value);
  int count = k.accumulate(Prim::add, cast(before, DType::Int64));
  k.begin_phase();
  k.store(l.output(n), index, k.result(count));
  l.finish(k, n);
}

Search searchsorted(const Node& n) {
  bool right = bool_arg(n, "right");
  if (auto* side = std::get_if<std::string>(&arg(n, "side"))) right = right || *side == "right";
  return {tensor_arg(n, "sorted_sequence"), "self", tensor_arg(n, "sorter"), right};
}

Search bucketize(const Node& n) {
  return {tensor_arg(n, "boundaries"), "self", nullptr, bool_arg(n, "right")};
}

OpDef search_op(std::string_view schema, Search (*plan)(const Node&)) {
  return loops_op(
      schema, LoopsKind::Index, [plan](const Node& n) { return search_type(n, plan(n)); },
      [plan](Lowering& l, const Node& n) { lower_search(l, n, plan(n)); });
}

// ---- membership

Values isin_tensor(Rewriter& r) {
  TensorExpr elements = in(r, "elements"), tests = in(r, "test_elements");
  TensorExpr flat = tests.reshape({product(tests.sizes())});
  TensorExpr found = (elements.unsqueeze(-1) == flat).apply("aten.any.dim", {Sym(-1), false});
  return {bool_arg(r.node, "invert") ? logical_not(found) : found};
}

Values isin_number(Rewriter& r) {
  const char* op = bool_arg(r.node, "invert") ? "aten.ne.Scalar" : "aten.eq.Scalar";
  return {in(r, "elements").apply(op, {arg(r.node, "test_element")})};
}

Values isin_of_number(Rewriter& r) {
  TensorExpr tests = in(r, "test_elements");
  TensorExpr equal = tests.apply("aten.eq.Scalar", {arg(r.node, "element")});
  TensorExpr found = equal.apply("aten.any.default");
  return {bool_arg(r.node, "invert") ? logical_not(found) : found};
}

Values one_hot(Rewriter& r) {
  TensorExpr self = in(r, "self");
  int64_t classes = int_arg(r.node, "num_classes");
  if (classes < 0)
    unsupported(r.node, "a number of classes that depends on data", "pass num_classes");
  r.emit("aotc.check_below", {self.v, Sym(classes)});
  TensorExpr numbers{&r, r("aten.arange.default", {Sym(classes), DType::Int64})};
  return {(self.unsqueeze(-1) == numbers).cast(DType::Int64)};
}

// ---- embedding bags: which bag each index belongs to, then a sum in order

enum class BagMode : uint8_t { Sum, Mean, Max };

struct Bags {
  Value *weight, *indices, *offsets, *scales;
  BagMode mode;
  Sym count;
  std::optional<int64_t> padding;
};

Bags bags_of(const Node& n) {
  Bags b{tensor_arg(n, "weight"),
         tensor_arg(n, "indices"),
         tensor_arg(n, "offsets"),
         tensor_arg(n, "per_sample_weights"),
         static_cast<BagMode>(int_arg(n, "mode")),
         0,
         {}};
  b.count = b.offsets->type.sizes[0];
  if (bool_arg(n, "include_last_offset")) b.count = b.count - 1;
  int64_t padding = int_arg(n, "padding_idx");
  if (padding >= 0) b.padding = padding;
  return b;
}

Types bag_types(const Node& n) {
  Bags b = bags_of(n);
  const TensorType& w = b.weight->type;
  DType it = b.indices->type.dtype;
  Sym total = b.indices->type.sizes[0], width = w.sizes[1];
  bool max = b.mode == BagMode::Max;
  // torch leaves the bag of each index empty where its kernel does not need it; the program says when.
  const bool empty = n.outputs.size() > 1 && n.output(1)->type.sizes == Index{Sym(0)};
  // Without its gradient's preparation, eager has room for all offsets in the bags' sizes of plain
  // sums; torch's declaration has it in others. The program says which, where it is one of the two.
  const Sym& offsets = b.offsets->type.sizes[0];
  const bool forward = n.op->name() == "aten._embedding_bag_forward_only.default";
  const bool all = b.mode == BagMode::Sum && forward;
  auto counted = [&](size_t output) {
    if (n.outputs.size() > output)
      for (const Sym& size : {offsets, b.count})
        if (n.output(output)->type.sizes == Index{size}) return size;
    return all ? offsets : b.count;
  };
  return {contiguous_type(w.dtype, {b.count, width}, w.device),
          contiguous_type(it, {empty ? Sym(0) : total}, w.device), contiguous_type(it, {counted(2)}, w.device),
          max ? contiguous_type(it, {b.count, width}, w.device)
              : contiguous_type(it, {counted(3)}, w.device)};
}

// The last bag that starts at or before the index.
loops::BufferId lower_bag_numbers(Lowering& l, const Node& n, const Bags& b) {
  loops::BufferId numbers =
      l.temp(temp_name(l, n, "bags"), DType::Int64, {b.indices->type.sizes[0]});
  KernelBuilder k(l, l.unique_kernel_name("bag_of_index"));
  Sym i = k.axis(b.indices->type.sizes[0]);
  Sym bag = k.inner_axis(b.count);
  E starts = cast(l.load(k, b.offsets, {bag}), DType::Int64) <= k.index(i);
  int started = k.accumulate(Prim::add, cast(starts, DType::Int64));
  k.begin_phase();
  k.store(numbers, {i}, k.result(started) - k.constant(int64_t{1}, DType::Int64));
  l.finish(k, n);
  return numbers;
}

E counts_in_bag(KernelBuilder& k, const Bags& b, const Sym& i) {
  if (!b.padding) return k.boolean(true);
  E index = cast(k.lowering().load(k, b.indices, {i}), DType::Int64);
  return index != k.constant(*b.padding, DType::Int64);
}

// The number of indices in each bag, padding left out.
loops::BufferId lower_bag_sizes(Lowering& l, const Node& n, const Bags& b,
                                loops::BufferId numbers) {
  loops::BufferId sizes = l.temp(temp_name(l, n, "sizes"), DType::Int64, {b.count});
  KernelBuilder k(l, l.unique_kernel_name("bag_sizes"));
  Sym bag = k.axis(b.count), i = k.inner_axis(b.indices->type.sizes[0]);
  E mine = (cast(k.load(numbers, {i}), DType::Int64) == k.index(bag)) && counts_in_bag(k, b, i);
  int size = k.accumulate(Prim::add, cast(mine, DType::Int64));
  k.begin_phase();
  k.store(sizes, {bag}, k.result(size));
  l.finish(k, n);
  return sizes;
}

// Sums and maxima in float32 for half types; every bag starts at zero. A bag's first element
// replaces it for maxima, whose position is output 3.
void lower_bag_totals(Lowering& l, const Node& n, const Bags& b, loops::BufferId numbers,
                      loops::BufferId totals, loops::BufferId positions) {
  DType t = l.program().buffers[static_cast<size_t>(totals)].dtype;
  const Sym& width = b.weight->type.sizes[1];
  {
    KernelBuilder k(l, l.unique_kernel_name("clear_bags"));
    Index at = k.axes({b.count, width});
    k.store(totals, at, k.constant(0.0, t));
    if (positions >= 0) k.store(positions, at, k.constant(int64_t{-1}, DType::Int64));
    l.finish(k, n);
  }
  KernelBuilder k(l, l.unique_kernel_name("bag_totals"));
  Sym column = k.axis(width);
  k.begin_phase(true);
  Sym i = k.inner_axis(b.indices->type.sizes[0]);
  E number = cast(k.load(numbers, {i}), DType::Int64);
  E counts = counts_in_bag(k, b, i) && (number >= 0.0);
  Sym bag = k.value_of(number);
  Sym row = index_value(k, b.indices, {i}, b.weight->type.sizes[0], Negative::Refused);
  E value = cast(l.load(k, b.weight, {row, column}), t);
  if (b.scales) value = value * cast(l.load(k, b.scales, {i}), t);
  if (b.mode != BagMode::Max) {
    k.store(totals, {bag, column}, value, counts, true);
  } else {
    E best = k.load(totals, {bag, column}), at = k.load(positions, {bag, column});
    E better = counts && ((at < 0.0) || (value > best));
    k.store(totals, {bag, column}, value, better);
    k.store(positions, {bag, column}, k.index(row), better);
  }
  l.finish(k, n);
}

// Output i gets the elements of `from`, and zeros beyond its end or where eager leaves it unset.
void store_output(Lowering& l, const Node& n, int i, loops::BufferId from, bool unset) {
  KernelBuilder k(l, l.unique_kernel_name("bag_output"));
  Index at = k.axes(n.output(static_cast<size_t>(i))->type.sizes);
  E zero = k.constant(int64_t{0}, DType::Int64), inside = k.boolean(!unset);
  const Index sizes = l.program().buffers[static_cast<size_t>(from)].sizes;
  for (size_t d = 0; d < sizes.size() && d < at.size(); ++d)
    inside = inside && (k.index(at[d]) < k.index(sizes[d]));
  E value = at.size() == sizes.size() && !unset ? k.load(from, at, inside, zero) : zero;
  k.store(l.output(n, i), at, value);
  l.finish(k, n);
}

// Eager's path for plain sums may leave output 1 empty and does not fill outputs 2 and 3.
void lower_embedding_bag(Lowering& l, const Node& n) {
  Bags b = bags_of(n);
  check_indices(l, n, b.indices, b.weight->type.sizes[0], Negative::Refused);
  l.check(n, {}, "the first offset must be 0", [&](KernelBuilder& k, const Index&, E& report) {
    report = cast(l.load(k, b.offsets, {Sym(0)}), DType::Int64);
    return report == 0.0;
  });
  loops::BufferId numbers = lower_bag_numbers(l, n, b),
                  bag_sizes = lower_bag_sizes(l, n, b, numbers);
  const Sym& width = b.weight->type.sizes[1];
  bool max = b.mode == BagMode::Max;
  loops::BufferId totals =
      l.temp(temp_name(l, n, "totals"), compute_type(b.weight->type.dtype), {b.count, width});
  loops::BufferId positions =
      max ? l.temp(temp_name(l, n, "positions"), DType::Int64, {b.count, width}) : -1;
  lower_bag_totals(l, n, b, numbers, totals, positions);

  KernelBuilder k(l, l.unique_kernel_name("embedding_bag"));
  Index at = k.axes({b.count, width});
  E total = k.load(totals, at);
  if (b.mode == BagMode::Mean) {
    E size = cast(k.load(bag_sizes, {at[0]}), total.dtype());
    total = total / maximum(size, like(size, 1));
  }
  k.store(l.output(n, 0), at, total);
  l.finish(k, n);
  const bool empty = n.output(1)->type.sizes[0].is(0) && !b.indices->type.sizes[0].is(0);
  const bool sums = b.mode == BagMode::Sum;
  store_output(l, n, 1, numbers, empty);
  store_output(l, n, 2, bag_sizes, sums);
  store_output(l, n, 3, max ? positions : bag_sizes, sums);
}

Values embedding_bag(Rewriter& r) {
  Arg padding =
      r.node.op->schema.index_of("padding_idx") < 0 ? Arg(Sym(-1)) : arg(r.node, "padding_idx");
  if (auto* p = std::get_if<Sym>(&padding);
      p && p->constant() && *p->constant() < 0 && r.node.op->schema.index_of("padding_idx") >= 0) {
    padding = *p + r.size(r.tensor("weight"), 0);
  }
  if (std::holds_alternative<None>(padding)) padding = Sym(-1);
  std::vector<Arg> args(r.node.args.begin(), r.node.args.begin() + 8);
  args.push_back(padding);
  return r.emit("aten._embedding_bag.default", args)->outputs;
}

}  // namespace

Rows search_ops() {
  return {
      search_op("aten.searchsorted.Tensor(Tensor sorted_sequence, Tensor self, *, bool "
                "out_int32=False, bool right=False, str? side=None, Tensor? sorter=None) -> Tensor",
                searchsorted),
      search_op("aten.searchsorted.Scalar(Tensor sorted_sequence, Scalar self, *, bool "
                "out_int32=False, bool right=False, str? side=None, Tensor? sorter=None) -> Tensor",
                searchsorted),
      search_op("aten.bucketize.Tensor(Tensor self, Tensor boundaries, *, bool out_int32=False, "
                "bool right=False) -> Tensor",
                bucketize),
      search_op("aten.bucketize.Scalar(Scalar self, Tensor boundaries, *, bool out_int32=False, "
                "bool right=False) -> Tensor",
                bucketize),
      rewrite_op("aten.isin.Tensor_Tensor(Tensor elements, Tensor test_elements, *, bool "
                 "assume_unique=False, bool invert=False) -> Tensor",
                 isin_tensor),
      rewrite_op("aten.isin.Tensor_Scalar(Tensor elements, Scalar test_element, *, bool "
                 "assume_unique=False, bool invert=False) -> Tensor",
                 isin_number),
      rewrite_op("aten.isin.Scalar_Tensor(Scalar element, Tensor test_elements, *, bool "
                 "assume_unique=False, bool invert=False) -> Tensor",
                 isin_of_number),
      rewrite_op("aten.one_hot.default(Tensor self, int num_classes=-1) -> Tensor", one_hot),
      loops_op("aten._embedding_bag.default(Tensor weight, Tensor indices, Tensor offsets, bool "
               "scale_grad_by_freq=False, int mode=0, bool sparse=False, Tensor? "
               "per_sample_weights=None, bool include_last_offset=False, int padding_idx=-1) -> "
               "(Tensor, Tensor, Tensor, Tensor)",
               LoopsKind::Scatter, bag_types, lower_embedding_bag),
      loops_op("aten._embedding_bag_forward_only.default(Tensor weight, Tensor indices, Tensor "
               "offsets, bool scale_grad_by_freq=False, int mode=0, bool sparse=False, Tensor? "
               "per_sample_weights=None, bool include_last_offset=False, int padding_idx=-1) -> "
               "(Tensor, Tensor, Tensor, Tensor)",
               LoopsKind::Scatter, bag_types, lower_embedding_bag),
      rewrite_op("aten.embedding_bag.default(Tensor weight, Tensor indices, Tensor offsets, bool "
                 "scale_grad_by_freq=False, int mode=0, bool sparse=False, Tensor? "
                 "per_sample_weights=None, bool include_last_offset=False) -> (Tensor, Tensor, "
                 "Tensor, Tensor)",
                 embedding_bag),
      rewrite_op("aten.embedding_bag.padding_idx(Tensor weight, Tensor indices, Tensor offsets, "
                 "bool scale_grad_by_freq, int mode, bool sparse, Tensor? per_sample_weights, bool "
                 "include_last_offset, int? padding_idx) -> (Tensor, Tensor, Tensor, Tensor)",
                 embedding_bag),
  };
}

}  // namespace aotc
