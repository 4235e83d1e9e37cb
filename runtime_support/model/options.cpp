// Recursive descent over one object of scalars. Nothing is allocated.
#include "options.h"

#include <stdio.h>
#include <string.h>

#include "base.h"
#include "error.h"

namespace aotc::model {
namespace {

struct Reader {
  const char* where;
  const char* start;
  const char* at;
};

AotcStatus syntax_error(const Reader& r, const char* expected) {
  return fail(AOTC_INVALID_ARGUMENT, "%s: options are not valid JSON: expected %s at byte %lld",
              r.where, expected, static_cast<long long>(r.at - r.start));
}

void skip_space(Reader& r) {
  while (*r.at == ' ' || *r.at == '\t' || *r.at == '\n' || *r.at == '\r') ++r.at;
}

bool accept(Reader& r, char c) {
  skip_space(r);
  if (*r.at != c) return false;
  ++r.at;
  return true;
}

// Four hexadecimal digits at `r.at`; -1 when they are not there.
int32_t read_hex(Reader& r) {
  int32_t value = 0;
  for (int i = 0; i < 4; ++i) {
    const char c = *r.at;
    const int32_t digit = c >= '0' && c <= '9'   ? c - '0'
                          : c >= 'a' && c <= 'f' ? c - 'a' + 10
                          : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                 : -1;
    if (digit < 0) return -1;
    value = value * 16 + digit;
    ++r.at;
  }
  return value;
}

// A code point after "\u", with its second half when it is a surrogate pair; -1 when malformed.
int32_t read_code_point(Reader& r) {
  const int32_t high = read_hex(r);
  if (high < 0xd800 || high > 0xdfff) return high;
  if (high > 0xdbff || r.at[0] != '\\' || r.at[1] != 'u') return -1;
  r.at += 2;
  const int32_t low = read_hex(r);
  if (low < 0xdc00 || low > 0xdfff) return -1;
  return 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
}

struct Text {
  char* data;
  int64_t capacity, size;
  bool overflow;
  void put(int32_t byte) {
    if (size + 1 < capacity)
      data[size++] = static_cast<char>(byte);
    else
      overflow = true;
  }
  void put_code_point(int32_t c) {
    if (c < 0x80) return put(c);
    if (c < 0x800) {
      put(0xc0 | c >> 6);
    } else if (c < 0x10000) {
      put(0xe0 | c >> 12);
      put(0x80 | (c >> 6 & 63));
    } else {
      put(0xf0 | c >> 18);
      put(0x80 | (c >> 12 & 63));
      put(0x80 | (c >> 6 & 63));
    }
    put(0x80 | (c & 63));
  }
};

// The character that an escape other than \u stands for; 0 when there is no such escape.
char plain_escape(char c) {
  switch (c) {
    case '"':
    case '\\':
    case '/':
      return c;
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    default:
      return 0;
  }
}

AotcStatus read_string(Reader& r, Text& out) {
  if (!accept(r, '"')) return syntax_error(r, "a string");
  while (*r.at != '"') {
    const unsigned char c = static_cast<unsigned char>(*r.at);
    if (c < 0x20) return syntax_error(r, "the end of the string");
    ++r.at;
    if (c != '\\') {
      out.put(c);
      continue;
    }
    const char kind = *r.at;
    if (kind == 'u') {
      ++r.at;
      const int32_t code = read_code_point(r);
      if (code <= 0) return syntax_error(r, "a \\u escape of a character other than zero");
      out.put_code_point(code);
    } else if (const char plain = plain_escape(kind)) {
      ++r.at;
      out.put(plain);
    } else {
      return syntax_error(r, "a known escape");
    }
  }
  ++r.at;
  out.data[out.size] = 0;
  return AOTC_OK;
}

AotcStatus wrong_value(const Reader& r, const Option& option, const char* value) {
  // The value as the caller wrote it, up to where the next key or the end would be.
  int length = 0;
  while (value[length] && !strchr(",}\n", value[length]) && length < 40) ++length;
  char expected[96];
  if (option.kind == OptionKind::kInteger)
    snprintf(expected, sizeof expected, "an integer from %lld to %lld",
             static_cast<long long>(option.min), static_cast<long long>(option.max));
  else
    snprintf(expected, sizeof expected, "%s",
             option.kind == OptionKind::kBool ? "true or false" : "a string");
  return fail(AOTC_INVALID_ARGUMENT, "%s: option '%s' is %.*s, expected %s", r.where, option.name,
              length, value, expected);
}

// A number that ends where a value may end; anything else is another type.
bool read_integer(Reader& r, int64_t* out) {
  const bool negative = *r.at == '-';
  if (negative) ++r.at;
  if (*r.at < '0' || *r.at > '9') return false;
  if (*r.at == '0' && r.at[1] >= '0' && r.at[1] <= '9') return false;
  int64_t value = 0;
  for (; *r.at >= '0' && *r.at <= '9'; ++r.at)
    if (!multiply(value, 10, &value) ||
        !add(value, negative ? -(*r.at - '0') : *r.at - '0', &value))
      return false;
  *out = value;
  return !(*r.at && strchr(".eE", *r.at));
}

bool accept_word(Reader& r, const char* word) {
  const size_t length = strlen(word);
  if (strncmp(r.at, word, length) != 0) return false;
  r.at += length;
  return true;
}

AotcStatus read_value(Reader& r, Option& option) {
  skip_space(r);
  const char* value = r.at;
  if (!*value) return syntax_error(r, "a value");
  if (option.kind == OptionKind::kString) {
    if (*value != '"') return wrong_value(r, option, value);
    Text text = {option.text, option.text_capacity, 0, false};
    if (AotcStatus status = read_string(r, text)) return status;
    if (!text.overflow) return AOTC_OK;
    return fail(AOTC_INVALID_ARGUMENT, "%s: option '%s' is longer than %lld bytes", r.where,
                option.name, static_cast<long long>(option.text_capacity - 1));
  }
  if (option.kind == OptionKind::kBool) {
    if (accept_word(r, "true"))
      *option.integer = 1;
    else if (accept_word(r, "false"))
      *option.integer = 0;
    else
      return wrong_value(r, option, value);
    return AOTC_OK;
  }
  int64_t number = 0;
  if (!read_integer(r, &number) || number < option.min || number > option.max)
    return wrong_value(r, option, value);
  *option.integer = number;
  return AOTC_OK;
}

AotcStatus unknown_key(const Reader& r, const char* key, const Option* options, int32_t count) {
  char known[512] = "";
  int64_t used = 0;
  for (int32_t i = 0; i < count && used < 480; ++i)
    used += snprintf(known + used, sizeof known - static_cast<size_t>(used), "%s%s", i ? ", " : "",
                     options[i].name);
  return fail(AOTC_INVALID_ARGUMENT, "%s: unknown option '%s', known are: %s", r.where, key, known);
}

AotcStatus read_member(Reader& r, Option* options, int32_t count) {
  char key[128];
  Text text = {key, sizeof key, 0, false};
  if (AotcStatus status = read_string(r, text)) return status;
  if (!accept(r, ':')) return syntax_error(r, "':'");
  for (int32_t i = 0; i < count; ++i) {
    Option& option = options[i];
    if (text.overflow || strcmp(option.name, key) != 0) continue;
    if (option.given)
      return fail(AOTC_INVALID_ARGUMENT, "%s: option '%s' is given twice", r.where, key);
    option.given = true;
    return read_value(r, option);
  }
  return unknown_key(r, key, options, count);
}

}  // namespace

AotcStatus parse_options(const char* where, const char* json, Option* options, int32_t count) {
  Reader r = {where, json, json};
  if (!json) return AOTC_OK;
  skip_space(r);
  if (!*r.at) return AOTC_OK;
  if (!accept(r, '{')) return syntax_error(r, "'{'");
  if (!accept(r, '}')) {
    do {
      if (AotcStatus status = read_member(r, options, count)) return status;
    } while (accept(r, ','));
    if (!accept(r, '}')) return syntax_error(r, "',' or '}'");
  }
  skip_space(r);
  return *r.at ? syntax_error(r, "the end") : AOTC_OK;
}

}  // namespace aotc::model
