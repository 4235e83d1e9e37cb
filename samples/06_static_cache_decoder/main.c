/* Generates eight lines at once: eight threads, each with a session of its own, all forked from one that has read the
 * prompt that they share. The caches are state of the sessions, updated in place; the weights are the model's. */
#include <aotc/aotc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LENGTH = 64, VOCABULARY = 128, THREADS = 8 };

static void check(AotcStatus status) {
  if (status == AOTC_OK) return;
  fprintf(stderr, "%s\n", aotc_last_error());
  exit(1);
}

/* Reads `count` tokens that start at position `at`; the most likely next token. */
static char step(AotcSession* session, const char* text, int at, int count) {
  int64_t tokens[LENGTH], positions[LENGTH];
  for (int i = 0; i < count; ++i) {
    tokens[i] = text[at + i];
    positions[i] = at + i;
  }
  int64_t token_sizes[2] = {1, count}, position_sizes[1] = {count}, logit_sizes[1] = {VOCABULARY};
  const DLDataType int64 = {kDLInt, 64, 1};
  DLTensor inputs[2] = {{tokens, {kDLCPU, 0}, 2, int64, token_sizes, NULL, 0},
                        {positions, {kDLCPU, 0}, 1, int64, position_sizes, NULL, 0}};
  float logits[VOCABULARY];
  DLManagedTensor storage = {{logits, {kDLCPU, 0}, 1, {kDLFloat, 32, 1}, logit_sizes, NULL, 0}, NULL, NULL};
  DLManagedTensor* output = &storage; /* not NULL: the caller's memory, nothing is allocated */
  check(aotc_session_run(session, inputs, 2, &output, 1));
  int best = 0;
  for (int i = 1; i < VOCABULARY; ++i)
    if (logits[i] > logits[best]) best = i;
  return (char)best;
}

typedef struct Line {
  AotcSession* session;
  char text[LENGTH + 1];
} Line;

static void* generate(void* arg) {
  Line* line = arg;
  int at = (int)strlen(line->text) - 1; /* the last character is new to the session */
  while (line->text[at] != '\n' && at + 1 < LENGTH) {
    line->text[at + 1] = step(line->session, line->text, at, 1);
    ++at;
  }
  return NULL;
}

int main(int argc, char** argv) {
  const char* prompt = "the ";
  const char* first = "cdfglmst";
  AotcModel* model;
  AotcSession* prefix;
  check(aotc_model_open(argc > 1 ? argv[1] : "decoder.aotc", NULL, &model));
  check(aotc_session_create(model, "{\"threads\": 1}", &prefix));
  step(prefix, prompt, 0, (int)strlen(prompt));
  Line lines[THREADS] = {{0}};
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; ++i) {
    sprintf(lines[i].text, "%s%c", prompt, first[i]);
    check(aotc_session_fork(prefix, &lines[i].session));
  }
  for (int i = 0; i < THREADS; ++i) pthread_create(&threads[i], NULL, generate, &lines[i]);
  for (int i = 0; i < THREADS; ++i) pthread_join(threads[i], NULL);
  for (int i = 0; i < THREADS; ++i) {
    fputs(lines[i].text, stdout);
    aotc_session_destroy(lines[i].session);
  }
  aotc_session_destroy(prefix);
  aotc_model_close(model);
  return 0;
}
