// Element types, named as torch names them. The order is torch's ScalarType numbering where it has
// one.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace aotc {

// X(enumerator, torch name, bytes, DLPack code, schema number in a .pt2 archive)
#define AOTC_DTYPES(X)                                            \
  X(Bool, "bool", 1, kDLBool, 12)                                 \
  X(UInt8, "uint8", 1, kDLUInt, 1)                                \
  X(Int8, "int8", 1, kDLInt, 2)                                   \
  X(Int16, "int16", 2, kDLInt, 3)                                 \
  X(Int32, "int32", 4, kDLInt, 4)                                 \
  X(Int64, "int64", 8, kDLInt, 5)                                 \
  X(UInt16, "uint16", 2, kDLUInt, 28)                             \
  X(UInt32, "uint32", 4, kDLUInt, 34)                             \
  X(UInt64, "uint64", 8, kDLUInt, 35)                             \
  X(Float16, "float16", 2, kDLFloat, 6)                           \
  X(BFloat16, "bfloat16", 2, kDLBfloat, 13)                       \
  X(Float32, "float32", 4, kDLFloat, 7)                           \
  X(Float64, "float64", 8, kDLFloat, 8)                           \
  X(Complex32, "complex32", 4, kDLComplex, 9)                     \
  X(Complex64, "complex64", 8, kDLComplex, 10)                    \
  X(Complex128, "complex128", 16, kDLComplex, 11)                 \
  X(Float8E4M3FN, "float8_e4m3fn", 1, kDLFloat8_e4m3fn, 29)       \
  X(Float8E5M2, "float8_e5m2", 1, kDLFloat8_e5m2, 30)             \
  X(Float8E4M3FNUZ, "float8_e4m3fnuz", 1, kDLFloat8_e4m3fnuz, 31) \
  X(Float8E5M2FNUZ, "float8_e5m2fnuz", 1, kDLFloat8_e5m2fnuz, 32)

enum class DType : uint8_t {
#define X(name, ...) name,
  AOTC_DTYPES(X)
#undef X
};

// torch's name without the "torch." prefix, e.g. "bfloat16"; also the name in IR text, manifest and
// CLI.
const char* name(DType t);
// The inverse of name(); nullopt for an unknown name.
std::optional<DType> dtype_from_name(std::string_view text);
// The element type with this number in the export schema (torch._export.serde.schema.ScalarType).
std::optional<DType> dtype_from_schema(int number);
int64_t element_size(DType t);  // bytes
int dlpack_code(DType t);       // DLDataTypeCode; bits are 8 * element_size, lanes 1

bool is_bool(DType t);
bool is_integer(DType t);  // signed or unsigned, without bool
bool is_signed_integer(DType t);
bool is_floating(DType t);  // float8 to float64
bool is_complex(DType t);
bool is_half(DType t);  // float16, bfloat16: computed in float32, rounded once per op
// The type in which eager kernels compute elements of type t (half types and float8: float32).
DType compute_type(DType t);
// Both are floating, and conversion to `wide` and back leaves every value as it is.
bool widens(DType narrow, DType wide);
// torch.promote_types(a, b).
DType promote(DType a, DType b);

}  // namespace aotc
