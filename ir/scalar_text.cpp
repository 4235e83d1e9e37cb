// Scalar values as text that reads back to the same bits.
#include <charconv>
#include <cmath>
#include <cstring>

#include "ir/error.h"
#include "ir/scalar.h"

namespace aotc {
namespace {

// The type of the two parts of a complex type.
DType part_of(DType t) {
  return t == DType::Complex32   ? DType::Float16
         : t == DType::Complex64 ? DType::Float32
                                 : DType::Float64;
}

// Real or imaginary part of a complex value.
ScalarValue part(const ScalarValue& z, int index) {
  const DType t = part_of(z.dtype);
  return read_scalar(z.bytes.data() + index * element_size(t), t);
}

ScalarValue from_parts(const ScalarValue& re, const ScalarValue& im, DType t) {
  ScalarValue z;
  z.dtype = t;
  write_scalar(z.bytes.data(), re);
  write_scalar(z.bytes.data() + element_size(re.dtype), im);
  return z;
}

uint64_t bits_of(const ScalarValue& v) {
  uint64_t bits = 0;
  std::memcpy(&bits, v.bytes.data(), static_cast<size_t>(element_size(v.dtype)));
  return bits;
}

std::string float_text(const ScalarValue& v) {
  const double value = as_double(v);
  if (std::isnan(value)) {
    const ScalarValue usual = cast(ScalarValue::of(std::nan("")), v.dtype);
    return v == usual ? "nan"
                      : fmt::format("nan(0x{:0{}x})", bits_of(v), 2 * element_size(v.dtype));
  }
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::string text = v.dtype == DType::Float64 ? fmt::format("{}", value)
                                               : fmt::format("{}", static_cast<float>(value));
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

template <typename T>
std::optional<T> number_from(std::string_view text, int base = 10) {
  T value{};
  auto [end, error] = [&] {
    if constexpr (std::is_floating_point_v<T>)
      return std::from_chars(text.begin(), text.end(), value);
    else
      return std::from_chars(text.begin(), text.end(), value, base);
  }();
  if (error != std::errc() || end != text.end()) return std::nullopt;
  return value;
}

// nan(0x...): the bits must be those of a NaN of the type.
std::optional<ScalarValue> nan_from_bits(std::string_view text, DType t) {
  auto bits = number_from<uint64_t>(text, 16);
  const int64_t size = element_size(t);
  if (!bits || (size < 8 && *bits >> (8 * size) != 0)) return std::nullopt;
  ScalarValue v = read_scalar(&*bits, t);
  return std::isnan(as_double(v)) ? std::optional(v) : std::nullopt;
}

// Decimal digits round to a finite value or to zero; from_chars calls either out of range.
template <typename T>
std::optional<ScalarValue> finite_from(std::string_view text, DType t) {
  auto value = number_from<T>(text);
  if (!value || !std::isfinite(*value)) return std::nullopt;
  return cast(ScalarValue::of(*value), t);
}

std::optional<ScalarValue> float_from(std::string_view text, DType t) {
  if (text == "nan") return cast(ScalarValue::of(std::nan("")), t);
  if (text == "inf" || text == "-inf")
    return cast(ScalarValue::of(text[0] == '-' ? -HUGE_VAL : HUGE_VAL), t);
  if (text.starts_with("nan(0x") && text.ends_with(")"))
    return nan_from_bits(text.substr(6, text.size() - 7), t);
  return t == DType::Float64 ? finite_from<double>(text, t) : finite_from<float>(text, t);
}

// Where the imaginary part starts: at the last sign that is not an exponent's.
std::optional<ScalarValue> complex_from(std::string_view text, DType t) {
  if (!text.ends_with('j')) return std::nullopt;
  text.remove_suffix(1);
  size_t at = text.find_last_of("+-");
  while (at != std::string_view::npos && at > 0 && text[at - 1] == 'e')
    at = text.find_last_of("+-", at - 1);
  if (at == std::string_view::npos || at == 0) return std::nullopt;
  auto re = float_from(text.substr(0, at), part_of(t));
  auto im = float_from(text.substr(text[at] == '+' ? at + 1 : at), part_of(t));
  if (!re || !im) return std::nullopt;
  return from_parts(*re, *im, t);
}

std::optional<ScalarValue> integer_from(std::string_view text, DType t) {
  if (t == DType::UInt64) {
    auto value = number_from<uint64_t>(text);
    return value ? std::optional(ScalarValue::of(uint64_t{*value})) : std::nullopt;
  }
  auto value = number_from<int64_t>(text);
  if (!value) return std::nullopt;
  ScalarValue v = cast(ScalarValue::of(*value), t);
  return as_int64(v) == *value ? std::optional(v) : std::nullopt;
}

}  // namespace

std::string to_text(const ScalarValue& v) {
  if (is_bool(v.dtype)) return as_int64(v) ? "true" : "false";
  if (v.dtype == DType::UInt64) return fmt::format("{}", bits_of(v));
  if (is_integer(v.dtype)) return fmt::format("{}", as_int64(v));
  if (!is_complex(v.dtype)) return float_text(v);
  const std::string im = float_text(part(v, 1));
  return fmt::format("{}{}{}j", float_text(part(v, 0)), im[0] == '-' ? "" : "+", im);
}

std::optional<ScalarValue> scalar_from_text(std::string_view text, DType t) {
  if (is_bool(t)) {
    if (text == "true" || text == "false") return ScalarValue::of(text == "true");
    return std::nullopt;
  }
  if (is_integer(t)) return integer_from(text, t);
  return is_complex(t) ? complex_from(text, t) : float_from(text, t);
}

}  // namespace aotc
