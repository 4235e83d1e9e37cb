// Members of a zip archive: finding their bytes, inflating, checking. The directory is read in
// zip_directory.cpp.
#include "ir/pt2/zip.h"

#include <zlib.h>

#include <algorithm>
#include <limits>

#include "ir/error.h"
#include "ir/pt2/quote.h"
#include "ir/pt2/zip_directory.h"

namespace aotc::pt2 {
namespace {

constexpr std::string_view kLocalSignature("PK\3\4", 4);
constexpr uint64_t kLocalHeaderSize = 30;
constexpr uint16_t kStored = 0, kDeflated = 8;
constexpr uint64_t kMaxDeflateRatio = 1032;  // no deflate stream expands further

struct InflateStream {
  z_stream stream = {};
  bool open = false;
  ~InflateStream() {
    if (open) inflateEnd(&stream);
  }
};

// Inflates to exactly `size` bytes; an empty string is returned where the stream does not yield
// them. Memory grows with what the stream yields, not with what the directory claims.
bool inflate_exactly(std::string_view source, uint64_t size, std::string& out) {
  InflateStream inflater;
  if (inflateInit2(&inflater.stream, -MAX_WBITS) != Z_OK) return false;
  inflater.open = true;
  z_stream& s = inflater.stream;
  const char* next = source.data();
  uint64_t left = source.size();
  char buffer[1 << 16];
  int status = Z_OK;
  while (status == Z_OK) {
    if (s.avail_in == 0) {
      const uint64_t step = std::min<uint64_t>(left, 1U << 20);
      s.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(next));
      s.avail_in = static_cast<uInt>(step);
      next += step;
      left -= step;
    }
    s.next_out = reinterpret_cast<Bytef*>(buffer);
    s.avail_out = sizeof buffer;
    status = ::inflate(&s, Z_NO_FLUSH);
    const size_t produced = sizeof buffer - s.avail_out;
    if (produced > size - out.size()) return false;
    out.append(buffer, produced);
  }
  return status == Z_STREAM_END && out.size() == size;
}

}  // namespace

uint32_t crc32_of(std::string_view bytes) {
  return static_cast<uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

ZipArchive::ZipArchive(std::string_view bytes, std::string label)
    : bytes_(bytes), label_(std::move(label)), members_(read_zip_directory(bytes_, label_)) {
  for (size_t i = 0; i < members_.size(); ++i) {
    if (!index_.emplace(members_[i].name, i).second)
      user_error("{}: damaged zip archive: two members are named {}; export it again", label_,
                 quote(members_[i].name));
  }
}

const ZipMember* ZipArchive::find(std::string_view name) const {
  const auto it = index_.find(name);
  return it == index_.end() ? nullptr : &members_[it->second];
}

std::string_view ZipArchive::data_window(const ZipMember& member) const {
  const auto fail = [&](const char* what) {
    user_error("{}: damaged zip archive: member {}: {}; copy or export it again", label_,
               quote(member.name), what);
  };
  const uint64_t at = member.header_offset;
  const uint64_t room = bytes_.size() - at;
  if (room < kLocalHeaderSize || bytes_.substr(at, 4) != kLocalSignature)
    fail("its local header is missing");
  const uint64_t name_size = read_number(bytes_, at + 26, 2);
  const uint64_t skip = kLocalHeaderSize + name_size + read_number(bytes_, at + 28, 2);
  if (skip > room || member.stored_size > room - skip) fail("its data reach past the file");
  if (bytes_.substr(at + kLocalHeaderSize, name_size) != member.name)
    fail("its local header has another name");
  return bytes_.substr(at + skip, member.stored_size);
}

std::string_view ZipArchive::inflate(const ZipMember& member, Backing& backing) const {
  const std::string where = fmt::format("{}: member {}", label_, quote(member.name));
  const std::string_view source = data_window(member);
  if (member.size / kMaxDeflateRatio > source.size())
    user_error("{}: claims {} bytes from {} deflated ones, more than deflate can yield", where,
               member.size, source.size());
  if (member.size > backing.inflate_budget)
    user_error("{}: members of this archive inflate to absurd sizes; save it uncompressed", where);
  backing.inflate_budget -= member.size;
  std::string out;
  if (!inflate_exactly(source, member.size, out))
    user_error("{}: its deflated data are damaged; copy or export the archive again", where);
  if (member.crc != 0 && crc32_of(out) != member.crc)
    user_error("{}: its bytes do not match their CRC; copy or export the archive again", where);
  return backing.owned.emplace_back(std::move(out));
}

std::string_view ZipArchive::read(const ZipMember& member, Backing& backing) const {
  if (member.method == kStored) return data_window(member);
  if (member.method == kDeflated) return inflate(member, backing);
  user_error("{}: member {} is packed by zip method {}; aotc reads stored and deflated members",
             label_, quote(member.name), member.method);
}

std::string_view ZipArchive::read_checked(const ZipMember& member, Backing& backing) const {
  const std::string_view bytes = read(member, backing);
  if (member.method == kStored && member.crc != 0 && crc32_of(bytes) != member.crc)
    user_error("{}: member {}: its bytes do not match their CRC; copy or export the archive again",
               label_, quote(member.name));
  return bytes;
}

}  // namespace aotc::pt2
