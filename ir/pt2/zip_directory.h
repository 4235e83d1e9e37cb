// The directory of a zip archive, as a list of members; see zip.h.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "ir/pt2/zip.h"

namespace aotc::pt2 {

// All members, in directory order; sizes and offsets lie inside `bytes`. Throws UserError.
std::vector<ZipMember> read_zip_directory(std::string_view bytes, const std::string& label);

// The little-endian number of `size` (1 to 8) bytes at `offset`; the caller checks the bounds.
uint64_t read_number(std::string_view bytes, uint64_t offset, int size);

}  // namespace aotc::pt2
