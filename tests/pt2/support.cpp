// Helpers of the reader's tests; the zip writer knows the forms that torch and others write.
#include "support.h"

#include <unistd.h>
#include <zlib.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "ir/error.h"
#include "ir/pt2/zip.h"

namespace aotc::test {
namespace {

void put(std::string& out, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i) & 0xff);
}

std::string deflated(const std::string& data) {
  z_stream s = {};
  if (deflateInit2(&s, 9, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::runtime_error("deflateInit2");
  std::string out(deflateBound(&s, data.size()) + 16, '\0');
  s.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));
  s.avail_in = static_cast<uInt>(data.size());
  s.next_out = reinterpret_cast<Bytef*>(out.data());
  s.avail_out = static_cast<uInt>(out.size());
  if (deflate(&s, Z_FINISH) != Z_STREAM_END) throw std::runtime_error("deflate");
  out.resize(s.total_out);
  deflateEnd(&s);
  return out;
}

struct Entry {
  const ZipFile* file;
  std::string packed;
  uint32_t crc;
  uint64_t offset;
};

constexpr uint64_t kIn64 = 0xffffffff;

void put_local(std::string& out, const Entry& e) {
  const ZipFile& f = *e.file;
  out += "PK\3\4";
  put(out, 45, 2);
  put(out, f.descriptor ? 0x808 : 0x800, 2);
  put(out, f.deflate ? 8 : 0, 2);
  put(out, 0, 4);
  put(out, f.descriptor ? 0 : e.crc, 4);
  put(out, f.descriptor ? 0 : e.packed.size(), 4);
  put(out, f.descriptor ? 0 : f.data.size(), 4);
  put(out, f.name.size(), 2);
  put(out, f.padding, 2);
  out += f.name + std::string(f.padding, '\0') + e.packed;
  if (!f.descriptor) return;
  out += "PK\7\10";
  put(out, e.crc, 4);
  put(out, e.packed.size(), 4);
  put(out, f.data.size(), 4);
}

void put_central(std::string& out, const Entry& e) {
  const ZipFile& f = *e.file;
  std::string extra;
  if (f.zip64) {
    put(extra, 1, 2);
    put(extra, 24, 2);
    for (const uint64_t value : {uint64_t{f.data.size()}, uint64_t{e.packed.size()}, e.offset})
      put(extra, value, 8);
  }
  out += "PK\1\2";
  put(out, 45, 2);
  put(out, 45, 2);
  put(out, f.descriptor ? 0x808 : 0x800, 2);
  put(out, f.deflate ? 8 : 0, 2);
  put(out, 0, 4);
  put(out, e.crc, 4);
  put(out, f.zip64 ? kIn64 : e.packed.size(), 4);
  put(out, f.zip64 ? kIn64 : f.data.size(), 4);
  put(out, f.name.size(), 2);
  put(out, extra.size(), 2);
  out += std::string(10, '\0');
  put(out, f.zip64 ? kIn64 : e.offset, 4);
  out += f.name + extra;
}

void put_end64(std::string& out, uint64_t count, uint64_t size, uint64_t offset) {
  const uint64_t at = out.size();
  out += "PK\6\6";
  put(out, 44, 8);
  put(out, 45, 2);
  put(out, 45, 2);
  put(out, 0, 8);
  put(out, count, 8);
  put(out, count, 8);
  put(out, size, 8);
  put(out, offset, 8);
  out += "PK\6\7";
  put(out, 0, 4);
  put(out, at, 8);
  put(out, 1, 4);
}

}  // namespace

std::string data_path(const std::string& name) {
  return std::string(AOTC_TESTS_DIR) + "/pt2/data/" + name;
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot open " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TempFile::TempFile(std::string_view bytes, const std::string& suffix) {
  // Thousands of files are written: in memory, where the system has a place for that.
  const std::filesystem::path memory("/dev/shm");
  const bool usable = ::access(memory.c_str(), W_OK) == 0;
  path_ =
      (usable ? memory : std::filesystem::temp_directory_path()) / ("aotc-test-XXXXXX" + suffix);
  const int fd = mkstemps(path_.data(), static_cast<int>(suffix.size()));
  if (fd < 0) throw std::runtime_error("cannot make " + path_);
  ::close(fd);
  write(bytes);
}

TempFile::~TempFile() { std::filesystem::remove(path_); }

void TempFile::write(std::string_view bytes) const {
  std::ofstream file(path_, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

std::string make_zip(const std::vector<ZipFile>& files, bool zip64_end,
                     const std::string& comment) {
  std::string out;
  std::vector<Entry> entries;
  for (const ZipFile& f : files) {
    entries.push_back(
        {&f, f.deflate ? deflated(f.data) : f.data, pt2::crc32_of(f.data), out.size()});
    put_local(out, entries.back());
  }
  const uint64_t directory = out.size();
  for (const Entry& e : entries) put_central(out, e);
  const uint64_t size = out.size() - directory;
  if (zip64_end) put_end64(out, files.size(), size, directory);
  out += "PK\5\6";
  put(out, 0, 4);
  put(out, zip64_end ? 0xffff : files.size(), 2);
  put(out, zip64_end ? 0xffff : files.size(), 2);
  put(out, zip64_end ? kIn64 : size, 4);
  put(out, zip64_end ? kIn64 : directory, 4);
  put(out, comment.size(), 2);
  return out + comment;
}

std::vector<ZipFile> unzip(const std::string& bytes) {
  pt2::Backing backing;
  backing.inflate_budget = uint64_t{1} << 30;
  const pt2::ZipArchive archive(bytes, "archive");
  std::vector<ZipFile> files;
  for (const pt2::ZipMember& m : archive.members())
    files.push_back({m.name, std::string(archive.read_checked(m, backing))});
  return files;
}

ZipFile& member_ending(std::vector<ZipFile>& files, std::string_view end) {
  for (ZipFile& f : files)
    if (f.name.ends_with(end)) return f;
  throw std::runtime_error("no member " + std::string(end));
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  if (text.find(from) == std::string::npos)
    throw std::runtime_error("nothing to replace: " + std::string(from));
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

NpyArray dense(const pt2::ExportedProgram& program, const pt2::StoredTensor& tensor) {
  NpyArray array{tensor.dtype, tensor.sizes, {}};
  const std::string_view bytes = program.storages.at(static_cast<size_t>(tensor.storage)).bytes;
  const int64_t element = element_size(tensor.dtype);
  int64_t count = 1;
  for (const int64_t size : tensor.sizes) count *= size;
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i, at = tensor.offset;
    for (size_t d = tensor.sizes.size(); d-- > 0;) {
      at += rest % tensor.sizes[d] * tensor.strides[d];
      rest /= tensor.sizes[d];
    }
    array.data += bytes.substr(static_cast<size_t>(at * element), static_cast<size_t>(element));
  }
  return array;
}

std::vector<float> floats(const pt2::ExportedProgram& program, const pt2::StoredTensor& tensor) {
  const std::string data = dense(program, tensor).data;
  std::vector<float> values(data.size() / sizeof(float));
  std::memcpy(values.data(), data.data(), data.size());
  return values;
}

std::string refusal(const std::string& path) {
  try {
    pt2::read_pt2(path);
    return "";
  } catch (const UserError& e) {
    return e.what();
  }
}

std::string refusal_of_bytes(std::string_view bytes) { return refusal(TempFile(bytes).path()); }

}  // namespace aotc::test
