#include "ir/control.h"

#include <algorithm>
#include <array>

#include "ir/error.h"

namespace aotc {
namespace {

constexpr std::array kNames = {"none", "if",        "else", "end_if", "while",
                               "test", "end_while", "for",  "end_for"};

// The marker that `c` must follow on its level.
Control opener(Control c) {
  switch (c) {
    case Control::Else:
      return Control::If;
    case Control::EndIf:
      return Control::Else;
    case Control::Test:
      return Control::While;
    case Control::EndWhile:
      return Control::Test;
    case Control::EndFor:
      return Control::For;
    default:
      return Control::None;
  }
}

bool opens(Control c) { return c == Control::If || c == Control::While || c == Control::For; }
bool closes(Control c) {
  return c == Control::EndIf || c == Control::EndWhile || c == Control::EndFor;
}

}  // namespace

const char* name(Control c) { return kNames.at(static_cast<size_t>(c)); }

std::optional<Control> control_named(std::string_view name) {
  for (size_t i = 1; i < kNames.size(); ++i)
    if (name == kNames[i]) return static_cast<Control>(i);
  return std::nullopt;
}

Blocks::Blocks(const std::vector<Control>& items) : partner_(items.size()), depth_(items.size()) {
  struct Open {
    size_t begin, latest;  // the first marker and the last one so far
  };
  std::vector<Open> open;
  for (size_t i = 0; i < items.size(); ++i) {
    const Control c = items[i];
    depth_[i] = static_cast<int>(open.size());
    if (c == Control::None) continue;
    if (opens(c)) {
      open.push_back({i, i});
      continue;
    }
    if (open.empty() || items[open.back().latest] != opener(c))
      internal_error("'{}' does not follow '{}'", name(c), name(opener(c)));
    Open& o = open.back();
    depth_[i] = static_cast<int>(open.size()) - 1;
    partner_[o.latest] = i;
    o.latest = i;
    if (!closes(c)) continue;
    if (c != Control::EndIf) {
      partner_[i] = o.begin;
      partner_[o.begin] = i;
      while (!loops_.empty() && loops_.back().begin > o.begin) loops_.pop_back();
      loops_.push_back({o.begin, i});
    }
    open.pop_back();
  }
  if (!open.empty()) internal_error("'{}' has no end", name(items[open.back().latest]));
}

std::optional<Blocks::Loop> Blocks::outermost_loop(size_t i) const {
  for (const Loop& l : loops_)
    if (l.begin <= i && i <= l.end) return l;
  return std::nullopt;
}

}  // namespace aotc
