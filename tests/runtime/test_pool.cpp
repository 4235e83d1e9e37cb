// The thread pool: every item exactly once, from any number of callers, nested, forked and starved
// of threads.
#include "pool.h"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "catch2/catch.hpp"

using namespace aotc::model;

namespace {
// Holds the pool for a test.
struct User {
  User() { pool_retain(); }
  ~User() { pool_release(); }
};

struct Job {
  std::vector<std::atomic<int>> visits;
  int64_t grain = 1;
  std::atomic<int> short_ranges{0};
  explicit Job(int64_t n) : visits(static_cast<size_t>(n)) {}

  static void body(void* self, int64_t begin, int64_t end) {
    Job* job = static_cast<Job*>(self);
    const int64_t n = static_cast<int64_t>(job->visits.size());
    if (end - begin < job->grain && end != n) ++job->short_ranges;
    for (int64_t i = begin; i < end; ++i) ++job->visits[static_cast<size_t>(i)];
  }
  void run(int32_t threads, int64_t grain_size) {
    grain = grain_size;
    pool_parallel_for(&threads, static_cast<int64_t>(visits.size()), grain, body, this);
  }
  bool done(int times = 1) const {
    for (const auto& visit : visits)
      if (visit != times) return false;
    return short_ranges == 0;
  }
};

int thread_count() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind("Threads:", 0) == 0) return std::stoi(line.substr(8));
  return -1;
}
}  // namespace

TEST_CASE("every item is visited exactly once") {
  const User user;
  for (int32_t threads : {1, 2, 3, 8})
    for (int64_t n : {0, 1, 2, 3, 7, 64, 1000, 4097})
      for (int64_t grain : {0, 1, 2, 5, 64, 100000}) {
        Job job(n);
        job.run(threads, grain);
        REQUIRE(job.done());
      }
}

TEST_CASE("many small jobs one after the other") {
  const User user;
  Job job(97);
  for (int i = 1; i <= 20000; ++i) job.run(4, 1);
  CHECK(job.done(20000));
}

TEST_CASE("workers take part") {
  const User user;
  std::atomic<int> inside{0};
  struct Meeting {
    std::atomic<int> inside{0}, together{0};
    static void body(void* self, int64_t, int64_t) {
      Meeting* meeting = static_cast<Meeting*>(self);
      ++meeting->inside;
      for (int i = 0; i < 100000 && meeting->inside < 2; ++i) std::this_thread::yield();
      if (meeting->inside >= 2) ++meeting->together;
    }
  } meeting;
  int32_t threads = 2;
  for (int i = 0; i < 50 && !meeting.together; ++i)
    pool_parallel_for(&threads, 2, 1, Meeting::body, &meeting);
  CHECK(meeting.together > 0);
}

TEST_CASE("no more threads take part than the caller allows") {
  const User user;
  Job(1000).run(8, 1);  // the pool has seven workers now
  struct Count {
    std::atomic<int> inside{0}, most{0};
    static void body(void* self, int64_t, int64_t) {
      Count* count = static_cast<Count*>(self);
      const int now = ++count->inside;
      for (int most = count->most; most < now && !count->most.compare_exchange_weak(most, now);) {
      }
      std::this_thread::yield();
      --count->inside;
    }
  } count;
  int32_t threads = 3;
  for (int i = 0; i < 500; ++i) pool_parallel_for(&threads, 100, 1, Count::body, &count);
  CHECK(count.most <= 3);
}

TEST_CASE("concurrent callers do not wait for each other or lose items") {
  const User user;
  std::vector<std::thread> callers;
  std::atomic<int> bad{0};
  for (int c = 0; c < 8; ++c)
    callers.emplace_back([&bad, c] {
      for (int i = 0; i < 500; ++i) {
        Job job(50 + c);
        job.run(2 + c % 3, 1);
        if (!job.done()) ++bad;
      }
    });
  for (std::thread& caller : callers) caller.join();
  CHECK(bad == 0);
}

TEST_CASE("nested calls run in the thread that makes them") {
  const User user;
  struct Outer {
    std::atomic<int> bad{0};
    static void body(void* self, int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        Job inner(33);
        inner.run(4, 1);
        if (!inner.done()) ++static_cast<Outer*>(self)->bad;
      }
    }
  } outer;
  int32_t threads = 4;
  for (int i = 0; i < 200; ++i) pool_parallel_for(&threads, 16, 1, Outer::body, &outer);
  CHECK(outer.bad == 0);
}

TEST_CASE("threads exist only between first need and last user") {
  const int before = thread_count();
  {
    const User first;
    CHECK(thread_count() == before);
    {
      const User second;
      Job(100).run(4, 1);
      CHECK(thread_count() == before + 3);
    }
    CHECK(thread_count() == before + 3);
    Job job(100);
    job.run(4, 1);
    CHECK(job.done());
  }
  CHECK(thread_count() == before);
  const User again;
  Job job(100);
  job.run(3, 1);
  CHECK(job.done());
  CHECK(thread_count() == before + 2);
}

TEST_CASE("starting and stopping from several threads at once") {
  std::vector<std::thread> threads;
  std::atomic<int> bad{0};
  for (int t = 0; t < 6; ++t)
    threads.emplace_back([&bad] {
      for (int i = 0; i < 100; ++i) {
        const User user;
        Job job(20);
        job.run(3, 1);
        if (!job.done()) ++bad;
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(bad == 0);
}

TEST_CASE("the calling thread's signal mask does not change") {
  const User user;
  sigset_t before, after;
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  Job(100).run(4, 1);
  pthread_sigmask(SIG_SETMASK, nullptr, &after);
  CHECK(sigismember(&before, SIGINT) == sigismember(&after, SIGINT));
}

TEST_CASE("default threads are the CPUs that the process may use") {
  const int32_t all = usable_cpus();
  CHECK(all >= 1);
  std::thread([&] {
    cpu_set_t set;
    CPU_ZERO(&set);
    sched_getaffinity(0, sizeof set, &set);
    int first = 0;
    while (!CPU_ISSET(first, &set)) ++first;
    CPU_ZERO(&set);
    CPU_SET(first, &set);
    sched_setaffinity(0, sizeof set, &set);
    CHECK(usable_cpus() == 1);
  }).join();
  CHECK(usable_cpus() == all);
}

// A sanitizer's own threads and locks do not survive fork; the product's must.
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
namespace {
// Runs `body` in a forked child; its exit status.
template <class Body>
int in_child(const Body& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body() ? 0 : 1);
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

bool works() {
  Job job(500);
  job.run(4, 1);
  return job.done();
}
}  // namespace

TEST_CASE("a forked child starts threads of its own") {
  const User user;
  REQUIRE(works());
  CHECK(in_child([] { return thread_count() == 1 && works() && thread_count() == 4; }) == 0);
  CHECK(in_child([] {
          const bool good = works();
          pool_release();  // the child inherits the parent's reference
          return good && thread_count() == 1;
        }) == 0);
  CHECK(works());
}

TEST_CASE("a child forked while other threads use the pool works") {
  const User user;
  std::atomic<bool> stop{false};
  std::vector<std::thread> busy;
  for (int t = 0; t < 2; ++t)
    busy.emplace_back([&stop] {
      while (!stop) {
        const User inner;
        Job(200).run(4, 1);
      }
    });
  int failures = 0;
  for (int i = 0; i < 50; ++i)
    failures += in_child([] {
                  for (int round = 0; round < 20; ++round) {
                    pool_retain();
                    if (!works()) return false;
                    pool_release();
                  }
                  return true;
                }) != 0;
  stop = true;
  for (std::thread& thread : busy) thread.join();
  CHECK(failures == 0);
}

TEST_CASE("work is done without threads when none can be created") {
  // No address space for another stack; in a child, since the limit also binds the test.
  CHECK(in_child([] {
          pool_retain();
          const rlimit none = {1, 1};
          setrlimit(RLIMIT_AS, &none);
          for (int i = 0; i < 10; ++i) {
            static Job job(500);
            job.run(4, 1);
            if (!job.done(i + 1)) return false;
          }
          pool_release();
          return true;
        }) == 0);
}
#endif
