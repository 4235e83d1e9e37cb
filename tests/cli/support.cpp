// Processes with both outputs kept apart.
#include "support.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>

extern char** environ;
namespace fs = std::filesystem;

namespace aotc::cli::test {
namespace {

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> out;
  for (std::string& s : strings) out.push_back(s.data());
  out.push_back(nullptr);
  return out;
}

}  // namespace

Folder::Folder() {
  std::string pattern = (fs::temp_directory_path() / "aotc-test-XXXXXX").string();
  REQUIRE(mkdtemp(pattern.data()) != nullptr);
  path_ = pattern;
}

Folder::~Folder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

RunResult aotc(const std::vector<std::string>& arguments, const fs::path& folder,
               const std::vector<std::string>& environment) {
  const Folder outputs;
  const std::string out = (outputs / "out").string(), err = (outputs / "err").string();
  std::vector<std::string> command = {AOTC_PROGRAM}, variables = environment;
  command.insert(command.end(), arguments.begin(), arguments.end());
  for (char** entry = environ; *entry; ++entry) variables.push_back(*entry);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, out.c_str(), O_CREAT | O_WRONLY, 0600);
  posix_spawn_file_actions_addopen(&actions, 2, err.c_str(), O_CREAT | O_WRONLY, 0600);
  posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  pid_t pid = 0;
  const int error = posix_spawn(&pid, AOTC_PROGRAM, &actions, nullptr, pointers(command).data(),
                                pointers(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  REQUIRE(error == 0);
  int status = 0;
  REQUIRE(waitpid(pid, &status, 0) == pid);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_text(out), read_text(err)};
}

RunResult aotc(const std::vector<std::string>& arguments) {
  const Folder folder;
  return aotc(arguments, folder.path());
}

std::string data(const std::string& name) {
  return std::string(AOTC_TESTS_DIR) + "/cli/data/" + name;
}

std::string read_text(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

void write_text(const fs::path& file, const std::string& text) {
  std::ofstream out(file, std::ios::binary);
  out << text;
}

Array floats(const std::vector<float>& values, std::vector<int64_t> shape) {
  return {DType::Float32,
          std::move(shape),
          {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)}};
}

Array integers(const std::vector<int64_t>& values, std::vector<int64_t> shape) {
  return {DType::Int64,
          std::move(shape),
          {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(int64_t)}};
}

std::string package_of(const std::string& program) {
  static const Folder folder;
  static std::map<std::string, std::string> packages;
  std::string& package = packages[program];
  if (!package.empty()) return package;
  package = (folder / (program + ".aotc")).string();
  const RunResult r = aotc({"compile", data(program), "-o", package, "--quiet"});
  INFO(r.err);
  REQUIRE(r.exit_code == 0);
  return package;
}

}  // namespace aotc::cli::test
