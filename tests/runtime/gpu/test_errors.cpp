// What is wrong with drivers, devices, packages and kernels. Each case runs in a process of its
// own, since a driver is loaded once: see CMakeLists.txt.
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "support.h"

using namespace aotc;
using namespace aotc::test;

namespace {

constexpr int kSkipped = 77;

// The message of a session that cannot be made; the model opens and answers all the same.
std::string session_message(GetApi get_api, AotcStatus* status) {
  const Model model = Model::built_in(get_api(AOTC_ABI_VERSION));
  if (model.input_names().empty()) return "no inputs";
  AotcSession* session = nullptr;
  *status = model.api()->session_create(model.handle(), nullptr, &session);
  const std::string message = *status ? model.api()->last_error() : "(made)";
  model.api()->session_destroy(session);
  return message;
}

int expect(AotcStatus status, AotcStatus wanted, const std::string& text, const char* part) {
  if (status == wanted && text.find(part) != std::string::npos) return 0;
  std::printf("status %d, expected %d; message '%s', expected '%s'\n", status, wanted, text.c_str(),
              part);
  return 1;
}

int crashes() {
  DeviceProgram p(aotc_crash_get_api);
  Session other(p.model);
  Floats x = {1, 2, 3, 4};
  const Tensor on_device = p.device(x);
  int wrong = expect(p.run({on_device}), AOTC_DEVICE, p.message, "the last is 'crash'");
  wrong += expect(p.run({on_device}), AOTC_DEVICE, p.message, "the session has ended");
  try {
    other.run({on_device});
    wrong += 1;
  } catch (const Error& error) {
    wrong += expect(error.status(), AOTC_DEVICE, error.what(), "");
  }
  return wrong;
}

}  // namespace

// device PROGRAM: runs it where there is a device, see SKIP_RETURN_CODE;
// crash | affine STATUS PART | second_gpu STATUS PART: what session_create says has PART in it.
int main(int count, char** arguments) {
  const std::string what = count > 1 ? arguments[1] : "";
  AotcStatus status = AOTC_OK;
  if (what == "crash") return crashes();
  if (what == "device" && count == 3) {
    const std::string message = session_message(aotc_affine_get_api, &status);
    if (!status) execl(arguments[2], arguments[2], nullptr);
    std::printf("skipped: %s\n", message.c_str());
    return kSkipped;
  }
  if (count != 4) return 2;
  const std::string message = session_message(
      what == "second_gpu" ? aotc_second_gpu_get_api : aotc_affine_get_api, &status);
  return expect(status, std::atoi(arguments[2]), message, arguments[3]);
}
