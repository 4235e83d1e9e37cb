// All text is made in advance: a signal handler may only write it.
#include "codegen/cli/crash_report.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <memory>

#include "codegen/cli/commands.h"
#include "codegen/cli/replay.h"
#include "codegen/cli/stage_clock.h"

namespace aotc::cli {
namespace {

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
constexpr size_t kStackBytes = 64 << 10;

struct Texts {
  std::string file, other_file;  // the second where the first cannot be written
  std::string head, replay;
  std::unique_ptr<char[]> stack;
};

Texts& texts() {
  static Texts t;
  return t;
}

void put(int fd, const char* text) {
  for (size_t left = std::strlen(text); left > 0;) {
    const ssize_t n = write(fd, text, left);
    if (n <= 0) return;
    text += n;
    left -= static_cast<size_t>(n);
  }
}

void put_stage_and_signal(int fd, int signal) {
  const char* name = sigabbrev_np(signal);
  put(fd, "stage:   ");
  put(fd, current_stage());
  put(fd, "\nerror:   crashed with SIG");
  put(fd, name ? name : "?");
  put(fd, "\n");
}

void on_crash(int signal) {
  const Texts& t = texts();
  const char* file = t.file.c_str();
  int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0)
    fd = open(file = t.other_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd >= 0) {
    put(fd, t.head.c_str());
    put_stage_and_signal(fd, signal);
    put(fd, t.replay.c_str());
  }
  put(STDERR_FILENO, "aotc: error: internal error: this is a fault of aotc, not of the program.\n");
  put_stage_and_signal(STDERR_FILENO, signal);
  put(STDERR_FILENO, t.replay.c_str());
  if (fd >= 0) {
    put(STDERR_FILENO, "Details are in ");
    put(STDERR_FILENO, file);
    put(STDERR_FILENO, "\n");
  }
  _exit(kExitInternal);
}

}  // namespace

void report_crashes(const std::vector<std::string>& arguments) {
  Texts& t = texts();
  t.file = replay_file_name();
  t.other_file = fallback_folder() + "/" + t.file;
  t.head = fmt::format("version: aotc {}\n", AOTC_VERSION_TEXT);
  t.replay = fmt::format("replay:  {}\n", replay_command(arguments));
  // A stack of its own: the crash may be an overflow of the stack.
  t.stack = std::make_unique<char[]>(kStackBytes);
  stack_t stack{};
  stack.ss_sp = t.stack.get();
  stack.ss_size = kStackBytes;
  sigaltstack(&stack, nullptr);
  struct sigaction action{};
  action.sa_handler = on_crash;
  action.sa_flags = SA_ONSTACK | static_cast<int>(SA_RESETHAND);
  for (int signal : kSignals) sigaction(signal, &action, nullptr);
}

void stop_reporting_crashes() {
  for (int signal : kSignals) ::signal(signal, SIG_DFL);
}

}  // namespace aotc::cli
