// A pipe per child carries records: a kind, a length, bytes. The parent waits on all pipes at once.
#include "codegen/cli/worker_pool.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <deque>
#include <list>
#include <map>

#include "ir/error.h"

namespace aotc::cli {
namespace {

using Clock = std::chrono::steady_clock;
using Reporter = std::function<void(const std::string&)>;
using Work = std::function<void(size_t, const Reporter&)>;

enum class Kind : uint8_t { Begin, Report, End };

struct Header {
  Kind kind;
  uint64_t size;
};

// Ends the process when the parent is gone.
void write_record(int fd, Kind kind, const std::string& text = "") {
  Header header{};
  header.kind = kind;
  header.size = text.size();
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  bytes += text;
  for (size_t at = 0; at < bytes.size();) {
    const ssize_t n = write(fd, bytes.data() + at, bytes.size() - at);
    if (n < 0 && errno != EINTR) _exit(1);
    if (n > 0) at += static_cast<size_t>(n);
  }
}

struct Range {
  size_t first, last;
};

[[noreturn]] void work_in_child(const Range& range, int fd, pid_t parent, const Work& work) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  for (size_t job = range.first; job < range.last; ++job) {
    write_record(fd, Kind::Begin);
    work(job, [&](const std::string& text) { write_record(fd, Kind::Report, text); });
    write_record(fd, Kind::End);
  }
  _exit(0);  // destructors of the parent's objects are the parent's
}

struct Worker {
  pid_t pid = -1;
  int fd = -1;
  Range left{};  // jobs that have not ended; the first may have begun
  bool begun = false, timed_out = false;
  Clock::time_point job_start;
  std::string buffer;
  JobOutcome outcome;  // of the job that has begun
};

std::string end_text(const Worker& w, int status, double timeout) {
  if (w.timed_out) return fmt::format("timed out after {:g} s", timeout);
  if (WIFSIGNALED(status)) return fmt::format("crashed: {}", strsignal(WTERMSIG(status)));
  return fmt::format("ended its process with exit code {}", WEXITSTATUS(status));
}

class Pool {
 public:
  Pool(size_t count, const WorkerSettings& settings, const Work& work,
       const std::function<void(size_t, const JobOutcome&)>& done)
      : settings_(settings), work_(work), done_(done) {
    for (size_t first = 0; first < count; first += settings.jobs_per_worker)
      waiting_.push_back({first, std::min(count, first + settings.jobs_per_worker)});
  }
  ~Pool() {
    for (Worker& w : workers_) {
      kill(w.pid, SIGKILL);
      close(w.fd);
      waitpid(w.pid, nullptr, 0);
    }
  }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  void run() {
    while (!waiting_.empty() || !workers_.empty()) {
      while (!waiting_.empty() && workers_.size() < static_cast<size_t>(settings_.workers)) start();
      wait();
    }
  }

 private:
  void start() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) user_error("cannot make a pipe: {}", std::strerror(errno));
    std::fflush(nullptr);
    const pid_t parent = getpid(), pid = fork();
    if (pid < 0) user_error("cannot start a process: {}", std::strerror(errno));
    if (pid == 0) {
      close(ends[0]);
      for (const Worker& other : workers_) close(other.fd);
      work_in_child(waiting_.front(), ends[1], parent, work_);
    }
    close(ends[1]);
    Worker w;
    w.pid = pid;
    w.fd = ends[0];
    w.left = waiting_.front();
    waiting_.pop_front();
    workers_.push_back(std::move(w));
  }

  void wait() {
    std::vector<pollfd> fds;
    for (const Worker& w : workers_) fds.push_back({w.fd, POLLIN, 0});
    const int ready = poll(fds.data(), fds.size(), 200);
    if (ready < 0 && errno != EINTR)
      user_error("cannot wait for processes: {}", std::strerror(errno));
    size_t i = 0;
    for (auto w = workers_.begin(); w != workers_.end();) {
      const bool readable = ready > 0 && fds[i++].revents != 0;
      if (readable && !read_records(*w)) {
        finish(*w);
        w = workers_.erase(w);
      } else {
        stop_if_late(*w++);
      }
    }
  }

  // False at the end of the pipe.
  bool read_records(Worker& w) {
    char piece[1 << 16];
    const ssize_t n = read(w.fd, piece, sizeof piece);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) return true;
    if (n <= 0) return false;
    w.buffer.append(piece, static_cast<size_t>(n));
    Header header;
    size_t at = 0;
    while (w.buffer.size() - at >= sizeof header) {
      std::memcpy(&header, w.buffer.data() + at, sizeof header);
      if (w.buffer.size() - at - sizeof header < header.size) break;
      take(w, header.kind, w.buffer.substr(at + sizeof header, header.size));
      at += sizeof header + header.size;
    }
    w.buffer.erase(0, at);
    return true;
  }

  void take(Worker& w, Kind kind, std::string text) {
    if (kind == Kind::Report) return w.outcome.reports.push_back(std::move(text));
    if (kind == Kind::End) return end_job(w, "");
    w.begun = true;
    w.job_start = Clock::now();
  }

  // Outcomes are handed on in order; early ones wait.
  void end_job(Worker& w, const std::string& failure) {
    w.outcome.failure = failure;
    ended_[w.left.first++] = std::move(w.outcome);
    w.outcome = {};
    w.begun = false;
    for (auto next = ended_.begin(); next != ended_.end() && next->first == next_;
         next = ended_.erase(next))
      done_(next_++, next->second);
  }

  // Its process is gone. What it had not begun goes back.
  void finish(Worker& w) {
    close(w.fd);
    int status = 0;
    while (waitpid(w.pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (w.left.first < w.left.last) end_job(w, end_text(w, status, settings_.timeout_seconds));
    if (w.left.first < w.left.last) waiting_.push_front(w.left);
  }

  void stop_if_late(Worker& w) {
    if (settings_.timeout_seconds <= 0 || !w.begun || w.timed_out) return;
    const std::chrono::duration<double> taken = Clock::now() - w.job_start;
    if (taken.count() < settings_.timeout_seconds) return;
    w.timed_out = true;
    kill(w.pid, SIGKILL);
  }

  const WorkerSettings settings_;
  const Work& work_;
  const std::function<void(size_t, const JobOutcome&)>& done_;
  std::deque<Range> waiting_;
  std::list<Worker> workers_;
  std::map<size_t, JobOutcome> ended_;
  size_t next_ = 0;
};

}  // namespace

void run_in_workers(size_t count, const WorkerSettings& settings, const Work& work,
                    const std::function<void(size_t, const JobOutcome&)>& done) {
  Pool(count, settings, work, done).run();
}

}  // namespace aotc::cli
