// Compiling in process: results, levels, determinism, isolation, threads.
#include <elf.h>

#include <catch2/catch.hpp>
#include <thread>
#include <vector>

#include "ir/error.h"
#include "tests/toolchain/support.h"

using namespace aotc;
using namespace aotc::test;

namespace {

using Kernel = float(const float*, float*, int64_t);

std::vector<float> run_kernel(const std::string& bytes, int64_t n) {
  Library library(bytes);
  std::vector<float> x(n), y(n + 1);
  for (int64_t i = 0; i < n; ++i) x[i] = -8.0f + 0.031f * static_cast<float>(i);
  y[n] = library.get<Kernel>("kernel")(x.data(), y.data(), n);
  return y;
}

CompileOptions for_level(const std::string& level) {
  CompileOptions options;
  options.cpu_level = level;
  return options;
}

}  // namespace

TEST_CASE("a kernel compiles, links, loads and computes the same by Clang and by g++") {
  std::unique_ptr<Toolchain> gxx = make_gxx_toolchain();
  std::string level = native_cpu_level();
  std::string by_clang = build(clang(), kernel_source(), level, "kernel");
  std::string by_gxx = build(*gxx, kernel_source(), level, "kernel");
  for (int64_t n : {0, 1, 7, 500}) {
    std::vector<float> a = run_kernel(by_clang, n);
    CHECK(a == run_kernel(by_gxx, n));  // the same bits: no contraction, no reassociation
    if (n > 258) CHECK(a[258] == Approx(-0.002f / (1 + std::exp(0.002f))).margin(1e-6));
  }
}

TEST_CASE("every known level of Clang makes an object for its architecture") {
  for (const std::string& level : known_cpu_levels()) {
    CAPTURE(level);
    ObjectFile object = clang().compile(kernel_source(), for_level(level));
    ElfFacts facts = read_elf(object.bytes);
    CHECK(object.name == "kernels.o");
    CHECK(facts.type == ET_REL);
    CHECK(facts.machine == (level == "aarch64" ? EM_AARCH64 : EM_X86_64));
    ElfFacts library = read_elf(build(clang(), kernel_source(), level, "kernel"));
    CHECK(library.machine == facts.machine);
    CHECK(library.exports == std::set<std::string>{"kernel"});
    // floorf is an instruction from SSE4.1 on.
    CHECK(library.needed ==
          (level == "x86-64" ? std::set<std::string>{"libm.so.6"} : std::set<std::string>{}));
  }
}

TEST_CASE("the native level is known, and an unknown one is refused by name") {
  std::vector<std::string> levels = known_cpu_levels();
  CHECK(std::find(levels.begin(), levels.end(), native_cpu_level()) != levels.end());
  std::string error =
      error_of<UserError>([] { clang().compile(kernel_source(), for_level("x86-64-v9")); });
  CHECK(contains(error, "'x86-64-v9'"));
  CHECK(contains(error, "x86-64-v3"));
}

TEST_CASE("the same source gives the same bytes") {
  for (const char* level : {"x86-64-v3", "x86-64-v4", "aarch64"}) {
    std::string first = build(clang(), kernel_source(), level, "kernel");
    CHECK(first == build(clang(), kernel_source(), level, "kernel"));
    CHECK(first == build(*load_clang_toolchain(), kernel_source(), level, "kernel"));
  }
}

TEST_CASE("level v4 uses 512-bit registers for explicit vectors") {
  SourceFile source{"v.cpp", R"(
typedef float V __attribute__((vector_size(64)));
extern "C" void add(const V* a, const V* b, V* c) { *c = *a + *b; })"};
  // EVEX prefix 62 with vector length bits 10 (512 bits): vaddps zmm.
  auto has_zmm_add = [](const std::string& code) {
    for (size_t i = 0; i + 5 < code.size(); ++i)
      if (code[i] == '\x62' && (static_cast<unsigned char>(code[i + 3]) & 0x60) == 0x40 &&
          code[i + 4] == '\x58')
        return true;
    return false;
  };
  CHECK(has_zmm_add(clang().compile(source, for_level("x86-64-v4")).bytes));
  CHECK_FALSE(has_zmm_add(clang().compile(source, for_level("x86-64-v3")).bytes));
}

TEST_CASE("optimization can be turned off, and the arguments say so") {
  CompileOptions options = for_level("x86-64");
  options.optimize = 0;
  std::vector<std::string> arguments = clang().compile_arguments(options);
  CHECK(arguments[0].substr(0, 9) == "clang-19.");
  CHECK(std::count(arguments.begin(), arguments.end(), "-O0") == 1);
  CHECK(std::count(arguments.begin(), arguments.end(), "-ffp-contract=off") == 1);
  std::string unoptimized = clang().compile(kernel_source(), options).bytes;
  options.optimize = 2;
  CHECK(unoptimized != clang().compile(kernel_source(), options).bytes);
}

TEST_CASE("no file of the machine can be included") {
  for (const char* header :
       {"<stdint.h>", "<vector>", "\"/etc/passwd\"", "\"/usr/include/stdio.h\""}) {
    SourceFile source{"include.cpp", "#include " + std::string(header) + "\n"};
    CHECK(
        contains(error_of<InternalError>([&] { clang().compile(source, {}); }), "file not found"));
  }
}

TEST_CASE("two threads compile and link at once with the same result") {
  std::string expected = build(clang(), kernel_source(), "x86-64-v3", "kernel");
  std::string results[2];
  std::vector<std::thread> threads;
  for (std::string& result : results)
    threads.emplace_back([&result] {
      for (int i = 0; i < 3; ++i) result = build(clang(), kernel_source(), "x86-64-v3", "kernel");
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(results[0] == expected);
  CHECK(results[1] == expected);
}

TEST_CASE("formatting is Google style at 100 columns") {
  CHECK(clang().format("void f( int*p ){\nif(p){*p=1;}}\n") ==
        "void f(int* p) {\n  if (p) {\n    *p = 1;\n  }\n}\n");
  std::string parameters = "void g(";
  for (int i = 0; i < 12; ++i)
    parameters += (i ? ", " : "") + ("long parameter" + std::to_string(i));
  std::string formatted = clang().format(parameters + ") {}\n");
  CHECK(formatted.find('\n') <= 100);
  CHECK(formatted.find('\n') > 80);
  CHECK(clang().format("") == "");
}
