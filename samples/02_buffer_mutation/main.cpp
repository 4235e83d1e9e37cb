// One model, two sessions: each has its own counter. The C++ face of the API.
#include <aotc/aotc.h>

#include <cstdio>
#include <cstdlib>

namespace {

void check(AotcStatus status) {
  if (status == AOTC_OK) return;
  std::fprintf(stderr, "%s\n", aotc_last_error());
  std::exit(1);
}

DLTensor vector_of_four(float* data) {
  static int64_t size = 4;
  return {data, {kDLCPU, 0}, 1, {kDLFloat, 32, 1}, &size, nullptr, 0};
}

void call(const char* who, AotcSession* session) {
  float ones[4] = {1, 1, 1, 1}, counter[4];
  DLTensor input = vector_of_four(ones), state = vector_of_four(counter);
  DLManagedTensor* output = nullptr;
  check(aotc_session_run(session, &input, 1, &output, 1));
  check(aotc_session_state_get(session, "counter", &state));
  std::printf("%s: output %g, counter %g\n", who, static_cast<float*>(output->dl_tensor.data)[0],
              counter[0]);
  output->deleter(output);
}

}  // namespace

int main(int, char** argv) {
  AotcModel* model;
  AotcSession *a, *b;
  check(aotc_model_open(argv[1], nullptr, &model));
  check(aotc_session_create(model, nullptr, &a));
  check(aotc_session_create(model, nullptr, &b));
  for (int i = 0; i < 3; ++i) call("session a", a);
  call("session b", b);
  check(aotc_session_state_reset(a));
  call("session a after reset", a);
  aotc_session_destroy(a);
  aotc_session_destroy(b);
  aotc_model_close(model);
}
