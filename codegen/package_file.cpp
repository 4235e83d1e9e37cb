#include <fcntl.h>
#include <minizip/unzip.h>
#include <minizip/zip.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "codegen/pipeline.h"

// The .aotc file: a zip whose members are stored, so that they can be mapped. Weights begin at a
// multiple of 4096, everything else at a multiple of 64; an extra field in the local header pads.
namespace aotc {

namespace {

constexpr uint64_t kLocalHeader = 30, kZip64Extra = 20;
constexpr uint64_t kZip64Limit = 0xffffffffu;
constexpr uint16_t kPaddingTag = 0x4141;  // an unassigned extra field: zeros

uint64_t alignment_of(const std::string& name) { return name == "weights.bin" ? 4096 : 64; }

// An extra field (tag, length, zeros) that brings the data to its alignment.
std::string padding(uint64_t header_end, uint64_t alignment) {
  uint64_t size = 4;
  while ((header_end + size) % alignment != 0) ++size;
  std::string extra(size, '\0');
  uint16_t length = static_cast<uint16_t>(size - 4);
  std::memcpy(extra.data(), &kPaddingTag, 2);
  std::memcpy(extra.data() + 2, &length, 2);
  return extra;
}

bool write_bytes(zipFile zip, std::string_view bytes) {
  constexpr size_t kPiece = 1u << 30;
  bool ok = true;
  for (size_t at = 0; ok && at < bytes.size(); at += kPiece) {
    const std::string_view piece = bytes.substr(at, kPiece);
    ok = zipWriteInFileInZip(zip, piece.data(), static_cast<unsigned>(piece.size())) == ZIP_OK;
  }
  return ok;
}

void add_member(zipFile zip, const PackageFile& f, uint64_t& offset, const std::string& path) {
  int zip64 = f.size() >= kZip64Limit ? 1 : 0;
  uint64_t header_end = offset + kLocalHeader + f.name.size() + (zip64 ? kZip64Extra : 0);
  std::string extra = padding(header_end, alignment_of(f.name));
  zip_fileinfo info{};  // no time stamp: same input, same bytes
  info.dosDate = 0x21;  // 1980-01-01
  bool ok = zipOpenNewFileInZip4_64(zip, f.name.c_str(), &info, extra.data(),
                                    static_cast<uInt>(extra.size()), nullptr, 0, nullptr, 0, 0, 0,
                                    -MAX_WBITS, DEF_MEM_LEVEL, Z_DEFAULT_STRATEGY, nullptr, 0, 45,
                                    0, zip64) == ZIP_OK;
  ok = ok && write_bytes(zip, f.bytes);
  f.weights.read(0, f.weights.size(),
                 [&](std::string_view piece) { ok = ok && write_bytes(zip, piece); });
  ok = zipCloseFileInZip(zip) == ZIP_OK && ok;
  if (!ok)
    user_error("{}: cannot write member {}: {}", path, f.name,
               errno ? std::strerror(errno) : "disk full?");
  offset = header_end + extra.size() + f.size();
}

struct TemporaryFile {
  std::string path;
  bool keep = false;
  ~TemporaryFile() {
    if (!keep && !path.empty()) unlink(path.c_str());
  }
};

void flush_to_disk(const std::string& path) {
  int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  bool ok = fd >= 0 && fsync(fd) == 0;
  int error = errno;
  if (fd >= 0) close(fd);
  if (!ok && error != EINVAL) user_error("{}: cannot write: {}", path, std::strerror(error));
}

// Renaming would replace a device or a pipe by a file, a folder cannot be replaced.
void check_replaceable(const std::string& path) {
  if (path.empty()) user_error("the package has no file name; name it with -o FILE.aotc");
  struct stat info = {};
  if (stat(path.c_str(), &info) != 0 || S_ISREG(info.st_mode)) return;
  user_error("{}: is {}; name a file for the package with -o FILE.aotc", path,
             S_ISDIR(info.st_mode) ? "a folder" : "no regular file");
}

}  // namespace

void check_package_path(const std::string& path) {
  check_replaceable(path);
  const std::filesystem::path folder = std::filesystem::absolute(path).parent_path();
  if (access(folder.c_str(), W_OK) != 0)
    user_error("{}: cannot create a file there: {}", path, std::strerror(errno));
}

void write_package(const Compilation& c, const std::string& path) {
  check_replaceable(path);
  TemporaryFile temporary;
  std::string pattern = path + ".XXXXXX";
  int fd = mkostemp(pattern.data(), O_CLOEXEC);
  if (fd < 0) user_error("{}: cannot create a file there: {}", path, std::strerror(errno));
  temporary.path = pattern;
  fchmod(fd, 0644);
  close(fd);
  errno = 0;
  zipFile zip = zipOpen64(temporary.path.c_str(), APPEND_STATUS_CREATE);
  if (!zip) user_error("{}: cannot write: {}", path, std::strerror(errno));
  uint64_t offset = 0;
  try {
    for (const PackageFile& f : c.package) add_member(zip, f, offset, path);
  } catch (...) {
    zipClose(zip, nullptr);
    throw;
  }
  if (zipClose(zip, nullptr) != ZIP_OK)
    user_error("{}: cannot write: {}", path, errno ? std::strerror(errno) : "disk full?");
  flush_to_disk(temporary.path);
  if (rename(temporary.path.c_str(), path.c_str()) != 0)
    user_error("{}: cannot rename into place: {}", path, std::strerror(errno));
  temporary.keep = true;
}

namespace {

class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path), zip_(unzOpen64(path.c_str())) {
    if (zip_) return;
    if (access(path.c_str(), R_OK) != 0)
      user_error("{}: cannot read: {}", path, std::strerror(errno));
    user_error(
        "{}: not an aotc package (no zip archive); compile the model first: aotc compile MODEL.pt2",
        path);
  }
  ~Reader() { unzClose(zip_); }

  std::optional<std::string> read(const std::string& member) {
    if (unzLocateFile(zip_, member.c_str(), 1) != UNZ_OK) return std::nullopt;
    unz_file_info64 info;
    if (unzGetCurrentFileInfo64(zip_, &info, nullptr, 0, nullptr, 0, nullptr, 0) != UNZ_OK ||
        unzOpenCurrentFile(zip_) != UNZ_OK)
      damaged(member);
    std::string bytes;
    char piece[1 << 16];
    int n;
    while ((n = unzReadCurrentFile(zip_, piece, sizeof piece)) > 0)
      bytes.append(piece, static_cast<size_t>(n));
    if (n < 0 || unzCloseCurrentFile(zip_) != UNZ_OK) damaged(member);
    return bytes;
  }

  std::vector<std::string> names() {
    std::vector<std::string> list;
    for (int r = unzGoToFirstFile(zip_); r == UNZ_OK; r = unzGoToNextFile(zip_)) {
      char name[1024];
      unz_file_info64 info;
      if (unzGetCurrentFileInfo64(zip_, &info, name, sizeof name, nullptr, 0, nullptr, 0) != UNZ_OK)
        damaged("?");
      list.push_back(name);
    }
    return list;
  }

 private:
  [[noreturn]] void damaged(const std::string& member) {
    user_error("{}: member {} is damaged", path_, member);
  }
  std::string path_;
  unzFile zip_;
};

}  // namespace

std::optional<std::string> read_package_member(const std::string& path, const std::string& member) {
  return Reader(path).read(member);
}
std::vector<std::string> list_package(const std::string& path) { return Reader(path).names(); }

}  // namespace aotc
