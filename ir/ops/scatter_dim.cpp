// Writing along one dimension at indices that are data: scatter, index_add, index_copy, index_fill,
// their reductions, put and masked_scatter. Writes that may meet happen in order, as in eager.
#include <cmath>

#include "ir/ops/index_math.h"
#include "ir/ops/scalar_math.h"
#include "ir/ops/tensor_expr.h"

namespace aotc {
namespace {

// How a value meets what is there.
enum class Combine : uint8_t { Replace, Add, Multiply, Maximum, Minimum, Mean };

Combine combine_named(const std::string& name, const Node& n) {
  const std::pair<const char*, Combine> names[] = {
      {"sum", Combine::Add},           {"add", Combine::Add},      {"prod", Combine::Multiply},
      {"multiply", Combine::Multiply}, {"amax", Combine::Maximum}, {"amin", Combine::Minimum},
      {"mean", Combine::Mean}};
  for (auto [text, combine] : names)
    if (name == text) return combine;
  unsupported(n, "the reduction '" + name + "'", "use sum, prod, mean, amax or amin");
}

E combined(Combine how, E old, E value) {
  switch (how) {
    case Combine::Multiply:
      return old * value;
    case Combine::Maximum:
      return maximum(old, value);
    case Combine::Minimum:
      return minimum(old, value);
    default:
      return old + value;
  }
}

double identity_of(Combine how, DType t) {
  if (how == Combine::Multiply) return 1;
  if (how == Combine::Add || how == Combine::Mean) return 0;
  bool top = how == Combine::Minimum;
  if (is_floating(t)) return top ? INFINITY : -INFINITY;
  if (is_bool(t)) return top ? 1 : 0;
  internal_error("the identity of an integer extreme is an integer");
}

E identity_element(KernelBuilder& k, Combine how, DType t) {
  if ((how != Combine::Maximum && how != Combine::Minimum) || is_floating(t) || is_bool(t))
    return k.constant(identity_of(how, t), t);
  auto bits = static_cast<int>(8 * element_size(t));
  bool is_signed = is_signed_integer(t);
  uint64_t all = ~uint64_t{0} >> (64 - bits);
  auto highest = static_cast<int64_t>(is_signed ? all >> 1 : all);
  return k.constant(how == Combine::Minimum ? highest : is_signed ? -highest - 1 : int64_t{0}, t);
}

// A set of writes: per position of `sizes` one element of self, found through the index tensor.
struct Writes {
  Index sizes;
  size_t ordered;  // the dimension along which targets may repeat
  // Target in self and value (in self's type) of a position.
  std::function<Index(KernelBuilder&, const Index&)> target;
  std::function<E(KernelBuilder&, const Index&)> value;
};

// Runs `body(k, position)` for every position; positions along the ordered dimension in order.
void for_each_write(Lowering& l, const Node& n, const Writes& w, const std::string& name,
                    const std::function<void(KernelBuilder&, const Index&)>& body) {
  KernelBuilder k(l, l.unique_kernel_name(name));
  Index index(w.sizes.size());
  for (size_t d = 0; d < index.size(); ++d)
    if (d != w.ordered) index[d] = k.axis(w.sizes[d]);
  if (w.ordered < index.size() && w.sizes[w.ordered].is(1)) {  // nothing can repeat
    index[w.ordered] = Sym(0);
  } else {
    k.begin_phase(true);
    if (w.ordered < index.size()) index[w.ordered] = k.inner_axis(w.sizes[w.ordered]);
  }
  body(k, index);
  l.finish(k, n);
}

// self / count, as torch.mean of the elements that met: integers round down.
void divide_by_counts(Lowering& l, const Node& n, loops::BufferId out, loops::BufferId counts) {
  KernelBuilder k(l, l.unique_kernel_name("divide_by_counts"));
  Index index = k.axes(self_of(n)->type.sizes);
  E total = k.load(out, index),
    count = maximum(k.load(counts, index), k.constant(int64_t{1}, DType::Int64));
  DType compute = compute_type(total.dtype());
  E divisor = cast(count, compute), dividend = cast(total, compute);
  Prim divide = is_floating(compute) ? Prim::div : Prim::floor_divide;
  k.store(out, index, binary(divide, dividend, divisor));
  l.finish(k, n);
}

loops::BufferId start_counts(Lowering& l, const Node& n, bool include_self) {
  loops::BufferId counts = l.temp(temp_name(l, n, "counts"), DType::Int64, self_of(n)->type.sizes);
  KernelBuilder k(l, l.unique_kernel_name("start_counts"));
  Index index = k.axes(self_of(n)->type.sizes);
  k.store(counts, index, k.constant(int64_t{include_self}, DType::Int64));
  l.finish(k, n);
  return counts;
}

void lower_writes(Lowering& l, const Node& n, const Writes& w, Combine how,
                  bool include_self = true) {
  DType t = self_of(n)->type.dtype;
  loops::BufferId out = l.output(n);
  l.copy_into(n, self_of(n), out, nullptr);
  if (!include_self)
    for_each_write(l, n, w, "clear_targets", [&](KernelBuilder& k, const Index& at) {
      k.store(out, w.target(k, at), identity_element(k, how, t));
    });
  loops::BufferId counts = how == Combine::Mean ? start_counts(l, n, include_self) : -1;
  for_each_write(l, n, w, "scatter", [&](KernelBuilder& k, const Index& at) {
    Index target = w.target(k, at);
    E value = cast(w.value(k, at), t);
    if (how == Combine::Replace || how == Combine::Add || how == Combine::Mean) {
      k.store(out, target, value, {}, how != Combine::Replace);
    } else {
      E old = cast(k.load(out, target), compute_type(t));
      k.store(out, target, combined(how, old, cast(value, compute_type(t))));
    }
    if (how == Combine::Mean)
      k.store(counts, target, k.constant(int64_t{1}, DType::Int64), {}, true);
  });
  if (how == Combine::Mean) divide_by_counts(l, n, out, counts);
}

// ---- scatter: the index tensor has the rank of self

E source_element(KernelBuilder& k, const Node& n, const Index& at) {
  if (n.op->schema.index_of("src") >= 0) return k.lowering().load(k, tensor_arg(n, "src"), at);
  return number(k, n, "value", self_of(n)->type.dtype);
}

// Scalars count as vectors of one element.
Index as_vector(const Index& sizes) { return sizes.empty() ? Index{Sym(1)} : sizes; }
Index of_rank(const Value* v, const Index& at) { return v->type.rank() == 0 ? Index{} : at; }

Writes scatter_writes(const Node& n) {
  Value *self = self_of(n), *indices = tensor_arg(n, "index");
  size_t dim = dim_arg(n);
  Sym size = as_vector(self->type.sizes)[dim];
  return {as_vector(indices->type.sizes), dim,
          [=](KernelBuilder& k, const Index& at) {
            Index target = at;
            target[dim] = index_value(k, indices, of_rank(indices, at), size, Negative::Refused);
            return of_rank(self, target);
          },
          [&n](KernelBuilder& k, const Index& at) {
            bool scalar =
                n.op->schema.index_of("src") >= 0 && tensor_arg(n, "src")->type.rank() == 0;
            return source_element(k, n, scalar ? Index{} : at);
          }};
}

void lower_scatter(Lowering& l, const Node& n, Combine how, bool include_self) {
  Sym size = as_vector(self_of(n)->type.sizes)[dim_arg(n)];
  check_indices(l, n, tensor_arg(n, "index"), size, Negative::Refused);
  lower_writes(l, n, scatter_writes(n), how, include_self);
}

OpDef scatter_op(std::string_view schema, Combine (*how)(const Node&)) {
  return loops_op(schema, LoopsKind::Scatter, same_type, [how](Lowering& l, const Node& n) {
    bool include = n.op->schema.index_of("include_self") < 0 || bool_arg(n, "include_self");
    lower_scatter(l, n, how(n), include);
  });
}

Combine replace(const Node&) { return Combine::Replace; }
Combine add(const Node&) { return Combine::Add; }
Combine by_reduce(const Node& n) {
  return combine_named(std::get<std::string>(arg(n, "reduce")), n);
}

// ---- index_*: a vector of indices along one dimension, whole slices of the source

Writes slice_writes(const Node& n, const std::function<E(KernelBuilder&, const Index&)>& value,
                    Negative negative) {
  Value *self = self_of(n), *indices = tensor_arg(n, "index");
  size_t dim = dim_arg(n);
  Index sizes = as_vector(self->type.sizes);
  Sym size = sizes[dim];
  sizes[dim] = as_vector(indices->type.sizes)[0];
  return {sizes, dim,
          [=](KernelBuilder& k, const Index& at) {
            Index target = at;
            target[dim] = index_value(k, indices, of_rank(indices, {at[dim]}), size, negative);
            return of_rank(self, target);
          },
          value};
}

// The source's slice; a source without dimensions is one element.
std::function<E(KernelBuilder&, const Index&)> slices_of(Value* source) {
  return [source](KernelBuilder& k, const Index& at) {
    return k.lowering().load(k, source, of_rank(source, at));
  };
}

void lower_slices(Lowering& l, const Node& n, const Writes& w, Combine how, Negative negative,
                  bool include_self = true) {
  Sym size = as_vector(self_of(n)->type.sizes)[dim_arg(n)];
  check_indices(l, n, tensor_arg(n, "index"), size, negative);
  lower_writes(l, n, w, how, include_self);
}

void lower_index_copy(Lowering& l, const Node& n) {
  lower_slices(l, n, slice_writes(n, slices_of(tensor_arg(n, "source")), Negative::Refused),
               Combine::Replace, Negative::Refused);
}

void lower_index_add(Lowering& l, const Node& n) {
  DType t = self_of(n)->type.dtype;
  const Arg& alpha = arg(n, "alpha");
  bool plain = (std::holds_alternative<Sym>(alpha) && std::get<Sym>(alpha).is(1)) ||
               (std::holds_alternative<double>(alpha) && std::get<double>(alpha) == 1);
  auto source = slices_of(tensor_arg(n, "source"));
  auto value = [&, plain](KernelBuilder& k, const Index& at) {
    E v = cast(source(k, at), compute_type(t));
    return plain ? v : v * number(k, n, "alpha", compute_type(t));
  };
  lower_slices(l, n, slice_writes(n, value, Negative::Refused), Combine::Add, Negative::Refused);
}

void lower_index_fill(Lowering& l, const Node& n) {
  DType t = self_of(n)->type.dtype;
  auto value = [&](KernelBuilder& k, const Index&) { return number(k, n, "value", t); };
  lower_slices(l, n, slice_writes(n, value, Negative::Wraps), Combine::Replace, Negative::Wraps);
}

void lower_index_reduce(Lowering& l, const Node& n) {
  lower_slices(l, n, slice_writes(n, slices_of(tensor_arg(n, "source")), Negative::Refused),
               by_reduce(n), Negative::Refused, bool_arg(n, "include_self"));
}

// ---- put: positions in the flattened tensor

void lower_put(Lowering& l, const Node& n) {
  Value *self = self_of(n), *indices = tensor_arg(n, "index"), *source = tensor_arg(n, "source");
  Sym size = product(self->type.sizes);
  check_indices(l, n, indices, size, Negative::Wraps);
  Writes w{{product(indices->type.sizes)},
           0,
           [=](KernelBuilder& k, const Index& at) {
             Index position = delinearize(at[0], indices->type.sizes);
             Sym target = index_value(k, indices, position, size, Negative::Wraps);
             return delinearize(target, self->type.sizes);
           },
           [=](KernelBuilder& k, const Index& at) {
             return k.lowering().load(k, source, delinearize(at[0], source->type.sizes));
           }};
  lower_writes(l, n, w, bool_arg(n, "accumulate") ? Combine::Add : Combine::Replace);
}

// ---- masked_scatter: the elements of source, in order, where the mask holds

void check_source_is_enough(Lowering& l, const Node& n, loops::BufferId count,
                            const Sym& available) {
  l.check(n, {}, "the source has fewer elements than the mask has true ones",
          [&](KernelBuilder& k, const Index&, E& report) {
            report = k.load(count, {});
            return report <= k.index(available);
          });
}

E mask_element(KernelBuilder& k, Value* mask, const Index& at) {
  return cast(k.lowering().load(k, mask, at), DType::Bool);
}

void lower_masked_scatter(Lowering& l, const Node& n) {
  Value *mask = tensor_arg(n, "mask"), *source = tensor_arg(n, "source");
  loops::BufferId count = l.temp(temp_name(l, n, "count"), DType::Int64, {});
  KernelBuilder counting(l, l.unique_kernel_name("count_mask"));
  Index all = counting.inner_axes(mask->type.sizes);
  int total = counting.accumulate(Prim::add, cast(mask_element(counting, mask, all), DType::Int64));
  counting.begin_phase();
  counting.store(count, {}, counting.result(total));
  l.finish(counting, n);
  Sym available = product(source->type.sizes);
  check_source_is_enough(l, n, count, available);

  loops::BufferId out = l.output(n);
  l.copy_into(n, self_of(n), out, nullptr);
  KernelBuilder k(l, l.unique_kernel_name("masked_scatter"));
  k.begin_phase(true);
  Index index = k.inner_axes(mask->type.sizes);
  E here = mask_element(k, mask, index);
  E so_far = k.result(k.accumulate(Prim::add, cast(here, DType::Int64), true));
  Index from = delinearize(k.value_of(so_far - like(so_far, 1)), source->type.sizes);
  E value = l.load(k, source, from, here, k.constant(0.0, source->type.dtype));
  k.store(out, index, value, here);
  l.finish(k, n);
}

Values masked_scatter(Rewriter& r) {
  TensorExpr self = in(r, "self"), mask = in(r, "mask");
  Index common = broadcast_sizes({self.sizes(), mask.sizes()}, r.node);
  return {
      r("aotc.masked_scatter", {self.expand(common).v, mask.expand(common).v, r.tensor("source")})};
}

}  // namespace

Rows scatter_dim_ops() {
  auto row = [](std::string_view schema, void (*lower)(Lowering&, const Node&)) {
    return loops_op(schema, LoopsKind::Scatter, same_type, lower);
  };
  return {
      scatter_op("aten.scatter.src(Tensor self, int dim, Tensor index, Tensor src) -> Tensor",
                 replace),
      scatter_op("aten.scatter.value(Tensor self, int dim, Tensor index, Scalar value) -> Tensor",
                 replace),
      scatter_op("aten.scatter.reduce(Tensor self, int dim, Tensor index, Tensor src, *, str "
                 "reduce) -> Tensor",
                 by_reduce),
      scatter_op("aten.scatter.value_reduce(Tensor self, int dim, Tensor index, Scalar value, *, "
                 "str reduce) -> Tensor",
                 by_reduce),
      scatter_op(
          "aten.scatter_add.default(Tensor self, int dim, Tensor index, Tensor src) -> Tensor",
          add),
      scatter_op("aten.scatter_reduce.two(Tensor self, int dim, Tensor index, Tensor src, str "
                 "reduce, *, bool include_self=True) -> Tensor",
                 by_reduce),
      row("aten.index_copy.default(Tensor self, int dim, Tensor index, Tensor source) -> Tensor",
          lower_index_copy),
      row("aten.index_add.default(Tensor self, int dim, Tensor index, Tensor source, *, Scalar "
          "alpha=1) -> Tensor",
          lower_index_add),
      row("aten.index_fill.int_Scalar(Tensor self, int dim, Tensor index, Scalar value) -> Tensor",
          lower_index_fill),
      row("aten.index_fill.int_Tensor(Tensor self, int dim, Tensor index, Tensor value) -> Tensor",
          lower_index_fill),
      row("aten.index_reduce.default(Tensor self, int dim, Tensor index, Tensor source, str "
          "reduce, *, bool include_self=True) -> Tensor",
          lower_index_reduce),
      row("aten.put.default(Tensor self, Tensor index, Tensor source, bool accumulate=False) -> "
          "Tensor",
          lower_put),
      row("aotc.masked_scatter(Tensor self, Tensor mask, Tensor source) -> Tensor",
          lower_masked_scatter),
      rewrite_op("aten.masked_scatter.default(Tensor self, Tensor mask, Tensor source) -> Tensor",
                 masked_scatter),
  };
}

}  // namespace aotc
