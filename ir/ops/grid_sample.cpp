// Sampling images at positions that are data: grid_sample in two and three dimensions, and the
// affine grids that feed it.
#include <array>

#include "ir/ops/scalar_math.h"
#include "ir/ops/tensor_expr.h"

namespace aotc {
namespace {

using Index = std::vector<Sym>;
using Types = std::vector<TensorType>;
using Values = std::vector<Value*>;

enum Interpolation : int64_t { kLinear = 0, kNearest = 1, kCubic = 2 };
enum Padding : int64_t { kZeros = 0, kBorder = 1, kReflection = 2 };

Types sample_type(const Node& n) {
  const TensorType &input = tensor_arg(n, "input")->type, &grid = tensor_arg(n, "grid")->type;
  Index sizes{input.sizes[0], input.sizes[1]};
  sizes.insert(sizes.end(), grid.sizes.begin() + 1, grid.sizes.end() - 1);
  return {contiguous_type(input.dtype, sizes, input.device)};
}

// One sample of the output: reads input[index[0], index[1], ...] around its position.
class Sampler {
 public:
  Sampler(KernelBuilder& k, const Node& n, const Index& index)
      : k_(k),
        n_(n),
        index_(index),
        input_(tensor_arg(n, "input")),
        padding_(int_arg(n, "padding_mode")),
        align_(bool_arg(n, "align_corners")),
        compute_(compute_type(input_->type.dtype)) {
    size_t spatial = input_->type.rank() - 2;
    for (size_t d = 0; d < spatial; ++d) positions_.push_back(position(d, spatial));
  }

  E value() {
    switch (int_arg(n_, "interpolation_mode")) {
      case kNearest:
        return cast(nearest(), input_->type.dtype);
      case kCubic:
        return cubic();
      default:
        return linear();
    }
  }

 private:
  const Sym& size(size_t d) const { return input_->type.sizes[d + 2]; }
  E number(const Sym& s) { return cast(k_.index(s), compute_); }

  // -1..1 to elements. The grid's last coordinate belongs to the first dimension.
  E position(size_t d, size_t spatial) {
    Index at{index_[0]};
    at.insert(at.end(), index_.begin() + 2, index_.end());
    at.push_back(Sym(static_cast<int64_t>(spatial - 1 - d)));
    E x = cast(k_.lowering().load(k_, tensor_arg(n_, "grid"), at), compute_);
    E unnormalized =
        align_ ? (x + 1.0) / 2.0 * number(size(d) - 1) : ((x + 1.0) * number(size(d)) - 1.0) / 2.0;
    return int_arg(n_, "interpolation_mode") == kCubic ? unnormalized : padded(unnormalized, d);
  }

  E clipped(E x, size_t d) { return minimum(maximum(x, like(x, 0)), number(size(d) - 1)); }

  // Mirrors x at the borders of the image, which lie at element centres or edges.
  E reflected(E x, size_t d) {
    Sym low2 = align_ ? Sym(0) : Sym(-1), span2 = align_ ? (size(d) - 1) * 2 : size(d) * 2;
    if (span2.is(0)) return like(x, 0);
    E low = number(low2) / 2.0, span = number(span2) / 2.0;
    E distance = abs(x - low);
    E flips = floor(distance / span), extra = distance - flips * span;
    E is_even = flips - floor(flips / 2.0) * 2.0 == 0.0;
    return where(is_even, extra + low, span - extra + low);
  }

  E padded(E x, size_t d) {
    if (padding_ == kBorder) return clipped(x, d);
    if (padding_ == kReflection) return clipped(reflected(x, d), d);
    return x;
  }

  // The element at integer positions; 0 outside. NaN positions are outside.
  E element(const std::vector<E>& at) {
    Index place{index_[0], index_[1]};
    E inside = k_.boolean(true);
    for (size_t d = 0; d < at.size(); ++d) {
      inside = inside && (at[d] >= 0.0) && (at[d] <= number(size(d) - 1));
      place.push_back(k_.value_of(cast(where(inside, at[d], 0.0), DType::Int64)));
    }
    E zero = k_.constant(0.0, input_->type.dtype);
    return cast(k_.lowering().load(k_, input_, place, inside, zero), compute_);
  }

  E nearest() {
    std::vector<E> at;
    for (E p : positions_) at.push_back(round(p));
    return element(at);
  }

  // The corners of the cell, each weighted by the opposite part.
  E linear() {
    size_t spatial = positions_.size();
    E sum{};
    for (size_t corner = 0; corner < (size_t{1} << spatial); ++corner) {
      std::vector<E> at;
      E weight{};
      for (size_t d = 0; d < spatial; ++d) {
        E low = floor(positions_[d]), beyond = positions_[d] - low;
        bool upper = (corner >> (spatial - 1 - d)) & 1;
        at.push_back(upper ? low + 1.0 : low);
        E part = upper ? beyond : 1.0 - beyond;
        weight = weight.k ? weight * part : part;
      }
      E term = element(at) * weight;
      sum = sum.k ? sum + term : term;
    }
    return sum;
  }

  static constexpr double kA = -0.75;
  static E cubic_near(E x) { return ((kA + 2) * x - (kA + 3)) * x * x + 1.0; }
  static E cubic_far(E x) { return ((kA * x - 5 * kA) * x + 8 * kA) * x - 4 * kA; }
  static std::array<E, 4> cubic_weights(E x) {
    return {cubic_far(x + 1.0), cubic_near(x), cubic_near(1.0 - x), cubic_far(2.0 - x)};
  }

  // 16 elements; padding applies to each of their positions.
  E cubic() {
    E y0 = floor(positions_[0]), x0 = floor(positions_[1]);
    auto wy = cubic_weights(positions_[0] - y0), wx = cubic_weights(positions_[1] - x0);
    E sum{};
    for (int i = 0; i < 4; ++i) {
      E row{};
      for (int j = 0; j < 4; ++j) {
        E term = element({padded(y0 + (i - 1.0), 0), padded(x0 + (j - 1.0), 1)}) *
                 wx[static_cast<size_t>(j)];
        row = row.k ? row + term : term;
      }
      E term = row * wy[static_cast<size_t>(i)];
      sum = sum.k ? sum + term : term;
    }
    return sum;
  }

  KernelBuilder& k_;
  const Node& n_;
  const Index& index_;
  Value* input_;
  int64_t padding_;
  bool align_;
  DType compute_;
  std::vector<E> positions_;
};

E sample(KernelBuilder& k, const Node& n, const Index& index) {
  return Sampler(k, n, index).value();
}

// Positions -1..1 (or the middles of equal parts of it) along a dimension.
TensorExpr base_line(Rewriter& r, const Sym& size, bool align, DType t) {
  if (size.is(1)) return {&r, r.full({Sym(1)}, 0, t)};
  TensorExpr line{&r, r("aten.linspace.default", {-1.0, 1.0, size, t})};
  if (align) return line;
  return (line * (size - 1)).apply("aten.div.Tensor", {size});
}

// grid[n, ..., :] = theta[n] times (position, 1), the last dimension first.
Values affine_grid(Rewriter& r) {
  TensorExpr theta = in(r, "theta");
  Index size = syms_arg(r.node, "size"), spatial(size.begin() + 2, size.end()), with_one = spatial;
  bool align = bool_arg(r.node, "align_corners");
  with_one.push_back(1);
  Values columns;
  for (size_t d = spatial.size(); d-- > 0;) {
    Index shape(spatial.size() + 1, Sym(1));
    shape[d] = spatial[d];
    columns.push_back(
        base_line(r, spatial[d], align, theta.dtype()).reshape(shape).expand(with_one));
  }
  columns.push_back(r.full(with_one, 1, theta.dtype()));
  TensorExpr base{&r, r("aten.cat.default", {columns, Sym(-1)})};
  Sym points = product(spatial), width = static_cast<int64_t>(spatial.size());
  TensorExpr flat = base.reshape({Sym(1), points, width + 1}).expand({size[0], points, width + 1});
  Index result{size[0]};
  result.insert(result.end(), spatial.begin(), spatial.end());
  result.push_back(width);
  return {flat.apply("aten.bmm.default", {theta.transpose(1, 2).v}).reshape(result)};
}

}  // namespace

Rows grid_sample_ops() {
  Rows rows;
  for (std::string_view schema :
       {"aten.grid_sampler.default(Tensor input, Tensor grid, int interpolation_mode, int "
        "padding_mode, bool align_corners) -> Tensor",
        "aten.grid_sampler_2d.default(Tensor input, Tensor grid, int interpolation_mode, int "
        "padding_mode, bool align_corners) -> Tensor",
        "aten.grid_sampler_3d.default(Tensor input, Tensor grid, int interpolation_mode, int "
        "padding_mode, bool align_corners) -> Tensor"})
    rows.push_back(formula_op(schema, LoopsKind::Index, sample_type, sample));
  rows.push_back(
      rewrite_op("aten.affine_grid_generator.default(Tensor theta, SymInt[] size, bool "
                 "align_corners) -> Tensor",
                 affine_grid));
  return rows;
}

}  // namespace aotc
