// JSON by nlohmann/json, which this file alone of the reader includes. Nodes carry no path: the
// path is found by a search for the node, and only when an error is reported.
#include "ir/pt2/json.h"

#include <limits>
#include <nlohmann/json.hpp>

#include "ir/error.h"
#include "ir/pt2/quote.h"

namespace aotc::pt2 {
namespace {

using Json = nlohmann::json;

// Bounds recursion here and over the schema; sixty graphs nested in each other need fewer.
constexpr int kMaxNesting = 512;
constexpr int64_t kLastBound = std::numeric_limits<int64_t>::max() - 1;

const Json& node(const void* p) { return *static_cast<const Json*>(p); }

// Checks the depth and quotes the bare words NaN, Infinity and -Infinity, which Python writes and
// JSON lacks. Outside of strings no other JSON word has an N or an I.
class Preparation {
 public:
  // The text to parse: `text` itself or, where something was quoted, `storage`.
  static std::string_view run(std::string_view text, const std::string& where,
                              std::string& storage) {
    Preparation p{text};
    p.scan(where);
    if (p.out_.empty()) return text;
    p.out_ += text.substr(p.copied_);
    storage = std::move(p.out_);
    return storage;
  }

 private:
  explicit Preparation(std::string_view text) : text_(text) {}

  void scan(const std::string& where) {
    int depth = 0;
    for (size_t i = 0; i < text_.size(); ++i) {
      const char c = text_[i];
      if (c == '"') i = end_of_string(i);
      if (c == '[' || c == '{') ++depth;
      if (c == ']' || c == '}') --depth;
      if (depth > kMaxNesting)
        user_error("{}: nested more than {} levels deep; this is no exported program", where,
                   kMaxNesting);
      if (c == 'N' || c == 'I') i = quote_word(i);
    }
  }

  size_t end_of_string(size_t i) const {
    for (++i; i < text_.size() && text_[i] != '"'; ++i)
      if (text_[i] == '\\') ++i;
    return i;
  }

  // Copies the text before a bare word, then the word in quotes; returns its last position.
  size_t quote_word(size_t i) {
    for (const std::string_view word : {"NaN", "Infinity"}) {
      if (text_.substr(i, word.size()) != word) continue;
      const size_t begin = i > copied_ && text_[i - 1] == '-' ? i - 1 : i;
      const size_t end = i + word.size();
      out_ += text_.substr(copied_, begin - copied_);
      out_ += fmt::format("\"{}\"", text_.substr(begin, end - begin));
      copied_ = end;
      return end - 1;
    }
    return i;
  }

  std::string_view text_;
  std::string out_;
  size_t copied_ = 0;
};

bool find_path(const Json& from, const void* target, std::string& path) {
  if (&from == target) return true;
  const size_t length = path.size();
  if (from.is_object()) {
    for (const auto& [key, value] : from.items()) {
      path += (length == 0 ? "" : ".") + key.substr(0, 80);
      if (find_path(value, target, path)) return true;
      path.resize(length);
    }
  } else if (from.is_array()) {
    for (size_t i = 0; i < from.size(); ++i) {
      path += fmt::format("[{}]", i);
      if (find_path(from[i], target, path)) return true;
      path.resize(length);
    }
  }
  return false;
}

// What a value is, for messages: its type, and short scalars in full.
std::string describe(const Json& value) {
  if (value.is_object()) {
    if (value.empty()) return "an empty object";
    return fmt::format("an object with {}", quote(value.begin().key(), 40));
  }
  if (value.is_array()) return fmt::format("an array of {}", value.size());
  if (value.is_string()) return quote(value.get_ref<const std::string&>(), 40);
  return value.dump();
}

}  // namespace

struct JsonDocument::Impl {
  Json root;
};

JsonDocument::JsonDocument(std::string_view text, std::string where)
    : where_(std::move(where)), impl_(std::make_unique<Impl>()) {
  std::string storage;
  const std::string_view prepared = Preparation::run(text, where_, storage);
  try {
    impl_->root = Json::parse(prepared);
  } catch (const Json::exception& e) {
    // Its text reads "[json.exception...] parse error at line 1, column 5: ..." and may quote
    // bytes.
    user_error("{}: not valid JSON: {}; export the program again", where_, quote(e.what(), 300));
  }
}

JsonDocument::~JsonDocument() = default;

JsonRef JsonDocument::root() const { return {this, &impl_->root}; }

std::string JsonDocument::path_of(const void* target) const {
  std::string path;
  find_path(impl_->root, target, path);
  return path;
}

bool JsonRef::is_null() const { return node(node_).is_null(); }

bool JsonRef::is_text() const { return node(node_).is_string(); }

void JsonRef::fail(const std::string& what) const {
  std::string path = document_->path_of(node_);
  if (!path.empty()) path = quote(path, 400) + ": ";
  user_error("{}: {}{}{}", document_->where(), path, what, document_->hint());
}

void JsonRef::fail_type(const char* expected) const {
  fail(fmt::format("expected {}, found {}", expected, describe(node(node_))));
}

std::optional<JsonRef> JsonRef::find(const char* key) const {
  if (!node(node_).is_object()) fail_type("an object");
  const auto it = node(node_).find(key);
  if (it == node(node_).end() || it->is_null()) return std::nullopt;
  return JsonRef(document_, &*it);
}

JsonRef JsonRef::require(const char* key) const {
  if (const auto value = find(key)) return *value;
  fail(fmt::format("expected a member '{}', found none", key));
}

std::vector<std::pair<std::string_view, JsonRef>> JsonRef::members() const {
  if (!node(node_).is_object()) fail_type("an object");
  std::vector<std::pair<std::string_view, JsonRef>> out;
  for (const auto& [key, value] : node(node_).items())
    out.emplace_back(key, JsonRef(document_, &value));
  return out;
}

std::pair<std::string_view, JsonRef> JsonRef::only_member() const {
  const Json& object = node(node_);
  if (!object.is_object() || object.size() != 1) fail_type("an object with exactly one member");
  return {object.begin().key(), JsonRef(document_, &object.begin().value())};
}

std::vector<JsonRef> JsonRef::elements() const {
  if (!node(node_).is_array()) fail_type("an array");
  std::vector<JsonRef> out;
  out.reserve(node(node_).size());
  for (const Json& element : node(node_)) out.push_back(JsonRef(document_, &element));
  return out;
}

std::string JsonRef::text() const {
  if (!node(node_).is_string()) fail_type("a string");
  return node(node_).get<std::string>();
}

bool JsonRef::boolean() const {
  if (!node(node_).is_boolean()) fail_type("true or false");
  return node(node_).get<bool>();
}

int64_t JsonRef::integer() const {
  const Json& value = node(node_);
  const bool too_large =
      value.is_number_unsigned() &&
      value.get<uint64_t>() > static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  if (!value.is_number_integer() || too_large) fail_type("an integer of 64 bits");
  return value.get<int64_t>();
}

double JsonRef::number() const {
  const Json& value = node(node_);
  if (value.is_number()) return value.get<double>();
  if (value == "Infinity") return std::numeric_limits<double>::infinity();
  if (value == "-Infinity") return -std::numeric_limits<double>::infinity();
  if (value == "NaN") return std::numeric_limits<double>::quiet_NaN();
  fail_type("a number");
}

std::optional<int64_t> JsonRef::bound() const {
  const Json& value = node(node_);
  const bool word =
      value.is_string() &&
      (value == "int_oo" || value == "-int_oo" || value == "oo" || value == "-oo" ||
       value == "inf" || value == "-inf" || value == "Infinity" || value == "-Infinity");
  if (word) return std::nullopt;
  if (!value.is_number()) fail_type("a whole number, null or an infinity");
  if (value.is_number_float()) {
    // A whole number may be written as one; beyond 2^63 it stands for an infinity.
    const double d = value.get<double>();
    if (!(d > -9.2e18 && d < 9.2e18)) return std::nullopt;
    if (d != static_cast<double>(static_cast<int64_t>(d))) fail_type("a whole number");
    return static_cast<int64_t>(d);
  }
  const bool above =
      value.is_number_unsigned() && value.get<uint64_t>() >= static_cast<uint64_t>(kLastBound);
  if (above || (!value.is_number_unsigned() && value.get<int64_t>() <= -kLastBound))
    return std::nullopt;
  return value.get<int64_t>();
}

}  // namespace aotc::pt2
