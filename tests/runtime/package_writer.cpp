// See APPNOTE for the zip format.
#include "package_writer.h"

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace aotc::test {
namespace {

void put(std::string* out, uint64_t value, int width) {
  for (int i = 0; i < width; ++i) out->push_back(static_cast<char>(value >> (8 * i)));
}

uint32_t crc32(const std::string& bytes) {
  uint32_t crc = 0xffffffff;
  for (char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) ? 0xedb88320u : 0u);
  }
  return ~crc;
}

void put_local(std::string* out, const std::string& name, const std::string& content,
               size_t alignment) {
  const size_t start = out->size() + 30 + name.size();
  const size_t padding = (alignment - start % alignment) % alignment;
  put(out, 0x04034b50, 4);
  put(out, 20, 2);
  put(out, 0, 8);  // flags, method, time, date
  put(out, crc32(content), 4);
  put(out, content.size(), 4);
  put(out, content.size(), 4);
  put(out, name.size(), 2);
  put(out, padding, 2);
  *out += name + std::string(padding, '\0') + content;
}

void put_entry(std::string* out, const std::string& name, const std::string& content,
               uint64_t offset, bool zip64) {
  const uint64_t all = 0xffffffff;
  put(out, 0x02014b50, 4);
  put(out, 20, 2);
  put(out, 20, 2);
  put(out, 0, 8);
  put(out, crc32(content), 4);
  put(out, zip64 ? all : content.size(), 4);
  put(out, zip64 ? all : content.size(), 4);
  put(out, name.size(), 2);
  put(out, zip64 ? 28 : 0, 2);
  put(out, 0, 8);  // comment, disk, attributes
  put(out, 0, 2);
  put(out, zip64 ? all : offset, 4);
  *out += name;
  if (!zip64) return;
  put(out, 1, 2);
  put(out, 24, 2);
  for (uint64_t value : {uint64_t{content.size()}, uint64_t{content.size()}, offset})
    put(out, value, 8);
}

void put_end(std::string* out, uint64_t start, uint64_t count, bool zip64) {
  const uint64_t end = out->size(), size = end - start;
  if (zip64) {
    put(out, 0x06064b50, 4);
    put(out, 44, 8);
    put(out, 45, 2);
    put(out, 45, 2);
    put(out, 0, 8);
    for (uint64_t value : {count, count, size, start}) put(out, value, 8);
    put(out, 0x07064b50, 4);
    put(out, 0, 4);
    put(out, end, 8);
    put(out, 1, 4);
  }
  put(out, 0x06054b50, 4);
  put(out, 0, 4);
  put(out, zip64 ? 0xffff : count, 2);
  put(out, zip64 ? 0xffff : count, 2);
  put(out, zip64 ? 0xffffffff : size, 4);
  put(out, zip64 ? 0xffffffff : start, 4);
  put(out, 0, 2);
}

}  // namespace

std::string make_zip(const Members& members, size_t alignment, bool zip64) {
  std::string out;
  std::vector<uint64_t> offsets;
  for (const auto& [name, content] : members) {
    offsets.push_back(out.size());
    put_local(&out, name, content, alignment);
  }
  const uint64_t start = out.size();
  for (size_t i = 0; i < members.size(); ++i)
    put_entry(&out, members[i].first, members[i].second, offsets[i], zip64);
  put_end(&out, start, members.size(), zip64);
  return out;
}

std::string make_manifest(const std::string& digest, const std::string& cpu_list, int major,
                          int abi) {
  return "{\"format\": {\"major\": " + std::to_string(major) +
         ", \"minor\": 0}, \"abi\": " + std::to_string(abi) + ", \"cpu\": " + cpu_list +
         ", \"aliased_io\": {\"version\": 1, \"digest\": \"" + digest +
         "\"}, \"made\": [1, {\"by\": null}]}";
}

std::string any_cpu(const std::string& file) {
#if defined(__aarch64__)
  const std::string level = "aarch64";
#else
  const std::string level = "x86-64";
#endif
  return "[{\"level\": \"" + level + "\", \"file\": \"" + file + "\"}]";
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

void write_file(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
}

TemporaryFolder::TemporaryFolder() {
  path_ = (std::filesystem::temp_directory_path() / "aotc-test-XXXXXX").string();
  if (!mkdtemp(path_.data())) throw std::runtime_error("cannot make a folder like " + path_);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace aotc::test
