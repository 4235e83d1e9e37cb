// The calling thread's last message.
#include "failure.h"

namespace aotc::loader {
namespace {

// A message that cannot be stored still leaves a true one.
thread_local std::string message;
thread_local bool lost = false;

}  // namespace

AotcStatus fail(AotcStatus status, std::string_view text) noexcept {
  try {
    lost = false;
    message = text;
  } catch (...) {
    lost = true;
  }
  return status;
}

const char* last_error() noexcept {
  return lost ? "no memory for the error message" : message.c_str();
}

}  // namespace aotc::loader
