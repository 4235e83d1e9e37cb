/* Two models linked into one program; neither libaotc nor any file is needed at run time. */
#include <counter.h>
#include <mlp.h>
#include <stdio.h>
#include <stdlib.h>

static float run(const AotcApi* api, AotcSession* session, DLTensor* input) {
  DLManagedTensor* y = NULL;
  if (api->session_run(session, input, 1, &y, 1)) {
    fprintf(stderr, "%s\n", api->last_error());
    exit(1);
  }
  float first = ((const float*)y->dl_tensor.data)[0];
  y->deleter(y);
  return first;
}

int main(void) {
  const AotcApi* mlp = aotc_mlp_get_api(AOTC_ABI_VERSION);
  const AotcApi* counter = aotc_counter_get_api(AOTC_ABI_VERSION);
  AotcModel *m, *c;
  AotcSession *ms, *cs;
  if (mlp->model_open(NULL, NULL, &m) || mlp->session_create(m, NULL, &ms))
    return fprintf(stderr, "%s\n", mlp->last_error()), 1;
  if (counter->model_open(NULL, NULL, &c) || counter->session_create(c, NULL, &cs))
    return fprintf(stderr, "%s\n", counter->last_error()), 1;
  float x[128], ones[4] = {1, 1, 1, 1};
  for (int i = 0; i < 128; ++i) x[i] = (float)(i % 7) - 3;
  int64_t mlp_sizes[2] = {1, 128}, counter_sizes[1] = {4};
  DLTensor mlp_input = {x, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, mlp_sizes, NULL, 0};
  DLTensor counter_input = {ones, {kDLCPU, 0}, 1, {kDLFloat, 32, 1}, counter_sizes, NULL, 0};
  printf("mlp: %.4f\n", run(mlp, ms, &mlp_input));
  for (int i = 0; i < 3; ++i) printf("counter: %g\n", run(counter, cs, &counter_input));
  mlp->session_destroy(ms);
  mlp->model_close(m);
  counter->session_destroy(cs);
  counter->model_close(c);
  return 0;
}
