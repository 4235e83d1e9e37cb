// The g++ back end: finding the compiler, failures, cleaning up, sanitizers.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>

#include "codegen/process.h"
#include "ir/error.h"
#include "tests/toolchain/support.h"

using namespace aotc;
using namespace aotc::test;
namespace fs = std::filesystem;

namespace {

// An environment variable, set for the life of this object.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    const char* old = std::getenv(name);
    if (old) old_ = old;
    had_ = old != nullptr;
    setenv(name, value.c_str(), 1);
  }
  ~Variable() { had_ ? setenv(name_, old_.c_str(), 1) : unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::string old_;
  bool had_ = false;
};

CompileOptions native_options() {
  CompileOptions options;
  options.cpu_level = native_cpu_level();
  return options;
}

void write_script(const fs::path& path, const std::string& text) {
  write_file(path, text);
  fs::permissions(path, fs::perms::owner_all);
}

}  // namespace

TEST_CASE("without g++ on PATH there is a clear error") {
  Variable path("PATH", "");
  std::string error = error_of<UserError>([] { make_gxx_toolchain(); });
  CHECK(contains(error, "no g++ on PATH"));
  CHECK(contains(error, "--backend clang"));
}

TEST_CASE("a g++ that fails to start or fails at once is reported") {
  TemporaryFolder folder;
  Variable path("PATH", folder.path().string());
  write_script(folder.path() / "g++", "#!/bin/sh\necho broken installation\nexit 3\n");
  std::string error = error_of<UserError>([] { make_gxx_toolchain(); });
  CHECK(contains(error, "exit code 3"));
  CHECK(contains(error, "broken installation"));
  write_script(folder.path() / "g++", "#!/no/such/interpreter\n");
  CHECK(contains(error_of<UserError>([] { make_gxx_toolchain(); }), "cannot start"));
}

TEST_CASE("a g++ that is killed is reported with its signal") {
  TemporaryFolder folder;
  write_script(folder.path() / "g++",
               "#!/bin/sh\ntest \"$1\" = -dumpfullversion && { echo 1.0; exit; }\nkill -9 $$\n");
  Variable path("PATH", folder.path().string());
  std::unique_ptr<Toolchain> broken = make_gxx_toolchain();
  CHECK(
      contains(error_of<InternalError>([&] { broken->compile(kernel_source(), native_options()); }),
               "signal 9"));
}

TEST_CASE("temporary files go to TMPDIR and are removed, also after an error") {
  TemporaryFolder folder;
  fs::path own = folder.path() / "tmp";
  fs::create_directory(own);
  Variable tmpdir("TMPDIR", own.string());
  std::unique_ptr<Toolchain> gxx = make_gxx_toolchain();
  build(*gxx, kernel_source(), native_cpu_level(), "kernel");
  CHECK_THROWS_AS(gxx->compile({"bad.cpp", "int x = ;"}, native_options()), InternalError);
  CHECK_THROWS_AS(gxx->link({{"bad.o", "garbage"}}, {}), InternalError);
  CHECK(fs::is_empty(own));
  Variable missing("TMPDIR", "/no/such/folder");
  CHECK(contains(error_of<UserError>([&] { gxx->compile(kernel_source(), native_options()); }),
                 "/no/such/folder"));
}

TEST_CASE("g++ output does not depend on the folder or the run") {
  std::unique_ptr<Toolchain> gxx = make_gxx_toolchain();
  std::string first = build(*gxx, kernel_source(), native_cpu_level(), "kernel");
  TemporaryFolder folder;
  Variable tmpdir("TMPDIR", folder.path().string());
  CHECK(first == build(*gxx, kernel_source(), native_cpu_level(), "kernel"));
  CHECK_FALSE(contains(first, folder.path().string()));
}

TEST_CASE("g++ libraries export one symbol, need versioned libraries only and include nothing") {
  std::unique_ptr<Toolchain> gxx = make_gxx_toolchain();
  SourceFile source = kernel_source();
  source.text +=
      "extern \"C\" float expf(float);\nEXPORT float more(float x) { return expf(x); }\n";
  ElfFacts facts = read_elf(build(*gxx, source, native_cpu_level(), "more"));
  CHECK(facts.exports == std::set<std::string>{"more"});
  CHECK(facts.needed == std::set<std::string>{"libm.so.6"});
  CHECK(facts.imports["expf"] == "libm.so.6 GLIBC_2.27");
  CHECK_THROWS_AS(gxx->compile({"i.cpp", "#include <stdio.h>\n"}, native_options()), InternalError);
}

TEST_CASE("g++ refuses another architecture and an undefined symbol") {
  std::unique_ptr<Toolchain> gxx = make_gxx_toolchain();
  CompileOptions options;
  options.cpu_level = native_cpu_level() == "aarch64" ? "x86-64" : "aarch64";
  CHECK(contains(error_of<UserError>([&] { gxx->compile(kernel_source(), options); }),
                 "--backend clang"));
  SourceFile source{"u.cpp",
                    "extern \"C\" int missing_one(); extern \"C\" "
                    "__attribute__((visibility(\"default\"))) int e() { return missing_one(); }"};
  CHECK(contains(error_of<InternalError>([&] { build(*gxx, source, native_cpu_level(), "e"); }),
                 "missing_one"));
}

TEST_CASE("g++ compiles with sanitizers") {
  std::unique_ptr<Toolchain> gxx = make_gxx_toolchain();
  CompileOptions options = native_options();
  options.sanitize = "undefined";
  LinkOptions link;
  link.cpu_level = options.cpu_level;
  link.export_list = "kernel";
  ElfFacts facts = read_elf(gxx->link({gxx->compile(kernel_source(), options)}, link));
  CHECK(facts.exports.count("kernel") == 1);
  std::vector<std::string> arguments = gxx->compile_arguments(options);
  CHECK(std::count(arguments.begin(), arguments.end(), "-fsanitize=undefined") == 1);
  CHECK(arguments[0].substr(0, 4) == "g++-");
}
