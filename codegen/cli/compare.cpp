// One tolerance rule per element type, for whole programs.
#include "codegen/cli/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "codegen/cli/numbers.h"

namespace aotc::cli {
namespace {

// |found - expected| <= relative * |expected| + absolute * scale.
struct Tolerance {
  double relative, absolute;
};

// float32: differences of summation order and of the last bits of exp, tanh and so on. Types with
// fewer bits: one rounding step, because an intermediate value may have been rounded the other way.
Tolerance tolerance_of(DType t) {
  switch (t) {
    case DType::Float64:
    case DType::Complex128:
      return {1e-9, 1e-9};
    case DType::Float32:
    case DType::Complex64:
      return {1e-5, 1e-5};
    case DType::Float16:
    case DType::Complex32:
      return {0x1p-9, 0x1p-10};
    case DType::BFloat16:
      return {0x1p-6, 0x1p-7};
    case DType::Float8E4M3FN:
    case DType::Float8E4M3FNUZ:
      return {0x1p-3, 0x1p-4};
    case DType::Float8E5M2:
    case DType::Float8E5M2FNUZ:
      return {0x1p-2, 0x1p-3};
    default:
      return {0, 0};
  }
}

constexpr double kSmallestScale = 1e-3;
constexpr double kInputsShare =
    0.1;  // of the inputs' magnitude, at most 1, that results may refer to

std::string index_text(const std::vector<int64_t>& sizes, int64_t position) {
  std::vector<int64_t> index(sizes.size());
  for (size_t d = sizes.size(); d-- > 0;) {
    index[d] = position % sizes[d];
    position /= sizes[d];
  }
  return sizes_text(index);
}

// The elements that differ, and the worst of them.
struct Mismatch {
  int64_t count = 0, worst = -1;
  double worst_diff = -1;
  void add(int64_t i, double diff) {
    ++count;
    if (!(diff > worst_diff) && worst >= 0) return;
    worst_diff = diff;
    worst = i;
  }
};

std::string describe(const Mismatch& m, const Array& found, const Array& expected) {
  if (m.count == 0) return "";
  return fmt::format("max abs diff {:.3g} at {}: {}, expected {}; {} of {} elements differ",
                     m.worst_diff, index_text(expected.shape, m.worst),
                     element_text(found, m.worst), element_text(expected, m.worst), m.count,
                     count_elements(expected.shape));
}

Mismatch compare_exactly(const Array& found, const Array& expected) {
  Mismatch m;
  if (found.data == expected.data) return m;
  const size_t item = static_cast<size_t>(element_size(expected.dtype));
  const std::vector<double> a = to_doubles(found), b = to_doubles(expected);
  for (size_t i = 0; i < a.size(); ++i)
    if (std::memcmp(&found.data[i * item], &expected.data[i * item], item) != 0)
      m.add(static_cast<int64_t>(i), std::abs(a[i] - b[i]));
  return m;
}

Mismatch compare_floats(const Array& found, const Array& expected, double inputs_scale) {
  const Tolerance tolerance = tolerance_of(expected.dtype);
  const double floor = std::max(kSmallestScale, kInputsShare * std::min(inputs_scale, 1.0));
  const double scale = std::max(typical_magnitude(expected), floor);
  const std::vector<double> a = to_doubles(found), b = to_doubles(expected);
  const size_t parts = is_complex(expected.dtype) ? 2 : 1;
  Mismatch m;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
    const double diff = std::abs(a[i] - b[i]);
    const double size = parts == 1 ? std::abs(b[i]) : std::hypot(b[i & ~size_t{1}], b[i | 1]);
    const bool close = std::isfinite(diff) && std::isfinite(size) &&
                       diff <= tolerance.relative * size + tolerance.absolute * scale;
    if (!close) m.add(static_cast<int64_t>(i / parts), diff);
  }
  return m;
}

}  // namespace

double typical_magnitude(const Array& array) {
  std::vector<double> sizes;
  for (double v : to_doubles(array))
    if (std::isfinite(v) && v != 0) sizes.push_back(std::abs(v));
  if (sizes.empty()) return 0;
  const auto middle = sizes.begin() + static_cast<std::ptrdiff_t>((sizes.size() - 1) / 2);
  std::nth_element(sizes.begin(), middle, sizes.end());
  const double median = *middle;
  return std::min(*std::max_element(sizes.begin(), sizes.end()), 16 * median);
}

std::string difference(const Array& found, const Array& expected, double inputs_scale) {
  if (found.dtype != expected.dtype)
    return fmt::format("is {}, expected {}", name(found.dtype), name(expected.dtype));
  if (found.shape != expected.shape)
    return fmt::format("has sizes {}, expected {}", sizes_text(found.shape),
                       sizes_text(expected.shape));
  const bool exact = is_integer(expected.dtype) || is_bool(expected.dtype);
  return describe(
      exact ? compare_exactly(found, expected) : compare_floats(found, expected, inputs_scale),
      found, expected);
}

}  // namespace aotc::cli
