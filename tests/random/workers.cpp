// A pipe per process; a process works off its jobs one after the other and is started anew after
// one that ended it.
#include "workers.h"

#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <vector>

#include "ir/error.h"

namespace aotc::random_graphs {
namespace {

using Clock = std::chrono::steady_clock;
constexpr uint64_t kJobsPerProcess = 200;  // loaded libraries stay: memory is given back by ending
constexpr rlim_t kMaxBytes = rlim_t{6} << 30;

void write_all(int file, const void* data, size_t size) {
  const char* at = static_cast<const char*>(data);
  while (size > 0) {
    ssize_t n = write(file, at, size);
    if (n <= 0) _exit(3);
    at += n;
    size -= static_cast<size_t>(n);
  }
}

struct Header {
  uint64_t job, size;
};

struct Worker {
  uint64_t next, end, step;  // jobs next, next + step, ...
  pid_t process = -1;
  int pipe = -1;
  std::string received;
  Clock::time_point deadline;
  bool is_done() const { return next >= end; }
};

class Jobs {
 public:
  Jobs(int seconds, const std::function<std::string(uint64_t)>& work,
       const std::function<void(const JobResult&)>& done)
      : seconds_(seconds), work_(work), done_(done) {}

  void run(uint64_t first, uint64_t count, int processes) {
    auto step = static_cast<uint64_t>(processes);
    for (uint64_t i = 0; i < step && i < count; ++i)
      workers_.push_back({first + i, first + count, step, -1, -1, {}, {}});
    for (Worker& w : workers_) start(w);
    while (true) {
      std::vector<pollfd> files;
      std::vector<Worker*> of;
      for (Worker& w : workers_)
        if (w.process > 0) {
          files.push_back({w.pipe, POLLIN, 0});
          of.push_back(&w);
        }
      if (files.empty()) return;
      poll(files.data(), files.size(), 500);
      for (size_t i = 0; i < files.size(); ++i) {
        if (files[i].revents)
          receive(*of[i]);
        else if (Clock::now() > of[i]->deadline)
          kill(of[i]->process, SIGKILL);
      }
    }
  }

 private:
  void renew(Worker& w) { w.deadline = Clock::now() + std::chrono::seconds(seconds_); }

  void start(Worker& w) {
    int ends[2];
    if (pipe(ends) != 0) user_error("no pipe: {}", std::strerror(errno));
    std::fflush(nullptr);
    w.process = fork();
    if (w.process < 0) user_error("no process: {}", std::strerror(errno));
    if (w.process == 0) {
      close(ends[0]);
      child(w, ends[1]);
    }
    close(ends[1]);
    w.pipe = ends[0];
    w.received.clear();
    renew(w);
  }

  [[noreturn]] void child(const Worker& w, int out) {
    rlimit memory{kMaxBytes, kMaxBytes};
    setrlimit(RLIMIT_AS, &memory);
    rlimit none{0, 0};
    setrlimit(RLIMIT_CORE, &none);
    uint64_t jobs = 0;
    for (uint64_t job = w.next; job < w.end && jobs < kJobsPerProcess; job += w.step, ++jobs) {
      std::string text = work_(job);
      Header h{job, text.size()};
      write_all(out, &h, sizeof h);
      write_all(out, text.data(), text.size());
    }
    _exit(0);
  }

  void receive(Worker& w) {
    char buffer[1 << 16];
    ssize_t n = read(w.pipe, buffer, sizeof buffer);
    if (n <= 0) return ended(w);
    w.received.append(buffer, static_cast<size_t>(n));
    Header h;
    while (w.received.size() >= sizeof h) {
      std::memcpy(&h, w.received.data(), sizeof h);
      if (w.received.size() < sizeof h + h.size) return;
      done_({h.job, true, w.received.substr(sizeof h, h.size)});
      w.received.erase(0, sizeof h + h.size);
      w.next = h.job + w.step;
      renew(w);
    }
  }

  void ended(Worker& w) {
    close(w.pipe);
    int status = 0;
    waitpid(w.process, &status, 0);
    w.process = -1;
    bool clean = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (!clean) {
      std::string how = WIFSIGNALED(status)
                            ? fmt::format("ended by signal {} ({})", WTERMSIG(status),
                                          strsignal(WTERMSIG(status)))
                            : fmt::format("ended with code {}", WEXITSTATUS(status));
      if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
        how = fmt::format("no answer in {} s (or out of memory)", seconds_);
      done_({w.next, false, how});
      w.next += w.step;
    }
    if (!w.is_done()) start(w);
  }

  const int seconds_;
  const std::function<std::string(uint64_t)>& work_;
  const std::function<void(const JobResult&)>& done_;
  std::vector<Worker> workers_;
};

}  // namespace

void run_jobs(uint64_t first, uint64_t count, int processes, int seconds,
              const std::function<std::string(uint64_t)>& work,
              const std::function<void(const JobResult&)>& done) {
  Jobs(seconds, work, done).run(first, count, processes);
}

}  // namespace aotc::random_graphs
