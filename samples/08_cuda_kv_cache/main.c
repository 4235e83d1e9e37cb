/* Four sessions decode on a GPU, each with caches of its own that every call updates where they are. Device memory comes
 * from the C interface: no toolkit is needed. */
#include <aotc/aotc.h>
#include <stdio.h>
#include <stdlib.h>

enum { DIM = 64, HEADS = 4, LENGTH = 32, STEPS = 24, SESSIONS = 4, CACHE_BYTES = LENGTH * DIM * sizeof(float) };

static const DLDevice host = {kDLCPU, 0}, gpu = {kDLCUDA, 0};
static const DLDataType float32 = {kDLFloat, 32, 1}, int64 = {kDLInt, 64, 1};

static void check(AotcStatus status) {
  if (status == AOTC_OK) return;
  fprintf(stderr, "%s\n", aotc_last_error());
  exit(1);
}

static void* to_device(AotcModel* model, const void* from, size_t bytes) {
  void* data;
  check(aotc_device_alloc(model, bytes, &data));
  check(aotc_device_copy(model, data, gpu, from, host, bytes));
  return data;
}

typedef struct Sequence {
  AotcSession* session;
  float* x;    /* on the device, as all that follows: [STEPS][DIM], the inputs of all steps */
  float* y;    /* [STEPS][DIM] */
  void* at;    /* int64[STEPS]: 0, 1, 2, ... */
  void *keys, *values;
  int moved;   /* caches that came back at another address */
} Sequence;

static Sequence start(AotcModel* model, int number, const char* options) {
  static const float zeros[LENGTH * DIM];
  float x[STEPS][DIM];
  int64_t at[STEPS];
  for (int step = 0; step < STEPS; ++step) {
    at[step] = step;
    for (int j = 0; j < DIM; ++j) x[step][j] = (float)((5 * step + 3 * j + number) % 13 - 6) / 8;
  }
  Sequence s = {0};
  check(aotc_session_create(model, options, &s.session));
  s.x = to_device(model, x, sizeof x);
  s.y = to_device(model, x, sizeof x);
  s.at = to_device(model, at, sizeof at);
  s.keys = to_device(model, zeros, CACHE_BYTES);
  s.values = to_device(model, zeros, CACHE_BYTES);
  return s;
}

static void run_step(Sequence* s, int step) {
  int64_t row[3] = {1, 1, DIM}, one[1] = {1}, cache[4] = {1, HEADS, LENGTH, DIM / HEADS};
  const uint64_t row_offset = (uint64_t)step * DIM * sizeof(float), at_offset = (uint64_t)step * sizeof(int64_t);
  const DLTensor inputs[4] = {{s->x, gpu, 3, float32, row, NULL, row_offset},
                              {s->at, gpu, 1, int64, one, NULL, at_offset},
                              {s->keys, gpu, 4, float32, cache, NULL, 0},
                              {s->values, gpu, 4, float32, cache, NULL, 0}};
  DLManagedTensor y = {{s->y, gpu, 3, float32, row, NULL, row_offset}, NULL, NULL};
  DLManagedTensor* outputs[3] = {&y, NULL, NULL}; /* the caller's memory; the caches, as the program returns them */
  check(aotc_session_run(s->session, inputs, 4, outputs, 3));
  for (int i = 1; i < 3; ++i) {
    const DLTensor* t = &outputs[i]->dl_tensor;
    s->moved += (char*)t->data + t->byte_offset != inputs[i + 1].data;
    outputs[i]->deleter(outputs[i]);
  }
}

static void print_last(AotcModel* model, const Sequence* s, int number) {
  float y[DIM];
  check(aotc_device_copy(model, y, host, s->y + (STEPS - 1) * DIM, gpu, sizeof y));
  printf("session %d: %.4f %.4f %.4f %.4f %.4f %.4f\n", number, y[0], y[1], y[2], y[3], y[4], y[5]);
}

static void finish(AotcModel* model, Sequence* s) {
  void* memory[] = {s->x, s->y, s->at, s->keys, s->values};
  aotc_session_destroy(s->session);
  for (int i = 0; i < 5; ++i) check(aotc_device_free(model, memory[i]));
}

int main(int argc, char** argv) {
  AotcModel* model;
  Sequence s[SESSIONS];
  check(aotc_model_open(argc > 1 ? argv[1] : "step.aotc", NULL, &model));

  /* Three sessions with streams of their own take turns; a call returns when the device is done. */
  for (int i = 0; i < SESSIONS - 1; ++i) s[i] = start(model, i, "{\"cuda_graph\": true}");
  for (int step = 0; step < STEPS; ++step)
    for (int i = 0; i < SESSIONS - 1; ++i) run_step(&s[i], step);

  /* The fourth puts all its calls on the default stream, and waits once. */
  Sequence* last = &s[SESSIONS - 1];
  *last = start(model, SESSIONS - 1, "{\"cuda_graph\": true, \"stream\": 0}");
  for (int step = 0; step < STEPS; ++step) run_step(last, step);
  check(aotc_session_synchronize(last->session));

  int moved = 0, without_graph = 0;
  for (int i = 0; i < SESSIONS; ++i) {
    print_last(model, &s[i], i);
    moved += s[i].moved;
    if (*aotc_session_graph_trouble(s[i].session)) ++without_graph;
  }
  fprintf(stderr, "%d sessions, %d calls each: %d caches came back at another address\n", SESSIONS, STEPS, moved);
  fprintf(stderr, "sessions whose calls were no CUDA graphs: %d\n", without_graph);
  for (int i = 0; i < SESSIONS; ++i) finish(model, &s[i]);
  aotc_model_close(model);
  return 0;
}
