// Names, sizes, classes and promotion of element types, all derived from the table in dtype.h.
#include "ir/dtype.h"

#include <dlpack/dlpack.h>

#include "ir/error.h"

namespace aotc {
namespace {

struct DTypeRow {
  DType type;
  const char* name;
  int bytes;
  int dlpack_code;
  int schema_number;
};

constexpr DTypeRow kRows[] = {
#define X(enumerator, text, bytes, code, schema) \
  {DType::enumerator, text, bytes, static_cast<int>(code), schema},
    AOTC_DTYPES(X)
#undef X
};

const DTypeRow& row(DType t) {
  const auto index = static_cast<size_t>(t);
  AOTC_CHECK(index < std::size(kRows), "element type number {}", index);
  return kRows[index];
}

bool is_float8(DType t) { return is_floating(t) && element_size(t) == 1; }

// uint16, uint32 and uint64 came late to torch: they promote to floating types only.
bool is_late_unsigned(DType t) {
  return t == DType::UInt16 || t == DType::UInt32 || t == DType::UInt64;
}

[[noreturn]] void no_promotion(DType a, DType b) {
  user_error("torch defines no promotion of {} and {}; convert one of them with .to(dtype)",
             name(a), name(b));
}

// The smallest complex type whose parts hold every value of the floating type t.
DType complex_of(DType t) {
  if (t == DType::Float16) return DType::Complex32;
  return t == DType::Float64 ? DType::Complex128 : DType::Complex64;
}

DType larger(DType a, DType b) { return element_size(a) >= element_size(b) ? a : b; }

DType promote_complex(DType a, DType b) {
  if (!is_complex(a)) std::swap(a, b);
  if (is_floating(b)) b = complex_of(b);
  return is_complex(b) ? larger(a, b) : a;
}

DType promote_floating(DType a, DType b) {
  if (!is_floating(a)) return b;
  if (!is_floating(b)) return a;
  const bool two_half_types = element_size(a) == element_size(b);
  return two_half_types ? DType::Float32 : larger(a, b);
}

DType promote_integers(DType a, DType b) {
  if (is_bool(a)) return b;
  if (is_bool(b)) return a;
  const bool uint8_and_int8 = element_size(a) == element_size(b);
  return uint8_and_int8 ? DType::Int16 : larger(a, b);
}

}  // namespace

const char* name(DType t) { return row(t).name; }
int64_t element_size(DType t) { return row(t).bytes; }
int dlpack_code(DType t) { return row(t).dlpack_code; }

std::optional<DType> dtype_from_name(std::string_view text) {
  for (const DTypeRow& r : kRows)
    if (text == r.name) return r.type;
  return std::nullopt;
}

std::optional<DType> dtype_from_schema(int number) {
  for (const DTypeRow& r : kRows)
    if (number == r.schema_number) return r.type;
  return std::nullopt;
}

bool is_bool(DType t) { return t == DType::Bool; }

bool is_integer(DType t) {
  const int code = dlpack_code(t);
  return code == kDLInt || code == kDLUInt;
}

bool is_signed_integer(DType t) { return dlpack_code(t) == kDLInt; }
bool is_complex(DType t) { return dlpack_code(t) == kDLComplex; }
bool is_floating(DType t) { return !is_bool(t) && !is_integer(t) && !is_complex(t); }
bool is_half(DType t) { return t == DType::Float16 || t == DType::BFloat16; }

bool widens(DType narrow, DType wide) {
  if (!is_floating(narrow)) return false;
  return wide == DType::Float64 || (wide == DType::Float32 && narrow != DType::Float64);
}

DType compute_type(DType t) {
  if (is_half(t) || is_float8(t)) return DType::Float32;
  return t == DType::Complex32 ? DType::Complex64 : t;
}

DType promote(DType a, DType b) {
  if (a == b) return a;
  if (is_float8(a) || is_float8(b)) no_promotion(a, b);
  if (is_late_unsigned(a) || is_late_unsigned(b)) {
    if (is_floating(a)) return a;
    if (is_floating(b)) return b;
    no_promotion(a, b);
  }
  if (is_complex(a) || is_complex(b)) return promote_complex(a, b);
  if (is_floating(a) || is_floating(b)) return promote_floating(a, b);
  return promote_integers(a, b);
}

}  // namespace aotc
