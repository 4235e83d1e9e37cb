// aotc verify on copies of fixtures, right ones and altered ones.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "support.h"

namespace fs = std::filesystem;

namespace aotc::cli::test {
namespace {

// A folder with one program (in the form given) and its cases, to be altered.
class Copy {
 public:
  explicit Copy(const std::string& name, const std::string& form = ".pt2") {
    fs::copy_file(data(name + form), folder_ / (name + form));
    for (int k = 0; fs::exists(data(name + ".case" + std::to_string(k))); ++k) {
      const std::string folder = name + ".case" + std::to_string(k);
      fs::copy(data(folder), folder_ / folder, fs::copy_options::recursive);
    }
  }
  fs::path operator/(const std::string& name) const { return folder_ / name; }
  RunResult verify(std::vector<std::string> options = {}) const {
    options.insert(options.begin(), {"verify", folder_.str()});
    const RunResult r = aotc(options);
    INFO(r.out << r.err);
    CHECK((r.exit_code == 0 || r.exit_code == 1));
    return r;
  }

 private:
  Folder folder_;
};

std::string last_line(const std::string& text) {
  const std::string body = text.substr(0, text.size() - 1);
  return body.substr(body.rfind('\n') + 1);
}

void check_result(const RunResult& r, int exit_code, const std::string& last,
                  const std::vector<std::string>& parts = {}) {
  INFO(r.out << r.err);
  CHECK(r.exit_code == exit_code);
  CHECK(last_line(r.out) == last);
  for (const std::string& part : parts) {
    INFO(part);
    CHECK(r.out.find(part) != std::string::npos);
  }
}

}  // namespace

TEST_CASE("fixtures pass in both forms, in several processes", "[verify]") {
  const RunResult r = aotc({"verify", data(""), "--device", "cpu", "--jobs", "2"});
  check_result(r, 0, "16 passed, 0 failed",
               {"ok buffer_mutation.pt2 case0\n", "ok buffer_mutation.decomp.pt2 case2\n",
                "ok cache_slice_at.pt2 case1\n"});
}

TEST_CASE("one program, one case", "[verify]") {
  const RunResult r =
      aotc({"verify", data("cache_slice_at.pt2"), "--case", data("cache_slice_at.case2")});
  check_result(r, 0, "1 passed, 0 failed", {"ok cache_slice_at.pt2 case2\n"});
}

TEST_CASE("a wrong value fails its case only", "[verify]") {
  const Copy copy("input_mutation_with_return");
  write_array(copy / "input_mutation_with_return.case0", "out1",
              floats({9, 9, 9, 9, 9, 9}, {2, 3}));
  check_result(copy.verify(), 1, "1 passed, 1 failed",
               {"FAILED input_mutation_with_return.pt2 case0: out1 max abs diff",
                "ok input_mutation_with_return.pt2 case1"});
  const RunResult quiet = copy.verify({"--quiet"});
  CHECK(quiet.out.find("ok ") == std::string::npos);
}

TEST_CASE("a mutation is looked for, and where there is none too", "[verify]") {
  const Copy wrong("input_mutation_with_return");
  write_array(wrong / "input_mutation_with_return.case0", "mut0",
              floats({9, 9, 9, 9, 9, 9}, {2, 3}));
  check_result(wrong.verify(), 1, "1 passed, 1 failed", {"mut0 max abs diff"});
  const Copy missing("input_mutation_with_return");
  fs::remove(missing / "input_mutation_with_return.case0/mut0.npy");
  check_result(missing.verify(), 1, "1 passed, 1 failed", {"in0 must not change"});
}

TEST_CASE("states are looked for, and a sequence goes on", "[verify]") {
  const Copy wrong("buffer_mutation");
  write_array(wrong / "buffer_mutation.case1", "buf_counter", floats({9, 9, 9, 9}, {4}));
  check_result(wrong.verify(), 1, "2 passed, 1 failed", {"case1: state counter max abs diff"});
  const Copy missing("buffer_mutation");
  fs::remove(missing / "buffer_mutation.case1/buf_counter.npy");
  check_result(missing.verify(), 1, "2 passed, 1 failed", {"case1: state counter"});
  const Copy apart("buffer_mutation");
  write_text(apart / "buffer_mutation.case1/meta.json", "{}");
  check_result(apart.verify(), 1, "1 passed, 2 failed");
}

TEST_CASE("types, sizes and numbers of outputs are looked at", "[verify]") {
  const Copy type("input_mutation_with_return");
  write_array(type / "input_mutation_with_return.case0", "out0",
              integers({1, 2, 3, 4, 5, 6}, {2, 3}));
  check_result(type.verify(), 1, "1 passed, 1 failed", {"out0 is float32, expected int64"});
  const Copy extra("input_mutation_with_return");
  write_array(extra / "input_mutation_with_return.case0", "out2", floats({1}, {1}));
  fs::remove(extra / "input_mutation_with_return.case1/out1.npy");
  check_result(extra.verify(), 1, "0 passed, 2 failed", {"out2 is expected", "out1 is a tensor"});
}

TEST_CASE("ambiguous outputs are not compared", "[verify]") {
  const Copy copy("input_mutation_with_return");
  write_array(copy / "input_mutation_with_return.case0", "out1", floats({9}, {1}));
  write_text(copy / "input_mutation_with_return.case0/meta.json", R"({"ambiguous_outputs": [1]})");
  check_result(copy.verify(), 0, "2 passed, 0 failed");
}

TEST_CASE("layouts are rebuilt and their surroundings stay untouched", "[verify]") {
  const Copy copy("input_mutation_with_return");
  write_text(copy / "input_mutation_with_return.case0/meta.json",
             R"({"inputs": [{"size": [2, 3], "stride": [1, 5], "offset": 3, "storage": 40}],
                 "outputs": [{"alias_in": 0}, null]})");
  const RunResult r = copy.verify();
  check_result(r, 0, "2 passed, 0 failed");
}

TEST_CASE("an alias that is none fails the as-exported form", "[verify]") {
  const char* meta = R"({"outputs": [{"alias_in": 0}, {"alias_in": 0}]})";
  const Copy exported("input_mutation_with_return");
  write_text(exported / "input_mutation_with_return.case0/meta.json", meta);
  check_result(exported.verify(), 1, "1 passed, 1 failed",
               {"out1 must point into the storage of in0"});
  const Copy decomposed("input_mutation_with_return", ".decomp.pt2");
  write_text(decomposed / "input_mutation_with_return.case0/meta.json", meta);
  check_result(decomposed.verify(), 0, "2 passed, 0 failed");
}

TEST_CASE("a refusal is right where the case says so", "[verify]") {
  const Copy expected("cache_slice_at");
  write_text(expected / "cache_slice_at.case0/error.txt", "out of range");
  write_array(expected / "cache_slice_at.case0", "in2", integers({15}, {}));
  const RunResult r = expected.verify();
  check_result(r, 0, "3 passed, 0 failed", {"ok cache_slice_at.pt2 case0 (refused: "});
  const Copy accepted("cache_slice_at");
  write_text(accepted / "cache_slice_at.case0/error.txt", "out of range");
  check_result(accepted.verify(), 1, "2 passed, 1 failed", {"must be refused"});
  const Copy unexpected("cache_slice_at");
  write_array(unexpected / "cache_slice_at.case0", "in2", integers({15}, {}));
  check_result(unexpected.verify(), 1, "2 passed, 1 failed");
  write_text(unexpected / "cache_slice_at.case0/meta.json", R"({"may_refuse": true})");
  check_result(unexpected.verify(), 0, "3 passed, 0 failed");
}

TEST_CASE("a program that cannot be read fails all its cases", "[verify]") {
  const Copy copy("cache_slice_at");
  write_text(copy / "cache_slice_at.pt2", "garbage");
  check_result(copy.verify(), 1, "0 passed, 3 failed", {"FAILED cache_slice_at.pt2 case2: "});
  for (int k : {0, 1, 2})
    write_text(copy / ("cache_slice_at.case" + std::to_string(k) + "/error.txt"), "");
  check_result(copy.verify(), 0, "3 passed, 0 failed");
}

TEST_CASE("broken cases fail, others go on", "[verify]") {
  const Copy copy("cache_slice_at");
  write_text(copy / "cache_slice_at.case0/meta.json", "{");
  write_text(copy / "cache_slice_at.case1/out0.npy", "garbage");
  check_result(copy.verify(), 1, "1 passed, 2 failed", {"meta.json", "out0.npy"});
}

TEST_CASE("verify --json lists the cases", "[verify]") {
  const Copy copy("input_mutation_with_return");
  write_array(copy / "input_mutation_with_return.case0", "out1", floats({9}, {1}));
  const RunResult r = copy.verify({"--json"});
  CHECK(r.exit_code == 1);
  const nlohmann::json j = nlohmann::json::parse(r.out);
  CHECK(j.at("passed") == 1);
  CHECK(j.at("failed") == 1);
  CHECK(j.at("cases")[0].at("status") == "failed");
  CHECK(j.at("cases")[0].at("case") == "case0");
}

TEST_CASE("nothing to verify is an error", "[verify]") {
  const RunResult r = aotc({"verify", data("cache_index_copy_cuda.pt2")});
  CHECK(r.exit_code == 1);
  CHECK(r.err.find("--case") != std::string::npos);
  CHECK(aotc({"verify", "nowhere"}).exit_code == 1);
}

TEST_CASE("AOTC_KEEP keeps the packages", "[verify]") {
  const Folder folder;
  const RunResult r = aotc({"verify", data("cache_slice_at.pt2")}, folder.path(),
                           {"AOTC_KEEP=1", "TMPDIR=" + folder.str()});
  CHECK(r.exit_code == 0);
  CHECK(r.err.find("kept in " + folder.str()) != std::string::npos);
  bool found = false;
  for (const auto& entry : fs::recursive_directory_iterator(folder.path()))
    found = found || entry.path().filename() == "cache_slice_at.aotc";
  CHECK(found);
}

}  // namespace aotc::cli::test
