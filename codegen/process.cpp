// posix_spawn with a pipe for the output; temporary folders.
#include "codegen/process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string_view>

#include "ir/error.h"

extern char** environ;
namespace fs = std::filesystem;

namespace aotc {
namespace {

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> out;
  for (std::string& s : strings) out.push_back(s.data());
  out.push_back(nullptr);
  return out;
}

std::vector<std::string> child_environment(const fs::path& folder) {
  std::vector<std::string> out = {"LC_ALL=C", "TMPDIR=" + folder.string()};
  for (char** entry = environ; *entry; ++entry) {
    std::string_view text = *entry;
    if (!text.starts_with("LC_ALL=") && !text.starts_with("TMPDIR=")) out.emplace_back(text);
  }
  return out;
}

// What the child does before it executes the program: output into the pipe, no input, own folder.
class SpawnActions {
 public:
  SpawnActions(int output, const fs::path& folder) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions_, output, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions_, output, STDERR_FILENO);
    posix_spawn_file_actions_addchdir_np(&actions_, folder.c_str());
  }
  ~SpawnActions() { posix_spawn_file_actions_destroy(&actions_); }
  SpawnActions(const SpawnActions&) = delete;
  SpawnActions& operator=(const SpawnActions&) = delete;
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

std::string read_all(int fd) {
  std::string out;
  char buffer[4096];
  for (;;) {
    ssize_t n = read(fd, buffer, sizeof buffer);
    if (n > 0) out.append(buffer, static_cast<size_t>(n));
    if (n == 0 || (n < 0 && errno != EINTR)) return out;
  }
}

ProcessResult wait_for(pid_t child, std::string output) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) user_error("cannot wait for a compiler process: {}", std::strerror(errno));
  if (WIFSIGNALED(status)) return {-1, WTERMSIG(status), std::move(output)};
  return {WEXITSTATUS(status), 0, std::move(output)};
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
  const char* base = std::getenv("TMPDIR");
  std::string pattern = std::string(base && *base ? base : "/tmp") + "/aotc-XXXXXX";
  if (!mkdtemp(pattern.data()))
    user_error("cannot make a temporary folder '{}': {}; set TMPDIR to a writable folder", pattern,
               std::strerror(errno));
  path_ = fs::absolute(pattern);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

fs::path find_on_path(const std::string& name) {
  const char* variable = std::getenv("PATH");
  std::string_view rest = variable ? variable : "";
  while (!rest.empty()) {
    size_t end = std::min(rest.find(':'), rest.size());
    fs::path candidate = fs::path(rest.substr(0, end)) / name;
    rest.remove_prefix(std::min(end + 1, rest.size()));
    std::error_code ignored;
    if (fs::is_regular_file(candidate, ignored) && access(candidate.c_str(), X_OK) == 0)
      return fs::absolute(candidate);
  }
  return {};
}

ProcessResult run_process(const std::vector<std::string>& arguments, const fs::path& folder) {
  std::vector<std::string> words = arguments, variables = child_environment(folder);
  int pipe_ends[2];
  if (pipe2(pipe_ends, O_CLOEXEC) != 0) user_error("cannot make a pipe: {}", std::strerror(errno));
  pid_t child = -1;
  int failure = 0;
  {
    SpawnActions actions(pipe_ends[1], folder);
    failure = posix_spawn(&child, words[0].c_str(), actions.get(), nullptr, pointers(words).data(),
                          pointers(variables).data());
  }
  close(pipe_ends[1]);
  std::string output = failure ? "" : read_all(pipe_ends[0]);
  close(pipe_ends[0]);
  if (failure) user_error("cannot start '{}': {}", words[0], std::strerror(failure));
  return wait_for(child, std::move(output));
}

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!file) user_error("cannot read '{}'", path.string());
  return bytes;
}

void write_file(const fs::path& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary);
  if (!file.write(bytes.data(), static_cast<std::streamsize>(bytes.size())).flush())
    user_error("cannot write '{}': {}", path.string(), std::strerror(errno));
}

}  // namespace aotc
