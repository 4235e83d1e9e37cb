// Data objects: any bytes, any size, aligned, for both architectures, through g++'s linker.
#include <elf.h>

#include <catch2/catch.hpp>

#include "ir/error.h"
#include "tests/toolchain/support.h"

using namespace aotc;
using namespace aotc::test;

namespace {

const SourceFile kReader{"reader.cpp", R"(
extern "C" const char aotc_weights[];
extern "C" __attribute__((visibility("default"))) const char* weights() { return aotc_weights; })"};

}  // namespace

TEST_CASE("bytes of a data object arrive aligned and unchanged") {
  std::unique_ptr<Toolchain> gxx = make_gxx_toolchain();
  std::string level = native_cpu_level();
  CompileOptions compile;
  compile.cpu_level = level;
  LinkOptions link;
  link.cpu_level = level;
  link.export_list = "weights";
  std::string every_byte;
  for (int i = 0; i < 256; ++i) every_byte += static_cast<char>(i);
  for (const std::string& bytes :
       {std::string(), std::string("x"), every_byte, std::string(1 << 20, 'w')}) {
    ObjectFile data = make_data_object("aotc_weights", bytes, level);
    Library library(gxx->link({gxx->compile(kReader, compile), data}, link));
    const char* found = library.get<const char*()>("weights")();
    CHECK(reinterpret_cast<uintptr_t>(found) % 64 == 0);
    CHECK(std::string(found, bytes.size()) == bytes);
  }
}

TEST_CASE("data objects are for the architecture that was asked for") {
  CHECK(read_elf(make_data_object("d", "x", "aarch64").bytes).machine == EM_AARCH64);
  CHECK(read_elf(make_data_object("d", "x", "x86-64-v3").bytes).machine == EM_X86_64);
  CHECK(make_data_object("d", "x", "aarch64").bytes == make_data_object("d", "x", "aarch64").bytes);
  CHECK_THROWS_AS(make_data_object("d", "x", "riscv64"), UserError);
  CHECK_THROWS_AS(make_data_object("", "x", "aarch64"), InternalError);
  CHECK_THROWS_AS(make_data_object("a b", "x", "aarch64"), InternalError);
}
