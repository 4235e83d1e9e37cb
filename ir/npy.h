// Reads and writes numpy's .npy files (format versions 1 to 3): bool, integers, float16 to float64,
// complex64 and complex128, in any byte and index order. bfloat16 has no numpy type: its bits are
// kept as uint16, by convention in files named *.bf16.npy, and the caller knows which it wants.
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
