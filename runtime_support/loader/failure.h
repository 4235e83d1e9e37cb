// How the loader's own code reports what is wrong; the exported functions turn it into a status and
// a message.
#pragma once
#include <cerrno>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <string_view>

#include "aotc/aotc.h"

namespace aotc::loader {

struct Failure {
  AotcStatus status;
  std::string message;
};

[[noreturn]] inline void bad_package(const std::string& label, const std::string& what) {
  throw Failure{AOTC_BAD_PACKAGE, "'" + label + "' " + what};
}

// Records the message for aotc_last_error and returns `status`. Messages have any length (a compile
// lists all that is unsupported).
AotcStatus fail(AotcStatus status, std::string_view message) noexcept;
const char* last_error() noexcept;

// Runs `body`, which may throw; no exception leaves.
template <class Body>
AotcStatus guarded(const Body& body) noexcept {
  try {
    return body();
  } catch (const Failure& failure) {
    return fail(failure.status, failure.message);
  } catch (const std::bad_alloc&) {
    return fail(AOTC_OUT_OF_MEMORY, "no memory");
  } catch (const std::exception& error) {
    return fail(AOTC_INTERNAL, error.what());
  }
}

// errno as a Failure: "cannot open 'x': No such file or directory".
[[noreturn]] inline void io_failure(const std::string& what, const std::string& path, int error) {
  const AotcStatus status = error == ENOENT || error == ENOTDIR ? AOTC_NOT_FOUND : AOTC_IO;
  throw Failure{status, "cannot " + what + " '" + path + "': " + std::strerror(error)};
}

}  // namespace aotc::loader
