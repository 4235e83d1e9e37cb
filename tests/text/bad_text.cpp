// Text that is no program gets a message with its place.
#include <catch2/catch.hpp>

#include "ir/error.h"
#include "ir/text/text.h"
#include "texts.h"

using namespace aotc;

namespace {

std::string error_of(const std::string& text, bool loops = false) {
  try {
    if (loops)
      parse_loops(text, "t.ir");
    else
      parse_graph(text, "t.ir");
  } catch (const UserError& e) {
    return e.what();
  }
  return "";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// The message starts with the place and says `part`.
void fails(const std::string& text, const std::string& place, const std::string& part,
           bool loops = false) {
  std::string e = error_of(text, loops);
  INFO(e);
  CHECK(e.starts_with("t.ir:" + place + ": "));
  CHECK(contains(e, part));
}

}  // namespace

TEST_CASE("messages show file, line, column and the line itself") {
  std::string e = error_of("graph {\n  input %x: float33[2]\n}\n");
  CHECK(e ==
        "t.ir:2:13: 'float33' is no element type; expected one like float32\n"
        "    input %x: float33[2]\n"
        "              ^");
}

TEST_CASE("bad graphs") {
  auto g = [](const std::string& line) {
    return "graph {\n  input %x: float32[2]\n  " + line + "\n}\n";
  };
  fails("", "1:1", "empty");
  fails("graph {\n", "2:1", "no closing '}'");
  fails("graph {\n}\nmore\n", "3:1", "unexpected text");
  fails(g("inptu %y: float32[2]"), "3:3", "expected a statement");
  fails(g("input %x: float32[2]"), "3:10", "%x is defined twice");
  fails(g("%y: float32[2] = aten.cos.default(%z)"), "3:38", "%z is not defined above");
  fails(g("%y: float32[2] = aten.coss.default(%x)"), "3:20",
        "unknown op 'aten.coss.default'; nearest: aten.cos");
  fails(g("%y: float32[2] = aten.cos.default()"), "3:38",
        "argument 'self' of aten.cos.default is missing");
  fails(g("%y: float32[2] = aten.cos.default(%x, 2)"), "3:41", "takes 1 arguments");
  fails(g("%y: float32[2] = aten.add.Tensor(%x, %x, self=%x)"), "3:44", "'self' is given twice");
  fails(g("%y: float32[2] = aten.cat.default([%x, 2])"), "3:38", "not a mix");
  fails(g("%y: float32[2] = aten.cat.default([[%x]])"), "3:38", "a list in a list");
  fails(g("%y: float32[2]{1, 2} = aten.cos.default(%x)"), "3:17", "2 strides for 1 sizes");
  fails(g("%y: float32[2 = aten.cos.default(%x)"), "3:15", "expression");
  fails(g("output %y"), "3:11", "%y is not defined");
  fails(g("write back %q = %x"), "3:15", "not defined");
  fails(g("symbol s0\n  symbol s0"), "4:10", "declared twice");
  fails(g("symbol s0 in 1..99999999999999999999"), "3:19", "64 bits");
  fails(g("guard le(s0, 64) extra \"x\""), "3:9", "expression");
  fails(g("buffer %b: float32[2], target \"b\", storage 0 bytes 0..4"), "3:54", "ends at byte 8");
  fails(g("buffer %b: float32[2], target \"b\", storage 0 bytes 1..9"), "3:54", "multiple of 4");
  fails(g("buffer %b: float32[2], target \"b\", storage 4294967296 bytes 0..8"), "3:46",
        "from 0 on");
  fails(g("scalar \"no end"), "3:10", "the string has no end");
  fails(g("alias output 0 of %x by"), "3:26", "expected '%'");
}

TEST_CASE("bad loops") {
  auto change = [](const std::string& from, const std::string& to) {
    return texts::with(texts::kLoops, from, to);
  };
  fails("graph {\n}\n", "3:1", "expected 'loops {'", true);
  fails(change("buffer n: int64[] = input 1", "buffer x: int64[] = input 1"), "20:10",
        "defined twice", true);
  fails(change("store y[i0, r2] = %9", "store q[i0, r2] = %9"), "44:13",
        "buffer 'q' is not defined", true);
  fails(change("store y[i0, r2] = %9", "store y[i0, r2] = %42"), "44:25", "%42 is not defined",
        true);
  fails(change("%3: float32 = sub(%1, %2)", "%3: float32 = subb(%1, %2)"), "35:21",
        "unknown primitive 'subb'", true);
  fails(change("%1: int64 = 8", "%1: int64 = 8.5"), "70:17", "'8.5' is no int64 value", true);
  fails(change("%4: float32 = exp(%3)", "%3: float32 = exp(%3)"), "36:7", "%3 is defined twice",
        true);
  fails(change("set u0 = %0", "set u0 = %1"), "64:14", "expression %0", true);
  fails(change("= temp\n  buffer mm", "= elsewhere\n  buffer mm"), "23:32", "expected a home",
        true);
  fails(change("output 0 = mm\n}", "output 1 = mm\n}"), "90:10", "expected output 0", true);
}

TEST_CASE("every prefix, and every text with one byte changed, is read or refused") {
  for (const std::string& text : {texts::kGraph, texts::kLoops}) {
    bool loops = text == texts::kLoops;
    for (size_t n = 0; n < text.size(); n += 3) error_of(text.substr(0, n), loops);
    for (size_t i = 0; i < text.size(); ++i)
      for (char c : {'\0', '(', '"', '%', '9', '\xff'}) {
        std::string changed = text;
        changed[i] = c;
        error_of(changed, loops);
      }
  }
  SUCCEED();
}

TEST_CASE("deep nesting is refused") {
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "graph {\n%y: float32[2] = aten.cos.default(";
  CHECK(contains(error_of(deep), "nest too deep"));
}
