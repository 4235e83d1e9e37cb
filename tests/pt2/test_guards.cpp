// The conditions that an archive puts on its inputs, from Python text to checks of a call.
#include <catch2/catch.hpp>
#include <memory>

#include "ir/error.h"
#include "ir/graph.h"
#include "ir/guards.h"
#include "ir/sym.h"
#include "support.h"

using namespace aotc;
using Catch::Contains;

namespace {

// mlp_dyn of torch 2.15 takes x: float32[s77, 8], 1 <= s77 <= 32; its guards are replaced.
ImportedGraph import_with_guards(const std::string& guards) {
  auto files = test::unzip(test::read_file(test::data_path("torch-2.15.0/mlp_dyn.pt2")));
  test::replace_all(test::member_ending(files, "models/model.json").data, "\"guards_code\": []",
                    "\"guards_code\": [" + guards + "]");
  const test::TempFile file(test::make_zip(files));
  return import_graph(std::make_shared<pt2::ExportedProgram>(pt2::read_pt2(file.path())));
}

std::vector<std::string> conditions(const std::string& guards) {
  std::vector<std::string> out;
  const ImportedGraph imported = import_with_guards(guards);
  for (const Guard& g : imported.graph->guards) out.push_back(g.condition.str());
  return out;
}

std::vector<std::string> unreadable(const std::string& guard) {
  const ImportedGraph g = import_with_guards(guard);
  CHECK(g.graph->guards.empty());
  return read_guards(*g.graph->program, *g.graph).unreadable;
}

}  // namespace

TEST_CASE("a guard becomes a check on the symbols") {
  const ImportedGraph g = import_with_guards("\"(L['x'].size()[0] % 8) == 0\"");
  REQUIRE(g.graph->guards.size() == 1);
  const Guard& guard = g.graph->guards[0];
  CHECK(guard.text == "(x.size()[0] % 8) == 0");
  for (const int64_t rows : {0, 7, 8, 15, 16})
    CHECK(guard.condition.eval([&](const std::string&) { return rows; }) == (rows % 8 == 0));
}

TEST_CASE("guards that the ranges imply are no checks") {
  CHECK(conditions("\"L['x'].size()[0] >= 1\"").empty());
  CHECK(conditions("\"L['x'].size()[0] != 0 and L['x'].size()[0] < 33\"").empty());
  CHECK(conditions("\"L['x'].size()[1] == L['x'].stride()[0]\"").empty());
  CHECK(conditions("\"L['x'].size()[1] != L['x'].stride()[0]\"").empty());
  CHECK(conditions("\"L['x'].size()[0] != 5\", \"L['flat_args'][0].size()[0] != 5\"").size() == 1);
}

TEST_CASE("a guard that divides is checked after its divisor") {
  const auto list = conditions("\"(L['x'].size()[0] % (L['x'].size()[0] // 8)) == 0\"");
  REQUIRE(list.size() == 2);
  const Sym divisor = Sym::parse(list[0]);
  CHECK(divisor.eval([](const std::string&) { return 7; }) == 0);
  CHECK(divisor.eval([](const std::string&) { return 8; }) == 1);
  CHECK(Sym::parse(list[1]).eval([](const std::string&) { return 17; }) == 0);
  CHECK(Sym::parse(list[1]).eval([](const std::string&) { return 16; }) == 1);
}

TEST_CASE("python's words are operators of conditions") {
  const auto holds = [](const std::string& text, int64_t s) {
    return Sym::parse(text).eval([&](const std::string&) { return s; }) != 0;
  };
  for (const int64_t s : {-1, 0, 3, 4, 9}) {
    CHECK(holds("s >= 0 and s <= 3 or s == 9", s) == ((s >= 0 && s <= 3) || s == 9));
    CHECK(holds("not s == 3 and s < 9", s) == (s != 3 && s < 9));
    CHECK(holds("not(s < 0) & (s < 4)", s) == (s >= 0 && s < 4));
  }
}

TEST_CASE("guards outside of what can be checked are reported as such") {
  CHECK(unreadable("\"math.frexp(L['x'].size()[0]) == 1.5\"").size() == 1);
  CHECK(unreadable("\"L['y'].size()[0] == 1\"").size() == 1);
  CHECK(unreadable("\"L['x'].size()[2] == 1\"").size() == 1);
  CHECK(unreadable("\"L['x'].size()[99999999999999999999] == 1\"").size() == 1);
  CHECK(unreadable("\"L['x'\"").size() == 1);
  CHECK(unreadable("\"__import__('os')\"").size() == 1);
  CHECK(unreadable("\"\"").size() == 1);
}

TEST_CASE("hostile expressions neither recurse nor grow without bound") {
  const std::string many(100'000, '-');
  CHECK_THROWS_AS(Sym::parse(many + "s"), UserError);
  CHECK_THROWS_AS(Sym::parse(std::string(100'000, '(')), UserError);
  CHECK_THROWS_AS(Sym::parse(std::string(100'000, '~') + "s"), UserError);
  CHECK_THROWS_AS(Sym::parse("((((a+b+c+d)**16)**16)**16)"), UserError);
  std::string chain = "2";
  for (int i = 0; i < 10'000; ++i) chain += "**2";
  CHECK_THROWS_AS(Sym::parse(chain), UserError);
}
