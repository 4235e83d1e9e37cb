// Collecting broken invariants.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "ir/error.h"

namespace aotc::text {

class Violations {
 public:
  // What following rules are about: "node 'mul' (aten.mul.Tensor)".
  void at(std::string where) { where_ = std::move(where); }

  template <typename... T>
  void add(fmt::format_string<T...> format, T&&... args) {
    lines_.push_back(where_ + ": " + fmt::format(format, std::forward<T>(args)...));
  }
  // Reports unless the condition holds; yields the condition.
  template <typename... T>
  bool require(bool condition, fmt::format_string<T...> format, T&&... args) {
    if (!condition) add(format, std::forward<T>(args)...);
    return condition;
  }
  size_t count() const { return lines_.size(); }
  void throw_if_any(std::string_view stage) const {
    if (lines_.empty()) return;
    throw InternalError(fmt::format("stage {}: {} broken invariant{}\n  {}", std::string(stage),
                                    lines_.size(), lines_.size() == 1 ? "" : "s",
                                    fmt::join(lines_, "\n  ")));
  }

 private:
  std::string where_;
  std::vector<std::string> lines_;
};

}  // namespace aotc::text
