// Arrays in files named STEM.npy. An element type that numpy lacks is kept as its bits, and the
// name says which: STEM.bf16.npy for bfloat16, STEM.<type>.npy for complex32 and the float8 types.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "ir/npy.h"

namespace aotc::cli {

// An array of any element type, in C order: an NpyArray whose dtype may also be one that numpy
// lacks.
using Array = NpyArray;

int64_t count_elements(const std::vector<int64_t>& sizes);

// The file of that stem in `folder`, in whichever form is there.
std::optional<std::filesystem::path> find_array(const std::filesystem::path& folder,
                                                const std::string& stem);
// The stem and element type that a file name tells: "out0.bf16.npy" is "out0". Empty: no array
// file.
std::string array_stem(const std::string& file_name);
// Throw UserError that names the file.
Array read_array(const std::filesystem::path& file);
Array parse_array(std::string_view bytes, const std::string& file_name);
void write_array(const std::filesystem::path& folder, const std::string& stem, const Array& array);

}  // namespace aotc::cli
