// Reductions of consecutive segments of a dimension, whose lengths or offsets are data.
#include <cmath>

#include "ir/ops/require.h"
#include "ir/ops/tensor_expr.h"

namespace aotc {
Rows segment_ops();
namespace {

struct Segments {
  TensorExpr begins, ends;  // [..., segments]
  TensorExpr first;         // [..., 1]: where the first begins, if not at 0
  Sym count;
};

Segments segments_of(Rewriter& r, TensorExpr data, int64_t axis) {
  require(r.node, arg_is_none(r.node, "indices"),
          "'indices' is not supported; use 'lengths' or "
          "'offsets'");
  TensorExpr lengths = in(r, "lengths"), offsets = in(r, "offsets");
  require(r.node, lengths || offsets, "neither 'lengths' nor 'offsets' is given");
  TensorExpr given = offsets ? offsets : lengths;
  require(r.node, given.rank() == axis + 1,
          "the segments have {} dimensions, expected {}, the "
          "last of them the reduced one",
          given.rank(), axis + 1);
  given = given.cast(DType::Int64);
  if (offsets) {
    Sym count = given.size(-1) - 1;
    return {given.slice(-1, 0, count), given.slice(-1, 1, count + 1),
            given.select(-1, 0).unsqueeze(-1), count};
  }
  TensorExpr ends = given.apply("aten.cumsum.default", {Sym(-1)});
  if (!bool_arg(r.node, "unsafe")) {
    TensorExpr fits = given.sum({-1}, false) == data.size(axis);
    TensorExpr good =
        fits.apply("aten.all.default")
            .apply("aten.logical_and.default", {(given >= Sym(0)).apply("aten.all.default").v});
    r.emit("aten._assert_async.msg", {good.v, std::string("the lengths of the segments do not sum "
                                                          "up to the size of the dimension")});
  }
  return {ends - given, ends, {}, given.size(-1)};
}

// The segment of each position, their number where there is none.
TensorExpr segment_numbers(const Segments& s, TensorExpr data, int64_t axis) {
  Rewriter& r = *data.r;
  TensorExpr at{&r, r("aten.arange.default", {data.size(axis)})};
  Index sizes(data.sizes().begin(), data.sizes().begin() + axis + 1);
  at = at.expand(sizes);
  TensorExpr ends = s.ends.apply("aten.clone.default");
  TensorExpr number{&r, r("aten.searchsorted.Tensor", {ends.v, r.clone(at), false, true})};
  return s.first ? where(at < s.first, s.count, number.v) : number;
}

struct SegmentMode {
  const char* scatter;  // the mode of scatter_reduce
  double start;
};

SegmentMode mode_of(const Node& n) {
  require_word(n, "reduce", {"sum", "mean", "max", "min", "prod"});
  const std::string& word = std::get<std::string>(arg(n, "reduce"));
  if (word == "max") return {"amax", -INFINITY};
  if (word == "min") return {"amin", INFINITY};
  if (word == "prod") return {"prod", 1};
  return {"sum", 0};
}

// A value per segment, as [..., segments, 1, ...].
TensorExpr per_segment(TensorExpr v, int64_t rank) {
  while (v.rank() < rank) v = v.unsqueeze(-1);
  return v;
}

Values segment_reduce(Rewriter& r) {
  TensorExpr data = in(r, "data"), x = widened(data);
  require(r.node, is_floating(data.dtype()), "'data' is {}, expected a floating-point type",
          name(data.dtype()));
  int64_t axis = wrap_dim(int_arg(r.node, "axis"), data.rank(), r.node);
  Segments s = segments_of(r, data, axis);
  SegmentMode mode = mode_of(r.node);
  bool given = !arg_is_none(r.node, "initial");
  double start = given ? double_arg(r.node, "initial") : mode.start;
  TensorExpr number = per_segment(segment_numbers(s, data, axis), data.rank()).expand(data.sizes());
  Index sizes = data.sizes();
  sizes[static_cast<size_t>(axis)] = s.count + 1;
  TensorExpr totals{&r, r.full(sizes, start, x.dtype())};
  totals = totals.apply("aten.scatter_reduce.two",
                        {Sym(axis), number.v, x.v, std::string(mode.scatter), true});
  totals = totals.slice(axis, 0, s.count);
  if (std::get<std::string>(arg(r.node, "reduce")) == "mean") {
    TensorExpr lengths = per_segment(s.ends - s.begins, data.rank()).expand(totals.sizes());
    TensorExpr mean = totals / lengths.cast(x.dtype());
    totals = where(lengths > Sym(0), mean.v, given ? start : NAN);
  }
  return {totals.cast(data.dtype()).apply("aten.clone.default")};
}

}  // namespace

Rows segment_ops() {
  return {
      rewrite_op("aten.segment_reduce.default(Tensor data, str reduce, *, Tensor? "
                 "lengths=None, Tensor? indices=None, Tensor? offsets=None, int axis=0, bool "
                 "unsafe=False, Scalar? initial=None) -> Tensor",
                 segment_reduce)};
}

}  // namespace aotc
