// A small JSON reader for manifests and options. Input is untrusted: depth and every position are
// checked.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace aotc::loader {

struct Json {
  enum class Kind { kNull, kBool, kNumber, kString, kArray, kObject };
  Kind kind = Kind::kNull;
  bool truth = false;
  double number = 0;
  std::string string;
  std::vector<Json> items;                            // of an array
  std::vector<std::pair<std::string, Json>> members;  // of an object, in order

  // The member of that name, or NULL when this is no object or has none.
  const Json* find(std::string_view name) const;
  std::optional<int64_t> integer() const;  // a number without fraction that fits
  std::optional<std::string> text() const;
};

// Throws Failure (AOTC_BAD_PACKAGE) that begins with `label` and names the byte.
Json parse_json(std::string_view text, const std::string& label);

// `text` as a JSON string, with its quotes.
std::string json_quote(std::string_view text);

}  // namespace aotc::loader
