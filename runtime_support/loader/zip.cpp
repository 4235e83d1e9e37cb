// The zip format as PKWARE's APPNOTE describes it, with the 64-bit extension; nothing is unpacked.
#include "zip.h"

#include <algorithm>
#include <array>
#include <set>

#include "failure.h"

namespace aotc::loader {
namespace {

constexpr uint32_t kLocalMagic = 0x04034b50, kEntryMagic = 0x02014b50, kEndMagic = 0x06054b50,
                   kEnd64Magic = 0x06064b50, kLocator64Magic = 0x07064b50;
constexpr uint64_t kEndBytes = 22, kLocatorBytes = 20, kEnd64Bytes = 56, kEntryBytes = 46,
                   kLocalBytes = 30, kMaxComment = 65535;
constexpr uint64_t kMaxDirectory = uint64_t{1} << 26;  // far above any package's list of members

// Little-endian numbers of a byte string; positions are checked by the caller's sizes.
uint64_t number(const std::string& bytes, uint64_t at, int width) {
  uint64_t value = 0;
  if (at + static_cast<uint64_t>(width) > bytes.size())
    throw Failure{AOTC_BAD_PACKAGE, "the zip directory is truncated"};
  for (int i = width - 1; i >= 0; --i)
    value = value << 8 | static_cast<unsigned char>(bytes[at + static_cast<uint64_t>(i)]);
  return value;
}

struct Directory {
  uint64_t offset, size, entries;
};

// The 64-bit end record, when a locator for it stands before the end record.
bool read_end64(const Source& source, uint64_t end, Directory* out) {
  if (end < kLocatorBytes) return false;
  const std::string locator = source.read(end - kLocatorBytes, kLocatorBytes);
  if (number(locator, 0, 4) != kLocator64Magic) return false;
  const std::string record = source.read(number(locator, 8, 8), kEnd64Bytes);
  if (number(record, 0, 4) != kEnd64Magic) bad_package(source.label(), "has a damaged zip64 end");
  *out = {number(record, 48, 8), number(record, 40, 8), number(record, 32, 8)};
  return true;
}

Directory find_directory(const Source& source) {
  const uint64_t tail = std::min(source.size(), kEndBytes + kMaxComment);
  const std::string bytes = source.read(source.size() - tail, tail);
  for (uint64_t at = tail < kEndBytes ? 0 : tail - kEndBytes + 1; at-- > 0;) {
    if (number(bytes, at, 4) != kEndMagic) continue;
    if (at + kEndBytes + number(bytes, at + 20, 2) > tail) continue;  // a comment's bytes by chance
    Directory directory;
    if (read_end64(source, source.size() - tail + at, &directory)) return directory;
    return {number(bytes, at + 16, 4), number(bytes, at + 12, 4), number(bytes, at + 10, 2)};
  }
  bad_package(source.label(), "is not a package: it does not end as a zip file does (truncated?)");
}

struct Entry {
  Member member;
  uint64_t local_offset;
};

// Replaces the fields that do not fit in 32 bits by those of the zip64 extra field, in the fixed
// order.
void read_extra64(const std::string& extra, Entry* entry, uint64_t* packed) {
  for (uint64_t at = 0; at + 4 <= extra.size();) {
    const uint64_t id = number(extra, at, 2), size = number(extra, at + 2, 2);
    at += 4;
    if (id == 1) {
      uint64_t* const fields[] = {&entry->member.size, packed, &entry->local_offset};
      for (uint64_t* field : fields)
        if (*field == 0xffffffff) {
          *field = number(extra, at, 8);
          at += 8;
        }
      return;
    }
    at += size;
  }
}

Entry read_entry(const Source& source, const std::string& bytes, uint64_t* at) {
  if (number(bytes, *at, 4) != kEntryMagic)
    bad_package(source.label(), "has a damaged zip directory");
  const uint64_t flags = number(bytes, *at + 8, 2), method = number(bytes, *at + 10, 2);
  uint64_t packed = number(bytes, *at + 20, 4);
  const uint64_t name = number(bytes, *at + 28, 2), extra = number(bytes, *at + 30, 2),
                 comment = number(bytes, *at + 32, 2);
  Entry entry;
  entry.member.crc = static_cast<uint32_t>(number(bytes, *at + 16, 4));
  entry.member.size = number(bytes, *at + 24, 4);
  entry.local_offset = number(bytes, *at + 42, 4);
  *at += kEntryBytes;
  if (bytes.size() - *at < name + extra + comment)
    bad_package(source.label(), "has a damaged zip directory");
  entry.member.name = bytes.substr(*at, name);
  read_extra64(bytes.substr(*at + name, extra), &entry, &packed);
  *at += name + extra + comment;
  if (method != 0 || packed != entry.member.size || (flags & 1))
    bad_package(source.label(), "has the compressed or encrypted member '" + entry.member.name +
                                    "': packages store members as they are");
  return entry;
}

// Where the content starts: after the local header, whose variable part may differ from the
// directory's.
void locate_content(const Source& source, Entry* entry) {
  const std::string local = source.read(entry->local_offset, kLocalBytes);
  const uint64_t name = number(local, 26, 2), extra = number(local, 28, 2);
  const std::string& wanted = entry->member.name;
  if (number(local, 0, 4) != kLocalMagic || name != wanted.size() ||
      source.read(entry->local_offset + kLocalBytes, name) != wanted)
    bad_package(source.label(),
                "is damaged: the header of member '" + wanted + "' is not in its place");
  entry->member.offset = entry->local_offset + kLocalBytes + name + extra;
  if (entry->member.offset > source.size() ||
      entry->member.size > source.size() - entry->member.offset)
    bad_package(source.label(), "is truncated: member '" + wanted + "' ends behind the file's end");
}

uint32_t crc32(const std::string& bytes) {
  std::array<uint32_t, 256> table;
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) ? 0xedb88320u : 0u);
    table[i] = value;
  }
  uint32_t crc = 0xffffffff;
  for (char c : bytes) crc = table[(crc ^ static_cast<unsigned char>(c)) & 255] ^ (crc >> 8);
  return ~crc;
}

}  // namespace

std::vector<Member> read_zip_directory(const Source& source) {
  const Directory directory = find_directory(source);
  if (directory.size > kMaxDirectory || directory.entries > directory.size / kEntryBytes)
    bad_package(source.label(), "has a damaged zip directory");
  const std::string bytes = source.read(directory.offset, directory.size);
  std::vector<Member> members;
  std::set<std::string> names;
  uint64_t at = 0;
  for (uint64_t i = 0; i < directory.entries; ++i) {
    Entry entry = read_entry(source, bytes, &at);
    locate_content(source, &entry);
    if (!names.insert(entry.member.name).second)
      bad_package(source.label(), "has the member '" + entry.member.name + "' twice");
    members.push_back(entry.member);
  }
  return members;
}

std::string read_member(const Source& source, const Member& member) {
  std::string bytes = source.read(member.offset, member.size);
  if (crc32(bytes) != member.crc)
    bad_package(source.label(), "is damaged: the checksum of member '" + member.name + "' differs");
  return bytes;
}

}  // namespace aotc::loader
