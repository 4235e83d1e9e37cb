// Long string literals come in pieces of one line each that spell the same text.
#include <catch2/catch.hpp>
#include <sstream>

#include "codegen/cpp_text.h"

using namespace aotc;

TEST_CASE("a short text is one literal") {
  CHECK(cpp_string("") == "\"\"");
  CHECK(cpp_string("a \"b\"\n?") == R"("a \"b\"\n\077")");
}

TEST_CASE("a long text is a literal per line, none of them long, no character torn") {
  std::string text, pieces, line;
  for (int i = 0; i < 3000; ++i) text += i % 7 == 0 ? "\xC3\xA9" : "x";
  std::istringstream lines(cpp_string(text));
  while (std::getline(lines, line)) {
    REQUIRE(line.size() <= 90);
    REQUIRE(line.front() == '"');
    REQUIRE(line.back() == '"');
    REQUIRE((line[1] & 0xC0) != 0x80);
    pieces += line.substr(1, line.size() - 2);
  }
  CHECK(pieces == text);
}
