// The replay file of an internal error.
#include <signal.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "codegen/cli/crash_report.h"
#include "codegen/cli/replay.h"
#include "codegen/cli/worker_pool.h"
#include "support.h"

namespace aotc::cli::test {
namespace {

// Changes the current folder for one test.
class Inside {
 public:
  explicit Inside(const std::filesystem::path& folder) : before_(std::filesystem::current_path()) {
    std::filesystem::current_path(folder);
  }
  ~Inside() { std::filesystem::current_path(before_); }

 private:
  std::filesystem::path before_;
};

}  // namespace

TEST_CASE("arguments are quoted as a shell needs it", "[replay]") {
  CHECK(command_line({"aotc", "run", "a b", "it's", ""}) == "aotc run 'a b' 'it'\\''s' ''");
}

TEST_CASE("the file has the stage, the error and the command", "[replay]") {
  const Folder folder;
  const Inside inside(folder.path());
  const std::string file = write_replay({"aotc", "compile", "m.pt2"}, "fused", "broken");
  CHECK(file == "aotc-replay-" + std::to_string(getpid()) + ".txt");
  const std::string text = read_text(folder / file);
  for (const char* part :
       {"stage:   fused", "error:   broken", "aotc compile m.pt2", "version: aotc "})
    CHECK(text.find(part) != std::string::npos);
  CHECK(text.find(folder.str()) != std::string::npos);
}

TEST_CASE("a crash is exit code 70 and leaves a replay file", "[replay]") {
  const Folder folder;
  const Inside inside(folder.path());
  std::string failure;
  run_in_workers(
      1, {},
      [](size_t, const auto&) {
        close(STDERR_FILENO);
        report_crashes({"aotc", "compile", "m.pt2"});
        raise(SIGSEGV);
      },
      [&](size_t, const JobOutcome& outcome) { failure = outcome.failure; });
  CHECK(failure == "ended its process with exit code 70");
  const std::filesystem::directory_iterator files(folder.path());
  REQUIRE(files != std::filesystem::directory_iterator());
  const std::string text = read_text(files->path());
  CHECK(files->path().filename().string().starts_with("aotc-replay-"));
  CHECK(text.find("SIGSEGV") != std::string::npos);
  CHECK(text.find("aotc compile m.pt2") != std::string::npos);
}

}  // namespace aotc::cli::test
