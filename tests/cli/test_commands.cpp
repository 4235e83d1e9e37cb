// Every command on real programs, as a user calls it.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "codegen/cli/numbers.h"
#include "support.h"

namespace fs = std::filesystem;
using json = nlohmann::json;

namespace aotc::cli::test {
namespace {

bool has(const std::string& text, const std::string& part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

void check_ok(const RunResult& r) {
  INFO(r.out << r.err);
  CHECK(r.exit_code == 0);
}

std::vector<double> values(const fs::path& folder, const std::string& stem) {
  const auto file = find_array(folder, stem);
  REQUIRE(file);
  return to_doubles(read_array(*file));
}

}  // namespace

TEST_CASE("help names the commands and the stages", "[commands]") {
  const RunResult r = aotc({"--help"});
  check_ok(r);
  for (const char* name :
       {"compile", "run", "inspect", "explain", "verify", "bench", "ops", "emit-source"})
    CHECK(has(r.out, name));
  for (const char* stage : {"exported", "functional", "fused", "plan", "package"})
    CHECK(has(r.out, stage));
  CHECK(has(aotc({"compile", "--help"}).out, "--in-place"));
  CHECK(aotc({"--version"}).out == std::string("aotc ") + AOTC_VERSION_TEXT + "\n");
  CHECK(has(aotc({"--list-stages"}).out, "functional"));
  CHECK(aotc({"compile", "--list-stages"}).out == aotc({"--list-stages"}).out);
}

TEST_CASE("compile writes MODEL.aotc into the current folder", "[commands]") {
  const Folder folder;
  const RunResult r = aotc({"compile", data("input_mutation_with_return.pt2")}, folder.path());
  check_ok(r);
  CHECK(has(r.out, "input_mutation_with_return.aotc: "));
  CHECK(fs::exists(folder / "input_mutation_with_return.aotc"));
  CHECK(std::distance(fs::directory_iterator(folder.path()), {}) == 1);
}

TEST_CASE("--alias puts an output into the storage of an input", "[commands]") {
  const Folder folder;
  const std::string model = data("../../e2e/data/functional_cache.pt2");
  check_ok(
      aotc({"compile", "-q", model, "-o", "m.aotc", "--alias", "cache=index_copy"}, folder.path()));
  const RunResult entry = aotc({"inspect", "m.aotc"}, folder.path());
  CHECK(has(entry.out,
            "output 'index_copy'  in  input 'cache'  user  direct  computed in the storage"));
  const std::string given = data("../../e2e/data/functional_cache.case0");
  check_ok(aotc({"run", "m.aotc", "--inputs", given, "--outputs", "out"}, folder.path()));
  const std::vector<double> expected = values(given, "out1");
  CHECK(values(folder / "out", "out1") == expected);
  CHECK(values(folder / "out", "mut0") == expected);
  CHECK(values(folder / "out", "out3").size() == 4);  // of the old cache
  check_ok(aotc({"compile", "-q", model, "-o", "n.aotc", "--alias", "0=1"}, folder.path()));
}

TEST_CASE("--alias says why an output cannot be an input's storage", "[commands]") {
  const Folder folder;
  auto why = [&](const std::string& model, std::vector<std::string> aliases) {
    std::vector<std::string> words = {"compile", "-q", data(model), "-o", "m.aotc"};
    for (const std::string& a : aliases) words.insert(words.end(), {"--alias", a});
    const RunResult r = aotc(words, folder.path());
    CHECK(r.exit_code == 1);
    CHECK(!fs::exists(folder / "m.aotc"));
    return r.err;
  };
  CHECK(has(why("../../e2e/data/functional_cache.pt2", {"cache=0"}),
            "the output has 0 dimensions, the input 3"));
  CHECK(has(why("../../e2e/data/functional_cache.pt2", {"new=1"}),
            "the output has the sizes [2, 8, 4], the input [2, 1, 4]"));
  CHECK(has(why("../../e2e/data/functional_cache.pt2", {"position=1"}),
            "the output is float32, the input int64"));
  CHECK(has(why("../../e2e/data/functional_cache.pt2", {"cache=9"}),
            "the program has no output '9'; it has sum"));
  CHECK(has(why("../../e2e/data/functional_cache.pt2", {"cache=1", "cache=1"}),
            "takes the same input"));
  CHECK(has(why("../../e2e/data/functional_update.pt2", {"x=0"}), "is the input's old value"));
  CHECK(has(why("input_mutation_with_return.pt2", {"0=0"}), "itself mutates input"));
}

TEST_CASE("--alias between sizes that only a call knows is checked there", "[commands]") {
  const Folder folder;
  const std::string given = data("../../e2e/data/functional_update.case0"),
                    other = data("../../e2e/data/functional_update.case1");
  check_ok(aotc({"compile", "-q", data("../../e2e/data/functional_update.pt2"), "-o", "m.aotc",
                 "--alias", "y=0"},
                folder.path()));
  check_ok(aotc({"run", "m.aotc", "--inputs", given, "--outputs", "out"}, folder.path()));
  CHECK(values(folder / "out", "mut1") == values(given, "out0"));
  CHECK(values(folder / "out", "out1") == values(given, "out1"));
  const RunResult r =
      aotc({"run", "m.aotc", "--inputs", given + "/in0.npy", other + "/in1.npy"}, folder.path());
  CHECK(r.exit_code == 1);
  CHECK(has(r.err, "(--alias y=0)"));
}

TEST_CASE("options come before or after the program; --quiet says nothing", "[commands]") {
  const Folder folder;
  const RunResult first =
      aotc({"compile", "--quiet", "-o", "a.aotc", data("buffer_mutation.pt2")}, folder.path());
  const RunResult last =
      aotc({"compile", data("buffer_mutation.pt2"), "-o", "b.aotc", "--quiet"}, folder.path());
  check_ok(first);
  check_ok(last);
  CHECK(first.out + first.err + last.out + last.err == "");
  CHECK(read_text(folder / "a.aotc") == read_text(folder / "b.aotc"));
}

TEST_CASE("compile --json tells what was made", "[commands]") {
  const Folder folder;
  const RunResult r =
      aotc({"compile", data("buffer_mutation.pt2"), "--json"}, folder.path(), {"AOTC_TIME=1"});
  check_ok(r);
  const json j = json::parse(r.out);
  CHECK(j.at("package") == "buffer_mutation.aotc");
  CHECK(j.at("bytes") == fs::file_size(folder / "buffer_mutation.aotc"));
  CHECK(j.at("mutations").size() == 1);
  CHECK(j.at("milliseconds").contains("functional"));
  CHECK(has(r.err, "total"));
}

TEST_CASE("every stage can be printed; text stages can be started from", "[commands]") {
  const Folder folder;
  for (const char* stage : {"exported", "graph", "functional", "core", "loops", "fused", "plan",
                            "sources", "binary", "package"}) {
    const RunResult r =
        aotc({"compile", data("input_mutation_with_return.pt2"), std::string("--emit=") + stage},
             folder.path());
    INFO(stage);
    check_ok(r);
    CHECK_FALSE(r.out.empty());
    write_text(folder / (std::string(stage) + ".ir"), r.out);
  }
  for (const char* stage : {"graph", "functional", "core", "loops", "fused"}) {
    const RunResult r = aotc({"compile", data("input_mutation_with_return.pt2"), "--from", stage,
                              std::string(stage) + ".ir", "--emit", "plan"},
                             folder.path());
    INFO(stage);
    check_ok(r);
    CHECK(r.out == read_text(folder / "plan.ir"));
  }
  CHECK_FALSE(fs::exists(folder / "input_mutation_with_return.aotc"));
}

TEST_CASE("text of a program with weights needs the archive beside it", "[commands]") {
  const Folder folder;
  const std::string model = data("buffer_mutation.pt2");
  write_text(folder / "loops.ir", aotc({"compile", model, "--emit=loops"}, folder.path()).out);
  const RunResult alone =
      aotc({"compile", "--from", "loops", "loops.ir", "-o", "m.aotc"}, folder.path());
  CHECK(alone.exit_code == 1);
  CHECK(has(alone.err, "no weights"));
  CHECK(has(alone.err, "MODEL.pt2"));
  CHECK_FALSE(fs::exists(folder / "m.aotc"));
  check_ok(aotc({"compile", model, "--from", "loops", "loops.ir", "-o", "m.aotc"}, folder.path()));
}

TEST_CASE("AOTC_DUMP writes every stage", "[commands]") {
  const Folder folder;
  const std::string dump = (folder / "dump").string();
  check_ok(
      aotc({"compile", data("buffer_mutation.pt2"), "-q"}, folder.path(), {"AOTC_DUMP=" + dump}));
  for (const char* file : {"00_exported.txt", "01_graph.ir", "02_functional.ir", "03_core.ir",
                           "04_loops.ir", "05_fused.ir", "06_plan.txt"})
    CHECK(fs::file_size(folder / "dump" / file) > 0);
  CHECK(fs::exists(folder / "buffer_mutation.aotc"));
}

TEST_CASE("run uses the package's samples and shows what changed", "[commands]") {
  const RunResult r = aotc({"run", package_of("input_mutation_with_return.pt2")});
  check_ok(r);
  CHECK(has(r.out, "the package's sample inputs"));
  CHECK(has(r.out, "float32 [2, 3]"));
  CHECK(has(r.out, "changed"));
}

TEST_CASE("run takes a folder or files, and writes results as a case", "[commands]") {
  const Folder folder;
  const fs::path given = data("input_mutation_with_return.case1");
  const std::string package = package_of("input_mutation_with_return.pt2");
  check_ok(aotc({"run", "--inputs", given.string(), "--outputs", "a", package}, folder.path()));
  check_ok(aotc({"run", package, "--outputs", "b", "--inputs", (given / "in0.npy").string(), "-q"},
                folder.path()));
  for (const char* stem : {"out0", "out1", "mut0"}) {
    const std::vector<double> expected = values(given, stem), a = values(folder / "a", stem);
    REQUIRE(a.size() == expected.size());
    for (size_t i = 0; i < a.size(); ++i) CHECK(a[i] == Approx(expected[i]).epsilon(1e-5));
    CHECK(a == values(folder / "b", stem));
  }
}

TEST_CASE("run --steps goes on with one session's state", "[commands]") {
  const Folder folder;
  std::vector<std::string> arguments = {
      "run", package_of("buffer_mutation.pt2"), "--outputs", "out", "--json", "--steps"};
  for (int k : {0, 1, 2}) arguments.push_back(data("buffer_mutation.case" + std::to_string(k)));
  const RunResult r = aotc(arguments, folder.path());
  check_ok(r);
  const json steps = json::parse(r.out).at("steps");
  REQUIRE(steps.size() == 3);
  CHECK(steps[2].at("states")[0].at("name") == "counter");
  CHECK(steps[2].at("states")[0].at("changed") == true);
  CHECK(steps[2].at("inputs")[0].at("changed") == false);
  CHECK(values(folder / "out/step2", "buf_counter") == std::vector<double>(4, 3.0));
  CHECK_FALSE(find_array(folder / "out/step2", "mut0"));
}

TEST_CASE("inspect and explain read programs and packages", "[commands]") {
  const std::string package = package_of("buffer_mutation.pt2");
  for (const std::string& file : {data("buffer_mutation.pt2"), package}) {
    const RunResult inspected = aotc({"inspect", file}), explained = aotc({"explain", file});
    check_ok(inspected);
    check_ok(explained);
    for (const char* part :
         {"inputs", "outputs", "states", "counter", "mutations", "aliased_io", "arena"})
      CHECK(has(inspected.out, part));
    CHECK(explained.out.starts_with("1 kernel, arena 0 bytes\n"));
    CHECK(has(explained.out, "counter"));
    CHECK(json::parse(aotc({"inspect", file, "--json"}).out).at("states").size() == 1);
    const json j = json::parse(aotc({"explain", file, "--json"}).out);
    CHECK(j.at("arena_bytes").is_number());
    REQUIRE_FALSE(j.at("kernels").empty());
    const json& kernel = j.at("kernels")[0];
    CHECK(kernel.at("device") == "cpu");
    CHECK(has(kernel.at("ops")[0].at("op").get<std::string>(), "aten."));
    CHECK(kernel.at("ops")[0].at("python").contains("line"));
    CHECK(kernel.at("bytes_read").get<int64_t>() > 0);
    CHECK(kernel.at("writes")[0].at("home").is_string());
    REQUIRE(j.at("mutations").size() == 1);
    CHECK(j.at("mutations")[0].at("name") == "counter");
    CHECK(j.at("mutations")[0].at("kind") == "state");
    CHECK(j.at("mutations")[0].at("write") == "direct");
    CHECK_FALSE(j.at("mutations")[0].at("reason").get<std::string>().empty());
  }
}

TEST_CASE("bench measures a package", "[commands]") {
  const RunResult r = aotc({"bench", package_of("buffer_mutation.pt2"), "--seconds", "0.05",
                            "--json", "--threads", "1"});
  check_ok(r);
  const json j = json::parse(r.out);
  CHECK(j.at("ns_min") > 0);
  CHECK(j.at("ns_median") >= j.at("ns_min"));
  CHECK(j.at("calls") >= 10);
  CHECK(has(aotc({"bench", package_of("buffer_mutation.pt2"), "--seconds", "0.05"}).out, "median"));
}

TEST_CASE("ops lists the table in three forms", "[commands]") {
  const RunResult r = aotc({"ops"});
  check_ok(r);
  CHECK(has(r.out, "aten.add.Tensor"));
  CHECK(has(r.out, "pointwise"));
  CHECK(has(aotc({"ops", "--markdown"}).out,
            "| `aten.add.Tensor` | bool, integers, halves, floats, complex | cpu, cuda |"));
  const json ops = json::parse(aotc({"ops", "--json", "aten.add."}).out).at("ops");
  bool in_place = false;
  for (const json& op : ops) in_place = in_place || op.value("in_place", "") == "aten.add_.Tensor";
  CHECK(in_place);
}

}  // namespace aotc::cli::test
