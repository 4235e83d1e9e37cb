// Damaged packages: every truncation and every changed byte of the zip's own structure is an error
// or harmless, never a crash.
#include <random>

#include "catch2/catch.hpp"
#include "packages.h"

using namespace aotc;
using namespace aotc::test;
using Catch::Matchers::Contains;

namespace {
std::string memory_failure(const std::string& bytes) {
  try {
    Model::from_memory(bytes.data(), bytes.size());
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace

TEST_CASE("truncated packages are refused") {
  const std::string bytes = make_zip(counter_members());
  for (size_t size = 0; size < bytes.size(); size += size < 400 ? 1 : 997)
    REQUIRE(memory_failure(bytes.substr(0, size)) != "");
  for (size_t size = bytes.size() - 300; size < bytes.size(); ++size)
    REQUIRE(memory_failure(bytes.substr(0, size)) != "");
}

TEST_CASE("changed bytes in code and manifest are noticed") {
  std::string bytes = make_zip(counter_members());
  for (size_t at : {bytes.find("\x7f"
                               "ELF") +
                        4000,
                    bytes.find("{\"format\"") + 3}) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    CHECK_THAT(memory_failure(damaged), Contains("the checksum of member"));
  }
}

TEST_CASE("changed bytes in the zip's structure never crash") {
  for (const bool zip64 : {false, true}) {
    const std::string bytes =
        make_zip({{"manifest.json", "{}"}, {"model.so", "x"}, {"weights.bin", "y"}}, 1, zip64);
    for (size_t at = 0; at < bytes.size(); ++at)
      for (int value : {0, 1, 0x7f, 0x80, 0xff}) {
        std::string damaged = bytes;
        damaged[at] = static_cast<char>(value);
        REQUIRE(memory_failure(damaged) != "");  // "{}" is no manifest in any case
      }
  }
}

TEST_CASE("random damage never crashes") {
  std::mt19937 random(3);
  const std::string bytes =
      make_zip({{"manifest.json", make_manifest(counter_digest(), any_cpu())}}, 1, true);
  for (int round = 0; round < 20000; ++round) {
    std::string damaged = bytes;
    for (int n = 1 + static_cast<int>(random() % 6); n > 0; --n)
      damaged[random() % damaged.size()] = static_cast<char>(random());
    if (random() % 4 == 0) damaged.resize(random() % damaged.size());
    REQUIRE(memory_failure(damaged) != "");
  }
}

TEST_CASE("members must be stored, once, inside the file") {
  const std::string bytes = make_zip(plain_members("kinds"));
  const size_t entry = bytes.rfind("PK\x01\x02");
  std::string changed = bytes;
  changed[entry + 10] = 8;  // deflate
  CHECK_THAT(memory_failure(changed),
             Contains("has the compressed or encrypted member 'model.so'"));
  changed = bytes;
  changed[entry + 8] = 1;  // encrypted
  CHECK_THAT(memory_failure(changed), Contains("compressed or encrypted"));
  changed = bytes;
  changed[entry + 45] = 0x7f;  // local header far behind the end
  CHECK_THAT(memory_failure(changed), Contains("is truncated or damaged"));
  Members twice = plain_members("kinds");
  twice.push_back(twice[0]);
  CHECK_THAT(memory_failure(make_zip(twice)), Contains("has the member 'manifest.json' twice"));
}

TEST_CASE("manifests of hostile shape are refused") {
  const auto failure = [](const std::string& manifest) {
    return memory_failure(make_zip({{"manifest.json", manifest}, {"model.so", "x"}}));
  };
  CHECK_THAT(failure(std::string(100000, '[')), Contains("expected less nesting"));
  CHECK_THAT(failure("{\"format\": {\"major\": 1e999}}"), Contains("not valid JSON"));
  CHECK_THAT(failure("{\"format\": {\"major\": 1.5}}"), Contains("has package format ?.?"));
  CHECK_THAT(failure("[1, 2]"), Contains("has package format ?.?"));
  CHECK_THAT(failure("{\"a\": \"\\ud800\", \"b\": \"\\u00e9\\ud83d\\ude00\"}"),
             Contains("package format"));
  CHECK_THAT(failure("{\"a\": \"\\uzzzz\"}"), Contains("four hexadecimal digits"));
  CHECK_THAT(failure("{\"a\": tru}"), Contains("expected a value"));
  CHECK_THAT(failure(""), Contains("expected a value"));
  const std::string good = make_manifest(counter_digest(), any_cpu());
  for (size_t size = 0; size < good.size(); ++size) REQUIRE(failure(good.substr(0, size)) != "");
}
