// Saved states: round trip, and files that are damaged, foreign or cannot be written.
#include <dirent.h>

#include <fstream>
#include <iterator>

#include "catch2/catch.hpp"
#include "package_writer.h"
#include "support.h"

using namespace aotc;
using namespace aotc::test;
using Catch::Matchers::Contains;

namespace {
struct Saved : Program {
  Saved() : Program(aotc_counter_get_api) {
    run({over(x)});
    session.save(path);
    std::ifstream file(path, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(file), {});
  }
  void write(const std::string& content) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
  }
  Floats x = {10, 20, 30};
  TemporaryFolder temporary;
  std::string folder = temporary.path(), path = folder + "/states", bytes;
};

size_t files_in(const std::string& folder) {
  size_t count = 0;
  DIR* directory = opendir(folder.c_str());
  while (const dirent* entry = readdir(directory))
    if (entry->d_name[0] != '.') ++count;
  closedir(directory);
  return count;
}
}  // namespace

TEST_CASE_METHOD(Saved, "states are saved and loaded") {
  Program other(aotc_counter_get_api);
  other.session.load(path);
  CHECK(other.session.state("count").item<int64_t>() == 6);
  CHECK(values<float>(other.session.state("cache")) == Floats{0, 0, 0, 11, 22, 33});
  CHECK(files_in(folder) == 1);  // no temporary file stays behind
  session.save(path);            // over an existing file
  other.session.load(path);
}

TEST_CASE_METHOD(Saved, "a bound state is saved from and loaded into the caller's storage") {
  Floats storage = {1, 2, 3, 4, 5, 6};
  session.bind_state("cache", over(storage, {2, 3}));
  session.save(path);
  storage.assign(6, 0);
  session.load(path);
  CHECK(storage == Floats{1, 2, 3, 4, 5, 6});
}

TEST_CASE_METHOD(Saved, "every truncation is refused and changes nothing") {
  for (size_t size = 0; size < bytes.size(); ++size) {
    write(bytes.substr(0, size));
    REQUIRE_THROWS_AS(session.load(path), Error);
  }
  write(bytes + "x");
  CHECK_THROWS_WITH(session.load(path), Contains("is truncated or damaged"));
  CHECK(session.state("count").item<int64_t>() == 6);
}

TEST_CASE_METHOD(Saved, "every changed byte is refused and changes nothing") {
  for (size_t at = 0; at < bytes.size(); ++at) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
    write(damaged);
    REQUIRE_THROWS_AS(session.load(path), Error);
  }
  CHECK(session.state("count").item<int64_t>() == 6);
  CHECK(values<float>(session.state("cache")) == Floats{0, 0, 0, 11, 22, 33});
}

TEST_CASE_METHOD(Saved, "states of another program are refused by name") {
  Program other(aotc_parallel_get_api);
  CHECK_THROWS_WITH(other.session.load(path),
                    Contains("holds the states of program 'counter', which do not fit this one"));
  write("something else entirely, but long enough to be a header of that format.....");
  CHECK_THROWS_WITH(session.load(path), Contains("was not written by session_save"));
}

TEST_CASE_METHOD(Saved, "the version is checked") {
  std::string newer = bytes;
  newer[8] = 2;
  write(newer);
  CHECK_THROWS_WITH(session.load(path),
                    Contains("has format version 2, this run time reads version 1"));
}

TEST_CASE_METHOD(Saved, "paths that do not work") {
  CHECK_THROWS_WITH(session.load(folder + "/missing"), Contains("No such file or directory"));
  CHECK_THROWS_WITH(session.save(folder + "/missing/states"), Contains("cannot create"));
  CHECK_THROWS_AS(session.load(folder), Error);
  CHECK_THROWS_WITH(session.save(folder), Contains("cannot create"));
  CHECK(model.api()->session_save(session.handle(), nullptr) == AOTC_INVALID_ARGUMENT);
  CHECK(model.api()->session_load(session.handle(), nullptr) == AOTC_INVALID_ARGUMENT);
  CHECK(files_in(folder) == 1);
}

TEST_CASE("a program without states saves and loads too") {
  Program program(aotc_pointwise_get_api);
  const TemporaryFolder folder;
  const std::string path = folder / "states";
  program.session.save(path);
  CHECK_NOTHROW(program.session.load(path));
}
