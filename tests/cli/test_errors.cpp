// Wrong use and wrong files: exit codes and messages.
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "support.h"

namespace fs = std::filesystem;

namespace aotc::cli::test {
namespace {

void check_fails(const std::vector<std::string>& arguments, int exit_code,
                 const std::string& part) {
  const Folder folder;
  const RunResult r = aotc(arguments, folder.path());
  INFO(r.out << r.err);
  CHECK(r.exit_code == exit_code);
  CHECK(r.err.find(part) != std::string::npos);
  CHECK(fs::is_empty(folder.path()));
}

void check_usage(const std::vector<std::string>& arguments, const std::string& part) {
  check_fails(arguments, 2, part);
}

void check_user_error(const std::vector<std::string>& arguments, const std::string& part) {
  check_fails(arguments, 1, part);
}

}  // namespace

TEST_CASE("wrong use is exit code 2", "[errors]") {
  const std::string model = data("buffer_mutation.pt2");
  check_usage({}, "compile");
  check_usage({"nosuch"}, "nosuch");
  check_usage({"compile"}, "MODEL.pt2");
  check_usage({"compile", model, "--nosuch"}, "--nosuch");
  check_usage({"compile", model, "--emit", "nosuch"}, "nosuch");
  check_usage({"compile", model, "--emit", "graph", "-o", "x"}, "--emit");
  check_usage({"compile", model, "--from", "package", "x"}, "package");
  check_usage({"compile", model, "--from", "nosuch", "x"}, "nosuch");
  check_usage({"compile", model, "--device", "tpu"}, "tpu");
  check_usage({"compile", model, "--in-place", "never"}, "never");
  check_usage({"compile", model, "--alias", "x"}, "LEFT=RIGHT");
  check_usage({"compile", model, "--device-map", "cuda:0"}, "LEFT=RIGHT");
  check_usage({"compile", model, "second.pt2"}, "second.pt2");
  check_usage({"run"}, "PACKAGE");
  check_usage({"run", "x", "--threads", "0"}, "--threads: '0' is no number of threads");
  check_usage({"run", "x", "--threads", "x"}, "expected 1 to 1024");
  check_usage({"run", "x", "--inputs", "a", "--steps", "b"}, "--steps");
  check_usage({"verify"}, "PATH");
  check_usage({"emit-source", model}, "--output");
  check_usage({"emit-source", model, "-o", "project", "--name", "a b;"}, "no C identifier");
  check_usage({"emit-source", model, "-o", "project", "--name", "math"}, "such as math_model");
  check_usage({"emit-source", model, "-o", "project", "--name", "install"},
              "such as install_model");
  check_usage({"compile", model, "-o", ""}, "needs a name");
  check_usage({"compile", model, "--cpu", "native,,"}, "empty");
  check_usage({"compile", model, "--cpu", ""}, "empty");
}

TEST_CASE("an option takes its own arguments only", "[errors]") {
  const Folder folder;
  const std::string model = data("buffer_mutation.pt2");
  const RunResult text = aotc({"compile", model, "--emit=core"}, folder.path());
  write_text(folder / "core.ir", text.out);
  const RunResult r =
      aotc({"compile", "--from=core", "core.ir", model, "-o", "m.aotc"}, folder.path());
  INFO(r.err);
  CHECK(r.exit_code == 0);
  const RunResult alias = aotc({"compile", "--alias", "nosuch=0", model}, folder.path());
  CHECK(alias.exit_code == 1);
  CHECK(alias.err.find("--alias nosuch=0") != std::string::npos);
}

TEST_CASE("a stage before the one that the compile starts from is wrong use", "[errors]") {
  check_usage({"compile", "--from", "core", "core.ir", "--emit=graph"}, "comes before 'core'");
}

TEST_CASE("text of another stage is the user's error", "[errors]") {
  const Folder folder;
  const std::string model = data("buffer_mutation.pt2");
  write_text(folder / "graph.ir", aotc({"compile", model, "--emit=graph"}, folder.path()).out);
  const RunResult r = aotc({"compile", model, "--from", "core", "graph.ir"}, folder.path());
  INFO(r.err);
  CHECK(r.exit_code == 1);
  CHECK(r.err.find("no program of stage 'core'") != std::string::npos);
}

TEST_CASE("levels, devices and aliases that cannot be had are named", "[errors]") {
  const std::string model = data("buffer_mutation.pt2");
  check_user_error({"compile", model, "--cpu", "i386"}, "'i386'");
  check_user_error({"compile", model, "--device-map", "cuda:0=tpu"}, "'tpu'");
  check_user_error({"compile", model, "--device-map", "cuda:0=cuda:x"}, "'cuda:x'");
  check_user_error({"compile", model, "--device-map", "cuda:0=cpu,cuda:1=meta"}, "'meta'");
  check_user_error({"compile", model, "--device", "cuda", "--gpu", "sm_80,sm_9"}, "sm_9");
  check_user_error({"compile", model, "--device", "cuda", "--gpu", "turing"}, "turing");
}

TEST_CASE("a list option does not swallow the argument behind it", "[errors]") {
  const Folder folder;
  const std::string model = data("buffer_mutation.pt2");
  for (const std::vector<std::string>& option :
       {std::vector<std::string>{"--cpu", "native"}, {"--device-map", "cuda:0=cpu"}}) {
    const RunResult r = aotc({"compile", "-q", option[0], option[1], model}, folder.path());
    INFO(r.err);
    CHECK(r.exit_code == 0);
  }
}

TEST_CASE("what is no file is not replaced by a package", "[errors]") {
  const Folder folder;
  const std::string model = data("buffer_mutation.pt2");
  const fs::path pipe = folder / "pipe", inner = folder / "inner";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  fs::create_directory(inner);
  check_user_error({"compile", model, "-o", pipe.string()}, "no regular file");
  check_user_error({"compile", model, "-o", inner.string()}, "a folder");
  CHECK(fs::is_fifo(pipe));
  CHECK(fs::is_empty(inner));
}

#if defined(__x86_64__)
TEST_CASE("one package holds a library per CPU level", "[errors]") {
  const Folder folder;
  const RunResult r = aotc(
      {"compile", "-q", data("buffer_mutation.pt2"), "--cpu", "x86-64,x86-64-v2", "-o", "two.aotc"},
      folder.path());
  INFO(r.err);
  REQUIRE(r.exit_code == 0);
  const RunResult seen = aotc({"inspect", "--json", "two.aotc"}, folder.path());
  const auto cpu = nlohmann::json::parse(seen.out).at("cpu");
  REQUIRE(cpu.size() == 2);
  CHECK(cpu[0].at("file") != cpu[1].at("file"));
  CHECK(aotc({"run", "-q", "two.aotc"}, folder.path()).exit_code == 0);
}
#endif

TEST_CASE("a program that is not there, or none, is exit code 1", "[errors]") {
  const Folder folder;
  write_text(folder / "garbage.pt2", "this is not an archive");
  write_text(folder / "empty.pt2", "");
  write_text(folder / "zip.pt2", std::string("PK\x05\x06", 4) + std::string(18, '\0'));
  write_text(folder / "cut.pt2", read_text(data("buffer_mutation.pt2")).substr(0, 3000));
  for (const char* command : {"compile", "inspect", "explain"}) {
    check_user_error({command, "nowhere.pt2"}, "nowhere.pt2");
    for (const char* file : {"garbage.pt2", "empty.pt2", "zip.pt2", "cut.pt2"})
      check_user_error({command, (folder / file).string()}, file);
    check_user_error({command, folder.str()}, folder.str());
  }
  for (const char* command : {"run", "bench"}) {
    check_user_error({command, "nowhere.aotc"}, "nowhere.aotc");
    check_user_error({command, (folder / "garbage.pt2").string()}, "garbage.pt2");
    check_user_error({command, data("buffer_mutation.pt2")}, "buffer_mutation.pt2");
  }
}

TEST_CASE("an output that cannot be written is named", "[errors]") {
  const std::string model = data("buffer_mutation.pt2");
  check_user_error({"compile", model, "-o", "/nowhere/x.aotc"}, "/nowhere/x.aotc");
  check_user_error({"run", package_of("buffer_mutation.pt2"), "--outputs", "/proc/nowhere"},
                   "/proc/nowhere");
  const Folder folder;
  fs::copy_file(model, folder / "m.pt2");
  check_user_error({"compile", (folder / "m.pt2").string(), "-o", (folder / "m.pt2").string()},
                   "m.pt2");
  CHECK(read_text(folder / "m.pt2") == read_text(model));
}

TEST_CASE("inputs that do not fit are named", "[errors]") {
  const std::string package = package_of("input_mutation_with_return.pt2");
  const Folder folder;
  write_array(folder.path(), "in0", integers({1, 2, 3, 4, 5, 6}, {2, 3}));
  check_user_error({"run", package, "--inputs", folder.str()}, "float32");
  write_array(folder.path(), "in0", floats({1, 2, 3, 4, 5, 6}, {3, 2}));
  check_user_error({"run", package, "--inputs", folder.str()}, "input");
  write_array(folder.path(), "in0", floats({1, 2, 3, 4, 5, 6}, {2, 3}));
  write_array(folder.path(), "in1", floats({1}, {1}));
  check_user_error({"run", package, "--inputs", folder.str()}, "input");
  write_text(folder / "in0.npy", "not an array");
  check_user_error({"run", package, "--inputs", folder.str()}, "in0.npy");
  check_user_error({"run", package, "--inputs", "nowhere.npy"}, "nowhere.npy");
  check_user_error({"run", package, "--inputs", "nowhere"}, "nowhere");
  check_user_error({"run", package, "--steps", "nowhere"}, "nowhere");
}

TEST_CASE("a stage's text that cannot be read is named", "[errors]") {
  const Folder folder;
  write_text(folder / "x.ir", "graph (((");
  const std::string model = data("buffer_mutation.pt2");
  check_user_error(
      {"compile", model, "--from", "graph", (folder / "x.ir").string(), "--emit", "plan"}, "x.ir");
  check_user_error({"compile", model, "--from", "graph", "nowhere.ir"}, "nowhere.ir");
}

TEST_CASE("a program for a GPU needs one, or another device", "[errors]") {
  const Folder folder;
  const std::string model = data("cache_index_copy_cuda.pt2");
  const RunResult mapped = aotc({"compile", model, "--device", "cpu", "-q"}, folder.path());
  INFO(mapped.err);
  CHECK(mapped.exit_code == 0);
  const RunResult moved =
      aotc({"compile", model, "--device-map", "cuda:0=cpu", "-q"}, folder.path());
  INFO(moved.err);
  CHECK(moved.exit_code == 0);
}

TEST_CASE("a package of another format is refused by every command", "[errors]") {
  const Folder folder;
  for (const char* manifest :
       {R"({"format": {"major": 2, "minor": 0}})", "[]", "{", R"({"format": 1})"}) {
    write_text(folder / "manifest.json", manifest);
    write_text(folder / "explain.txt", "");
    for (const char* command : {"inspect", "explain", "run", "bench"})
      check_user_error({command, folder.str()}, folder.str());
  }
}

TEST_CASE("output that cannot be written is an error of the user", "[errors]") {
  const std::string command =
      std::string(AOTC_PROGRAM) + " compile " + data("buffer_mutation.pt2") + " --emit sources";
  const int status = std::system((command + " > /dev/full 2> /dev/null").c_str());
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 1);
}

TEST_CASE("--json reports errors on standard output too", "[errors]") {
  const RunResult r = aotc({"compile", "nowhere.pt2", "--json"});
  CHECK(r.exit_code == 1);
  CHECK(nlohmann::json::parse(r.out).at("error").get<std::string>().find("nowhere.pt2") !=
        std::string::npos);
}

TEST_CASE("a profile that cannot be written is an error, and says where", "[errors]") {
  const Folder folder;
  const RunResult r =
      aotc({"run", package_of("buffer_mutation.pt2"), "--profile", "no/t.json"}, folder.path());
  CHECK(r.exit_code == 1);
  CHECK(r.err.find("no/t.json") != std::string::npos);
  CHECK(fs::is_empty(folder.path()));
}

}  // namespace aotc::cli::test
