// Reads and writes numpy's .npy files (format versions 1 to 3): bool, integers, float16 to float64,
// complex64 and complex128, in any byte and index order. The element types that numpy lacks are
// kept as their bits, and the file's name says which they are (kNpyBits).
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ir/dtype.h"

namespace aotc {

// An array in C order, little-endian, without gaps: data.size() is the product of shape times the
// element size. shape {} is a scalar. Elements of Bool are the bytes 0 and 1.
struct NpyArray {
  DType dtype = DType::Float32;
  std::vector<int64_t> shape;
  std::string data;
};

// An element type without a numpy type: its bits are kept as `bits`, in files named STEM + suffix.
struct NpyBits {
  const char* suffix;
  DType dtype, bits;
};

inline constexpr NpyBits kNpyBits[] = {
    {".bf16.npy", DType::BFloat16, DType::UInt16},
    {".complex32.npy", DType::Complex32, DType::UInt32},
    {".float8_e4m3fn.npy", DType::Float8E4M3FN, DType::UInt8},
    {".float8_e5m2.npy", DType::Float8E5M2, DType::UInt8},
    {".float8_e4m3fnuz.npy", DType::Float8E4M3FNUZ, DType::UInt8},
    {".float8_e5m2fnuz.npy", DType::Float8E5M2FNUZ, DType::UInt8},
};

// Reads a file. Throws UserError that names the file: unreadable, not .npy, truncated, or of a type
// that is no tensor's (strings, objects, dates, records, long double).
NpyArray read_npy(const std::string& path);
// The same from memory; `where` names the source in messages. Bytes after the array are ignored.
NpyArray parse_npy(std::string_view bytes, const std::string& where);

// The file's bytes, version 1 (2 where the header is too long for it). Throws UserError for an
// element type that numpy does not have: bfloat16, complex32, float8.
std::string format_npy(const NpyArray& array);
// Writes them to a file. Throws UserError that names the file.
void write_npy(const std::string& path, const NpyArray& array);

}  // namespace aotc
