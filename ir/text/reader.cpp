// Tokens of IR text and the messages for text that is none.
#include "ir/text/reader.h"

#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>

#include "ir/text/format.h"

namespace aotc::text {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.'; }

std::string_view trim(std::string_view s) {
  while (!s.empty() && std::isspace(static_cast<unsigned char>(s.front()))) s.remove_prefix(1);
  while (!s.empty() && std::isspace(static_cast<unsigned char>(s.back()))) s.remove_suffix(1);
  return s;
}

// One source item at the front of `rest`: quoted, or up to the first of `stops`.
bool take_item(std::string_view& rest, std::string_view stops, std::string& item) {
  if (rest.starts_with('"')) {
    Reader r(rest, "");
    try {
      item = r.string("a string");
    } catch (const UserError&) {
      return false;
    }
    rest.remove_prefix(r.position());
    return true;
  }
  size_t end = rest.find_first_of(stops);
  item = std::string(rest.substr(0, end));
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end);
  return !item.empty();
}

// "model.py:34 in forward: x.mul_(2)"; anything else is a comment and yields no source.
Source parse_source(std::string_view rest) {
  Source s;
  rest = trim(rest);
  if (!take_item(rest, ": ", s.file) || !rest.starts_with(':')) return {};
  rest.remove_prefix(1);
  auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), s.line);
  if (error != std::errc()) return {};
  rest.remove_prefix(static_cast<size_t>(end - rest.data()));
  if (rest.starts_with(" in ")) {
    rest.remove_prefix(4);
    if (!take_item(rest, ": ", s.function)) return {};
  }
  if (rest.empty()) return s;
  if (!rest.starts_with(": ")) return {};
  rest.remove_prefix(2);
  if (rest.starts_with('"')) {
    if (!take_item(rest, "", s.text) || !rest.empty()) return {};
  } else {
    s.text = std::string(rest);
  }
  return s;
}

int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

}  // namespace

std::string_view Reader::line_at(size_t position) const {
  size_t begin = text_.substr(0, position).rfind('\n');
  begin = begin == std::string_view::npos ? 0 : begin + 1;
  return text_.substr(begin, text_.find('\n', begin) - begin);
}

void Reader::fail_at(size_t position, const std::string& message) const {
  position = std::min(position, text_.size());
  std::string_view line = line_at(position);
  size_t column = static_cast<size_t>(text_.data() + position - line.data());
  size_t number = 1;
  for (char c : text_.substr(0, position)) number += c == '\n';
  std::string shown, marker;
  for (char c : line.substr(0, 200)) shown += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  if (column < 200) marker = "\n  " + std::string(column, ' ') + "^";
  throw UserError(
      fmt::format("{}:{}:{}: {}\n  {}{}", file_, number, column + 1, message, shown, marker));
}

void Reader::skip_blanks() {
  while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\r'))
    ++at_;
}

size_t Reader::mark() {
  skip_blanks();
  return at_;
}

bool Reader::next_line() {
  for (;;) {
    skip_blanks();
    if (at_ >= text_.size()) return false;
    if (text_[at_] == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (text_[at_] == '\n') {
      ++at_;
    } else {
      return true;
    }
  }
}

bool Reader::at_line_end() {
  skip_blanks();
  return at_ >= text_.size() || text_[at_] == '\n' || text_[at_] == '#';
}

Source Reader::end_of_line() {
  if (!at_line_end()) fail("expected the end of the line");
  Source source;
  if (at_ < text_.size() && text_[at_] == '#') {
    size_t end = std::min(text_.find('\n', at_), text_.size());
    source = parse_source(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end;
  }
  return source;
}

char Reader::peek() {
  skip_blanks();
  return at_ < text_.size() ? text_[at_] : '\0';
}

bool Reader::accept(std::string_view token) {
  skip_blanks();
  if (text_.substr(at_, token.size()) != token) return false;
  at_ += token.size();
  return true;
}

void Reader::expect(std::string_view token) {
  if (!accept(token)) fail(fmt::format("expected '{}'", token));
}

std::string Reader::peek_word() {
  skip_blanks();
  size_t end = at_;
  while (end < text_.size() && is_word(text_[end])) ++end;
  return std::string(text_.substr(at_, end - at_));
}

bool Reader::accept_word(std::string_view word) {
  if (peek_word() != word) return false;
  at_ += word.size();
  return true;
}

void Reader::expect_word(std::string_view word) {
  if (!accept_word(word)) fail(fmt::format("expected '{}'", word));
}

std::string Reader::word(const char* what) {
  std::string w = peek_word();
  if (w.empty()) fail(fmt::format("expected {}", what));
  at_ += w.size();
  return w;
}

std::string Reader::name(const char* what) { return peek() == '"' ? quoted_string() : word(what); }

std::string Reader::string(const char* what) {
  if (peek() != '"') fail(fmt::format("expected {} in quotes", what));
  return quoted_string();
}

std::string Reader::quoted_string() {
  size_t begin = at_++;
  std::string s;
  for (;; ++at_) {
    if (at_ >= text_.size() || text_[at_] == '\n') fail_at(begin, "the string has no end");
    char c = text_[at_];
    if (c == '"') break;
    if (c == '\\') {
      c = ++at_ < text_.size() ? text_[at_] : '\0';
      if (c == 'n') {
        c = '\n';
      } else if (c == 'x') {
        int high = at_ + 2 < text_.size() ? hex_digit(text_[at_ + 1]) : -1;
        int low = high < 0 ? -1 : hex_digit(text_[at_ + 2]);
        if (low < 0) fail("expected two hexadecimal digits after \\x");
        c = static_cast<char>(high * 16 + low);
        at_ += 2;
      } else if (c != '"' && c != '\\') {
        fail("unknown escape in a string; expected \\\", \\\\, \\n or \\xNN");
      }
    }
    s += c;
  }
  ++at_;
  return s;
}

int64_t Reader::integer(const char* what) {
  skip_blanks();
  int64_t v = 0;
  auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), v);
  if (error != std::errc()) fail(fmt::format("expected {} (an integer of 64 bits)", what));
  at_ = static_cast<size_t>(end - text_.data());
  return v;
}

int Reader::index(const char* what) {
  size_t begin = mark();
  int64_t v = integer(what);
  if (v < 0 || v > std::numeric_limits<int>::max())
    fail_at(begin, fmt::format("expected {}, from 0 on", what));
  return static_cast<int>(v);
}

double Reader::number(const char* what) {
  skip_blanks();
  double v = 0;
  auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), v);
  if (error == std::errc::invalid_argument) fail(fmt::format("expected {} (a number)", what));
  if (error != std::errc()) fail("the number is out of range");
  at_ = static_cast<size_t>(end - text_.data());
  return v;
}

std::string Reader::raw_expression(std::string_view stops) {
  skip_blanks();
  size_t begin = at_;
  int depth = 0;
  for (; at_ < text_.size(); ++at_) {
    char c = text_[at_];
    if (c == '\n' || c == '#' || c == '"') break;
    if (depth == 0 && stops.find(c) != std::string_view::npos) break;
    depth += (c == '(') - (c == ')');
  }
  return std::string(trim(text_.substr(begin, at_ - begin)));
}

Sym Reader::sym(std::string_view stops) {
  size_t begin = mark();
  std::string s = raw_expression(stops);
  if (s.empty()) fail_at(begin, "expected an expression");
  if (s == std::to_string(std::numeric_limits<int64_t>::min()))
    return Sym(std::numeric_limits<int64_t>::min());
  try {
    return Sym::parse(s);
  } catch (const UserError& e) {
    fail_at(begin, e.what());
  }
}

std::vector<Sym> Reader::syms(char close) {
  std::vector<Sym> items;
  list(std::string(1, close), [&] { items.push_back(sym(std::string(",") + close)); });
  return items;
}

DType Reader::dtype() {
  size_t begin = mark();
  std::string w = word("an element type, like float32");
  auto t = dtype_from_name(w);
  if (!t) fail_at(begin, fmt::format("'{}' is no element type; expected one like float32", w));
  return *t;
}

Device Reader::device() {
  Device d;
  d.type = name("a device, like cuda:0");
  if (accept(":")) d.index = index("a device number");
  return d;
}

TensorType Reader::type() {
  TensorType t;
  t.dtype = dtype();
  expect("[");
  t.sizes = syms(']');
  size_t begin = at_;
  strides_given_ = accept("{");
  if (strides_given_) {
    t.strides = syms('}');
    if (t.strides.size() != t.sizes.size())
      fail_at(begin, fmt::format("{} strides for {} sizes", t.strides.size(), t.sizes.size()));
  } else {
    t.strides = contiguous_strides(t.sizes);
  }
  if (accept("@")) t.device = device();
  return t;
}

}  // namespace aotc::text
