// The zip reader: every form that writers use, and directories that lie.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "ir/error.h"
#include "ir/pt2/zip.h"
#include "support.h"

using namespace aotc;
using namespace aotc::pt2;
using Catch::Contains;
using test::make_zip;

namespace {

Backing backing_for(const std::string& zip) {
  Backing backing;
  backing.inflate_budget = zip.size() * 1032;
  return backing;
}

// Reads all members; the message of the UserError, or "".
std::string error_of(const std::string& zip) {
  try {
    Backing backing = backing_for(zip);
    const ZipArchive archive(zip, "a.pt2");
    for (const ZipMember& m : archive.members()) archive.read_checked(m, backing);
    return "";
  } catch (const UserError& e) {
    return e.what();
  }
}

std::string with_bytes(std::string zip, size_t at, std::string_view bytes) {
  return zip.replace(at, bytes.size(), bytes);
}

}  // namespace

TEST_CASE("stored, deflated, zip64, described and padded members are read") {
  const std::string text(100'000, 'x');
  const std::vector<test::ZipFile> files = {{"plain", "abc"},
                                            {"empty", ""},
                                            {"packed", text, true},
                                            {"big", "zip64 fields", false, true},
                                            {"late", "descriptor", false, false, true},
                                            {"both", text, true, true, true},
                                            {"aligned", "data", false, false, false, 61}};
  for (const bool zip64_end : {false, true}) {
    for (const char* comment : {"", "a comment"}) {
      const std::string zip = make_zip(files, zip64_end, comment);
      Backing backing = backing_for(zip);
      const ZipArchive archive(zip, "a.pt2");
      REQUIRE(archive.members().size() == files.size());
      for (const test::ZipFile& f : files) {
        INFO(f.name);
        REQUIRE(archive.find(f.name) != nullptr);
        CHECK(archive.read_checked(*archive.find(f.name), backing) == f.data);
      }
      CHECK(archive.find("absent") == nullptr);
    }
  }
}

TEST_CASE("a stored member is a window of the archive, not a copy") {
  const std::string zip = make_zip({{"weights", "0123456789"}});
  Backing backing = backing_for(zip);
  const ZipArchive archive(zip, "a.pt2");
  const std::string_view bytes = archive.read(*archive.find("weights"), backing);
  CHECK((bytes.data() > zip.data() && bytes.data() + bytes.size() <= zip.data() + zip.size()));
  CHECK(backing.owned.empty());
}

TEST_CASE("members beyond 4 GiB are found") {
  // A sparse file: a header, a hole of 5 GiB in its member, then the rest of a small archive.
  constexpr uint64_t kHole = uint64_t{5} << 30;
  std::string zip = make_zip({{"huge", ""}, {"last", "end of it", false, true}}, true);
  const size_t first_data = 30 + 4, entry = zip.find("PK\1\2"), second = zip.find("PK\3\4", 4);
  const auto put = [&](size_t at, uint64_t value) {
    for (size_t i = 0; i < 8; ++i) zip[at + i] = static_cast<char>(value >> (8 * i) & 0xff);
  };
  const size_t extra64 = zip.find(std::string("last\1\0\x18\0", 8), entry) + 8;
  put(extra64 + 16, second + kHole);            // offset of the second member
  put(zip.find("PK\6\6") + 48, entry + kHole);  // offset of the directory
  put(zip.find("PK\6\7") + 8, zip.find("PK\6\6") + kHole);
  const test::TempFile file(zip.substr(0, first_data));
  std::filesystem::resize_file(file.path(), first_data + kHole);
  std::ofstream(file.path(), std::ios::binary | std::ios::app) << zip.substr(first_data);
  const MappedFile mapped(file.path());
  Backing backing;
  const ZipArchive archive(mapped.bytes(), "a.pt2");
  CHECK(archive.read_checked(*archive.find("last"), backing) == "end of it");
}

TEST_CASE("damage is found, by name") {
  const std::string zip =
      make_zip({{"first", "some bytes"}, {"second", std::string(5000, 'y'), true}});
  const size_t data = zip.find("some bytes"), packed = zip.find("second") + 6;
  CHECK_THAT(error_of(with_bytes(zip, data, "S")), Contains("'first'") && Contains("CRC"));
  CHECK_THAT(error_of(with_bytes(zip, packed, "\xff")),
             Contains("'second'") && Contains("deflated"));
  CHECK_THAT(error_of(with_bytes(zip, 0, "QK")), Contains("'first'") && Contains("local header"));
  CHECK_THAT(error_of(with_bytes(zip, data - 5, "other")), Contains("another name"));
}

TEST_CASE("every truncation is refused") {
  const std::string zip = make_zip({{"first", "some bytes"}, {"second", "more"}}, true, "end");
  for (size_t n = 0; n < zip.size(); ++n) {
    INFO(n);
    CHECK(error_of(zip.substr(0, n)) != "");
  }
}

TEST_CASE("what an archive may not be") {
  CHECK_THAT(error_of(make_zip({{"same", "a"}, {"same", "b"}})),
             Contains("two members are named 'same'"));
  const std::string zip = make_zip({{"m", "abc"}});
  const size_t entry = zip.find("PK\1\2");
  CHECK_THAT(error_of(with_bytes(zip, entry + 8, "\1")), Contains("encrypted"));
  CHECK_THAT(error_of(with_bytes(zip, entry + 10, "\x0e")), Contains("zip method 14"));
  CHECK_THAT(error_of(with_bytes(zip, entry + 24, "\4")), Contains("two different sizes"));
  CHECK_THAT(error_of(with_bytes(zip, entry + 42, "\xff\xff\xff\x7f")),
             Contains("outside the file"));
  CHECK_THAT(error_of(with_bytes(zip, entry + 28, "\xff\xff")), Contains("past the directory"));
  const size_t end = zip.find("PK\5\6");
  CHECK_THAT(error_of(with_bytes(zip, end + 4, "\1")), Contains("split"));
  CHECK_THAT(error_of(with_bytes(zip, end + 10, "\2")), Contains("announced"));
  CHECK_THAT(error_of(with_bytes(zip, end + 16, "\xff\xff\xff")), Contains("outside the file"));
  CHECK_THAT(error_of("not a zip at all, but long enough to hold an end record"),
             Contains("directory"));
}

TEST_CASE("claims about inflated sizes are not believed") {
  const std::string zip = make_zip({{"bomb", std::string(200'000, '\0'), true}});
  const size_t size = zip.find("PK\1\2") + 24;
  CHECK_THAT(error_of(with_bytes(zip, size, "\xff\xff\xff\x7f")), Contains("more than deflate"));
  CHECK_THAT(error_of(with_bytes(zip, size, "\xff\xff\1")), Contains("damaged"));  // too few
  Backing backing;  // nothing left to inflate
  const ZipArchive archive(zip, "a.pt2");
  CHECK_THROWS_WITH(archive.read(archive.members()[0], backing), Contains("absurd"));
}

TEST_CASE("a CRC of zero is none: torch.save can be told not to compute it") {
  std::string zip = make_zip({{"m", "abc"}});
  zip.replace(zip.find("PK\1\2") + 16, 4, std::string(4, '\0'));
  CHECK(error_of(zip) == "");
}

TEST_CASE("member names cannot write escape sequences into messages") {
  const std::string zip = make_zip({{"\x1b[31m'\\", "a"}, {"\x1b[31m'\\", "b"}});
  CHECK_THAT(error_of(zip), Contains("'\\x1b[31m\\'\\\\'"));
}
