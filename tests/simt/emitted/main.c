/* Runs two linked-in models on host tensors and compares them with eager's results: app DATA. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cache.h"
#include "mlp.h"

static const DLDataType float32 = {kDLFloat, 32, 1}, int64 = {kDLInt, 64, 1};

static void fail(const char* what) {
  fprintf(stderr, "%s\n", what);
  exit(1);
}

/* The data of a small .npy file, which follow 128 bytes of header. */
static void read_array(const char* data, const char* name, void* into, size_t bytes) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s.npy", data, name);
  FILE* f = fopen(path, "rb");
  if (!f || fseek(f, 128, SEEK_SET) || fread(into, 1, bytes, f) != bytes || fgetc(f) != EOF) fail(path);
  fclose(f);
}

static AotcSession* open_session(const AotcApi* api, AotcModel** model) {
  AotcSession* session;
  if (!api || api->model_open(NULL, NULL, model)) fail(api ? api->last_error() : "no table");
  if (api->session_create(*model, "{\"host_io\": true}", &session)) fail(api->last_error());
  return session;
}

static void compare(const AotcApi* api, AotcSession* session, const DLTensor* inputs, int n_inputs,
                    const float* expected, int64_t count) {
  DLManagedTensor* output = NULL;
  if (api->session_run(session, inputs, n_inputs, &output, 1)) fail(api->last_error());
  const float* y = output->dl_tensor.data;
  for (int64_t i = 0; i < count; ++i)
    if (!(fabsf(y[i] - expected[i]) <= 1e-5f)) fail("a result differs");
  output->deleter(output);
}

static void run_cache(const char* data) {
  const AotcApi* api = aotc_cache_get_api(AOTC_ABI_VERSION);
  AotcModel* model;
  AotcSession* session = open_session(api, &model);
  for (int step = 0; step < 2; ++step) {
    char name[64];
    float x[8], y[8];
    int64_t at, x_sizes[2] = {1, 8}, at_sizes[1] = {1};
    snprintf(name, sizeof name, "device_cache.case%d/in0", step);
    read_array(data, name, x, sizeof x);
    memcpy(strrchr(name, '/'), "/in1", 5);
    read_array(data, name, &at, sizeof at);
    memcpy(strrchr(name, '/'), "/out0", 6);
    read_array(data, name, y, sizeof y);
    const DLTensor inputs[2] = {{x, {kDLCPU, 0}, 2, float32, x_sizes, NULL, 0},
                                {&at, {kDLCPU, 0}, 1, int64, at_sizes, NULL, 0}};
    compare(api, session, inputs, 2, y, 8);
  }
  api->session_destroy(session);
  api->model_close(model);
}

static void run_mlp(const char* data) {
  const AotcApi* api = aotc_mlp_get_api(AOTC_ABI_VERSION);
  AotcModel* model;
  AotcSession* session = open_session(api, &model);
  float x[3 * 12], y[3 * 5];
  int64_t sizes[2] = {3, 12};
  read_array(data, "hybrid_mlp_back.case0/in0", x, sizeof x);
  read_array(data, "hybrid_mlp_back.case0/out0", y, sizeof y);
  const DLTensor input = {x, {kDLCPU, 0}, 2, float32, sizes, NULL, 0};
  compare(api, session, &input, 1, y, 15);
  api->session_destroy(session);
  api->model_close(model);
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  run_cache(argv[1]);
  run_mlp(argv[1]);
  return 0;
}
