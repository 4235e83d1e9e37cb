// Finds the end record of a zip archive, follows zip64's, and reads the central directory. The
// central directory is believed, local headers only say where data begins: sizes there may be zero.
#include "ir/pt2/zip_directory.h"

#include "ir/error.h"
#include "ir/pt2/quote.h"

namespace aotc::pt2 {
namespace {

constexpr std::string_view kEndSignature("PK\5\6", 4);
constexpr std::string_view kEnd64Signature("PK\6\6", 4);
constexpr std::string_view kLocator64Signature("PK\6\7", 4);
constexpr std::string_view kEntrySignature("PK\1\2", 4);
constexpr uint64_t kEndSize = 22, kEnd64Size = 56, kLocator64Size = 20, kEntrySize = 46;
constexpr uint64_t kMaxComment = 0xffff;
constexpr uint64_t kSays64 = 0xffffffff;  // "the number is in the zip64 record"
constexpr uint64_t kExtra64 = 1;          // id of the zip64 field among an entry's extra fields
constexpr unsigned kEncrypted = 1;

struct Directory {
  uint64_t offset = 0, size = 0, entries = 0;
};

class DirectoryReader {
 public:
  DirectoryReader(std::string_view bytes, const std::string& label)
      : bytes_(bytes), label_(label) {}

  std::vector<ZipMember> read() {
    const Directory directory = locate();
    std::vector<ZipMember> members;
    members.reserve(directory.entries);  // locate() has bounded it by the bytes that are there
    uint64_t position = directory.offset;
    const uint64_t end = directory.offset + directory.size;
    for (uint64_t i = 0; i < directory.entries; ++i) members.push_back(read_entry(position, end));
    return members;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    user_error("{}: damaged zip archive: {}; copy or export it again", label_, what);
  }

  bool has_signature(uint64_t offset, std::string_view signature) const {
    return bytes_.substr(offset, signature.size()) == signature;
  }

  uint64_t number(uint64_t offset, int size) const { return read_number(bytes_, offset, size); }

  // The end record lies within the last 64 KiB: only its comment may follow.
  uint64_t find_end() const {
    if (bytes_.size() < kEndSize) fail("shorter than the smallest archive");
    const uint64_t last = bytes_.size() - kEndSize;
    const uint64_t first = last > kMaxComment ? last - kMaxComment : 0;
    for (uint64_t at = last + 1; at-- > first;) {
      if (!has_signature(at, kEndSignature)) continue;
      if (at + kEndSize + number(at + 20, 2) == bytes_.size()) return at;
    }
    fail("the directory at its end is missing (a truncated file?)");
  }

  Directory locate() const {
    const uint64_t end = find_end();
    Directory directory{number(end + 16, 4), number(end + 12, 4), number(end + 10, 2)};
    uint64_t limit = end;
    const bool has_locator =
        end >= kLocator64Size && has_signature(end - kLocator64Size, kLocator64Signature);
    if (has_locator) directory = locate64(end - kLocator64Size, limit);
    if (!has_locator && (number(end + 4, 2) != 0 || number(end + 6, 2) != 0))
      fail("it is one part of a split archive");
    if (directory.offset > limit || directory.size > limit - directory.offset)
      fail("the directory lies outside the file");
    if (directory.entries > directory.size / kEntrySize)
      fail("more members are announced than the directory holds");
    return directory;
  }

  Directory locate64(uint64_t locator, uint64_t& limit) const {
    const uint64_t at = number(locator + 8, 8);
    if (at > locator || locator - at < kEnd64Size || !has_signature(at, kEnd64Signature))
      fail("the zip64 end record is missing");
    limit = at;
    return {number(at + 48, 8), number(at + 40, 8), number(at + 32, 8)};
  }

  ZipMember read_entry(uint64_t& position, uint64_t end) const {
    if (end - position < kEntrySize || !has_signature(position, kEntrySignature))
      fail("a directory entry is malformed");
    const uint64_t at = position;
    const uint64_t name_size = number(at + 28, 2), extra_size = number(at + 30, 2);
    const uint64_t tail = name_size + extra_size + number(at + 32, 2);
    if (end - at - kEntrySize < tail) fail("a directory entry reaches past the directory");
    position = at + kEntrySize + tail;

    ZipMember member;
    member.name = std::string(bytes_.substr(at + kEntrySize, name_size));
    member.flags = static_cast<uint16_t>(number(at + 8, 2));
    member.method = static_cast<uint16_t>(number(at + 10, 2));
    member.crc = static_cast<uint32_t>(number(at + 16, 4));
    member.stored_size = number(at + 20, 4);
    member.size = number(at + 24, 4);
    member.header_offset = number(at + 42, 4);
    read_extra64(bytes_.substr(at + kEntrySize + name_size, extra_size), member);
    check(member);
    return member;
  }

  // Takes from the zip64 field those numbers that the entry says are there, in their fixed order.
  void read_extra64(std::string_view extra, ZipMember& member) const {
    while (extra.size() >= 4) {
      const uint64_t id = read_number(extra, 0, 2), size = read_number(extra, 2, 2);
      if (size > extra.size() - 4) fail("an extra field reaches past its entry");
      if (id == kExtra64) {
        std::string_view field = extra.substr(4, size);
        for (uint64_t* value : {&member.size, &member.stored_size, &member.header_offset}) {
          if (*value != kSays64) continue;
          if (field.size() < 8) fail("a zip64 field is too short");
          *value = read_number(field, 0, 8);
          field.remove_prefix(8);
        }
        return;
      }
      extra.remove_prefix(4 + size);
    }
  }

  void check(const ZipMember& member) const {
    if ((member.flags & kEncrypted) != 0)
      user_error("{}: member {} is encrypted; aotc reads plain archives", label_,
                 quote(member.name));
    if (member.header_offset >= bytes_.size() ||
        member.stored_size > bytes_.size() - member.header_offset)
      fail(fmt::format("member {} lies outside the file", quote(member.name)));
    if (member.method == 0 && member.size != member.stored_size)
      fail(fmt::format("member {} has two different sizes", quote(member.name)));
  }

  std::string_view bytes_;
  const std::string& label_;
};

}  // namespace

uint64_t read_number(std::string_view bytes, uint64_t offset, int size) {
  uint64_t value = 0;
  for (int i = size; i-- > 0;)
    value = value << 8 | static_cast<unsigned char>(bytes[offset + static_cast<uint64_t>(i)]);
  return value;
}

std::vector<ZipMember> read_zip_directory(std::string_view bytes, const std::string& label) {
  return DirectoryReader(bytes, label).read();
}

}  // namespace aotc::pt2
