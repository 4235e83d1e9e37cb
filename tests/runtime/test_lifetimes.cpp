// Loading, unloading and replacing packages: at once, many times, while in use.
#include <dirent.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <fstream>
#include <thread>

#include "catch2/catch.hpp"
#include "packages.h"

using namespace aotc;
using namespace aotc::test;

namespace {
size_t open_files() {
  size_t count = 0;
  DIR* directory = opendir("/proc/self/fd");
  while (readdir(directory)) ++count;
  closedir(directory);
  return count;
}

size_t lines_of(const char* path) {
  std::ifstream file(path);
  size_t count = 0;
  for (std::string line; std::getline(file, line);) ++count;
  return count;
}

int64_t resident_kilobytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind("VmRSS:", 0) == 0) return std::stoll(line.substr(6));
  return -1;
}

// A package with weights, and one whose threads and results need its code.
struct Packages {
  Packages() {
    write_file(folder / "e.aotc", make_zip(external_members(), 4096));
    write_file(folder / "k.aotc", make_zip(plain_members("kinds"), 4096));
    write_file(folder / "p.aotc", make_zip(plain_members("parallel"), 4096));
  }
  TemporaryFolder folder;
};

std::vector<Tensor> run_kinds(const Model& model) {
  static Floats x = {-1, 2, 0, 3};
  static int64_t n = 5, three = 3;
  static double half = 0.5;
  static bool yes = true;
  return Session(model).run({over(x), scalar(n), scalar(three), scalar(half), scalar(yes)});
}

bool run_parallel(const Model& model) {
  Session session(model, "{\"threads\": 3}");
  Floats x(1000, 3);
  return values<float>(session.run({over(x)})[0]) == Floats(1000, 9);
}
}  // namespace

TEST_CASE_METHOD(Packages, "several packages in one process keep apart") {
  const Model counter(folder / "e.aotc"), kinds(folder / "k.aotc"), again(folder / "e.aotc");
  CHECK(counts(counter));
  CHECK(run_kinds(kinds)[2].item<int64_t>() == 13);
  CHECK(counts(again));
  CHECK(counter.input_names() == std::vector<std::string>{"x"});
  CHECK(kinds.input_names().size() == 5);
}

TEST_CASE_METHOD(Packages, "sessions and results keep a package loaded") {
  std::vector<Tensor> results = run_kinds(Model(folder / "k.aotc"));
  CHECK(values<float>(results[6]) == Floats{-5, 10, 0, 15});
  results[0] = Tensor();
  CHECK(values<float>(results[6]) == Floats{-5, 10, 0, 15});
  results.clear();
  Session session{Model(folder / "e.aotc")};
  Floats x = {10, 20, 30};
  CHECK(values<float>(session.run({over(x)})[0]) == Floats{11, 22, 33});
  Session fork = session.fork();
  session = Session(Model(folder / "e.aotc"));
  CHECK(fork.state("count").item<int64_t>() == 6);
}

TEST_CASE_METHOD(Packages, "loading and unloading again and again leaves nothing behind") {
  const auto cycle = [&] {
    REQUIRE(counts(Model(folder / "e.aotc")));
    REQUIRE(run_kinds(Model(folder / "k.aotc")).size() == 9);
    REQUIRE(run_parallel(Model(folder / "p.aotc")));
  };
  for (int i = 0; i < 50; ++i) cycle();
  const size_t files = open_files(), maps = lines_of("/proc/self/maps");
  const int64_t before = resident_kilobytes();
  for (int i = 0; i < 1000; ++i) cycle();
  CHECK(open_files() == files);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // which keep freed memory
  CHECK(lines_of("/proc/self/maps") <= maps + 4);
  CHECK(resident_kilobytes() - before < 1500);
#else
  CHECK(lines_of("/proc/self/maps") <= maps + 50);
  (void)before;
#endif
}

TEST_CASE_METHOD(Packages, "refused packages leave nothing behind") {
  Members wrong = external_members();
  wrong[2].second[64] = 1;
  write_file(folder / "w.aotc", make_zip(wrong, 4096));
  const auto refuse = [&] { REQUIRE(open_failure(folder / "w.aotc") != ""); };
  for (int i = 0; i < 20; ++i) refuse();
  const size_t files = open_files(), maps = lines_of("/proc/self/maps");
  for (int i = 0; i < 200; ++i) refuse();
  CHECK(open_files() == files);
  CHECK(lines_of("/proc/self/maps") <= maps + 50);
}

TEST_CASE_METHOD(Packages, "the same path loaded from eight threads at once") {
  std::atomic<int> good{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 25; ++i)
        good += t % 2 ? counts(Model(folder / "e.aotc")) : run_parallel(Model(folder / "p.aotc"));
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(good == 200);
}

TEST_CASE_METHOD(Packages, "eight sessions of one package share the pool") {
  const Model model(folder / "p.aotc");
  std::atomic<int> good{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) good += run_parallel(model);
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(good == 400);
}

TEST_CASE_METHOD(Packages, "a package replaced by rename while it is loaded") {
  const Model old(folder / "e.aotc");
  Session session(old);
  write_file(folder / "new", make_zip(plain_members("kinds"), 4096));
  REQUIRE(std::rename((folder / "new").c_str(), (folder / "e.aotc").c_str()) == 0);
  const Model replaced(folder / "e.aotc");
  CHECK(replaced.input_names().size() == 5);
  CHECK(counts(old));
  Floats x = {10, 20, 30};
  CHECK(values<float>(session.run({over(x)})[0]) == Floats{11, 22, 33});
  REQUIRE(unlink((folder / "e.aotc").c_str()) == 0);
  CHECK(counts(old));
}

TEST_CASE_METHOD(Packages, "an unpacked package replaced while it is loaded") {
  const TemporaryFolder unpacked;
  for (const auto& [name, content] : plain_members("kinds")) write_file(unpacked / name, content);
  const Model old(unpacked.path());
  for (const auto& [name, content] : counter_members()) {
    write_file(unpacked / "new", content);
    REQUIRE(std::rename((unpacked / "new").c_str(), (unpacked / name).c_str()) == 0);
  }
  CHECK(counts(Model(unpacked.path())));
  CHECK(run_kinds(old)[2].item<int64_t>() == 13);
}

TEST_CASE_METHOD(Packages, "a host's pool can be lent and taken back") {
  const Model model(folder / "p.aotc");
  Session session(model, "{\"threads\": 2}");
  static int64_t calls = 0;
  const AotcParallelFor lent = [](void*, int64_t n, int64_t, AotcRangeFn fn, void* arg) {
    ++calls;
    fn(arg, 0, n);
  };
  session.set_parallel_for(lent, nullptr, 4);
  Floats x(500, 2);
  session.run({over(x)});
  CHECK(calls == 1);
  session.set_parallel_for(nullptr, nullptr, 0);
  CHECK(values<float>(session.run({over(x)})[0]) == Floats(500, 5));
  CHECK(calls == 1);
}

#if !defined(__SANITIZE_THREAD__)
TEST_CASE_METHOD(Packages, "a forked child can use what its parent has loaded") {
  const Model model(folder / "p.aotc");
  REQUIRE(run_parallel(model));
  const pid_t child = fork();
  if (child == 0) _exit(run_parallel(model) && run_parallel(Model(folder / "p.aotc")) ? 0 : 1);
  int status = -1;
  waitpid(child, &status, 0);
  CHECK(status == 0);
  CHECK(run_parallel(model));
}
#endif
