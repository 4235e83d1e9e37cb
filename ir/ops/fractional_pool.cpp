// Max pooling over windows of one size at places that random numbers choose; the numbers are an
// argument.
#include <algorithm>
#include <cmath>

#include "ir/ops/require.h"
#include "ir/ops/tensor_expr.h"

namespace aotc {
Rows fractional_pool_ops();
namespace {

// One number for all, or one per dimension.
Index per_dimension(const Node& n, std::string_view name, size_t count) {
  Index list = syms_arg(n, name);
  if (list.size() == 1) list.resize(count, list[0]);
  require(n, list.size() == count, "'{}' has {} numbers, expected {}", name, list.size(), count);
  return list;
}

// Where the windows of a dimension begin: truncated multiples of a step, the last one at the end.
// `sample` is [N, C, 1]; the result is [N, C, windows].
TensorExpr window_starts(TensorExpr sample, const Sym& size, const Sym& kernel, const Sym& count) {
  Rewriter& r = *sample.r;
  DType t = sample.dtype();
  TensorExpr last{&r, r("aten.scalar_tensor.default", {size - kernel, DType::Int64})};
  TensorExpr room = last.cast(t), i{&r, r("aten.arange.default", {count})};
  Index sizes{sample.size(0), sample.size(1), count};
  if (count.is(1)) return last.expand(sizes);
  TensorExpr steps{&r, r("aten.scalar_tensor.default", {count - 1, t})}, step = room / steps;
  auto whole_part = [](TensorExpr x) { return x.apply("aten.trunc.default").cast(DType::Int64); };
  TensorExpr starts = whole_part((i.cast(t) + sample) * step) - whole_part(sample * step);
  return where(i == count - 1, last.v, starts.v);
}

// The positions in the flattened plane of every element of every window:
// [N, C, windows..., kernel...] as [N, C, windows, kernel elements].
TensorExpr window_places(const std::vector<TensorExpr>& starts, const Index& sizes,
                         const Index& kernel) {
  Rewriter& r = *starts[0].r;
  size_t count = starts.size();
  TensorExpr places;
  Sym windows = 1, elements = 1;
  for (size_t d = 0; d < count; ++d) {
    TensorExpr offsets{&r, r("aten.arange.default", {kernel[d]})};
    TensorExpr at = starts[d].unsqueeze(-1) + offsets;  // [N, C, windows of d, kernel of d]
    Index shape{at.size(0), at.size(1)};
    shape.resize(2 + 2 * count, Sym(1));
    shape[2 + d] = at.size(2);
    shape[2 + count + d] = at.size(3);
    at = at.reshape(shape);
    places = places ? places * sizes[d] + at : at;
    windows = windows * starts[d].size(2);
    elements = elements * kernel[d];
  }
  return places.reshape({starts[0].size(0), starts[0].size(1), windows, elements});
}

// The last NaN among the values along the last dimension, else the first of the greatest.
TensorExpr place_of_best(TensorExpr values, TensorExpr first) {
  Rewriter& r = *values.r;
  TensorExpr taps{&r, r("aten.arange.default", {values.size(-1), DType::Int64})};
  TensorExpr nan = where(isnan(values), taps.v, Sym(-1)).amax({values.rank() - 1});
  return where(nan >= Sym(0), nan.v, first.v);
}

// (maxima, their positions in the plane)
Values fractional_pool(Rewriter& r, size_t count) {
  TensorExpr self = in(r, "self"), samples = in(r, "random_samples"), x = self;
  bool batched = self.rank() == static_cast<int64_t>(count) + 2;
  require(r.node, batched || self.rank() == static_cast<int64_t>(count) + 1,
          "'self' has {} dimensions, expected {} or {}", self.rank(), count + 1, count + 2);
  require_same_dtype(r.node, {"self", "random_samples"});
  if (!batched) x = x.unsqueeze(0);
  Index kernel = per_dimension(r.node, "kernel_size", count),
        out = per_dimension(r.node, "output_size", count);
  Index sizes(x.sizes().begin() + 2, x.sizes().end()), result{x.size(0), x.size(1)};
  std::vector<TensorExpr> starts;
  for (size_t d = 0; d < count; ++d) {
    require(r.node, can_be_within(sizes[d] - (out[d] + kernel[d] - 1), 0),
            "{} windows of {} do not fit into {} elements", out[d].str(), kernel[d].str(),
            sizes[d].str());
    // Two dimensions take their samples from the last on.
    auto sample = static_cast<int64_t>(count == 2 ? 1 - d : d);
    starts.push_back(
        window_starts(samples.slice(-1, sample, sample + 1), sizes[d], kernel[d], out[d]));
    result.push_back(out[d]);
  }
  TensorExpr places = window_places(starts, sizes, kernel);
  TensorExpr flat = places.reshape({x.size(0), x.size(1), places.size(2) * places.size(3)});
  TensorExpr planes = x.reshape({x.size(0), x.size(1), product(sizes)});
  TensorExpr values = planes.apply("aten.gather.default", {Sym(2), flat.v}).reshape(places.sizes());
  Node* best = r.emit("aten.max.dim", {values.v, Sym(-1), true});
  TensorExpr place =
      places.apply("aten.gather.default", {Sym(-1), place_of_best(values, {&r, best->output(1)})});
  if (!batched) result.erase(result.begin());
  return {TensorExpr{&r, best->output(0)}.reshape(result), place.reshape(result)};
}

}  // namespace

Rows fractional_pool_ops() {
  return {
      rewrite_op("aten.fractional_max_pool2d.default(Tensor self, int[2] kernel_size, int[2] "
                 "output_size, Tensor random_samples) -> (Tensor, Tensor)",
                 [](Rewriter& r) { return fractional_pool(r, 2); }),
      rewrite_op("aten.fractional_max_pool3d.default(Tensor self, int[3] kernel_size, int[3] "
                 "output_size, Tensor random_samples) -> (Tensor, Tensor)",
                 [](Rewriter& r) { return fractional_pool(r, 3); }),
  };
}

}  // namespace aotc
