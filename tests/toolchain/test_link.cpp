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

TEST_CASE("this machine's C library has every listed symbol in the listed version") {
  std::set<std::string> available;
  for (const char* path : {"/lib/x86_64-linux-gnu/libc.so.6", "/lib/x86_64-linux-gnu/libm.so.6",
                           "/lib64/libc.so.6", "/lib64/libm.so.6", "/lib64/ld-linux-x86-64.so.2"})
    if (std::ifstream(path)) available.merge(read_elf(read_file(path)).defined_versions);
  if (!available.count("memcpy@GLIBC_2.14")) return;  // another C library, or another place
  std::ifstream list(STUB_LIST);
  for (std::string line; std::getline(list, line);) {
    std::istringstream fields(line);
    std::string library, symbol, x86;
    if (line.empty() || line[0] == '#' || !(fields >> library >> symbol >> x86)) continue;
    CAPTURE(line);
    CHECK(available.count(symbol + "@GLIBC_" + x86) == 1);
  }
}
#endif

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
