// Views of one tensor: permutations, reshapes, slices, diagonals, windows. A map gives, for an
// index of the result, the index in argument 0; sizes and strides are those of eager torch.
#include <algorithm>
#include <numeric>

#include "ir/ops/row_helpers.h"
#include "ir/ops/shape_math.h"

namespace aotc {
namespace {

// ---- the same tensor

OpDef identity_view(std::string_view schema) {
  return view_op(
      schema, [](const Node& n) { return Types{input_type(n)}; },
      [](const Node&, int, const Index& index) { return index; });
}

Rows identities() {
  Rows rows;
  for (std::string_view schema : {"aten.alias.default(Tensor(a) self) -> Tensor(a)",
                                  "aten.detach.default(Tensor(a) self) -> Tensor(a)",
                                  "aten.lift_fresh.default(Tensor(a) self) -> Tensor(a)",
                                  "aten.lift.default(Tensor(a) self) -> Tensor(a)",
                                  "aten.positive.default(Tensor(a) self) -> Tensor(a)"})
    rows.push_back(identity_view(schema));
  rows.push_back(view_op(
      "aten.contiguous.default(Tensor(a) self, *, MemoryFormat memory_format=0) -> Tensor(a)",
      [](const Node& n) {
        const TensorType& t = input_type(n);
        return Types{contiguous_type(t.dtype, t.sizes, t.device)};
      },
      [](const Node&, int, const Index& index) { return index; }, false));
  return rows;
}

// ---- permutations

using Permutation = std::vector<size_t>;

Permutation identity_permutation(const Node& n) {
  Permutation p(input_type(n).rank());
  std::iota(p.begin(), p.end(), size_t{0});
  return p;
}

// `order(node)[i]` is the dimension of argument 0 that becomes dimension i.
OpDef permutation_op(std::string_view schema, Permutation (*order)(const Node&)) {
  return view_op(
      schema,
      [order](const Node& n) {
        const TensorType& t = input_type(n);
        Index sizes, strides, from = strides_of(t);
        for (size_t d : order(n)) {
          sizes.push_back(t.sizes[d]);
          strides.push_back(from[d]);
        }
        return Types{with_layout(n, sizes, strides)};
      },
      [order](const Node& n, int, const Index& index) {
        Index at(index.size());
        Permutation p = order(n);
        for (size_t i = 0; i < p.size(); ++i) at[p[i]] = index[i];
        return at;
      });
}

Permutation permuted(const Node& n) {
  Permutation p;
  for (int64_t d : ints_arg(n, "dims"))
    p.push_back(static_cast<size_t>(wrap_dim(d, input_rank(n), n)));
  if (p.size() != input_type(n).rank())
    user_error("{}: node '{}' ({}): {} dims for a tensor of rank {}", n.source.str(), n.name,
               n.op->name(), p.size(), input_rank(n));
  return p;
}

Permutation swapped(const Node& n, int64_t a, int64_t b) {
  Permutation p = identity_permutation(n);
  if (p.empty()) return p;
  std::swap(p[static_cast<size_t>(wrap_dim(a, input_rank(n), n))],
            p[static_cast<size_t>(wrap_dim(b, input_rank(n), n))]);
  return p;
}

Permutation transposed(const Node& n) { return swapped(n, int_arg(n, "dim0"), int_arg(n, "dim1")); }
Permutation axes_swapped(const Node& n) {
  return swapped(n, int_arg(n, "axis0"), int_arg(n, "axis1"));
}
// The last two dimensions; a vector or scalar stays as it is.
Permutation matrix_transposed(const Node& n) {
  return input_rank(n) < 2 ? identity_permutation(n) : swapped(n, -1, -2);
}
Permutation reversed(const Node& n) {
  Permutation p = identity_permutation(n);
  std::reverse(p.begin(), p.end());
  return p;
}

// Dimensions `source` go to positions `destination`; the others keep their order.
Permutation moved(const Node& n) {
  auto source = ints_arg(n, "source"), destination = ints_arg(n, "destination");
  size_t rank = input_type(n).rank();
  Permutation p(rank, rank);
  std::vector<bool> taken(rank, false);
  for (size_t i = 0; i < source.size(); ++i) {
    auto from = static_cast<size_t>(wrap_dim(source[i], input_rank(n), n));
    p[static_cast<size_t>(wrap_dim(destination[i], input_rank(n), n))] = from;
    taken[from] = true;
  }
  size_t next = 0;
  for (size_t& slot : p) {
    if (slot != rank) continue;
    while (taken[next]) ++next;
    slot = next++;
  }
  return p;
}

Rows permutations() {
  return {
      permutation_op("aten.permute.default(Tensor(a) self, int[] dims) -> Tensor(a)", permuted),
      in_place_as(
          permutation_op("aten.transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)",
                         transposed),
          "aten.transpose_.default"),
      permutation_op("aten.swapdims.default(Tensor(a) self, int dim0, int dim1) -> Tensor(a)",
                     transposed),
      permutation_op("aten.swapaxes.default(Tensor(a) self, int axis0, int axis1) -> Tensor(a)",
                     axes_swapped),
      permutation_op("aten.t.default(Tensor(a) self) -> Tensor(a)", matrix_transposed),
      permutation_op("aten.mT.default(Tensor(a) self) -> Tensor(a)", matrix_transposed),
      permutation_op("aten.numpy_T.default(Tensor(a) self) -> Tensor(a)", reversed),
      permutation_op("aten.movedim.int(Tensor(a) self, int source, int destination) -> Tensor(a)",
                     moved),
      permutation_op(
          "aten.movedim.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)",
          moved),
      permutation_op("aten.moveaxis.int(Tensor(a) self, int source, int destination) -> Tensor(a)",
                     moved),
      permutation_op(
          "aten.moveaxis.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)",
          moved),
  };
}

// ---- reshapes

OpDef reshape_op(std::string_view schema, Index (*sizes)(const Node&), bool always_aliases) {
  return view_op(
      schema,
      [sizes](const Node& n) {
        const TensorType& t = input_type(n);
        Index to = resolve_sizes(sizes(n), t.sizes);
        Index strides = view_strides(t, to).value_or(contiguous_strides(to));
        return Types{with_layout(n, to, strides)};
      },
      [](const Node& n, int k, const Index& index) {
        return reshape_index(index, input_type(n).sizes,
                             n.output(static_cast<size_t>(k))->type.sizes);
      },
      always_aliases);
}

Index flattened(const Node& n) {
  const Index& from = input_type(n).sizes;
  if (from.empty()) return {Sym(1)};
  size_t start = dim_arg(n, "start_dim"), end = dim_arg(n, "end_dim");
  Index to(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(start));
  Sym merged = 1;
  for (size_t d = start; d <= end; ++d) merged = merged * from[d];
  to.push_back(merged);
  to.insert(to.end(), from.begin() + static_cast<std::ptrdiff_t>(end) + 1, from.end());
  return to;
}

Index unflattened(const Node& n) {
  Index to = input_type(n).sizes;
  size_t dim = dim_arg(n, "dim");
  Index parts = resolve_sizes(syms_arg(n, "sizes"), {to[dim]});
  to.erase(to.begin() + static_cast<std::ptrdiff_t>(dim));
  to.insert(to.begin() + static_cast<std::ptrdiff_t>(dim), parts.begin(), parts.end());
  return to;
}

Index unsqueezed(const Node& n) {
  Index to = input_type(n).sizes;
  int64_t dim = wrap_dim(int_arg(n, "dim"), input_rank(n) + 1, n);
  to.insert(to.begin() + dim, Sym(1));
  return to;
}

// The sizes without those of `dims` that are 1.
Index without_ones(const Node& n, const std::vector<int64_t>& dims) {
  Index to;
  const Index& from = input_type(n).sizes;
  for (size_t d = 0; d < from.size(); ++d) {
    bool named = std::any_of(dims.begin(), dims.end(), [&](int64_t k) {
      return wrap_dim(k, input_rank(n), n) == static_cast<int64_t>(d);
    });
    if (!named || !from[d].is(1)) to.push_back(from[d]);
  }
  return to;
}

Index squeezed(const Node& n) {
  std::vector<int64_t> all(input_type(n).rank());
  std::iota(all.begin(), all.end(), int64_t{0});
  return without_ones(n, all);
}

Index sizes_of_other(const Node& n) { return tensor_arg(n, "other")->type.sizes; }

Rows reshapes() {
  return {
      reshape_op(
          "aten.view.default(Tensor(a) self, SymInt[] size) -> Tensor(a)",
          [](const Node& n) { return syms_arg(n, "size"); }, true),
      reshape_op(
          "aten._unsafe_view.default(Tensor(a) self, SymInt[] size) -> Tensor(a)",
          [](const Node& n) { return syms_arg(n, "size"); }, true),
      reshape_op(
          "aten._reshape_alias.default(Tensor(a) self, SymInt[] size, SymInt[] stride) -> "
          "Tensor(a)",
          [](const Node& n) { return syms_arg(n, "size"); }, true),
      reshape_op(
          "aten.reshape.default(Tensor(a) self, SymInt[] shape) -> Tensor(a)",
          [](const Node& n) { return syms_arg(n, "shape"); }, false),
      reshape_op("aten.view_as.default(Tensor(a) self, Tensor other) -> Tensor(a)", sizes_of_other,
                 true),
      reshape_op("aten.reshape_as.default(Tensor(a) self, Tensor other) -> Tensor(a)",
                 sizes_of_other, false),
      reshape_op(
          "aten.flatten.using_ints(Tensor(a) self, int start_dim=0, int end_dim=-1) -> Tensor(a)",
          flattened, false),
      reshape_op(
          "aten.ravel.default(Tensor(a) self) -> Tensor(a)",
          [](const Node&) { return Index{Sym(-1)}; }, false),
      reshape_op("aten.unflatten.int(Tensor(a) self, int dim, SymInt[] sizes) -> Tensor(a)",
                 unflattened, true),
      reshape_op("aten.unsqueeze.default(Tensor(a) self, int dim) -> Tensor(a)", unsqueezed, true),
      reshape_op("aten.squeeze.default(Tensor(a) self) -> Tensor(a)", squeezed, true),
      reshape_op(
          "aten.squeeze.dim(Tensor(a) self, int dim) -> Tensor(a)",
          [](const Node& n) { return without_ones(n, ints_arg(n, "dim")); }, true),
      reshape_op(
          "aten.squeeze.dims(Tensor(a) self, int[] dim) -> Tensor(a)",
          [](const Node& n) { return without_ones(n, ints_arg(n, "dim")); }, true),
  };
}

// ---- broadcasts

OpDef expand_op(std::string_view schema, Index (*sizes)(const Node&)) {
  return view_op(
      schema,
      [sizes](const Node& n) {
        const TensorType& t = input_type(n);
        Index to = sizes(n), strides(to.size(), Sym(0)), from = strides_of(t);
        AOTC_CHECK(to.size() >= t.rank(), "expand to a smaller rank");
        size_t added = to.size() - t.rank();
        for (size_t d = 0; d < t.rank(); ++d) {
          Sym& size = to[added + d];
          if (size.is(-1)) size = t.sizes[d];
          if (!t.sizes[d].is(1) || size.is(1)) strides[added + d] = from[d];
        }
        return Types{with_layout(n, to, strides)};
      },
      [](const Node& n, int, const Index& index) {
        const Index& from = input_type(n).sizes;
        Index at(index.end() - static_cast<std::ptrdiff_t>(from.size()), index.end());
        for (size_t d = 0; d < from.size(); ++d)
          if (from[d].is(1)) at[d] = 0;
        return at;
      });
}

Rows broadcasts() {
  return {
      expand_op(
          "aten.expand.default(Tensor(a) self, SymInt[] size, *, bool implicit=False) -> Tensor(a)",
          [](const Node& n) { return syms_arg(n, "size"); }),
      expand_op("aten.broadcast_to.default(Tensor(a) self, SymInt[] size) -> Tensor(a)",
                [](const Node& n) { return syms_arg(n, "size"); }),
      expand_op("aten.expand_as.default(Tensor(a) self, Tensor other) -> Tensor(a)",
                sizes_of_other),
  };
}

}  // namespace

Rows view_ops() {
  Rows rows = identities();
  for (Rows (*part)() : {permutations, reshapes, broadcasts, region_views, split_views,
                         copied_views, complex_view_ops, bit_view_ops})
    append(rows, part());
  return rows;
}

}  // namespace aotc
