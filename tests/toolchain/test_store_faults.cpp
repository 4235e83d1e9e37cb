// Planted faults: each must be found, with function and reason.
#include <catch2/catch.hpp>

#include "tests/toolchain/store_source.h"
#include "tests/toolchain/support.h"

using namespace aotc;
using namespace aotc::test;

namespace {

// Checks that the findings name `function` and contain `reason`.
void expect_fault(const std::string& body, const StoreTable& table, const std::string& function,
                  const std::string& reason) {
  std::string found = findings(body, table);
  CAPTURE(found);
  CHECK(contains(found, "in " + function + ": "));
  CHECK(contains(found, reason));
}

}  // namespace

TEST_CASE("fault: store to an input that is passed writable") {
  expect_fault("static void k0(float* x, float* y) { y[0] = 1; x[0] = 2; }", {{"k0", {"y"}}}, "k0",
               "store through 'x'");
}

TEST_CASE("fault: store to the wrong one of two outputs through a local copy") {
  expect_fault("static void k0(float* y, float* z) { float* p = z + 4; p[1] = 2; }",
               {{"k0", {"y"}}}, "k0", "'z'");
}

TEST_CASE("fault: store through a member that the table does not list") {
  expect_fault(R"(
struct K3 { float* x; float* y; };
static void k3_body(void* arg, int64_t b, int64_t e) {
  const K3* a = (const K3*)arg;
  float* y = a->x;
  y[b] = 0;
})",
               {{"k3_body", {"y"}}}, "k3_body", "store through 'x'");
}

TEST_CASE("fault: the launcher puts the wrong pointer into the struct") {
  expect_fault(R"(
struct K3 { const float* x; float* y; };
static void k3_body(void* arg, int64_t b, int64_t e) { ((const K3*)arg)->y[b] = 0; }
static void k3(AotcFrame* frame, float* x, float* y) {
  K3 a = {y, x};
  frame->parallel_for(frame->parallel_context, 1, 1, k3_body, &a);
})",
               {{"k3_body", {"y"}}, {"k3", {"y"}}}, "k3", "a pointer is handed on: 'x'");
}

TEST_CASE("fault: const is cast away") {
  expect_fault("static void k0(const float* x) { *(float*)x = 1; }", {{"k0", {"x"}}}, "k0",
               "removes const");
  expect_fault("static void k0(const float* x) { const_cast<float*>(x)[0] = 1; }", {{"k0", {"x"}}},
               "k0", "removes const");
  expect_fault("static void k0(const float& x) { const_cast<float&>(x) = 1; }", {{"k0", {"x"}}},
               "k0", "removes const");
  expect_fault("static void k0(const float* const* x) { ((float* const*)x)[0][0] = 1; }",
               {{"k0", {"x"}}}, "k0", "removes const");
}

TEST_CASE("fault: const is lost through a builtin") {
  expect_fault(
      "static void k0(const float* x) { ((float*)__builtin_assume_aligned(x, 64))[0] = 1; }",
      {{"k0", {}}}, "k0", "'x'");
}

TEST_CASE("fault: an integer becomes a pointer") {
  expect_fault("static void k0(float* y, int64_t n) { *(float*)(n + 64) = 1; }", {{"k0", {"y"}}},
               "k0", "an integer becomes a pointer");
  expect_fault("static void k0(float* y, int64_t n) { *__builtin_bit_cast(float*, n) = 1; }",
               {{"k0", {"y"}}}, "k0", "bits become a pointer");
}

TEST_CASE("fault: inline assembly") {
  expect_fault("static void k0(float* y) { asm volatile(\"\" ::: \"memory\"); }", {{"k0", {"y"}}},
               "k0", "inline assembly");
  CHECK(contains(findings("asm(\"nop\");", {}), "inline assembly"));
}

TEST_CASE("fault: an indirect call that is no service") {
  expect_fault("static void k0(float* y, void (*f)(float*)) { f(y); }", {{"k0", {"y"}}}, "k0",
               "indirect call");
  expect_fault("static void k0(AotcFrame* frame) { frame->other(frame); }", {{"k0", {"frame"}}},
               "k0", "indirect call");
}

TEST_CASE("fault: a service is replaced") {
  expect_fault(R"(
static void evil(void*, int64_t, int64_t, void (*)(void*, int64_t, int64_t), void*) {}
static void k0(AotcFrame* frame) { frame->parallel_for = evil; })",
               {{"k0", {"frame"}}}, "k0", "is replaced");
}

TEST_CASE("fault: a service parameter gets another function") {
  const std::string evil =
      "static void evil(void*, int64_t, int64_t, void (*)(void*, int64_t, int64_t), void*) {}\n";
  expect_fault(evil + R"(
static void inner(void* parallel_context, AotcParallelFor parallel_for) { parallel_for(parallel_context, 1, 1, nullptr, nullptr); }
static void k0(AotcFrame* frame) { inner(frame->parallel_context, evil); })",
               {{"k0", {}}}, "k0", "is replaced");
  expect_fault(evil + "static void k0(AotcParallelFor parallel_for) { parallel_for = evil; }",
               {{"k0", {}}}, "k0", "is replaced");
  expect_fault(evil + "static void k0() { AotcParallelFor parallel_for = evil; }", {{"k0", {}}},
               "k0", "is replaced");
}

TEST_CASE("fault: a reassigned pointer may point to an input") {
  expect_fault(
      "static void k0(float* x, float* y, int64_t n) { float* p = y; if (n > 4) p = x; p[0] = 1; }",
      {{"k0", {"y"}}}, "k0", "'x'");
  expect_fault("static void k0(float* x, float* y, int64_t n) { (n > 4 ? x : y)[0] = 1; }",
               {{"k0", {"y"}}}, "k0", "'x'");
  expect_fault("static void k0(float* x, float* y) { y = x; y[0] = 1; }", {{"k0", {"y"}}}, "k0",
               "'x'");
}

TEST_CASE("fault: a pointer that cannot be followed") {
  expect_fault("extern \"C\" float* find();\nstatic void k0() { float* p = find(); p[0] = 1; }",
               {{"k0", {}}}, "k0", "the result of 'find'");
  expect_fault("static void k0() { float* p; p[0] = 1; }", {{"k0", {}}}, "k0", "never set");
  expect_fault("static float* kept;\nstatic void k0() { kept[0] = 1; }", {{"k0", {}}}, "k0",
               "kept in a global");
}

TEST_CASE("fault: store to a global or a static local") {
  expect_fault("static float total;\nstatic void k0(float v) { total += v; }", {{"k0", {}}}, "k0",
               "global 'total'");
  expect_fault("static void k0() { static int calls; ++calls; }", {{"k0", {}}}, "k0",
               "global 'calls'");
}

TEST_CASE("fault: a helper two calls deep stores to an input") {
  const std::string body = R"(
static void inner(float* q) { q[0] = 1; }
static void outer(float* q, int64_t n) { inner(q + n); }
static void k0(float* x, float* y) { outer(y, 1); outer(x, 2); })";
  expect_fault(body, {{"k0", {"y"}}}, "k0", "store through 'x'");
  CHECK(findings(body, {{"k0", {"x", "y"}}}) == "");
}

TEST_CASE("fault: a helper that is defined before its own helpers") {
  expect_fault(R"(
static void third(float* q);
static void second(float* q);
static void first(float* x) { second(x); }
static void k0(float* x) { first(x); }
static void second(float* q) { third(q); }
static void third(float* q) { q[0] = 1; })",
               {{"k0", {}}}, "k0", "'x'");
}

TEST_CASE("fault: a helper returns the wrong pointer") {
  expect_fault(R"(
static float* choose(float* a, float* b, int64_t n) { return n ? a : b; }
static void k0(float* x, float* y, int64_t n) { choose(y, x, n)[0] = 1; })",
               {{"k0", {"y"}}}, "k0", "'x'");
}

TEST_CASE("fault: a method and a reference parameter store to an input") {
  expect_fault("static void set(float& v) { v = 1; }\nstatic void k0(float* x) { set(x[3]); }",
               {{"k0", {}}}, "k0", "'x'");
  expect_fault("struct P { float v; void set() { v = 1; } };\nstatic void k0(P* x) { x->set(); }",
               {{"k0", {}}}, "k0", "'x.v'");
}

TEST_CASE("fault: a vector store, an atomic and memcpy to an input") {
  expect_fault(
      "typedef float V __attribute__((vector_size(16)));\nstatic void k0(float* x, V v) { *(V*)x = "
      "v; }",
      {{"k0", {}}}, "k0", "'x'");
  expect_fault(
      "typedef float V __attribute__((vector_size(16)));\nstatic void k0(V* x) { x[0][1] = 1; }",
      {{"k0", {}}}, "k0", "'x'");
  expect_fault("static void k0(int* x) { __atomic_fetch_add(x, 1, 0); }", {{"k0", {}}}, "k0",
               "'x'");
  expect_fault("static void k0(float* x, float* y) { memcpy(x, y, 4); }", {{"k0", {"y"}}}, "k0",
               "'x'");
}

TEST_CASE("fault: a template's output and epilogue point to an input") {
  expect_fault(
      "static void k0(const float* x, float* y, float* z) { AotcMatmul m = {}; m.a = x; m.c = z; "
      "aotc_matmul_f32(&m); }",
      {{"k0", {"y"}}}, "k0", "'z'");
  expect_fault(R"(
struct E { float* y; };
static void epilogue(void* arg, int64_t, int64_t) { ((const E*)arg)->y[0] = 1; }
static void k0(float* x) { E e = {x}; AotcMatmul m = {}; m.epilogue = epilogue; m.epilogue_arg = &e; aotc_matmul_f32(&m); })",
               {{"epilogue", {"y"}}, {"k0", {}}}, "k0", "'x'");
  expect_fault("static void k0(float* y) { AotcMatmul m; m.c = y; aotc_matmul_f32(&m); }",
               {{"k0", {"y"}}}, "k0", "never set");
}

TEST_CASE("fault: the program writes an input or a weight") {
  const std::string body = R"(
static void k0(const float* x, float* y) { y[0] = x[0]; }
extern "C" void run(AotcFrame* frame) { k0((const float*)frame->outputs[0], (float*)frame->)";
  expect_fault(body + "inputs[0]); }", {{"k0", {"y"}}, {"run", {"outputs"}}}, "run", "'inputs[0]'");
  expect_fault(body + "storages[3]); }", {{"k0", {"y"}}, {"run", {"outputs", "storages[2]"}}},
               "run", "'storages[3]'");
  expect_fault(body + "inputs[1]); }", {{"k0", {"y"}}, {"run", {"outputs", "inputs[0]"}}}, "run",
               "'inputs[1]'");
}

TEST_CASE("fault: a function that can be called from elsewhere is not listed") {
  expect_fault("extern \"C\" void k0(float* y) { y[0] = 1; }", {}, "k0",
               "is not in the store table");
  expect_fault(R"(
static void body(void* arg, int64_t b, int64_t e) { ((float*)arg)[b] = 1; }
static void k0(AotcFrame* frame, float* y) { frame->parallel_for(frame->parallel_context, 1, 1, body, y); })",
               {{"k0", {"y"}}}, "body", "is not in the store table");
}

TEST_CASE("fault: a pointer is stored where it cannot be followed") {
  expect_fault("struct K { float* y; };\nstatic void k0(K* a, float* x) { a->y = x; }",
               {{"k0", {"a", "y"}}}, "k0", "cannot be followed");
  expect_fault("static float* kept;\nstatic void k0(float* x) { kept = x; }", {{"k0", {"x"}}}, "k0",
               "cannot be followed");
}

TEST_CASE("fault: memory that holds pointers is changed as bytes") {
  expect_fault(R"(
struct K { float* y; };
static void k0(float* y, int64_t n) { K a = {y}; memcpy(&a, &n, sizeof(n)); a.y[0] = 1; })",
               {{"k0", {"y"}}}, "k0", "'a', which was handed to");
  expect_fault(R"(
struct K { float* y; };
static void k0(float* y, int64_t n) { K a = {y}; void* p = &a; *(int64_t*)p = n; a.y[0] = 1; })",
               {{"k0", {"y"}}}, "k0", "overwritten");
  expect_fault("static void k0(float* y, int64_t n) { *(int64_t*)&y = n; y[0] = 1; }",
               {{"k0", {"y"}}}, "k0", "changes its type");
  expect_fault(
      "union U { float* p; int64_t n; };\nstatic void k0(int64_t n) { U u; u.n = n; u.p[0] = 1; }",
      {{"k0", {}}}, "k0", "never set");
  CHECK(
      contains(findings("union U { float* p; int64_t n; };", {}), "a union that holds a pointer"));
}

TEST_CASE("fault: constructs that the check does not follow") {
  expect_fault("static void k0(float* x) { auto f = [x] { x[0] = 1; }; f(); }", {{"k0", {"x"}}},
               "k0", "lambda");
  expect_fault("static void k0() { int* p = new int; }", {{"k0", {}}}, "k0", "operator new");
  expect_fault("struct G { float* p; ~G() { p[0] = 1; } };", {}, "~G", "destructor");
  expect_fault("struct V { virtual void f(); };\nstatic void k0(V* v) { v->f(); }", {{"k0", {}}},
               "k0", "virtual call");
  expect_fault(
      "static void f(float* y) { y[0] = 1; }\nstatic void k0(float* x) { ((void (*)(float*))f)(x); "
      "}",
      {{"k0", {"x"}}}, "f", "not in the store table");
}
