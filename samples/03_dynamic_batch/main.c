/* One package, several batch sizes; a size out of the declared range is refused with a message. */
#include <aotc/aotc.h>
#include <stdio.h>

int main(int argc, char** argv) {
  AotcModel* model;
  AotcSession* session;
  if (argc < 2 || aotc_model_open(argv[1], NULL, &model) ||
      aotc_session_create(model, NULL, &session)) {
    fprintf(stderr, "%s\n", aotc_last_error());
    return 1;
  }
  static float x[65 * 128];
  for (int i = 0; i < 65 * 128; ++i) x[i] = (float)(i % 7) - 3;
  const int64_t batches[] = {1, 8, 64, 65};
  for (int i = 0; i < 4; ++i) {
    int64_t sizes[2] = {batches[i], 128};
    DLTensor input = {x, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, sizes, NULL, 0};
    DLManagedTensor* y = NULL;
    if (aotc_session_run(session, &input, 1, &y, 1)) {
      printf("batch %d: %s\n", (int)batches[i], aotc_last_error());
      continue;
    }
    printf("batch %d: output is %d x %d, y[0][0] = %.4f\n", (int)batches[i],
           (int)y->dl_tensor.shape[0], (int)y->dl_tensor.shape[1],
           ((const float*)y->dl_tensor.data)[0]);
    y->deleter(y);
  }
  aotc_session_destroy(session);
  aotc_model_close(model);
  return 0;
}
