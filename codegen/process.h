// Running another program with an argument vector, and temporary folders for it.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace aotc {

// A folder of our own in $TMPDIR (or /tmp), removed with its contents at the end. Throws UserError
// when it cannot be made.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

struct ProcessResult {
  int exit_code = 0;  // -1: ended by `signal`
  int signal = 0;
  std::string output;  // standard output and standard error together
};

// The executable `name` on $PATH; empty when there is none.
std::filesystem::path find_on_path(const std::string& name);

// Runs `arguments` (the first is the file to execute) in `folder`, with messages in English and
// TMPDIR set to `folder`, and waits for its end. No shell is involved. Throws UserError when it
// cannot be started.
ProcessResult run_process(const std::vector<std::string>& arguments,
                          const std::filesystem::path& folder);

// Whole files. Throw UserError that names the file.
std::string read_file(const std::filesystem::path& path);
void write_file(const std::filesystem::path& path, const std::string& bytes);

}  // namespace aotc
