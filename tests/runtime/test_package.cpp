// Packages of every form through libaotc: file, memory, folder, bare library; versions, CPU levels,
// weights.
#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "catch2/catch.hpp"
#include "packages.h"

using namespace aotc;
using namespace aotc::test;
using Catch::Matchers::Contains;

TEST_CASE("a package file") {
  const TemporaryFolder folder;
  for (const bool zip64 : {false, true}) {
    write_file(folder / "c.aotc", make_zip(counter_members(), 1, zip64));
    const Model model(folder / "c.aotc");
    CHECK(counts(model));
    CHECK(model.manifest() == counter_members()[0].second);
    CHECK(model.state_names() == std::vector<std::string>{"count", "cache", "row"});
  }
}

TEST_CASE("weights in the package are used where they lie") {
  const TemporaryFolder folder;
  for (size_t alignment : {4096, 64, 1})
    for (const bool zip64 : {false, true}) {
      write_file(folder / "e.aotc", make_zip(external_members(), alignment, zip64));
      CHECK(counts(Model(folder / "e.aotc")));
    }
}

TEST_CASE("a package in memory") {
  for (const Members& members : {counter_members(), external_members()}) {
    const std::string bytes = make_zip(members, 64);
    CHECK(counts(Model::from_memory(bytes.data(), bytes.size())));
  }
  const std::string code = module("counter");
  CHECK(counts(Model::from_memory(code.data(), code.size())));
}

TEST_CASE("an unpacked package and a bare library") {
  const TemporaryFolder folder;
  for (const auto& [name, content] : external_members()) write_file(folder / name, content);
  CHECK(counts(Model(folder.path())));
  CHECK(counts(Model(folder.path() + "/")));
  const Model bare(folder / "model.so");  // finds weights.bin beside it
  CHECK(counts(bare));
  CHECK(bare.manifest() == "{\"name\": \"counter\"}");
  std::filesystem::rename(folder / "weights.bin", folder / "elsewhere.bin");
  CHECK_THAT(open_failure(folder / "model.so"),
             Contains("/weights.bin': No such file or directory"));
  CHECK_THAT(open_failure(folder.path()), Contains("/weights.bin': No such file or directory"));
  const std::string option = "{\"weights\": \"" + (folder / "elsewhere.bin") + "\"}";
  CHECK(counts(Model(folder / "model.so", option)));
  CHECK(counts(Model(folder.path(), option)));
}

TEST_CASE("external weights lie beside the package") {
  const TemporaryFolder folder;
  Members members = external_members();
  members.pop_back();
  write_file(folder / "e.aotc", make_zip(members));
  CHECK_THAT(open_failure(folder / "e.aotc"),
             Contains("cannot open weights '" + (folder / "weights.bin") + "'"));
  write_file(folder / "weights.bin", counter_weights());
  CHECK(counts(Model(folder / "e.aotc")));
  write_file(folder / "weights.bin", std::string(128, 'x'));
  CHECK_THAT(open_failure(folder / "e.aotc"), Contains("their digest differs"));
}

TEST_CASE("the table and the functions are the same") {
  const AotcApi* api = aotc_get_api(AOTC_ABI_VERSION);
  REQUIRE(api != nullptr);
  CHECK(aotc_get_api(AOTC_ABI_VERSION + 1) == nullptr);
  CHECK(api->struct_size == sizeof(AotcApi));
  CHECK(api->model_open == aotc_model_open);
  CHECK(api->model_open_memory == aotc_model_open_memory);
  CHECK(api->session_run == aotc_session_run);
  CHECK(api->session_scratch_size == aotc_session_scratch_size);
  // Every member after the two numbers is a function.
  const void* const* members = reinterpret_cast<const void* const*>(api);
  for (size_t i = 1; i < sizeof(AotcApi) / sizeof(void*); ++i) CHECK(members[i] != nullptr);
}

TEST_CASE("versions are checked with a remedy") {
  const TemporaryFolder folder;
  const auto failure = [&](const std::string& manifest) {
    write_file(folder / "v.aotc",
               make_zip({{"manifest.json", manifest}, {"model.so", module("counter")}}));
    return open_failure(folder / "v.aotc");
  };
  CHECK(failure(make_manifest(counter_digest(), any_cpu(), 2)) ==
        "'" + (folder / "v.aotc") +
            "' has package format 2.0, this libaotc reads 1.x: compile the program "
            "again with this version of aotc");
  CHECK_THAT(failure(make_manifest(counter_digest(), any_cpu(), 1, 2)),
             Contains("needs another ABI version, this libaotc serves 1"));
  CHECK_THAT(failure("{}"), Contains("has package format ?.?"));
  CHECK_THAT(
      failure(make_manifest("0123456789abcdef", any_cpu())),
      Contains("the manifest's aliased_io digest is 0123456789abcdef, program 'counter' has " +
               counter_digest()));
  CHECK_THAT(failure(make_manifest("", any_cpu())), Contains("without aliased_io.digest"));
  CHECK_THAT(failure("{\"format\": {\"major\": 1}, \"abi\": 1"),
             Contains("/manifest.json' is not valid JSON: expected ',' or '}' at byte"));
}

TEST_CASE("the best code that this CPU runs is chosen") {
  const TemporaryFolder folder;
  const auto failure = [&](const std::string& cpu) {
    write_file(folder / "l.aotc", make_zip({{"manifest.json", make_manifest(counter_digest(), cpu)},
                                            {"good.so", module("counter")},
                                            {"other.so", module("kinds")}}));
    return open_failure(folder / "l.aotc");
  };
  const std::string entry = any_cpu("good.so").substr(1, any_cpu("good.so").size() - 2);
  CHECK(failure("[" + entry + "]") == "");
  CHECK(failure("[{\"level\": \"mystery\", \"file\": \"other.so\"}, " + entry + "]") == "");
  CHECK_THAT(failure("[{\"level\": \"mystery\", \"file\": \"other.so\"}]"),
             Contains("has no code for this CPU (mystery: this CPU lacks"));
  CHECK_THAT(failure("[]"), Contains("has no code for this CPU"));
  CHECK_THAT(failure("[{\"file\": \"good.so\"}]"), Contains("lacks level or file"));
  CHECK_THAT(failure(any_cpu("missing.so")),
             Contains("lacks 'missing.so', which its manifest names"));
#if defined(__x86_64__)
  CHECK_THAT(failure("[{\"level\": \"aarch64\", \"file\": \"good.so\"}]"),
             Contains("aarch64: this CPU lacks the aarch64 instruction set"));
  // other.so would be refused for its digest, so success means that the higher level was taken.
  CHECK(
      failure(
          "[{\"level\": \"x86-64\", \"file\": \"other.so\"}, {\"level\": \"x86-64-v2\", \"file\": "
          "\"good.so\"}]") == "");
#endif
}

TEST_CASE("what is no package says what it is") {
  const TemporaryFolder folder;
  CHECK(open_failure(folder / "none.aotc") ==
        "cannot open '" + (folder / "none.aotc") + "': No such file or directory");
  write_file(folder / "empty.aotc", "");
  CHECK_THAT(open_failure(folder / "empty.aotc"), Contains("is not a package"));
  write_file(folder / "text.aotc", std::string(100000, 't'));
  CHECK_THAT(open_failure(folder / "text.aotc"), Contains("is not a package"));
  write_file(folder / "program.pt2", make_zip({{"version", "1"}}));
  CHECK_THAT(open_failure(folder / "program.pt2"),
             Contains("has no manifest.json: it is not a package. An exported program (.pt2)"));
  write_file(folder / "foreign.so", module("foreign"));
  CHECK_THAT(open_failure(folder / "foreign.so"),
             Contains("is not a model: it has no aotc_get_api"));
  write_file(folder / "half.so", module("counter").substr(0, 5000));
  CHECK_THAT(open_failure(folder / "half.so"), Contains("is truncated"));
  write_file(folder / "odd.so",
             "\x7f"
             "ELF" +
                 std::string(200, 'x'));
  CHECK_THAT(open_failure(folder / "odd.so"), Contains("is not a 64-bit shared library"));
  CHECK_THAT(open_failure("/dev/null"), Contains("is neither a file nor a folder"));
  CHECK_THAT(open_failure(folder / "program.pt2", "{\"weight\": 1}"),
             Contains("model_open: unknown option 'weight', known are: weights"));
  AotcModel* model = nullptr;
  CHECK(aotc_model_open(nullptr, nullptr, &model) == AOTC_INVALID_ARGUMENT);
  CHECK(aotc_model_open("x", nullptr, nullptr) == AOTC_INVALID_ARGUMENT);
  CHECK(aotc_model_open_memory(nullptr, 5, nullptr, &model) == AOTC_INVALID_ARGUMENT);
}

TEST_CASE("a lone library opened without libaotc runs") {
  void* library = dlopen(AOTC_TEST_MODULES "/counter.so", RTLD_NOW | RTLD_LOCAL);
  REQUIRE(library != nullptr);
  using GetApi = const AotcApi* (*)(uint32_t);
  const GetApi get_api = reinterpret_cast<GetApi>(dlsym(library, "aotc_get_api"));
  REQUIRE(get_api != nullptr);
  CHECK(dlsym(library, "aotc_program") == nullptr);
  CHECK(counts(Model::built_in(get_api(AOTC_ABI_VERSION))));
  dlclose(library);
}

TEST_CASE("a lone library finds weights.bin in its own folder") {
  const TemporaryFolder folder;
  write_file(folder / "model.so", module("external"));
  void* library = dlopen((folder / "model.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  REQUIRE(library != nullptr);
  using GetApi = const AotcApi* (*)(uint32_t);
  const AotcApi* api = reinterpret_cast<GetApi>(dlsym(library, "aotc_get_api"))(AOTC_ABI_VERSION);
  AotcModel* model = nullptr;
  CHECK(api->model_open(nullptr, nullptr, &model) == AOTC_NOT_FOUND);
  CHECK_THAT(api->last_error(), Contains(folder / "weights.bin"));
  write_file(folder / "weights.bin", counter_weights());
  CHECK(counts(Model::built_in(api)));
  dlclose(library);
}

TEST_CASE("compiling needs the compiler, and says so") {
  CHECK(aotc_compile("x.pt2", nullptr, nullptr) == AOTC_INVALID_ARGUMENT);
  CHECK(aotc_compile(nullptr, "x.aotc", nullptr) == AOTC_INVALID_ARGUMENT);
  CHECK(aotc_compile("x.pt2", "x.aotc", nullptr) == AOTC_UNSUPPORTED);
  CHECK_THAT(aotc_last_error(), Contains("compile with the program aotc"));
}
