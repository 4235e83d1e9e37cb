#include "verdict_text.h"

#include <fmt/format.h>

namespace aotc::random_graphs {

std::string to_text(const Verdict& v) {
  return fmt::format("{}{}{}\n{}", static_cast<char>(v.outcome), v.inexact ? '1' : '0', v.stage,
                     v.message);
}

Verdict verdict_from_text(const std::string& text) {
  size_t line = text.find('\n');
  return {static_cast<Outcome>(text.at(0)), text.substr(2, line - 2), text.substr(line + 1),
          text.at(1) == '1'};
}

std::string describe(const Verdict& v) {
  const char* what = v.outcome == Outcome::Mismatch   ? "mismatch"
                     : v.outcome == Outcome::Internal ? "internal error"
                     : v.outcome == Outcome::Crash    ? "crash"
                     : v.outcome == Outcome::Refused  ? "refused"
                     : v.outcome == Outcome::Unusable ? "no inputs"
                                                      : "agrees";
  return v.stage.empty() ? fmt::format("{}: {}", what, v.message)
                         : fmt::format("{} at stage '{}': {}", what, v.stage, v.message);
}

// Internal errors by their text without the numbers and names in it.
std::string signature(const Verdict& v) {
  std::string s(1, static_cast<char>(v.outcome));
  if (v.outcome != Outcome::Crash) s += v.stage;
  if (v.outcome != Outcome::Internal) return s;
  for (char c : v.message.substr(0, v.message.find('\n')))
    if (!std::isdigit(static_cast<unsigned char>(c))) s += c;
  return s.substr(0, 40);
}

}  // namespace aotc::random_graphs
