// Recursive descent with a limit on depth.
#include "json.h"

#include <charconv>

#include "failure.h"

namespace aotc::loader {
namespace {

constexpr int kMaxDepth = 64;

class Parser {
 public:
  Parser(std::string_view text, const std::string& label) : text_(text), label_(label) {}

  Json parse() {
    Json value = parse_value(0);
    skip_space();
    if (at_ != text_.size()) fail("the end");
    return value;
  }

 private:
  [[noreturn]] void fail(const char* expected) const {
    bad_package(label_, std::string("is not valid JSON: expected ") + expected + " at byte " +
                            std::to_string(at_));
  }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void skip_space() {
    while (at_ < text_.size() &&
           std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos)
      ++at_;
  }
  bool accept(char c) {
    skip_space();
    if (peek() != c || at_ == text_.size()) return false;
    ++at_;
    return true;
  }
  bool accept_word(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  Json parse_value(int depth) {
    if (depth > kMaxDepth) fail("less nesting");
    skip_space();
    Json value;
    switch (peek()) {
      case '{':
        return parse_object(depth);
      case '[':
        return parse_array(depth);
      case '"':
        value.kind = Json::Kind::kString;
        value.string = parse_string();
        return value;
      default:
        return parse_word();
    }
  }

  Json parse_word() {
    Json value;
    if (accept_word("null")) return value;
    value.kind = Json::Kind::kBool;
    if (accept_word("true")) {
      value.truth = true;
      return value;
    }
    if (accept_word("false")) return value;
    value.kind = Json::Kind::kNumber;
    const char* end = text_.data() + text_.size();
    const auto [rest, error] = std::from_chars(text_.data() + at_, end, value.number);
    if (error != std::errc() || !(peek() == '-' || (peek() >= '0' && peek() <= '9')))
      fail("a value");
    at_ = static_cast<size_t>(rest - text_.data());
    return value;
  }

  Json parse_object(int depth) {
    Json value;
    value.kind = Json::Kind::kObject;
    accept('{');
    if (accept('}')) return value;
    do {
      skip_space();
      if (peek() != '"') fail("a name");
      std::string name = parse_string();
      if (!accept(':')) fail("':'");
      value.members.emplace_back(std::move(name), parse_value(depth + 1));
    } while (accept(','));
    if (!accept('}')) fail("',' or '}'");
    return value;
  }

  Json parse_array(int depth) {
    Json value;
    value.kind = Json::Kind::kArray;
    accept('[');
    if (accept(']')) return value;
    do value.items.push_back(parse_value(depth + 1));
    while (accept(','));
    if (!accept(']')) fail("',' or ']'");
    return value;
  }

  std::string parse_string() {
    std::string out;
    for (++at_; peek() != '"';) {
      if (static_cast<unsigned char>(peek()) < 0x20) fail("the end of the string");
      const char c = text_[at_++];
      if (c == '\\')
        parse_escape(&out);
      else
        out.push_back(c);
    }
    ++at_;
    return out;
  }

  void parse_escape(std::string* out) {
    static constexpr std::string_view kEscapes = "\"\\/bfnrt", kPlain = "\"\\/\b\f\n\r\t";
    const char kind = peek();
    const size_t known = kind ? kEscapes.find(kind) : std::string_view::npos;
    if (known != std::string_view::npos) {
      ++at_;
      out->push_back(kPlain[known]);
    } else if (kind == 'u') {
      ++at_;
      append_utf8(out, parse_code_point());
    } else {
      fail("a known escape");
    }
  }

  uint32_t parse_hex() {
    uint32_t value = 0;
    const std::string_view digits = text_.substr(at_, 4);
    const auto [rest, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    if (digits.size() != 4 || error != std::errc() || rest != digits.data() + 4)
      fail("four hexadecimal digits");
    at_ += 4;
    return value;
  }

  // A lone surrogate stands for the replacement character.
  uint32_t parse_code_point() {
    const uint32_t high = parse_hex();
    if (high < 0xd800 || high > 0xdfff) return high;
    if (high > 0xdbff || text_.substr(at_, 2) != "\\u") return 0xfffd;
    at_ += 2;
    const uint32_t low = parse_hex();
    if (low < 0xdc00 || low > 0xdfff) return 0xfffd;
    return 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
  }

  static void append_utf8(std::string* out, uint32_t c) {
    const int more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static constexpr uint32_t kFirst[] = {0, 0xc0, 0xe0, 0xf0};
    out->push_back(static_cast<char>(kFirst[more] | c >> (6 * more)));
    for (int i = more - 1; i >= 0; --i)
      out->push_back(static_cast<char>(0x80 | (c >> (6 * i) & 63)));
  }

  std::string_view text_;
  const std::string& label_;
  size_t at_ = 0;
};

}  // namespace

const Json* Json::find(std::string_view name) const {
  for (const auto& [key, value] : members)
    if (key == name) return &value;
  return nullptr;
}

std::optional<int64_t> Json::integer() const {
  // The bounds are exact as doubles.
  if (kind != Kind::kNumber ||
      !(number >= -9223372036854775808.0 && number < 9223372036854775808.0))
    return std::nullopt;
  const int64_t value = static_cast<int64_t>(number);
  return static_cast<double>(value) == number ? std::optional<int64_t>(value) : std::nullopt;
}

std::optional<std::string> Json::text() const {
  return kind == Kind::kString ? std::optional<std::string>(string) : std::nullopt;
}

Json parse_json(std::string_view text, const std::string& label) {
  return Parser(text, label).parse();
}

std::string json_quote(std::string_view text) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    const unsigned char byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out.push_back('\\');
      out.push_back(c);
    } else if (byte < 0x20) {
      out += "\\u00";
      out.push_back(kDigits[byte >> 4]);
      out.push_back(kDigits[byte & 15]);
    } else {
      out.push_back(c);
    }
  }
  return out + "\"";
}

}  // namespace aotc::loader
