// Typed access to a JSON document from an archive: what is absent may be absent, what is there must
// have the type that is asked for; a mismatch is a UserError that gives file, member and path.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace aotc::pt2 {

class JsonDocument;

// One value of a document, which must outlive it. Cheap to copy.
class JsonRef {
 public:
  bool is_null() const;
  bool is_text() const;
  // The member of an object; require() fails where find() gives nullopt: absent or null.
  std::optional<JsonRef> find(const char* key) const;
  JsonRef require(const char* key) const;
  // Every member of an object, by name; the only member, as the schema writes a tagged union.
  std::vector<std::pair<std::string_view, JsonRef>> members() const;
  std::pair<std::string_view, JsonRef> only_member() const;
  // Every element of an array.
  std::vector<JsonRef> elements() const;

  std::string text() const;
  bool boolean() const;
  int64_t integer() const;
  // A number, or torch's spelling of one that JSON lacks: "Infinity", "-Infinity", "NaN".
  double number() const;
  // nullopt for infinities and whatever lies at or beyond the last numbers of 64 bits, which is how
  // an unbounded end of a range is written.
  std::optional<int64_t> bound() const;

  // "FILE: MEMBER: graph.nodes[3].inputs[0]: WHAT"
  [[noreturn]] void fail(const std::string& what) const;

 private:
  friend class JsonDocument;
  JsonRef(const JsonDocument* document, const void* node) : document_(document), node_(node) {}
  [[noreturn]] void fail_type(const char* expected) const;

  const JsonDocument* document_;
  const void* node_;
};

class JsonDocument {
 public:
  // Parses; `where` is "FILE: MEMBER". Python's bare NaN and Infinity are accepted. Throws
  // UserError: no JSON, truncated, nested too deeply.
  JsonDocument(std::string_view text, std::string where);
  ~JsonDocument();
  JsonDocument(const JsonDocument&) = delete;

  JsonRef root() const;
  const std::string& where() const { return where_; }
  // Where a value lies, as "a.b[2]"; "" is the root.
  std::string path_of(const void* node) const;
  // Appended to every message from now on, e.g. that the schema is newer than what aotc knows.
  void set_hint(std::string hint) { hint_ = std::move(hint); }
  const std::string& hint() const { return hint_; }

 private:
  struct Impl;
  std::string where_, hint_;
  std::unique_ptr<Impl> impl_;
};

}  // namespace aotc::pt2
