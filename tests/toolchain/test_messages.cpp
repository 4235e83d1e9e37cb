// What is said about a rejected source.
#include <catch2/catch.hpp>

#include "codegen/source_report.h"
#include "ir/error.h"
#include "tests/toolchain/support.h"

using namespace aotc;
using namespace aotc::test;

namespace {

const SourceFile kBroken{"kernels.cpp",
                         "typedef long int64_t;\n"
                         "\n"
                         "// relu_1 (aten.relu), model.py:3\n"
                         "static void k0(float* y) {\n"
                         "  y[0] = 1.0f;\n"
                         "}\n"
                         "\n"
                         "// softmax_1 (aten._softmax), model.py:12\n"
                         "// 4 x 1000, float32\n"
                         "static void k1(const float* x, float* y,\n"
                         "               int64_t n) {\n"
                         "  for (int64_t i = 0; i < n; ++i) {\n"
                         "    y[i] = x[i] * scale;\n"
                         "    x[i] = 0.0f;\n"
                         "  }\n"
                         "}\n"};

void check_report(const std::string& error) {
  CAPTURE(error);
  CHECK(contains(error, "kernels.cpp:13:19: "));
  CHECK(contains(error, "scale"));
  CHECK(contains(error, "// softmax_1 (aten._softmax), model.py:12\n    // 4 x 1000, float32\n"));
  CHECK(contains(error, ">    13 |     y[i] = x[i] * scale;\n"));
  CHECK(contains(error, "kernels.cpp:14:"));
  CHECK_FALSE(contains(error, "relu_1"));
}

}  // namespace

TEST_CASE("a rejected source is reported with message, line, kernel and text") {
  check_report(error_of<InternalError>([] { clang().compile(kBroken, {}); }));
}

TEST_CASE("g++ reports a rejected source in the same form") {
  CompileOptions options;
  options.cpu_level = native_cpu_level();
  check_report(error_of<InternalError>([&] { make_gxx_toolchain()->compile(kBroken, options); }));
}

TEST_CASE("the store check reports in the same form") {
  SourceFile source{
      "k.cpp", "// copy_1 (aten.copy)\nstatic void k0(float* x, float* y) {\n  x[0] = y[0];\n}\n"};
  std::string error =
      error_of<InternalError>([&] { clang().check_stores(source, {{"k0", {"y"}}}); });
  CAPTURE(error);
  CHECK(contains(error, "k.cpp:3:"));
  CHECK(contains(error, "in k0: store through 'x'"));
  CHECK(contains(error, "(allowed: y)"));
  CHECK(contains(error, "// copy_1 (aten.copy)"));
  CHECK(contains(error, "|   x[0] = y[0];"));
}

TEST_CASE("the kernel comment is the one above the enclosing definition") {
  CHECK(kernel_comment(kBroken.text, 5) == "// relu_1 (aten.relu), model.py:3");
  CHECK(kernel_comment(kBroken.text, 11) ==
        "// softmax_1 (aten._softmax), model.py:12\n// 4 x 1000, float32");
  CHECK(kernel_comment(kBroken.text, 1) == "");
  CHECK(kernel_comment("", 1) == "");
  CHECK(kernel_comment("int x;", 99) == "");
}

TEST_CASE("sanitizers are refused by the Clang back end") {
  CompileOptions options;
  options.sanitize = "address";
  CHECK(contains(error_of<InternalError>([&] { clang().compile(kBroken, options); }),
                 "--backend g++"));
}
