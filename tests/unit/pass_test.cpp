// Each pass on small programs: passes/NAME.ir is "pass PASS", a program, a line of "=", and what
// the pass makes of it. With the environment variable AOTC_UPDATE=1 the second part is written anew
// (read the difference).
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include <catch2/catch.hpp>

#include "codegen/passes.h"
#include "codegen/plan.h"
#include "ir/text/text.h"
#include "ir/text/verify.h"

using namespace aotc;
namespace fs = std::filesystem;

namespace {

const std::string kDivider = "\n====\n";

std::string read(const fs::path& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string after(const std::string& pass, const std::string& program, const std::string& file) {
  loops::LoopProgram p = parse_loops(program, file);
  verify(p, "before " + pass);
  if (pass == "plan") return print(make_plan(std::move(p)));
  const std::map<std::string, void (*)(loops::LoopProgram&)> passes = {
      {"absorb_copies", absorb_copies},
      {"inline_producers", inline_producers},
      {"hoist_checks", hoist_checks},
      {"merge_kernels", merge_kernels},
      {"narrow_selections", narrow_selections},
      {"share_copies", share_copies},
      {"remove_write_back_copies", remove_write_back_copies},
      {"forward_stores", forward_stores}};
  REQUIRE(passes.contains(pass));
  passes.at(pass)(p);
  verify(p, "after " + pass);
  return print(p);
}

}  // namespace

TEST_CASE("passes") {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(AOTC_PASS_CASES)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  REQUIRE(files.size() >= 8);
  for (const fs::path& path : files) {
    const std::string text = read(path), name = path.filename();
    INFO(name);
    const size_t line = text.find('\n'), divider = text.find(kDivider);
    REQUIRE(text.starts_with("pass "));
    REQUIRE(divider != std::string::npos);
    const std::string program = text.substr(line + 1, divider - line);
    const std::string made = after(text.substr(5, line - 5), program, name);
    if (std::getenv("AOTC_UPDATE"))
      std::ofstream(path) << text.substr(0, divider) << kDivider << made;
    else
      CHECK(text.substr(divider + kDivider.size()) == made);
  }
}
