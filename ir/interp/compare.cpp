// Comparing two runs of what should be the same program.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "ir/error.h"
#include "ir/interp/interp.h"

namespace aotc::interp {
namespace {

// Distance from 1 to the next number; 0 for exact types.
double precision(DType t) {
  switch (t) {
    case DType::Float16:
    case DType::Complex32:
      return 0x1p-10;
    case DType::BFloat16:
      return 0x1p-7;
    case DType::Float8E4M3FN:
    case DType::Float8E4M3FNUZ:
      return 0x1p-3;
    case DType::Float8E5M2:
    case DType::Float8E5M2FNUZ:
      return 0x1p-2;
    default:
      return 0;
  }
}

struct Bounds {
  double relative, absolute;
};

Bounds bounds_for(DType t, const Tolerance& tolerance) {
  double step = precision(t);
  return {std::max(tolerance.relative, 2 * step), std::max(tolerance.absolute, step / 8)};
}

bool close(double a, double b, const Bounds& bounds) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (std::isinf(a) || std::isinf(b)) return a == b;
  return std::abs(a - b) <= bounds.absolute + bounds.relative * std::abs(b);
}

bool close(const ScalarValue& a, const ScalarValue& b, const Bounds& bounds) {
  if (is_complex(a.dtype)) {
    auto [ar, ai] = as_complex(a);
    auto [br, bi] = as_complex(b);
    return close(ar, br, bounds) && close(ai, bi, bounds);
  }
  if (is_floating(a.dtype)) return close(as_double(a), as_double(b), bounds);
  return as_int64(a) == as_int64(b);
}

using Difference = std::optional<std::string>;

Difference compare_tensors(const Tensor& a, const Tensor& b, const Tolerance& tolerance) {
  if (a.dtype != b.dtype) return fmt::format("{} against {}", name(a.dtype), name(b.dtype));
  if (a.sizes != b.sizes)
    return fmt::format("sizes [{}] against [{}]", fmt::join(a.sizes, ", "),
                       fmt::join(b.sizes, ", "));
  Bounds bounds = bounds_for(a.dtype, tolerance);
  Difference difference;
  for_each_index(a.sizes, [&](const std::vector<int64_t>& index) {
    if (difference) return;
    ScalarValue x = read(a, a.position(index)), y = read(b, b.position(index));
    if (!close(x, y, bounds))
      difference = fmt::format("element [{}] is {} against {}", fmt::join(index, ", "), to_text(x),
                               to_text(y));
  });
  return difference;
}

Difference compare_values(const RunValue& a, const RunValue& b, const Tolerance& tolerance) {
  if (a.index() != b.index()) return "values of different kinds";
  if (auto* t = std::get_if<Tensor>(&a)) return compare_tensors(*t, std::get<Tensor>(b), tolerance);
  if (auto* d = std::get_if<double>(&a)) {
    double other = std::get<double>(b);
    if (std::memcmp(d, &other, sizeof other) == 0) return std::nullopt;
    return fmt::format("{} against {}", *d, other);
  }
  if (auto* i = std::get_if<int64_t>(&a); i && *i != std::get<int64_t>(b))
    return fmt::format("{} against {}", *i, std::get<int64_t>(b));
  if (auto* v = std::get_if<bool>(&a); v && *v != std::get<bool>(b))
    return fmt::format("{} against {}", *v, std::get<bool>(b));
  return std::nullopt;
}

// Bytes of memory that no view covers must be equal.
Difference compare_uncovered(const Memory& a, const Memory& b, const std::vector<Tensor>& views) {
  if (a.size() != b.size()) return fmt::format("{} bytes against {}", a.size(), b.size());
  std::vector<bool> covered(static_cast<size_t>(a.size()));
  for (const Tensor& v : views) {
    auto size = static_cast<size_t>(element_size(v.dtype));
    for (int64_t p : positions(v))
      for (size_t i = 0; i < size; ++i) covered[static_cast<size_t>(p) * size + i] = true;
  }
  for (size_t i = 0; i < covered.size(); ++i)
    if (!covered[i] && a.data()[i] != b.data()[i])
      return fmt::format("byte {}, outside of all views, differs", i);
  return std::nullopt;
}

Difference compare_inputs(const RunResult& a, const RunResult& b, const Tolerance& tolerance) {
  if (a.inputs.size() != b.inputs.size()) return "different numbers of inputs";
  std::map<const Memory*, std::pair<const Memory*, std::vector<Tensor>>> memories;
  for (size_t i = 0; i < a.inputs.size(); ++i) {
    if (auto d = compare_values(a.inputs[i], b.inputs[i], tolerance))
      return fmt::format("input {} after the call: {}", i, *d);
    if (auto* t = std::get_if<Tensor>(&a.inputs[i])) {
      auto& entry = memories[t->memory.get()];
      entry.first = std::get<Tensor>(b.inputs[i]).memory.get();
      entry.second.push_back(*t);
    }
  }
  for (const auto& [memory, other] : memories)
    if (auto d = compare_uncovered(*memory, *other.first, other.second))
      return "memory of an input: " + *d;
  return std::nullopt;
}

Difference compare_storages(const RunResult& a, const RunResult& b, const Tolerance& tolerance) {
  for (const auto& [number, memory] : a.storages) {
    auto it = b.storages.find(number);
    if (it == b.storages.end()) continue;
    auto views = a.stored_views.find(number);
    std::vector<Tensor> seen =
        views == a.stored_views.end() ? std::vector<Tensor>{} : views->second;
    for (const Tensor& v : seen) {
      Tensor x = v, y = v;
      x.memory = memory;
      y.memory = it->second;
      if (!fits(x) || !fits(y))
        return fmt::format("storage {} after the call is too small", number);
      if (auto d = compare_tensors(x, y, tolerance))
        return fmt::format("storage {} after the call: {}", number, *d);
    }
    if (auto d = compare_uncovered(*memory, *it->second, seen))
      return fmt::format("storage {}: {}", number, *d);
  }
  return std::nullopt;
}

Difference compare_outputs(const RunResult& a, const RunResult& b, const Tolerance& tolerance) {
  if (a.outputs.size() != b.outputs.size())
    return fmt::format("{} outputs against {}", a.outputs.size(), b.outputs.size());
  for (size_t i = 0; i < a.outputs.size(); ++i) {
    if (auto d = compare_values(a.outputs[i], b.outputs[i], tolerance))
      return fmt::format("output {}: {}", i, *d);
    if (tolerance.aliases && a.alias_of.at(i) != b.alias_of.at(i))
      return fmt::format("output {} lies in the memory of input {} against {} (-1: its own)", i,
                         a.alias_of[i], b.alias_of[i]);
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> compare(const RunResult& a, const RunResult& b,
                                   const Tolerance& tolerance) {
  if (a.failure.empty() != b.failure.empty())
    return fmt::format("the call {} against {}",
                       a.failure.empty() ? "succeeds" : "fails: " + a.failure,
                       b.failure.empty() ? "succeeds" : "fails: " + b.failure);
  if (a.failure.empty())
    if (auto d = compare_outputs(a, b, tolerance)) return d;
  if (auto d = compare_inputs(a, b, tolerance)) return d;
  return compare_storages(a, b, tolerance);
}

}  // namespace aotc::interp
