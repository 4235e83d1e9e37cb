// Reads zip archives held in memory: stored and deflated members, zip64, data descriptors, any
// alignment. A reader of our own and not minizip's: minizip reads through callbacks that copy,
// while stored members must be windows of the mapping; archives lie inside members of archives;
// and every number in an untrusted directory has to be checked against the bytes that are there.
#pragma once
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/pt2/mapped_file.h"

namespace aotc::pt2 {

// All that the string_views of one ExportedProgram point into.
struct Backing {
  MappedFile file;
  std::deque<std::string> owned;  // inflated or byte-swapped; elements never move
  uint64_t inflate_budget = 0;  // bytes that members may still inflate to, over all archives inside
};

struct ZipMember {
  std::string name;
  uint64_t header_offset = 0;  // of the local header
  uint64_t stored_size = 0;    // bytes in the archive
  uint64_t size = 0;           // bytes when inflated
  uint32_t crc = 0;     // CRC-32 of the inflated bytes; 0: not recorded (torch can be told not to)
  uint16_t method = 0;  // 0 stored, 8 deflated
  uint16_t flags = 0;
};

class ZipArchive {
 public:
  // Reads the directory. `bytes` must outlive the archive; `label` names it in messages. Throws
  // UserError: no zip archive, truncated, inconsistent, encrypted, split, a name twice.
  ZipArchive(std::string_view bytes, std::string label);
  ZipArchive(ZipArchive&&) = default;
  ZipArchive(const ZipArchive&) = delete;  // index_ points into members_

  const std::string& label() const { return label_; }
  const std::vector<ZipMember>& members() const { return members_; }  // in directory order
  const ZipMember* find(std::string_view name) const;                 // nullptr: absent

  // The bytes of a member: a window of the archive if stored (its CRC is not checked: weights are
  // not touched), else inflated into the backing, and checked. Throws UserError that names both.
  std::string_view read(const ZipMember& member, Backing& backing) const;
  // The same, CRC always checked.
  std::string_view read_checked(const ZipMember& member, Backing& backing) const;

 private:
  std::string_view data_window(const ZipMember& member) const;
  std::string_view inflate(const ZipMember& member, Backing& backing) const;

  std::string_view bytes_;
  std::string label_;
  std::vector<ZipMember> members_;
  std::unordered_map<std::string_view, size_t> index_;
};

// CRC-32 as zip has it.
uint32_t crc32_of(std::string_view bytes);

}  // namespace aotc::pt2
