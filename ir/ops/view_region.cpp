// Views of a part of a tensor: slices, selections, diagonals, windows, splits, strided views; and
// the index maps that eager copies (flip, roll, repeat), which are views of values that no longer
// change.
#include "ir/ops/row_helpers.h"
#include "ir/ops/shape_math.h"

namespace aotc {
namespace {

std::ptrdiff_t offset(size_t i) { return static_cast<std::ptrdiff_t>(i); }

// ---- slice, narrow, select

struct Range {
  Sym start, length, step;
};

Range slice_range(const Node& n) {
  const Sym& size = input_type(n).sizes[dim_arg(n, "dim")];
  Sym step = sym_arg(n, "step");
  Sym start = arg_is_none(n, "start") ? Sym(0) : clamp_bound(sym_arg(n, "start"), size);
  Sym end = arg_is_none(n, "end") ? size : clamp_bound(sym_arg(n, "end"), size);
  Sym length = ceildiv(end - start, step);
  if (!start.is(0) || end != size) length = sym_max(length, 0);
  return {start, length, step};
}

Range narrow_range(const Node& n) {
  const Sym& size = input_type(n).sizes[dim_arg(n, "dim")];
  return {wrap_index(sym_arg(n, "start"), size), sym_arg(n, "length"), 1};
}

OpDef range_op(std::string_view schema, Range (*range)(const Node&)) {
  return view_op(
      schema,
      [range](const Node& n) {
        TensorType t = input_type(n);
        size_t dim = dim_arg(n, "dim");
        Range r = range(n);
        t.strides = strides_of(t);
        t.sizes[dim] = r.length;
        t.strides[dim] = t.strides[dim] * r.step;
        return Types{t};
      },
      [range](const Node& n, int, const Index& index) {
        Index at = index;
        size_t dim = dim_arg(n, "dim");
        Range r = range(n);
        at[dim] = r.start + at[dim] * r.step;
        return at;
      });
}

// The input without dimension `dim`.
TensorType without_dim(const Node& n, size_t dim) {
  TensorType t = input_type(n);
  t.strides = strides_of(t);
  t.sizes.erase(t.sizes.begin() + offset(dim));
  t.strides.erase(t.strides.begin() + offset(dim));
  return t;
}

Rows slices() {
  return {
      range_op("aten.slice.Tensor(Tensor(a) self, int dim=0, SymInt? start=None, SymInt? end=None, "
               "SymInt step=1) -> Tensor(a)",
               slice_range),
      range_op(
          "aten.narrow.default(Tensor(a) self, int dim, SymInt start, SymInt length) -> Tensor(a)",
          narrow_range),
      view_op(
          "aten.select.int(Tensor(a) self, int dim, SymInt index) -> Tensor(a)",
          [](const Node& n) { return Types{without_dim(n, dim_arg(n, "dim"))}; },
          [](const Node& n, int, const Index& index) {
            Index at = index;
            size_t dim = dim_arg(n, "dim");
            Sym i = wrap_index(sym_arg(n, "index"), input_type(n).sizes[dim]);
            at.insert(at.begin() + offset(dim), i);
            return at;
          }),
  };
}

// ---- diagonals and windows

struct DiagonalPlan {
  size_t first, second;
  Sym first_start, second_start, length;
};

DiagonalPlan diagonal_plan(const Node& n) {
  const Index& sizes = input_type(n).sizes;
  DiagonalPlan p{dim_arg(n, "dim1"), dim_arg(n, "dim2"), 0, 0, 0};
  int64_t shift = int_arg(n, "offset");
  (shift >= 0 ? p.second_start : p.first_start) = std::abs(shift);
  p.length = sym_max(sym_min(sizes[p.first] - p.first_start, sizes[p.second] - p.second_start), 0);
  return p;
}

OpDef diagonal_op(std::string_view schema) {
  return view_op(
      schema,
      [](const Node& n) {
        const TensorType& t = input_type(n);
        DiagonalPlan p = diagonal_plan(n);
        Index sizes, strides, from = strides_of(t);
        for (size_t d = 0; d < t.rank(); ++d)
          if (d != p.first && d != p.second) {
            sizes.push_back(t.sizes[d]);
            strides.push_back(from[d]);
          }
        sizes.push_back(p.length);
        strides.push_back(from[p.first] + from[p.second]);
        return Types{with_layout(n, sizes, strides)};
      },
      [](const Node& n, int, const Index& index) {
        DiagonalPlan p = diagonal_plan(n);
        Index at(input_type(n).rank());
        size_t next = 0;
        for (size_t d = 0; d < at.size(); ++d)
          if (d != p.first && d != p.second) at[d] = index[next++];
        at[p.first] = index.back() + p.first_start;
        at[p.second] = index.back() + p.second_start;
        return at;
      });
}

// Windows of `size` elements every `step` along a dimension become a new last dimension.
OpDef unfold_op(std::string_view schema) {
  return view_op(
      schema,
      [](const Node& n) {
        TensorType t = input_type(n);
        Index strides = strides_of(t);
        Sym size = sym_arg(n, "size"), step = sym_arg(n, "step");
        if (t.sizes.empty()) return Types{with_layout(n, {size}, {Sym(1)})};
        size_t dim = dim_arg(n, "dimension");
        Index sizes = t.sizes;
        sizes[dim] = floordiv(sizes[dim] - size, step) + 1;
        sizes.push_back(size);
        strides.push_back(strides[dim]);
        strides[dim] = strides[dim] * step;
        return Types{with_layout(n, sizes, strides)};
      },
      [](const Node& n, int, const Index& index) {
        Index at(index.begin(), index.end() - 1);
        if (input_rank(n) == 0) return Index{};
        size_t dim = dim_arg(n, "dimension");
        at[dim] = at[dim] * sym_arg(n, "step") + index.back();
        return at;
      });
}

// ---- strided views: memory positions, seen through argument 0

// The index in a tensor without gaps or overlaps whose element lies `position` elements after its
// first.
Index index_at(const TensorType& t, const Sym& position, const Node& n) {
  Index strides = strides_of(t), at(t.rank(), Sym(0));
  Sym expected = 1, rest = position;
  std::vector<bool> done(t.rank(), false);
  for (size_t step = 0; step < t.rank(); ++step) {
    size_t d = 0;
    while (d < t.rank() && (done[d] || !(t.sizes[d].is(1) || strides[d] == expected))) ++d;
    if (d == t.rank())
      unsupported(n, "as_strided of a tensor whose memory has gaps or overlaps",
                  "take the strided view of a contiguous tensor");
    done[d] = true;
    if (t.sizes[d].is(1)) continue;
    expected = expected * t.sizes[d];
    bool last = true;
    for (size_t k = 0; k < t.rank(); ++k) last &= done[k] || t.sizes[k].is(1);
    at[d] = last ? rest : mod(rest, t.sizes[d]);
    rest = floordiv(rest, t.sizes[d]);
  }
  return at;
}

// Offsets count from the start of the storage, which is where argument 0 starts unless it is a view
// itself.
Sym storage_offset(const Node& n) {
  if (arg_is_none(n, "storage_offset")) return 0;
  const Value* self = std::get<Value*>(n.args[0]);
  if (self->producer && self->producer->op->is_view() && !sym_arg(n, "storage_offset").is(0))
    unsupported(n, "as_strided with an offset on a view",
                "take the strided view of the base tensor");
  return sym_arg(n, "storage_offset");
}

OpDef as_strided_op(std::string_view schema) {
  return view_op(
      schema,
      [](const Node& n) {
        return Types{with_layout(n, syms_arg(n, "size"), syms_arg(n, "stride"))};
      },
      [](const Node& n, int, const Index& index) {
        Index strides = syms_arg(n, "stride");
        Sym position = storage_offset(n);
        for (size_t d = 0; d < index.size(); ++d) position = position + index[d] * strides[d];
        return index_at(input_type(n), position, n);
      });
}

// The first elements of the memory under other sizes. More of them than there are would take new
// memory, of which views and the caller would not know.
OpDef resize_op(std::string_view schema, Index (*sizes_of)(const Node&)) {
  OpDef op = view_op(
      schema,
      [sizes_of](const Node& n) {
        const TensorType& t = input_type(n);
        Index sizes = sizes_of(n);
        if (sizes == t.sizes) return Types{t};
        auto room = (product(t.sizes) - product(sizes)).constant();
        if (!room || *room < 0)
          unsupported(
              n,
              fmt::format("resizing a tensor of {} elements to {}, for which it has no memory",
                          product(t.sizes).str(), product(sizes).str()),
              "make a tensor of the wanted size");
        return Types{with_layout(n, sizes, contiguous_strides(sizes))};
      },
      [sizes_of](const Node& n, int, const Index& index) {
        Index sizes = sizes_of(n);
        if (sizes == input_type(n).sizes) return index;
        return index_at(input_type(n), linearize(index, sizes), n);
      });
  op.schema.args[0].aliased = true;  // its memory stays
  return op;
}

}  // namespace

Rows region_views() {
  Rows rows = slices();
  append(
      rows,
      {diagonal_op("aten.diagonal.default(Tensor(a) self, int offset=0, int dim1=0, int dim2=1) -> "
                   "Tensor(a)"),
       diagonal_op("aten.linalg_diagonal.default(Tensor(a) A, *, int offset=0, int dim1=-2, int "
                   "dim2=-1) -> Tensor(a)"),
       unfold_op(
           "aten.unfold.default(Tensor(a) self, int dimension, int size, int step) -> Tensor(a)"),
       as_strided_op("aten.as_strided.default(Tensor(a) self, SymInt[] size, SymInt[] stride, "
                     "SymInt? storage_offset=None) -> Tensor(a)"),
       resize_op("aten.resize_.default(Tensor(a!) self, SymInt[] size, *, MemoryFormat? "
                 "memory_format=None) -> Tensor(a!)",
                 [](const Node& n) { return syms_arg(n, "size"); }),
       resize_op("aten.resize_as_.default(Tensor(a!) self, Tensor the_template, *, MemoryFormat? "
                 "memory_format=None) -> Tensor(a!)",
                 [](const Node& n) { return tensor_arg(n, "the_template")->type.sizes; })});
  return rows;
}

}  // namespace aotc
