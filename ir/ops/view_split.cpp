// Views with several outputs: splits along a dimension.
#include "ir/ops/row_helpers.h"
#include "ir/ops/shape_math.h"

namespace aotc {
namespace {

size_t split_dim(const Node& n, int64_t dim) {
  if (input_type(n).rank() == 0)
    user_error("{}: node '{}' ({}): a tensor without dimensions cannot be split", n.source.str(),
               n.name, n.op->name());
  return static_cast<size_t>(wrap_dim(dim, static_cast<int64_t>(input_type(n).rank()), n));
}

// Where the parts start and end along `dim`: bounds[k] to bounds[k + 1].
struct Parts {
  size_t dim;
  Index begin, length;
};

Parts parts_of(size_t dim, const Index& lengths) {
  Parts p{dim, {}, lengths};
  Sym at = 0;
  for (const Sym& l : lengths) {
    p.begin.push_back(at);
    at = at + l;
  }
  return p;
}

int64_t part_count(const Node& n, const Sym& count) {
  if (auto c = count.constant()) return *c;
  if (!n.outputs.empty()) return static_cast<int64_t>(n.outputs.size());
  unsupported(n, "a split into a number of parts that is not known at compile time",
              "make the dimension static or split with explicit sizes");
}

// Parts of `size` elements, the last one shorter.
Parts equal_parts(const Node& n, size_t dim, const Sym& size) {
  const Sym& total = input_type(n).sizes[dim];
  int64_t count = total.is(0) || size.is(0) ? 1 : part_count(n, ceildiv(total, size));
  Index lengths(static_cast<size_t>(count), size);
  lengths.back() = total - size * (count - 1);
  return parts_of(dim, lengths);
}

Parts by_size(const Node& n) {
  return equal_parts(n, split_dim(n, int_arg(n, "dim")), sym_arg(n, "split_size"));
}
Parts by_sizes(const Node& n) {
  return parts_of(split_dim(n, int_arg(n, "dim")), syms_arg(n, "split_sizes"));
}
Parts by_size_list(const Node& n) {
  return parts_of(split_dim(n, int_arg(n, "dim")), syms_arg(n, "split_size"));
}

// At most `chunks` parts of equal size. An empty dimension still yields `chunks` empty parts.
Parts by_chunks(const Node& n) {
  size_t dim = split_dim(n, int_arg(n, "dim"));
  const Sym& total = input_type(n).sizes[dim];
  int64_t chunks = int_arg(n, "chunks");
  if (total.is(0)) return parts_of(dim, Index(static_cast<size_t>(chunks), Sym(0)));
  return equal_parts(n, dim, ceildiv(total, chunks));
}

// `sections` parts that differ by at most one element, the larger ones first.
Parts by_sections(const Node& n, size_t dim, int64_t sections) {
  const Sym& total = input_type(n).sizes[dim];
  Index lengths;
  for (int64_t i = 0; i < sections; ++i)
    lengths.push_back(floordiv(total + (sections - 1 - i), sections));
  return parts_of(dim, lengths);
}

// Parts between the given positions.
Parts by_indices(const Node& n, size_t dim, const Index& indices) {
  const Sym& total = input_type(n).sizes[dim];
  Parts p{dim, {}, {}};
  Sym begin = 0;
  for (size_t i = 0; i <= indices.size(); ++i) {
    Sym end = i < indices.size() ? clamp_bound(indices[i], total) : total;
    p.begin.push_back(sym_min(begin, total));
    p.length.push_back(sym_max(end - begin, 0));
    begin = end;
  }
  return p;
}

Parts tensor_split_sections(const Node& n) {
  return by_sections(n, split_dim(n, int_arg(n, "dim")), int_arg(n, "sections"));
}
Parts tensor_split_indices(const Node& n) {
  return by_indices(n, split_dim(n, int_arg(n, "dim")), syms_arg(n, "indices"));
}
// The dimension of hsplit, vsplit and dsplit, which need a tensor that has it.
size_t fixed_dim(const Node& n, size_t dim) {
  if (input_type(n).rank() <= dim)
    user_error("{}: node '{}' ({}): a tensor of rank {} has no dimension {} to split",
               n.source.str(), n.name, n.op->name(), input_type(n).rank(), dim);
  return dim;
}
// hsplit splits vectors along 0, others along 1.
size_t horizontal(const Node& n) { return fixed_dim(n, input_type(n).rank() == 1 ? 0 : 1); }

OpDef split_op(std::string_view schema, Parts (*parts)(const Node&)) {
  return view_op(
      schema,
      [parts](const Node& n) {
        Parts p = parts(n);
        Types types;
        for (const Sym& length : p.length) {
          TensorType t = input_type(n);
          t.strides = strides_of(t);
          t.sizes[p.dim] = length;
          types.push_back(t);
        }
        return types;
      },
      [parts](const Node& n, int k, const Index& index) {
        Parts p = parts(n);
        Index at = index;
        at[p.dim] = at[p.dim] + p.begin[static_cast<size_t>(k)];
        return at;
      });
}

OpDef unbind_op() {
  return view_op(
      "aten.unbind.int(Tensor(a -> *) self, int dim=0) -> Tensor(a)[]",
      [](const Node& n) {
        size_t dim = split_dim(n, int_arg(n, "dim"));
        TensorType t = input_type(n);
        int64_t count = part_count(n, t.sizes[dim]);
        t.strides = strides_of(t);
        t.sizes.erase(t.sizes.begin() + static_cast<std::ptrdiff_t>(dim));
        t.strides.erase(t.strides.begin() + static_cast<std::ptrdiff_t>(dim));
        return Types(static_cast<size_t>(count), t);
      },
      [](const Node& n, int k, const Index& index) {
        Index at = index;
        at.insert(at.begin() + static_cast<std::ptrdiff_t>(split_dim(n, int_arg(n, "dim"))),
                  Sym(k));
        return at;
      });
}

}  // namespace

Rows split_views() {
  return {
      split_op(
          "aten.split.Tensor(Tensor(a -> *) self, SymInt split_size, int dim=0) -> Tensor(a)[]",
          by_size),
      split_op(
          "aten.split.sizes(Tensor(a -> *) self, SymInt[] split_size, int dim=0) -> Tensor(a)[]",
          by_size_list),
      split_op("aten.split_with_sizes.default(Tensor(a -> *) self, SymInt[] split_sizes, int "
               "dim=0) -> Tensor(a)[]",
               by_sizes),
      split_op("aten.chunk.default(Tensor(a -> *) self, int chunks, int dim=0) -> Tensor(a)[]",
               by_chunks),
      // Views as well, of which autograd does not know.
      split_op("aten.unsafe_chunk.default(Tensor(a -> *) self, int chunks, int dim=0) -> "
               "Tensor(a)[]",
               by_chunks),
      split_op("aten.unsafe_split.Tensor(Tensor(a -> *) self, SymInt split_size, int dim=0) -> "
               "Tensor(a)[]",
               by_size),
      split_op("aten.unsafe_split_with_sizes.default(Tensor(a -> *) self, SymInt[] split_sizes, "
               "int dim=0) -> Tensor(a)[]",
               by_sizes),
      split_op("aten.tensor_split.sections(Tensor(a -> *) self, SymInt sections, int dim=0) -> "
               "Tensor(a)[]",
               tensor_split_sections),
      split_op("aten.tensor_split.indices(Tensor(a -> *) self, SymInt[] indices, int dim=0) -> "
               "Tensor(a)[]",
               tensor_split_indices),
      split_op("aten.hsplit.int(Tensor(a -> *) self, int sections) -> Tensor(a)[]",
               [](const Node& n) { return by_sections(n, horizontal(n), int_arg(n, "sections")); }),
      split_op("aten.hsplit.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]",
               [](const Node& n) { return by_indices(n, horizontal(n), syms_arg(n, "indices")); }),
      split_op(
          "aten.vsplit.int(Tensor(a -> *) self, int sections) -> Tensor(a)[]",
          [](const Node& n) { return by_sections(n, fixed_dim(n, 0), int_arg(n, "sections")); }),
      split_op(
          "aten.vsplit.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]",
          [](const Node& n) { return by_indices(n, fixed_dim(n, 0), syms_arg(n, "indices")); }),
      split_op(
          "aten.dsplit.int(Tensor(a -> *) self, int sections) -> Tensor(a)[]",
          [](const Node& n) { return by_sections(n, fixed_dim(n, 2), int_arg(n, "sections")); }),
      split_op(
          "aten.dsplit.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]",
          [](const Node& n) { return by_indices(n, fixed_dim(n, 2), syms_arg(n, "indices")); }),
      unbind_op(),
  };
}

}  // namespace aotc
