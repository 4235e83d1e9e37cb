// Two states and a weight:
//   def forward(x):                                                                   x: [3]
//       assert x[0] != -1
//       self.cache[self.count % 2] += x + self.bias; self.count += 1
//       return self.cache[(count - 1) % 2] * 1, self.cache, self.count
// count starts at 5, cache [2, 3] at zero, bias is [1, 2, 3]; `row` is the name of a view of cache,
// `tied` a second name of bias, `nothing` an empty buffer.
#include "tools.h"

namespace {
using namespace aotc::test;

// The blob: count, padding, bias.
struct alignas(64) Blob {
  int64_t count = 5;
  int64_t padding[7] = {};
  float bias[3] = {1, 2, 3};
  float more[13] = {};
};
constexpr Blob kBlob;

constexpr AotcDimension kX[] = {size(3)};
constexpr AotcExtent kRow[] = {fixed(3)}, kUnit[] = {fixed(1)};
constexpr AotcExtent kCacheSizes[] = {fixed(2), fixed(3)}, kCacheStrides[] = {fixed(3), fixed(1)};
constexpr AotcInput kInputs[] = {{"x", AOTC_INPUT_TENSOR, kFloat32, 1, kX, kUnit, 0, 1, 0, 0}};
constexpr AotcStorage kStorages[] = {{8, 0, 1}, {24, -1, 1}, {12, 64, 0}, {0, -1, 0}};
constexpr int64_t kTwoThree[] = {2, 3}, kThreeOne[] = {3, 1}, kThree[] = {3}, kOne[] = {1},
                  kZero[] = {0};
constexpr AotcName kNames[] = {{"count", 0, kInt64, 0, nullptr, nullptr, 0, 1},
                               {"bias", 2, kFloat32, 1, kThree, kOne, 0, 0},
                               {"cache", 1, kFloat32, 2, kTwoThree, kThreeOne, 0, 1},
                               {"row", 1, kFloat32, 1, kThree, kOne, 3, 1},
                               {"tied", 2, kFloat32, 1, kThree, kOne, 0, 0},
                               {"nothing", 3, kFloat32, 1, kZero, kOne, 0, 0}};
constexpr AotcOutput kOutputs[] = {{.name = "y",
                                    .kind = AOTC_OUTPUT_FRESH,
                                    .index = 0,
                                    .dtype = kFloat32,
                                    .ndim = 1,
                                    .sizes = kRow,
                                    .strides = kUnit,
                                    .offset = fixed(0)},
                                   {.name = "cache_out",
                                    .kind = AOTC_OUTPUT_STATE,
                                    .index = 2,
                                    .dtype = kFloat32,
                                    .ndim = 2,
                                    .sizes = kCacheSizes,
                                    .strides = kCacheStrides,
                                    .offset = fixed(0)},
                                   {.name = "count_out",
                                    .kind = AOTC_OUTPUT_STATE,
                                    .index = 0,
                                    .dtype = kInt64,
                                    .ndim = 0,
                                    .offset = fixed(0)}};
constexpr AotcAliasedIo kAliased[] = {{1, -1, 2, "kv_cache_update", 1, "rows are written in place"},
                                      {2, -1, 0, "identity", 1, "one element"}};

int32_t run(AotcFrame* frame) {
  const float* x = floats(frame->inputs[0]);
  if (x[0] == -1) return failed(frame, "x[0] must not be -1", -1);
  int64_t* count = integers(frame->storages[0]);
  float* row = floats(frame->storages[1]) + 3 * (*count % 2);
  const float* bias = floats(frame->storages[2]);
  for (int i = 0; i < 3; ++i) row[i] += x[i] + bias[i];
  for (int i = 0; i < 3; ++i) floats(frame->outputs[0])[i] = row[i];
  *count += 1;
  return 0;
}

}  // namespace

extern "C" const AotcProgram AOTC_PROGRAM_NAME = {.version = AOTC_PROGRAM_VERSION,
                                                  .struct_size = sizeof(AotcProgram),
                                                  .name = "counter",
                                                  .cpu_level = kBaseline,
                                                  .manifest_json = "{\"name\": \"counter\"}",
                                                  .inputs = kInputs,
                                                  .outputs = kOutputs,
                                                  .storages = kStorages,
                                                  .names = kNames,
                                                  .aliased_io = kAliased,
                                                  .n_inputs = length(kInputs),
                                                  .n_outputs = length(kOutputs),
                                                  .n_storages = length(kStorages),
                                                  .n_names = length(kNames),
                                                  .n_aliased_io = length(kAliased),
#ifndef AOTC_TEST_EXTERNAL_WEIGHTS
                                                  .weights = &kBlob,
#endif
                                                  .weights_bytes = sizeof(Blob),
                                                  .weights_digest = 0x71cc7fd5db6b4ec5u,
                                                  .arena_bytes = fixed(0),
                                                  .run = run};
