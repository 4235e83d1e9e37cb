/* dlopens model.so alone: no libaotc, no other file. */
#include <aotc/aotc.h>
#include <dlfcn.h>
#include <stdio.h>

typedef const AotcApi* (*GetApi)(uint32_t);

int main(int argc, char** argv) {
  void* library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  GetApi get_api = library ? (GetApi)dlsym(library, "aotc_get_api") : NULL;
  const AotcApi* api = get_api ? get_api(AOTC_ABI_VERSION) : NULL;
  if (!api) {
    fprintf(stderr, "%s\n", argc > 1 ? dlerror() : "usage: main model.so");
    return 1;
  }
  AotcModel* model = NULL;
  AotcSession* session = NULL;
  if (api->model_open(NULL, NULL, &model) || api->session_create(model, NULL, &session)) {
    fprintf(stderr, "%s\n", api->last_error());
    return 1;
  }
  float x[2 * 128];
  for (int i = 0; i < 2 * 128; ++i) x[i] = (float)(i % 7) - 3;
  int64_t sizes[2] = {2, 128};
  DLTensor input = {x, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, sizes, NULL, 0};
  DLManagedTensor* y = NULL;
  if (api->session_run(session, &input, 1, &y, 1)) {
    fprintf(stderr, "%s\n", api->last_error());
    return 1;
  }
  const float* values = (const float*)y->dl_tensor.data;
  printf("input '%s', output '%s': y[0] = %.4f %.4f %.4f ...\n", api->model_input_name(model, 0),
         api->model_output_name(model, 0), values[0], values[1], values[2]);
  y->deleter(y);
  api->session_destroy(session);
  api->model_close(model);
  return dlclose(library);
}
