// Linking in process: exports, versioned imports, undefined symbols, archives, broken inputs.
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "codegen/process.h"
#include "ir/error.h"
#include "tests/toolchain/support.h"

using namespace aotc;
using namespace aotc::test;

namespace {

const SourceFile kImports{"imports.cpp", R"(
extern "C" {
void* memcpy(void*, const void*, __SIZE_TYPE__);
int pthread_create(unsigned long*, const void*, void* (*)(void*), void*);
float expf(float);
double lgamma(double);
int* __errno_location();
__attribute__((visibility("default"))) float entry(void* to, const void* from, __SIZE_TYPE__ n, float x) {
  unsigned long thread;
  memcpy(to, from, n);
  pthread_create(&thread, nullptr, nullptr, nullptr);
  return expf(x) + (float)lgamma(x) + *__errno_location();
}
int not_exported() { return 1; }
})"};

const SourceFile kImportsMemcpy{"memcpy.cpp", R"(
extern "C" void* memcpy(void*, const void*, __SIZE_TYPE__);
extern "C" __attribute__((visibility("default"))) void* entry(void* to, const void* from, __SIZE_TYPE__ n) {
  return memcpy(to, from, n);
})"};

LinkOptions link_options(const std::string& level = "x86-64-v3") {
  LinkOptions options;
  options.cpu_level = level;
  options.export_list = "entry";
  return options;
}

ObjectFile object_of(const std::string& name, const std::string& text) {
  return clang().compile({name, text}, {});
}

// A static archive of `objects`, in the format of ar.
std::string write_archive(const TemporaryFolder& folder, const std::vector<ObjectFile>& objects) {
  std::string bytes = "!<arch>\n";
  for (const ObjectFile& object : objects) {
    char header[61];
    std::snprintf(header, sizeof header, "%-16s%-12s%-6s%-6s%-8s%-10zu`\n",
                  (object.name + "/").c_str(), "0", "0", "0", "644", object.bytes.size());
    bytes += header + object.bytes + (object.bytes.size() % 2 ? "\n" : "");
  }
  std::string path = (folder.path() / "lib.a").string();
  write_file(path, bytes);
  return path;
}

}  // namespace

TEST_CASE("imports bind to the listed versions and libraries, and one symbol is exported") {
  ElfFacts facts = read_elf(build(clang(), kImports, "x86-64-v3", "entry"));
  CHECK(facts.exports == std::set<std::string>{"entry"});
  CHECK(facts.soname == "model.so");
  CHECK(facts.needed == std::set<std::string>{"libc.so.6", "libm.so.6"});
  CHECK(facts.imports["memcpy"] == "libc.so.6 GLIBC_2.14");
  CHECK(facts.imports["pthread_create"] == "libc.so.6 GLIBC_2.2.5");
  CHECK(facts.imports["expf"] == "libm.so.6 GLIBC_2.27");
  CHECK(facts.imports["lgamma"] == "libm.so.6 GLIBC_2.2.5");
  CHECK(facts.imports.size() == 5);
}

TEST_CASE("aarch64 imports bind to its oldest version") {
  ElfFacts facts = read_elf(build(clang(), kImports, "aarch64", "entry"));
  CHECK(facts.imports["memcpy"] == "libc.so.6 GLIBC_2.17");
  CHECK(facts.imports["pthread_create"] == "libc.so.6 GLIBC_2.17");
  CHECK(facts.imports["expf"] == "libm.so.6 GLIBC_2.27");
}

TEST_CASE("what is not imported is not needed") {
  ElfFacts facts = read_elf(build(clang(), kImportsMemcpy, "x86-64-v3", "entry"));
  CHECK(facts.needed == std::set<std::string>{"libc.so.6"});
}

#if defined(__x86_64__)
TEST_CASE("a library with versioned imports loads and runs here") {
  Library library(build(clang(), kImportsMemcpy, "x86-64", "entry"));
  char to[4] = "", from[4] = "abc";
  library.get<void*(void*, const void*, size_t)>("entry")(to, from, 4);
  CHECK(std::string(to) == "abc");
}

#endif

namespace {

// Checks the list of symbols against a C library in one of `folders`, if there is one.
void check_list(const std::string& arch, const std::vector<std::string>& folders) {
  std::set<std::string> available;
  for (const std::string& folder : folders)
    for (const char* file : {"/libc.so.6", "/libm.so.6", "/ld-linux-x86-64.so.2"})
      if (std::ifstream(folder + file))
        available.merge(read_elf(read_file(folder + file)).defined_versions);
  std::ifstream list(STUB_LIST);
  for (std::string line; std::getline(list, line) && !available.empty();) {
    std::istringstream fields(line);
    std::string library, symbol, x86, arm;
    if (line.empty() || line[0] == '#' || !(fields >> library >> symbol >> x86 >> arm)) continue;
    std::string version = arch == "aarch64" ? arm : x86;
    CAPTURE(arch, line);
    if (version != "-") CHECK(available.count(symbol + "@GLIBC_" + version) == 1);
  }
}

}  // namespace

TEST_CASE("the C libraries at hand have every listed symbol in the listed version") {
  check_list("x86-64", {"/lib/x86_64-linux-gnu", "/lib64"});
  check_list("aarch64", {"/usr/aarch64-linux-gnu/lib", "/lib/aarch64-linux-gnu"});
}

TEST_CASE("an aarch64 library loads and runs under emulation") {
  std::string emulator = find_on_path("qemu-aarch64").string();
  std::string compiler = find_on_path("aarch64-linux-gnu-gcc").string();
  if (compiler.empty()) compiler = find_on_path("aarch64-linux-gnu-gcc-12").string();
  if (emulator.empty() || compiler.empty()) return;
  TemporaryFolder folder;
  write_file(folder.path() / "model.so", build(clang(), kImportsMemcpy, "aarch64", "entry"));
  write_file(folder.path() / "host.c", R"(
#include <dlfcn.h>
#include <stdio.h>
int main(void) {
  void* library = dlopen("./model.so", RTLD_NOW);
  if (!library) return puts(dlerror());
  void* (*entry)(void*, const void*, unsigned long) = (void* (*)(void*, const void*, unsigned long))dlsym(library, "entry");
  char to[8] = "";
  entry(to, "copied", 7);
  puts(to);
})");
  ProcessResult made = run_process({compiler, "host.c", "-o", "host", "-ldl"}, folder.path());
  REQUIRE(made.output == "");
  CHECK(run_process({emulator, "-L", "/usr/aarch64-linux-gnu", "./host"}, folder.path()).output ==
        "copied\n");
}

TEST_CASE("an undefined symbol that no stub has is a link error that names it and its user") {
  ObjectFile object = object_of(
      "user.cpp",
      "extern \"C\" int no_such_function(); extern \"C\" "
      "__attribute__((visibility(\"default\"))) int entry() { return no_such_function(); }");
  std::string error = error_of<InternalError>([&] { clang().link({object}, link_options()); });
  CHECK(contains(error, "no_such_function"));
  CHECK(contains(error, "user.o"));
  CHECK_FALSE(contains(error, "/proc/self"));
}

TEST_CASE("a missing export is a link error") {
  ObjectFile object = object_of("empty.cpp", "");
  CHECK(
      contains(error_of<InternalError>([&] { clang().link({object}, link_options()); }), "entry"));
  LinkOptions none = link_options();
  none.export_list = "";
  CHECK(read_elf(clang().link({object}, none)).exports.empty());
}

TEST_CASE("unused archive members and unreferenced functions are dropped") {
  TemporaryFolder folder;
  std::string big(100000, 'x');
  LinkOptions options = link_options();
  options.archives = {write_archive(
      folder,
      {make_data_object("unused_data", big, "x86-64"),
       object_of(
           "used.cpp",
           "extern \"C\" __attribute__((visibility(\"default\"))) int entry() { return 7; }")})};
  std::string bytes = clang().link({make_data_object("also_unused", big, "x86-64")}, options);
  CHECK(bytes.size() < 8000);
  CHECK(Library(bytes).get<int()>("entry")() == 7);
}

TEST_CASE("broken inputs give errors, and the linker works afterwards") {
  std::string good = build(clang(), kImportsMemcpy, "x86-64-v3", "entry");
  TemporaryFolder folder;
  std::string cut = clang().compile(kImportsMemcpy, {}).bytes;
  for (const std::string& bytes :
       {std::string("garbage"), std::string(), cut.substr(0, 64), cut.substr(0, cut.size() / 2),
        std::string("\x7f"
                    "ELF") +
            std::string(200, '\xff')}) {
    CHECK_THROWS_AS(clang().link({{"broken.o", bytes}}, link_options()), InternalError);
    write_file(folder.path() / "broken.a", bytes.empty() ? "!<arch>\nxx" : bytes);
    LinkOptions options = link_options();
    options.archives = {(folder.path() / "broken.a").string()};
    CHECK_THROWS_AS(clang().link({clang().compile(kImports, {})}, options), InternalError);
    CHECK(build(clang(), kImportsMemcpy, "x86-64-v3", "entry") == good);
  }
  LinkOptions missing = link_options();
  missing.archives = {"/no/such/archive.a"};
  CHECK(
      contains(error_of<InternalError>([&] { clang().link({}, missing); }), "/no/such/archive.a"));
}

TEST_CASE("objects of another architecture are refused") {
  ObjectFile arm = make_data_object("entry", "x", "aarch64");
  CHECK_THROWS_AS(clang().link({arm}, link_options()), InternalError);
}
