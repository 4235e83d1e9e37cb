// A strict reader of the flat JSON objects that carry options: an unknown key, a key given twice, a
// value of another type or out of range, and any syntax error are refused with a message that names
// the key or byte.
#pragma once
#include "aotc/aotc.h"

namespace aotc::model {

enum class OptionKind { kInteger, kBool, kString };

// One key that a function accepts. Exactly the target that `kind` names is written; absent keys
// leave it.
struct Option {
  const char* name;
  OptionKind kind;
  int64_t min, max;       // kInteger: inclusive
  int64_t* integer;       // kInteger, kBool (0 or 1)
  char* text;             // kString: zero-terminated UTF-8
  int64_t text_capacity;  // kString: bytes, with the zero
  bool given;
};

inline Option integer_option(const char* name, int64_t min, int64_t max, int64_t* target) {
  return {name, OptionKind::kInteger, min, max, target, nullptr, 0, false};
}
inline Option bool_option(const char* name, int64_t* target) {
  return {name, OptionKind::kBool, 0, 1, target, nullptr, 0, false};
}
inline Option string_option(const char* name, char* target, int64_t capacity) {
  return {name, OptionKind::kString, 0, 0, nullptr, target, capacity, false};
}

// `json` NULL, "" and "{}" mean no option. `where` begins messages, e.g. "session_create".
AotcStatus parse_options(const char* where, const char* json, Option* options, int32_t count);

}  // namespace aotc::model
