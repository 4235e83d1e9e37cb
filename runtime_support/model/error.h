// The calling thread's last failure: a status and a message.
#pragma once
#include "aotc/aotc.h"

namespace aotc::model {

// Records the message (cut at 1023 bytes) for last_error and returns `status`.
AotcStatus fail(AotcStatus status, const char* format, ...) __attribute__((format(printf, 2, 3)));

// Never NULL; valid until the calling thread's next failure.
const char* last_error();

}  // namespace aotc::model
