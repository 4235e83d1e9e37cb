// Builds packages for tests: a zip of stored members as the compiler writes it.
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace aotc::test {

using Members = std::vector<std::pair<std::string, std::string>>;  // name, content

// A zip; each member's content starts at a multiple of `alignment`. With `zip64`, sizes and offsets
// are in the 64-bit fields.
std::string make_zip(const Members& members, size_t alignment = 1, bool zip64 = false);

// The manifest of a package of one library.
std::string make_manifest(const std::string& digest, const std::string& cpu_list, int major = 1,
                          int abi = 1);

// The CPU list with one entry for any machine.
std::string any_cpu(const std::string& file = "model.so");

std::string read_file(const std::string& path);
void write_file(const std::string& path, const std::string& content);

// A folder that is removed with its content at the end.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace aotc::test
