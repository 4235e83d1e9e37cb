// Errors are of two kinds. UserError: the program, archive or command is wrong; the message says
// where, what was expected, what was found, what to try. InternalError: aotc is wrong; never
// compiled out.
#pragma once
#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace aotc {

// One problem, or several found together (one per line), in what the user gave us. CLI exit code 1.
class UserError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A broken invariant of aotc itself. CLI exit code 70.
class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

template <typename... T>
[[noreturn]] void user_error(fmt::format_string<T...> format, T&&... args) {
  throw UserError(fmt::format(format, std::forward<T>(args)...));
}

template <typename... T>
[[noreturn]] void internal_error(fmt::format_string<T...> format, T&&... args) {
  throw InternalError(fmt::format(format, std::forward<T>(args)...));
}

// Collects user errors so that all instances are reported together.
class ErrorList {
 public:
  void add(std::string message) { messages_.push_back(std::move(message)); }
  bool empty() const { return messages_.empty(); }
  // Throws one UserError with a line per message, if there is any.
  void throw_if_any() const {
    if (messages_.empty()) return;
    throw UserError(fmt::format("{}", fmt::join(messages_, "\n")));
  }

 private:
  std::vector<std::string> messages_;
};

}  // namespace aotc

// AOTC_CHECK(condition, "format", args...): an internal invariant.
#define AOTC_CHECK(condition, ...)                                                      \
  do {                                                                                  \
    if (!(condition))                                                                   \
      throw ::aotc::InternalError(fmt::format("{}:{}: {}: {}", __FILE_NAME__, __LINE__, \
                                              #condition, fmt::format(__VA_ARGS__)));   \
  } while (0)
