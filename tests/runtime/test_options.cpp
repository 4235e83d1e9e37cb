// The strict reader of option objects.
#include "options.h"

#include "catch2/catch.hpp"
#include "error.h"

using namespace aotc::model;

namespace {
struct Parsed {
  explicit Parsed(const char* json) {
    Option options[] = {integer_option("number", -5, 100, &number), bool_option("flag", &flag),
                        string_option("text", text, sizeof text)};
    status = parse_options("f", json, options, 3);
    message = status ? last_error() : "";
  }
  int64_t number = -77, flag = -77;
  char text[16] = "unset";
  AotcStatus status;
  std::string message;
};
std::string message(const char* json) { return Parsed(json).message; }
}  // namespace

TEST_CASE("no options") {
  for (const char* json : {static_cast<const char*>(nullptr), "", "{}", "  { }  ", "\n"}) {
    const Parsed parsed(json);
    CHECK(parsed.status == AOTC_OK);
    CHECK(parsed.number == -77);
  }
}

TEST_CASE("values of each type") {
  const Parsed parsed(
      " {\"number\" : -5 ,\n\"flag\":true,\t\"text\":\"a\\u00e9\\ud83d\\ude00\\n\\\"\\/\"} ");
  CHECK(parsed.message == "");
  CHECK(parsed.number == -5);
  CHECK(parsed.flag == 1);
  CHECK(std::string(parsed.text) == "a\xc3\xa9\xf0\x9f\x98\x80\n\"/");
  CHECK(Parsed("{\"flag\": false, \"number\": 0}").flag == 0);
}

TEST_CASE("wrong types and ranges") {
  CHECK(message("{\"number\": 101}") ==
        "f: option 'number' is 101, expected an integer from -5 to 100");
  CHECK(message("{\"number\": 99999999999999999999}") ==
        "f: option 'number' is 99999999999999999999, expected an integer from -5 to 100");
  CHECK(message("{\"number\": 1.0}") ==
        "f: option 'number' is 1.0, expected an integer from -5 to 100");
  CHECK(message("{\"number\": 1e2}") ==
        "f: option 'number' is 1e2, expected an integer from -5 to 100");
  CHECK(message("{\"number\": 01}") ==
        "f: option 'number' is 01, expected an integer from -5 to 100");
  CHECK(message("{\"number\": true}") ==
        "f: option 'number' is true, expected an integer from -5 to 100");
  CHECK(message("{\"flag\": 1}") == "f: option 'flag' is 1, expected true or false");
  CHECK(message("{\"flag\": null}") == "f: option 'flag' is null, expected true or false");
  CHECK(message("{\"text\": 7}") == "f: option 'text' is 7, expected a string");
  CHECK(message("{\"text\": [\"a\"]}") == "f: option 'text' is [\"a\"], expected a string");
  CHECK(message("{\"text\": \"0123456789abcdef\"}") == "f: option 'text' is longer than 15 bytes");
}

TEST_CASE("keys") {
  CHECK(message("{\"x\": 1}") == "f: unknown option 'x', known are: number, flag, text");
  CHECK(message("{\"Number\": 1}") == "f: unknown option 'Number', known are: number, flag, text");
  CHECK(message("{\"number\": 1, \"number\": 1}") == "f: option 'number' is given twice");
  const std::string long_key(500, 'k');
  CHECK(message(("{\"" + long_key + "\": 1}").c_str()).find("unknown option") != std::string::npos);
}

TEST_CASE("syntax errors name the byte") {
  CHECK(message("[]") == "f: options are not valid JSON: expected '{' at byte 0");
  CHECK(message("{\"flag\": true") ==
        "f: options are not valid JSON: expected ',' or '}' at byte 13");
  CHECK(message("{\"flag\": true,}") ==
        "f: options are not valid JSON: expected a string at byte 14");
  CHECK(message("{\"flag\" true}") == "f: options are not valid JSON: expected ':' at byte 8");
  CHECK(message("{} x") == "f: options are not valid JSON: expected the end at byte 3");
  CHECK(message("{flag: true}") == "f: options are not valid JSON: expected a string at byte 1");
  CHECK(message("{\"text\": \"abc") ==
        "f: options are not valid JSON: expected the end of the string at byte 13");
  CHECK(message("{\"text\": \"\\q\"}") ==
        "f: options are not valid JSON: expected a known escape at byte 11");
  CHECK(message("{\"text\": \"\\u12\"}").find("\\u escape") != std::string::npos);
  CHECK(message("{\"text\": \"\\ud800\"}").find("\\u escape") != std::string::npos);
  CHECK(message("{\"text\": \"\\u0000\"}").find("\\u escape") != std::string::npos);
}

TEST_CASE("every prefix of an option object is refused") {
  const std::string json = "{\"number\": 12, \"flag\": true, \"text\": \"\\u00e9\\n\"}";
  for (size_t size = 1; size < json.size(); ++size)
    CHECK(Parsed(json.substr(0, size).c_str()).status == AOTC_INVALID_ARGUMENT);
  CHECK(Parsed(json.c_str()).status == AOTC_OK);
}
