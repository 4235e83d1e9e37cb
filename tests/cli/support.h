// Running the program under test, and folders to do it in.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "codegen/cli/array_file.h"

namespace aotc::cli::test {

struct RunResult {
  int exit_code = -1;  // -1: ended by a signal
  std::string out, err;
};

// A new empty folder, removed with its content.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }
  std::string str() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

// Runs bin/aotc with these arguments in `folder`; `environment`: "NAME=value" to add.
RunResult aotc(const std::vector<std::string>& arguments, const std::filesystem::path& folder,
               const std::vector<std::string>& environment = {});
RunResult aotc(const std::vector<std::string>& arguments);

// A file of tests/cli/data.
std::string data(const std::string& name);
std::string read_text(const std::filesystem::path& file);
void write_text(const std::filesystem::path& file, const std::string& text);

Array floats(const std::vector<float>& values, std::vector<int64_t> shape);
Array integers(const std::vector<int64_t>& values, std::vector<int64_t> shape);

// The package of a fixture, compiled once per process.
std::string package_of(const std::string& program);

}  // namespace aotc::cli::test
