// Which programs and cases verify finds.
#include <catch2/catch.hpp>

#include "codegen/cli/verify_programs.h"
#include "ir/error.h"
#include "support.h"

namespace fs = std::filesystem;

namespace aotc::cli::test {
namespace {

void make_case(const fs::path& folder) { fs::create_directories(folder); }

}  // namespace

TEST_CASE("cases belong to both forms, in order of number", "[programs]") {
  const Folder folder;
  for (const char* name : {"m.pt2", "m.decomp.pt2", "m.x.pt2"}) write_text(folder / name, "");
  for (int k : {0, 2, 10}) make_case(folder / ("m.case" + std::to_string(k)));
  make_case(folder / "m.x.case0");
  make_case(folder / "m.case");
  make_case(folder / "m.case1x");
  write_text(folder / "m.case7", "a file");
  const auto all = find_programs({folder.str()}, {});
  REQUIRE(all.size() == 3);
  CHECK(all[0].label == "m.decomp.pt2");
  CHECK(all[0].decomposed);
  CHECK(all[1].label == "m.pt2");
  CHECK_FALSE(all[1].decomposed);
  REQUIRE(all[1].cases.size() == 3);
  CHECK(all[1].cases[2].filename() == "m.case10");
  CHECK(all[0].cases == all[1].cases);
  CHECK(all[2].cases.size() == 1);
}

TEST_CASE("folders are searched at any depth, single files by themselves", "[programs]") {
  const Folder folder;
  fs::create_directories(folder / "a/b");
  write_text(folder / "a/b/m.pt2", "");
  make_case(folder / "a/b/m.case0");
  const auto all = find_programs({folder.str()}, {});
  REQUIRE(all.size() == 1);
  CHECK(all[0].label == "a/b/m.pt2");
  const auto one = find_programs({(folder / "a/b/m.pt2").string()}, {});
  CHECK(one[0].label == "m.pt2");
  CHECK(one[0].cases.size() == 1);
}

TEST_CASE("given cases replace those beside the program", "[programs]") {
  const Folder folder;
  write_text(folder / "m.pt2", "");
  make_case(folder / "m.case0");
  make_case(folder / "other");
  const auto all = find_programs({(folder / "m.pt2").string()}, {(folder / "other").string()});
  REQUIRE(all[0].cases.size() == 1);
  CHECK(all[0].cases[0].filename() == "other");
  CHECK_THROWS_AS(find_programs({folder.str()}, {"nowhere"}), UserError);
}

TEST_CASE("programs that torch decomposes differently are left out", "[programs]") {
  const Folder folder;
  for (const char* name : {"m.pt2", "m.decomp.pt2", "n.decomp.pt2"}) write_text(folder / name, "");
  write_text(
      folder / "manifest.json",
      R"([{"name": "m", "decomp_match": "differ: output 0"}, {"name": "n", "decomp_match": "close"}, 3])");
  const auto all = find_programs({folder.str()}, {});
  REQUIRE(all.size() == 3);
  CHECK(all[0].skip.find("differ: output 0") != std::string::npos);
  CHECK(all[1].skip.empty());
  CHECK(all[2].skip.empty());
}

TEST_CASE("what is not there is named", "[programs]") {
  const Folder folder;
  CHECK_THROWS_WITH(find_programs({"nowhere.pt2"}, {}),
                    Catch::Contains("nowhere.pt2: no such file"));
  CHECK_THROWS_WITH(find_programs({folder.str()}, {}), Catch::Contains("there is no .pt2 file"));
}

}  // namespace aotc::cli::test
