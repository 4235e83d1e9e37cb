// The store checker accepts what emitted code does when the table allows it.
#include <catch2/catch.hpp>

#include "ir/error.h"
#include "tests/toolchain/store_source.h"
#include "tests/toolchain/support.h"

namespace aotc::test {

std::string store_prelude() {
  return R"(
typedef __INT64_TYPE__ int64_t; typedef __INT32_TYPE__ int32_t; typedef __UINT32_TYPE__ uint32_t;
typedef struct AotcFailure { const char* message; int64_t value; int32_t has_value; } AotcFailure;
typedef void (*AotcParallelFor)(void* context, int64_t n, int64_t grain, void (*fn)(void*, int64_t, int64_t), void* arg);
typedef struct AotcFrame AotcFrame;
struct AotcFrame {
  void** inputs; void** outputs; void** storages; char* arena; int64_t* symbols; int64_t* extents;
  void* parallel_context; AotcParallelFor parallel_for; int32_t threads; AotcFailure failure;
  void* (*obtain_output)(AotcFrame*, int32_t); void* (*obtain_scratch)(AotcFrame*, int32_t, int64_t);
  void (*other)(AotcFrame*);
  void* runtime;
};
typedef struct AotcMatmul {
  int64_t m, n, k; const void* a; const void* b; void* c; const void* d; double alpha;
  void (*epilogue)(void* arg, int64_t row_begin, int64_t row_end); void* epilogue_arg; void* scratch;
  void* parallel_context; AotcParallelFor parallel_for;
} AotcMatmul;
extern "C" void aotc_matmul_f32(const AotcMatmul*);
extern "C" void* memcpy(void*, const void*, __SIZE_TYPE__);
)";
}

std::string findings(const std::string& body, const StoreTable& table) {
  try {
    clang().check_stores({"kernels.cpp", store_prelude() + body}, table);
  } catch (const InternalError& error) {
    std::string message = error.what();
    if (!contains(message, "the store check fails"))
      throw std::logic_error("the test does not compile: " + message);
    return message;
  }
  return "";
}

}  // namespace aotc::test

using namespace aotc;
using namespace aotc::test;

TEST_CASE("plain kernels with pointer parameters pass") {
  CHECK(findings(R"(
static void k0(const float* __restrict x, float* __restrict y, int64_t n) {
  float tmp[16] = {};
  float total = 0;
  for (int64_t i = 0; i < n; ++i) {
    const float t = x[i];
    tmp[i & 15] += t;
    total += t;
    y[i] = t + tmp[0];
  }
  float* row = y + 3 * n;
  *row++ = total;
  row[1] -= 2.0f;
  (*row) = 1.0f;
  float& last = row[n - 1];
  last = 4.0f;
}
extern "C" void run(AotcFrame* frame) {
  k0((const float*)frame->inputs[0], (float*)frame->outputs[0], frame->extents[2]);
})",
                 {{"k0", {"y"}}, {"run", {"outputs"}}}) == "");
}

TEST_CASE("body functions that read their pointers from a struct pass") {
  CHECK(findings(R"(
struct K3 { const float* x; float* y; int64_t n; };
static void k3_body(void* arg, int64_t begin, int64_t end) {
  const K3* a = (const K3*)arg;
  const float* x = a->x;
  float* y = a->y;
  for (int64_t i = begin; i < end; ++i) y[i] = x[i] * 2.0f;
}
static void k3(AotcFrame* frame, const float* x, float* y, int64_t n) {
  K3 a = {x, y, n};
  frame->parallel_for(frame->parallel_context, n, 1024, k3_body, &a);
}
extern "C" int32_t run(AotcFrame* frame) {
  k3(frame, (const float*)frame->inputs[0], (float*)(frame->arena + 64), 10);
  return 0;
})",
                 {{"k3_body", {"y"}}, {"run", {"arena"}}}) == "");
}

TEST_CASE("kernels that get parallel_for as a parameter and call their range function pass") {
  CHECK(findings(R"(
namespace aotc {
struct k4_arguments { const float* x_0; float* y_1; int64_t s77; };
static void k4_range(void* argument, int64_t begin, int64_t end) {
  const k4_arguments* arguments = (const k4_arguments*)argument;
  const float* x_0 = arguments->x_0;
  float* y_1 = arguments->y_1;
  for (int64_t i = begin; i < end; ++i) y_1[i] = x_0[i];
}
extern "C" void k4(const float* x_0, float* y_1, int64_t s77, void* parallel_context, AotcParallelFor parallel_for) {
  k4_arguments arguments = {x_0, y_1, s77, };
  if (s77 < 60000) { k4_range(&arguments, 0, s77); return; }
  parallel_for(parallel_context, s77, 1, k4_range, &arguments);
}
extern "C" int32_t k5(const float* x_0, int64_t* report) { *report = 3; return 1; }
}
extern "C" int32_t run(AotcFrame* frame) {
  aotc::k4((const float*)frame->inputs[0], (float*)(frame->arena + 64), 3, frame->parallel_context, frame->parallel_for);
  return aotc::k5((const float*)frame->inputs[0], &frame->failure.value);
})",
                 {{"k4_range", {"y_1"}},
                  {"k4", {"y_1"}},
                  {"k5", {"report"}},
                  {"run", {"arena", "frame.failure"}}}) == "");
}

TEST_CASE("structs filled member by member, copied and nested pass") {
  CHECK(findings(R"(
struct Inner { float* y; float* rows[4]; };
struct K3 { Inner inner; const float* x; int64_t n; };
static void k3_body(void* arg, int64_t begin, int64_t end) {
  K3 a = *(const K3*)arg;
  Inner inner = a.inner;
  a.n += end;
  for (int64_t i = begin; i < end; ++i) { inner.y[i] = a.x[i]; a.inner.rows[i & 3][i] = 1.0f; }
}
static void k3(AotcFrame* frame, float* y, int64_t n) {
  K3 a = {};
  a.inner.y = y;
  for (int i = 0; i < 4; ++i) a.inner.rows[i] = y + i * n;
  a.n = n;
  frame->parallel_for(frame->parallel_context, n, 1, k3_body, &a);
})",
                 {{"k3_body", {"y", "rows"}}, {"k3", {"y"}}}) == "");
}

TEST_CASE("helpers are checked at their call sites, whatever they do inside") {
  CHECK(findings(R"(
static inline void scale(float* q, int64_t n) { for (int64_t i = 0; i < n; ++i) q[i] *= 2.0f; }
static inline void twice(float* q, int64_t n) { scale(q, n); scale(q + 1, n - 1); }
static float* row(float* base, int64_t i) { return base + i * 16; }
static void split(float v, float& high, float& low) { high = v; low = v - high; }
template <int kWidth> static void fill(float* q) { for (int i = 0; i < kWidth; ++i) q[i] = 0; }
struct Half { uint32_t bits; Half() = default; Half(float f) : bits((uint32_t)f) {} void set(float f) { bits = (uint32_t)f; } };
static void k0(const float* x, float* y, int64_t n) {
  float tmp[16];
  fill<16>(tmp);
  twice(tmp, 16);
  twice(row(y, 2), n);
  split(x[0], y[1], tmp[2]);
  Half h(1.0f);
  h.set(x[1]);
})",
                 {{"k0", {"y"}}}) == "");
}

TEST_CASE("vector types, copies by memcpy and atomics into allowed pointers pass") {
  CHECK(findings(R"(
typedef float V __attribute__((vector_size(32)));
typedef float V4 __attribute__((ext_vector_type(4)));
static void k0(const float* x, float* y, int32_t* counter, int64_t n) {
  V acc = {};
  V4 four = {};
  for (int64_t i = 0; i + 8 <= n; i += 8) {
    V v;
    __builtin_memcpy(&v, x + i, 32);
    acc += v;
    acc[3] = 1.0f;
    four.x = v[0];
    *(V*)(y + i) = v;
    memcpy(y + i, &acc, sizeof(acc));
  }
  __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
  float* aligned = (float*)__builtin_assume_aligned(y, 64);
  aligned[0] = four.y;
})",
                 {{"k0", {"y", "counter"}}}) == "");
}

TEST_CASE("pointers that are reassigned or chosen are followed") {
  CHECK(findings(R"(
static void k0(const float* x, float* y, float* z, int64_t n) {
  float* p = nullptr;
  p = n > 4 ? y : z;
  p += 3;
  *p++ = x[0];
  for (float* q = y; q != y + n; ++q) *q = 0.0f;
  const float* r = x;
  while (r < x + n) p[0] += *r++;
})",
                 {{"k0", {"y", "z"}}}) == "");
}

TEST_CASE("a program's run function is checked by index of inputs, outputs and storages") {
  const std::string body = R"(
static void add_one(float* y, int64_t n) { for (int64_t i = 0; i < n; ++i) y[i] += 1.0f; }
extern "C" int32_t run(AotcFrame* frame) {
  add_one((float*)frame->inputs[2], 4);
  add_one((float*)((char*)frame->storages[1] + 256), 4);
  float* fresh = (float*)frame->obtain_output(frame, 1);
  if (!fresh) return 1;
  add_one(fresh, 4);
  int64_t* scratch = (int64_t*)frame->obtain_scratch(frame, 0, 64);
  scratch[0] = 1;
  frame->symbols[0] = 3;
  frame->failure.message = "index out of range";
  frame->failure.value = 3;
  return 0;
})";
  CHECK(findings(body, {{"run", {"inputs[2]", "storages", "symbols", "frame.failure"}}}) == "");
  CHECK(contains(findings(body, {{"run", {"inputs[1]", "storages", "symbols", "frame"}}}),
                 "'inputs[2]'"));
  CHECK(contains(findings(body, {{"run", {"inputs", "storages", "symbols"}}}), "'frame.failure'"));
}

TEST_CASE("calls of templates with an epilogue pass") {
  CHECK(findings(R"(
struct Epilogue { float* y; const float* bias; };
static void k1_epilogue(void* arg, int64_t row_begin, int64_t row_end) {
  const Epilogue* a = (const Epilogue*)arg;
  for (int64_t i = row_begin; i < row_end; ++i) a->y[i] += a->bias[i];
}
static void k1(AotcFrame* frame, const float* x, const float* w, float* y) {
  Epilogue epilogue = {y, w};
  AotcMatmul mm = {};
  mm.a = x;
  mm.b = w;
  mm.c = y;
  mm.alpha = 1.0;
  mm.epilogue = k1_epilogue;
  mm.epilogue_arg = &epilogue;
  mm.parallel_context = frame->parallel_context;
  mm.parallel_for = frame->parallel_for;
  aotc_matmul_f32(&mm);
})",
                 {{"k1_epilogue", {"y"}}, {"k1", {"y"}}}) == "");
}

TEST_CASE("constant tables and the program's description pass") {
  CHECK(findings(R"(
static const int64_t kSizes[] = {1, 2, 3};
static void k0(float* y) { y[0] = (float)kSizes[1]; }
static int32_t compute_extents(AotcFrame* frame) { frame->extents[0] = frame->symbols[0] * 2; return 0; }
static int32_t run(AotcFrame* frame) { k0((float*)frame->outputs[0]); return 0; }
struct Program { const int64_t* sizes; int32_t (*compute_extents)(AotcFrame*); int32_t (*run)(AotcFrame*); };
extern const Program aotc_program = {kSizes, compute_extents, run};
)",
                 {{"k0", {"y"}}, {"compute_extents", {"extents"}}, {"run", {"outputs"}}}) == "");
}

TEST_CASE("an empty source and a source without stores pass") {
  CHECK(findings("", {}) == "");
  CHECK(findings("static float k0(const float* x) { return x[0]; }", {}) == "");
}

TEST_CASE("the services that may be called are configurable") {
  std::unique_ptr<Toolchain> toolchain = load_clang_toolchain();
  SourceFile source{
      "s.cpp",
      store_prelude() + "extern \"C\" void run(AotcFrame* frame) { frame->other(frame); }"};
  CHECK_THROWS_AS(toolchain->check_stores(source, {}), InternalError);
  toolchain->services.callees.insert("other");
  CHECK_NOTHROW(toolchain->check_stores(source, {}));
}

TEST_CASE("checking and compiling in one parse gives the same object and the same findings") {
  SourceFile source = kernel_source();
  ObjectFile checked = clang().compile_checked(source, {{"kernel", {"y"}}}, {});
  CHECK(checked.bytes == clang().compile(source, {}).bytes);
  std::string error =
      error_of<InternalError>([&] { clang().compile_checked(source, {{"kernel", {}}}, {}); });
  CHECK(contains(error, "store through 'y'"));
}
