// Reads the directory of a package: a zip whose members are stored uncompressed. Package bytes are
// untrusted; every offset and size is checked.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "source.h"

namespace aotc::loader {

struct Member {
  std::string name;
  uint64_t offset;  // of its content
  uint64_t size;
  uint32_t crc;
};

// Throws Failure when this is no zip, is damaged, or a member is compressed or encrypted.
std::vector<Member> read_zip_directory(const Source& source);

// The member's bytes, checked against its CRC-32.
std::string read_member(const Source& source, const Member& member);

}  // namespace aotc::loader
