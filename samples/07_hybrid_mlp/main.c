/* Runs a package ten times and writes a Chrome trace of the last four calls: main PACKAGE TRACE. The same program for
 * every device: with host_io inputs and outputs are host tensors. */
#include <aotc/aotc.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 8, FEATURES = 64, CLASSES = 10 };

static void check(AotcStatus status) {
  if (status == AOTC_OK) return;
  fprintf(stderr, "%s\n", aotc_last_error());
  exit(1);
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  AotcModel* model;
  AotcSession* session;
  check(aotc_model_open(argv[1], NULL, &model));
  check(aotc_session_create(model, "{\"host_io\": true}", &session));

  float x[ROWS][FEATURES], y[ROWS][CLASSES];
  for (int i = 0; i < ROWS; ++i)
    for (int j = 0; j < FEATURES; ++j) x[i][j] = (float)((7 * i + 3 * j) % 11 - 5) / 4;
  int64_t x_sizes[2] = {ROWS, FEATURES}, y_sizes[2] = {ROWS, CLASSES};
  const DLDataType float32 = {kDLFloat, 32, 1};
  const DLTensor input = {x, {kDLCPU, 0}, 2, float32, x_sizes, NULL, 0};
  DLManagedTensor storage = {{y, {kDLCPU, 0}, 2, float32, y_sizes, NULL, 0}, NULL, NULL};

  /* Two calls pass, three are recorded and forgotten (caches and clocks warm up), four are kept. */
  check(aotc_session_profile_start(session, "{\"wait\": 2, \"warmup\": 3, \"active\": 4}"));
  for (int call = 0; call < 10; ++call) {
    DLManagedTensor* output = &storage;
    check(aotc_session_run(session, &input, 1, &output, 1));
  }
  check(aotc_session_profile_stop(session, argv[2]));

  for (int j = 0; j < CLASSES; ++j) printf("%.4f%c", y[ROWS - 1][j], j + 1 < CLASSES ? ' ' : '\n');
  aotc_session_destroy(session);
  aotc_model_close(model);
  return 0;
}
