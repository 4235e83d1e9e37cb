// Each rule of level 1, broken once.
#include <catch2/catch.hpp>

#include "ir/error.h"
#include "ir/ops/op.h"
#include "ir/text/text.h"
#include "ir/text/verify.h"

using namespace aotc;

namespace {

const std::string kGood = R"(graph {
  symbol s0 in 1..64
  symbol u0 in 0.. unbacked

  input %x: float32[s0, 4]
  input %n: int64[]
  parameter %w: float32[4, 4], target "w", storage 0 bytes 0..64
  scalar k, value s0

  %mul: float32[s0, 4] = aten.mul.Tensor(%x, 2)
  %item: symbol u0 = aten.item.default(%n)
  %full: float32[u0] = aten.full.default([u0], 1.0)

  write back %x = %mul by aten.mul_.Tensor
  output %mul
  output scalar s0
  alias output 0 of %x by %mul
}
)";

std::unique_ptr<Graph> good() { return parse_graph(kGood, "t.ir"); }

std::string violations(const Graph& g, GraphStage stage = GraphStage::Functional) {
  try {
    verify(g, stage);
  } catch (const InternalError& e) {
    return e.what();
  }
  return "";
}

void breaks(const Graph& g, const std::string& rule, GraphStage stage = GraphStage::Functional) {
  std::string e = violations(g, stage);
  INFO(e);
  CHECK(e.starts_with(std::string("stage ") + name(stage) + ": "));
  CHECK(e.find(rule) != std::string::npos);
}

Node& node(Graph& g, size_t i) {
  return **std::next(g.nodes.begin(), static_cast<std::ptrdiff_t>(i));
}

}  // namespace

TEST_CASE("a sound graph passes") {
  for (GraphStage s : {GraphStage::Graph, GraphStage::Functional, GraphStage::Core})
    CHECK(violations(*good(), s).empty());
}

TEST_CASE("values") {
  auto g = good();
  SECTION("unique names") {
    g->nodes.front()->outputs[0]->name = "x";
    breaks(*g, "node 'mul' (aten.mul.Tensor, no Python source): the name %x is taken");
  }
  SECTION("no empty names") {
    g->inputs[0].value->name = "";
    breaks(*g, "input 'x': a value has no name");
  }
  SECTION("definition before use") {
    g->nodes.splice(g->nodes.begin(), g->nodes, std::prev(g->nodes.end()));
    breaks(*g,
           "node 'full' (aten.full.default, no Python source): symbol u0 is used before a node "
           "defines it");
    Value* later = node(*g, 1).output();
    node(*g, 0).args[0] = std::vector<Sym>{1};
    node(*g, 2).args[0] = later;
    g->nodes.splice(g->nodes.begin(), g->nodes, std::next(g->nodes.begin(), 2));
    breaks(*g, "%mul is used before it is defined");
  }
  SECTION("own values") {
    auto other = good();
    node(*g, 0).args[0] = other->inputs[0].value;
    breaks(*g, "%x is used before it is defined, or is no value of this graph");
  }
  SECTION("results name their producers") {
    node(*g, 0).output()->producer = nullptr;
    breaks(*g, "result %mul does not name it as its producer");
  }
  SECTION("inputs have none") {
    g->inputs[0].value->producer = g->nodes.front().get();
    breaks(*g, "input 'x': its value has a producer");
  }
  SECTION("strides have the rank of sizes") {
    g->inputs[0].value->type.strides = {1};
    breaks(*g, "%x has 2 sizes and 1 strides");
  }
  SECTION("no negative sizes") {
    g->inputs[0].value->type.sizes[1] = Sym(-4);
    breaks(*g, "%x has the size -4");
  }
  SECTION("declared symbols") {
    g->inputs[0].value->type.sizes[0] = Sym::symbol("zz");
    breaks(*g, "symbol zz is not declared");
  }
}

TEST_CASE("inputs") {
  auto g = good();
  SECTION("user inputs have values") {
    g->inputs[0].value = nullptr;
    breaks(*g, "input 'x': a user input has no value");
  }
  SECTION("stored ones have tensors") {
    g->inputs[2].value = nullptr;
    breaks(*g, "input 'w': it has no tensor");
  }
  SECTION("ranks of storages") {
    g->inputs[2].stored.sizes = {16};
    breaks(*g, "its storage is seen with rank 1, its type has rank 2");
  }
  SECTION("storages exist") {
    auto p = std::make_shared<pt2::ExportedProgram>();
    g->program = p;
    breaks(*g, "storage 0 does not exist");
    p->storages.emplace_back().bytes = "short";
    breaks(*g, "its view ends at byte 64 of a storage of 5");
  }
  SECTION("scalars have values") {
    g->inputs[3].scalar = None{};
    breaks(*g, "a scalar has neither symbol nor value");
  }
  SECTION("None has no value") {
    g->inputs[0].kind = InputKind::UserNone;
    breaks(*g, "None has a value");
  }
}

TEST_CASE("nodes") {
  auto g = good();
  SECTION("they have ops") {
    node(*g, 0).op = nullptr;
    breaks(*g, "node 'mul' (no op, no Python source): it has no op");
  }
  SECTION("an argument per schema entry") {
    node(*g, 0).args.pop_back();
    breaks(*g, "it has 1 arguments, the schema 2");
  }
  SECTION("tensors where tensors are expected") {
    node(*g, 0).args[0] = None{};
    breaks(*g, "argument 'self' is none, expected Tensor");
    node(*g, 0).args[0] = static_cast<Value*>(nullptr);
    breaks(*g, "argument 'self' is no Tensor");
  }
  SECTION("the dtype that the op yields") {
    node(*g, 0).output()->type.dtype = DType::Int32;
    g->inputs[0].value->type.dtype = DType::Float64;
    breaks(*g, "%mul is declared as int32, aotc infers float64");
  }
  SECTION("the sizes that the op yields") {
    node(*g, 0).output()->type.sizes[1] = Sym(5);
    breaks(*g, "%mul is declared with the sizes [s0, 5], aotc infers [s0, 4]");
  }
  SECTION("sizes that may be equal are not reported") {
    g->symbols["s1"] = {1, 64, false};
    g->inputs.back().scalar = Sym::symbol("s1");
    node(*g, 0).output()->type.sizes[0] = Sym::symbol("s1");
    CHECK(violations(*g).empty());
  }
  SECTION("sizes that differ by their ranges are") {
    g->symbols["s1"] = {100, 200, false};
    g->inputs.back().scalar = Sym::symbol("s1");
    node(*g, 0).output()->type.sizes[0] = Sym::symbol("s1");
    breaks(*g, "%mul is declared with the sizes [s1, 4]");
  }
}

TEST_CASE("stages") {
  SECTION("in-place ops are for stage graph") {
    auto g = parse_graph(
        "graph {\n input %x: float32[2]\n %y: float32[2] = aten.mul_.Tensor(%x, 2)\n output %y\n}",
        "t.ir");
    CHECK(violations(*g, GraphStage::Graph).empty());
    breaks(*g, "it is an in-place op");
    breaks(*g, "it is an in-place op", GraphStage::Core);
  }
  SECTION("compositions are gone in core") {
    auto g = parse_graph(
        "graph {\n input %x: float32[2]\n %y: float32[2] = aten.roll.default(%x, [1])\n output "
        "%y\n}",
        "t.ir");
    CHECK(violations(*g).empty());
    breaks(*g, "it is a composition of other ops", GraphStage::Core);
  }
}

TEST_CASE("signature") {
  auto g = good();
  SECTION("write-backs go to existing inputs") {
    g->write_backs[0].input = 17;
    breaks(*g, "input 17 does not exist");
  }
  SECTION("to user tensors and buffers") {
    g->write_backs[0].input = 2;
    breaks(*g, "input 'w' must not be written");
  }
  SECTION("once") {
    g->write_backs.push_back(g->write_backs[0]);
    breaks(*g, "input 'x' is written back twice");
  }
  SECTION("of the same type") {
    g->write_backs[0].input = 1;
    breaks(*g, "float32 goes to int64");
    breaks(*g, "sizes [s0, 4] go to []");
  }
  SECTION("with a value") {
    g->write_backs[0].value = nullptr;
    breaks(*g, "it has no value");
  }
  SECTION("outputs have values") {
    g->outputs[0].value = nullptr;
    breaks(*g, "output 'mul': it has no value");
    g->outputs[1].scalar = std::string("text");
    breaks(*g, "it is no number");
  }
  SECTION("aliases are of tensor outputs") {
    g->aliases[0].output = 1;
    breaks(*g, "alias of output 1: it is no tensor output");
  }
  SECTION("aliases are chains of views") {
    g->write_backs.clear();
    breaks(*g, "%mul is no chain of views of input 'x'");
  }
  SECTION("guards mention declared symbols") {
    g->guards.push_back({sym_lt(Sym::symbol("qq"), 3), "qq < 3"});
    breaks(*g, "guard qq < 3: symbol qq is not declared");
  }
  SECTION("all violations are reported together") {
    g->write_backs.clear();
    g->outputs[0].value = nullptr;
    CHECK(violations(*g).starts_with("stage functional: 2 broken invariants\n"));
  }
}
