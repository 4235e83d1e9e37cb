// parse(print(x)) of level 1.
#include <catch2/catch.hpp>

#include "ir/ops/op.h"
#include "ir/text/text.h"
#include "texts.h"

using namespace aotc;

namespace {

void round_trips(const std::string& text) {
  auto g = parse_graph(text, "t.ir");
  std::string printed = print(*g);
  CHECK(printed == text);
  CHECK(print(*parse_graph(printed, "t.ir")) == printed);
}

}  // namespace

TEST_CASE("every kind of statement and argument round-trips") { round_trips(texts::kGraph); }

TEST_CASE("what the text says is what the graph holds") {
  auto g = parse_graph(texts::kGraph, "t.ir");
  CHECK(g->name == "everything");
  CHECK(g->program == nullptr);
  CHECK(g->symbols.at("s0").max == 64);
  CHECK_FALSE(g->symbols.at("s1").max.has_value());
  CHECK(g->symbols.at("u0").unbacked);
  REQUIRE(g->inputs.size() == 10);
  CHECK(g->inputs[1].name == "images");
  CHECK(g->inputs[1].value->type.device.index == 0);
  CHECK(g->inputs[3].stored.offset == 4);
  CHECK(g->inputs[3].stored.strides == std::vector<int64_t>{1, 2});
  CHECK(g->inputs[4].stored.offset == 4);
  CHECK(g->inputs[4].stored.strides == std::vector<int64_t>{2});
  CHECK(std::get<double>(g->inputs[7].scalar) == 1e-5);
  CHECK(g->inputs[9].kind == InputKind::UserNone);

  auto n = g->nodes.begin();
  CHECK((*n)->name == "mul");
  CHECK((*n)->source.line == 34);
  CHECK((*n)->source.text == "y = x * 2  # twice");
  CHECK((*n)->output()->type.strides == std::vector<Sym>{4, 1});
  ++n;
  CHECK((*n)->source.file == "/a dir/m.py");
  CHECK((*n)->source.function == "<lambda>");
  CHECK(std::signbit(std::get<double>((*n)->args[2])));
  CHECK(g->nodes.back()->name == "check");
  CHECK(std::get<std::string>(g->nodes.back()->args[1]) == "u0 <= s1: \"no\"\n\x01");
  CHECK(g->write_backs[0].input == 0);
  CHECK(g->outputs[2].kind == OutputKind::Scalar);
  CHECK(g->aliases[0].view == g->outputs[0].value);
}

TEST_CASE("core graphs drop strides of results and keep those of inputs") {
  std::string text = R"(core graph {
  input %x: float32[2, 3]{1, 2}

  %y: float32[2, 3] = aten.cos.default(%x)

  output %y
}
)";
  round_trips(text);
  auto g = parse_graph(text, "t.ir");
  CHECK(g->inputs[0].value->type.strides.size() == 2);
  CHECK(g->outputs[0].value->type.strides.empty());
}

TEST_CASE("names outside of the alphabet are quoted") {
  round_trips(R"(graph "odd name" {
  input %"x y": float32[2], as "a\"b"
  scalar "", value 3

  %"%": float32[2] = aten.cos.default(%"x y") as "the node"         # "":0: "  indented"

  output %"%", as ""
}
)");
}

TEST_CASE("numbers keep their kind and their bits") {
  auto text = [](const std::string& number) {
    return "graph {\n  input %x: float32[2]\n\n  %y: float32[2] = aten.mul.Tensor(%x, " + number +
           ")\n\n  output %y\n}\n";
  };
  for (const char* number :
       {"2", "-2", "2.0", "-0.0", "1e+300", "5e-324", "inf", "-inf", "nan", "0.1",
        "9223372036854775807", "-9223372036854775808", "s0 + 1", "complex(1.0, -0.0)", "true"})
    round_trips(text(number));
}

TEST_CASE("arguments may be given by position and in any order by name") {
  auto g = parse_graph(R"(
# a comment
graph {
  input %x: float32[8]   # not a source
  %y: float32[2] = aten.slice.Tensor(%x, 0, step=2, start=1, end=4)
  output %y
})",
                       "t.ir");
  const Node& n = *g->nodes.front();
  CHECK(sym_arg(n, "start").is(1));
  CHECK(sym_arg(n, "step").is(2));
  CHECK(n.source.file.empty());
  CHECK(print(*g).find("aten.slice.Tensor(%x, start=1, end=4, step=2)") != std::string::npos);
}

TEST_CASE("new values after parsing get names of their own") {
  auto g = parse_graph(texts::kGraph, "t.ir");
  CHECK(g->new_value("mul", {})->name != "mul");
  CHECK(g->new_value("values", {})->name != "values");
}
