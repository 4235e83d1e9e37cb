// Sampling images at positions that are data: grid_sample in two and three dimensions, and the
// affine grids that feed it.
#include <array>

#include "ir/ops/scalar_math.h"
#include "ir/ops/tensor_expr.h"

namespace aotc {
namespace {

enum Interpolation : int64_t { kLinear = 0, kNearest = 1, kCubic = 2 };
enum Padding : int64_t { kZeros = 0, kBorder = 1, kReflection = 2 };

Types sample_type(const Node& n) {
  const TensorType &input = tensor_arg(n, "input")->type, &grid = tensor_arg(n, "grid")->type;
  Index sizes{input.sizes[0], input.sizes[1]};
  sizes.insert(sizes.end(), grid.sizes.begin() + 1, grid.sizes.end() - 1);
  return {contiguous_type(input.dtype, sizes, input.device)};
}

// One sample of the output: reads input[index[0], index[1], ...] around its position. All
// arithmetic is that of the element type, in the order of eager's vector code, which rounds half
// types at every step.
class Sampler {
 public:
  Sampler(KernelBuilder& k, const Node& n, const Index& index)
      : k_(k),
        n_(n),
        index_(index),
        input_(tensor_arg(n, "input")),
        mode_(int_arg(n, "interpolation_mode")),
        padding_(int_arg(n, "padding_mode")),
        align_(bool_arg(n, "align_corners")),
        type_(arithmetic_type()) {
    size_t spatial = input_->type.rank() - 2;
    for (size_t d = 0; d < spatial; ++d) positions_.push_back(position(d, spatial));
  }

  E value() {
    switch (mode_) {
      case kNearest:
        return nearest().e;
      case kCubic:
        return cubic().e;
      default:
        return linear().e;
    }
  }

 private:
  // Eager has no vector code for cubic samples of volumes, and rounds those once.
  DType arithmetic_type() const {
    const TensorType& t = input_->type;
    return mode_ == kCubic && t.rank() == 5 ? compute_type(t.dtype) : t.dtype;
  }

  const Sym& size(size_t d) const { return input_->type.sizes[d + 2]; }
  Rounded as_number(E v) { return rounded(cast(v, compute_type(type_)), type_); }
  Rounded number(const Sym& s) { return as_number(k_.index(s)); }
  Rounded half_of(const Sym& s) { return as_number(cast(k_.index(s), DType::Float64) / 2.0); }
  Rounded zero() { return as_number(k_.constant(0.0, compute_type(type_))); }
  Rounded floor_of(Rounded v) { return {floor(v.e), type_}; }

  // -1..1 to elements. The grid's last coordinate belongs to the first dimension.
  Rounded position(size_t d, size_t spatial) {
    Index at{index_[0]};
    at.insert(at.end(), index_.begin() + 2, index_.end());
    at.push_back(Sym(static_cast<int64_t>(spatial - 1 - d)));
    Rounded x = as_number(k_.lowering().load(k_, tensor_arg(n_, "grid"), at));
    Rounded unnormalized =
        align_ ? (x + 1.0) * half_of(size(d) - 1) : (x + 1.0) * half_of(size(d)) - 0.5;
    return mode_ == kCubic ? unnormalized : padded(unnormalized, d);
  }

  Rounded clipped(Rounded x, size_t d) {
    return {minimum(maximum(x.e, zero().e), number(size(d) - 1).e), type_};
  }

  // Mirrors x at the borders of the image, which lie at element centres or edges.
  Rounded reflected(Rounded x, size_t d) {
    Sym span_size = align_ ? size(d) - 1 : size(d);
    if (span_size.is(0)) return zero();
    Rounded low = align_ ? zero() : zero() - 0.5, span = number(span_size);
    Rounded away = x - low, distance{abs(away.e), type_};
    Rounded flips = floor_of(distance / span), extra = distance - flips * span;
    E is_even = flips.e - floor(flips.e / 2.0) * 2.0 == 0.0;
    return {where(is_even, (extra + low).e, (span - extra + low).e), type_};
  }

  Rounded padded(Rounded x, size_t d) {
    if (padding_ == kBorder) return clipped(x, d);
    if (padding_ == kReflection) return clipped(reflected(x, d), d);
    return x;
  }

  // The element at integer positions; 0 outside. NaN positions are outside.
  Rounded element(const std::vector<Rounded>& at) {
    Index place{index_[0], index_[1]};
    E inside = k_.boolean(true);
    for (size_t d = 0; d < at.size(); ++d) {
      E position = at[d].e;
      inside = inside && (position >= 0.0) &&
               (position <= cast(k_.index(size(d) - 1), position.dtype()));
      place.push_back(k_.value_of(cast(where(inside, position, 0.0), DType::Int64)));
    }
    return as_number(
        k_.lowering().load(k_, input_, place, inside, k_.constant(0.0, input_->type.dtype)));
  }

  Rounded nearest() {
    std::vector<Rounded> at;
    for (Rounded p : positions_) at.push_back({round(p.e), type_});
    return element(at);
  }

  // The corners of the cell, each weighted by the opposite part.
  Rounded linear() {
    size_t spatial = positions_.size();
    std::vector<Rounded> low, after, before;
    for (Rounded p : positions_) {
      low.push_back(floor_of(p));
      after.push_back(p - low.back());
      before.push_back(1.0 - after.back());
    }
    std::optional<Rounded> sum;
    for (size_t corner = 0; corner < (size_t{1} << spatial); ++corner) {
      std::vector<Rounded> at;
      std::optional<Rounded> weight;
      for (size_t d = spatial; d-- > 0;) {
        bool upper = (corner >> (spatial - 1 - d)) & 1;
        at.insert(at.begin(), upper ? low[d] + 1.0 : low[d]);
        Rounded part = upper ? after[d] : before[d];
        weight = weight ? *weight * part : part;
      }
      Rounded term = element(at) * *weight;
      sum = sum ? *sum + term : term;
    }
    return *sum;
  }

  static constexpr double kA = -0.75;
  static Rounded cubic_near(Rounded x) { return (x * (kA + 2) - (kA + 3)) * x * x + 1.0; }
  static Rounded cubic_far(Rounded x) { return ((x * kA - 5 * kA) * x + 8 * kA) * x - 4 * kA; }
  static std::array<Rounded, 4> cubic_weights(Rounded x) {
    return {cubic_far(x + 1.0), cubic_near(x), cubic_near(1.0 - x), cubic_far(2.0 - x)};
  }

  // Four elements along each dimension; padding applies to each of their positions.
  Rounded cubic() { return cubic_along(0, {}); }

  // The weighted sum over dimension d and those after it; `at`: the positions before it.
  Rounded cubic_along(size_t d, std::vector<Rounded> at) {
    if (d == positions_.size()) return element(at);
    const Rounded low = floor_of(positions_[d]);
    const auto weights = cubic_weights(positions_[d] - low);
    std::optional<Rounded> sum;
    at.push_back(low);
    for (size_t i = 0; i < 4; ++i) {
      at.back() = padded(low + (static_cast<double>(i) - 1), d);
      const Rounded term = cubic_along(d + 1, at) * weights[i];
      sum = sum ? *sum + term : term;
    }
    return *sum;
  }

  KernelBuilder& k_;
  const Node& n_;
  const Index& index_;
  Value* input_;
  int64_t mode_, padding_;
  bool align_;
  DType type_;
  std::vector<Rounded> positions_;
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
