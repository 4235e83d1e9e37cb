// One fixed buffer per thread: recording a failure allocates nothing, so it also works when memory
// is out.
#include "error.h"

#include <stdarg.h>
#include <stdio.h>

namespace aotc::model {
namespace {
thread_local char message[1024];
}

AotcStatus fail(AotcStatus status, const char* format, ...) {
  // Arguments may point into the old message, hence the second buffer.
  char text[sizeof message];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  __builtin_memcpy(message, text, sizeof message);
  return status;
}

const char* last_error() { return message; }

}  // namespace aotc::model
