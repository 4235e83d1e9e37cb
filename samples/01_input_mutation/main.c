/* Runs both programs on x = {1, 2, 3, 4, 5, 6} and shows what happens to x. */
#include <aotc/aotc.h>
#include <stdio.h>
#include <stdlib.h>

static void check(AotcStatus status) {
  if (status == AOTC_OK) return;
  fprintf(stderr, "%s\n", aotc_last_error());
  exit(1);
}

static void run(const char* package) {
  AotcModel* model;
  AotcSession* session;
  check(aotc_model_open(package, NULL, &model));
  check(aotc_session_create(model, NULL, &session));
  float x[6] = {1, 2, 3, 4, 5, 6};
  int64_t sizes[2] = {2, 3};
  DLTensor input = {x, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, sizes, NULL, 0};
  DLManagedTensor* outputs[2] = {NULL, NULL};
  int32_t n = aotc_model_num_outputs(model);
  check(aotc_session_run(session, &input, 1, outputs, n));
  printf("%s: x is now {%g, %g, %g, %g, %g, %g}\n", package, x[0], x[1], x[2], x[3], x[4], x[5]);
  for (int32_t i = 0; i < n; ++i) {
    const DLTensor* t = &outputs[i]->dl_tensor;
    const char* input_name = aotc_model_aliased_input(model, i);
    printf("  output %d begins %.4f; %s\n", i, ((const float*)t->data)[0],
           t->data == (void*)x ? "its data is x itself" : "its data is its own");
    if (input_name) printf("  aliased_io says: output %d is input '%s'\n", i, input_name);
    outputs[i]->deleter(outputs[i]);
  }
  aotc_session_destroy(session);
  aotc_model_close(model);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(argv[i]);
  return 0;
}
