// Decoding of every element type that a tensor may have.
#include "codegen/cli/numbers.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "ir/error.h"

namespace aotc::cli {
namespace {

// A binary float of few bits. `finite`: no infinities (all ones are NaN); `unsigned_zero`: the
// pattern of -0 alone is NaN (the "fnuz" types).
struct SmallFloat {
  int exponent_bits, mantissa_bits, bias;
  bool finite = false, unsigned_zero = false;
};

double decode(uint32_t bits, const SmallFloat& f) {
  const uint32_t mantissa = bits & ((1u << f.mantissa_bits) - 1);
  const uint32_t exponent = (bits >> f.mantissa_bits) & ((1u << f.exponent_bits) - 1);
  const uint32_t top = (1u << f.exponent_bits) - 1;
  const bool negative = (bits >> (f.mantissa_bits + f.exponent_bits)) & 1;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  if (f.unsigned_zero && negative && exponent == 0 && mantissa == 0) return nan;
  const bool all_ones = exponent == top && mantissa == (1u << f.mantissa_bits) - 1;
  if (f.finite && !f.unsigned_zero && all_ones) return nan;
  double value = 0;
  if (!f.finite && !f.unsigned_zero && exponent == top)
    value = mantissa ? nan : std::numeric_limits<double>::infinity();
  else if (exponent == 0)
    value = std::ldexp(mantissa, 1 - f.bias - f.mantissa_bits);
  else
    value = std::ldexp(mantissa | (1u << f.mantissa_bits),
                       static_cast<int>(exponent) - f.bias - f.mantissa_bits);
  return negative ? -value : value;
}

constexpr SmallFloat kHalf{5, 10, 15}, kBrain{8, 7, 127}, kE5M2{5, 2, 15};
constexpr SmallFloat kE4M3FN{4, 3, 7, true, false}, kE4M3FNUZ{4, 3, 8, true, true};
constexpr SmallFloat kE5M2FNUZ{5, 2, 16, true, true};

template <typename T>
std::vector<double> widen(const std::string& data) {
  std::vector<double> out(data.size() / sizeof(T));
  for (size_t i = 0; i < out.size(); ++i) {
    T value;
    std::memcpy(&value, data.data() + i * sizeof(T), sizeof(T));
    out[i] = static_cast<double>(value);
  }
  return out;
}

template <typename Bits>
std::vector<double> widen_small(const std::string& data, const SmallFloat& form) {
  std::vector<double> out(data.size() / sizeof(Bits));
  for (size_t i = 0; i < out.size(); ++i) {
    Bits bits;
    std::memcpy(&bits, data.data() + i * sizeof(Bits), sizeof(Bits));
    out[i] = decode(bits, form);
  }
  return out;
}

std::string number_text(DType t, double value) {
  if (std::isnan(value)) return "nan";
  return fmt::format("{:.{}g}", value, t == DType::Float64 || t == DType::Complex128 ? 10 : 6);
}

std::string integer_text(const Array& array, int64_t i) {
  const char* at = array.data.data() + i * element_size(array.dtype);
  if (array.dtype == DType::UInt64) {
    uint64_t value;
    std::memcpy(&value, at, sizeof value);
    return std::to_string(value);
  }
  int64_t value = 0;  // little-endian: the low bytes
  std::memcpy(&value, at, static_cast<size_t>(element_size(array.dtype)));
  const int unused = 64 - static_cast<int>(8 * element_size(array.dtype));
  const int64_t high = static_cast<int64_t>(static_cast<uint64_t>(value) << unused);
  return std::to_string(is_signed_integer(array.dtype) ? high >> unused : value);
}

}  // namespace

std::vector<double> to_doubles(const Array& array) {
  const std::string& d = array.data;
  switch (array.dtype) {
    case DType::Bool:
    case DType::UInt8:
      return widen<uint8_t>(d);
    case DType::Int8:
      return widen<int8_t>(d);
    case DType::Int16:
      return widen<int16_t>(d);
    case DType::Int32:
      return widen<int32_t>(d);
    case DType::Int64:
      return widen<int64_t>(d);
    case DType::UInt16:
      return widen<uint16_t>(d);
    case DType::UInt32:
      return widen<uint32_t>(d);
    case DType::UInt64:
      return widen<uint64_t>(d);
    case DType::Float16:
    case DType::Complex32:
      return widen_small<uint16_t>(d, kHalf);
    case DType::BFloat16:
      return widen_small<uint16_t>(d, kBrain);
    case DType::Float32:
    case DType::Complex64:
      return widen<float>(d);
    case DType::Float64:
    case DType::Complex128:
      return widen<double>(d);
    case DType::Float8E4M3FN:
      return widen_small<uint8_t>(d, kE4M3FN);
    case DType::Float8E5M2:
      return widen_small<uint8_t>(d, kE5M2);
    case DType::Float8E4M3FNUZ:
      return widen_small<uint8_t>(d, kE4M3FNUZ);
    case DType::Float8E5M2FNUZ:
      return widen_small<uint8_t>(d, kE5M2FNUZ);
  }
  internal_error("no element type with number {}", static_cast<int>(array.dtype));
}

std::string element_text(const Array& array, int64_t i) {
  const int64_t item = element_size(array.dtype);
  if (array.dtype == DType::Bool) return array.data[static_cast<size_t>(i)] ? "true" : "false";
  if (is_integer(array.dtype)) return integer_text(array, i);
  const Array one{array.dtype,
                  {1},
                  array.data.substr(static_cast<size_t>(i * item), static_cast<size_t>(item))};
  const std::vector<double> value = to_doubles(one);
  if (!is_complex(array.dtype)) return number_text(array.dtype, value[0]);
  const std::string imaginary = number_text(array.dtype, value[1]);
  return number_text(array.dtype, value[0]) + (imaginary[0] == '-' ? "" : "+") + imaginary + "j";
}

Summary summarize(const Array& array, size_t leading) {
  Summary s;
  const int64_t count = count_elements(array.shape);
  for (int64_t i = 0; i < count && s.first.size() < leading; ++i)
    s.first.push_back(element_text(array, i));
  double sum = 0;
  int64_t numbers = 0;
  for (double v : to_doubles(array)) {
    if (std::isnan(v)) {
      ++s.nan_count;
      continue;
    }
    s.minimum = numbers ? std::min(s.minimum, v) : v;
    s.maximum = numbers ? std::max(s.maximum, v) : v;
    sum += v;
    ++numbers;
  }
  s.has_range = numbers > 0;
  if (numbers) s.mean = sum / static_cast<double>(numbers);
  return s;
}

std::string sizes_text(const std::vector<int64_t>& sizes) {
  return fmt::format("[{}]", fmt::join(sizes, ", "));
}

}  // namespace aotc::cli
