// Each rule of level 2, broken once.
#include <catch2/catch.hpp>

#include "ir/error.h"
#include "ir/text/text.h"
#include "ir/text/verify.h"
#include "texts.h"

using namespace aotc;

namespace {

std::string violations(const loops::LoopProgram& p) {
  try {
    verify(p, "fused");
  } catch (const InternalError& e) {
    return e.what();
  }
  return "";
}

void breaks(const loops::LoopProgram& p, const std::string& rule) {
  std::string e = violations(p);
  INFO(e);
  CHECK(e.starts_with("stage fused: "));
  CHECK(e.find(rule) != std::string::npos);
}

void breaks(const std::string& from, const std::string& to, const std::string& rule) {
  breaks(parse_loops(texts::with(texts::kLoops, from, to), "t.ir"), rule);
}

loops::LoopProgram good() { return parse_loops(texts::kLoops, "t.ir"); }

}  // namespace

TEST_CASE("a sound program passes") { CHECK(violations(good()) == ""); }

TEST_CASE("buffers") {
  auto p = good();
  SECTION("unique names") {
    p.buffers[1].name = "x";
    breaks(p, "buffer 'x': its name is taken");
  }
  SECTION("strides") {
    p.buffers[0].strides.pop_back();
    breaks(p, "it has 2 sizes and 1 strides");
  }
  SECTION("homes exist") {
    breaks("buffer n: int64[] = input 1", "buffer n: int64[] = input 9",
           "buffer 'n': input 9 is no tensor");
    breaks("buffer mm: float32[s0, 8] = output 0", "buffer mm: float32[s0, 8] = output 4",
           "output 4 does not exist");
    p.buffers[2].index = -1;
    breaks(p, "buffer 'b': storage -1 does not exist");
  }
  SECTION("homes have their dtype") {
    p.buffers[0].dtype = DType::Float64;
    breaks(p, "it is float64, input 0 is float32");
    p = good();
    p.buffers[5].dtype = DType::Float64;
    breaks(p, "it is float64, output 0 is float32");
  }
  SECTION("storages are large enough") {
    auto program = std::make_shared<pt2::ExportedProgram>();
    program->storages.emplace_back().bytes = "short";
    p.graph->program = program;
    breaks(p, "it ends at byte 256 of a storage of 5");
  }
}

TEST_CASE("kernels and axes") {
  auto p = good();
  p.kernels[5].name = p.kernels[2].name;
  breaks(p, "kernel k2_item: its name is taken");
  breaks("kernel k2_item {", "kernel \"k2 item\" {", "its name is no C identifier");
  breaks("kernel k5_add (i0 < 8, i1 < 8)", "kernel k5_add (i0 < 8, i0 < 8)",
         "axis i0 appears twice");
  breaks("kernel k5_add (i0 < 8, i1 < 8)", "kernel k5_add (s0 < 8, i1 < 8)",
         "axis s0 has the name of a symbol");
  breaks("kernel k5_add (i0 < 8, i1 < 8)", "kernel k5_add (i0 < 8, i1 < q)",
         "the extent of axis i1 uses q");
  breaks("kernel k5_add (i0 < 8, i1 < 8)", "kernel k5_add (i0 < 8, i1 < -1)",
         "axis i1 has the extent -1");
}

TEST_CASE("expressions") {
  auto p = good();
  SECTION("operands come first") {
    p.kernels[0].exprs[3].args[0] = 8;
    breaks(p, "kernel k0_softmax, %3: operand %8 does not come before it");
  }
  SECTION("constants") {
    p.kernels[5].exprs[1].dtype = DType::Int32;
    breaks(p, "a float32 constant of type int32");
  }
  SECTION("indices are int64") {
    p.kernels[4].exprs[0].dtype = DType::Int32;
    breaks(p, "an index of type int32");
    breaks("%0: float32 = load b[i0, i1]\n    %1: float32 = 1.0",
           "%0: float32 = 1.0\n    %1: float32 = load b[i0, %0]",
           "the index %0 is float32, expected int64");
  }
  SECTION("loads") {
    breaks("%0: float32 = load b[i0, i1]", "%0: int32 = load b[i0, i1]",
           "a int32 load from the float32 buffer 'b'");
    breaks("%0: float32 = load b[i0, i1]", "%0: float32 = load b[i0]",
           "1 indices for buffer 'b' of rank 2");
    breaks("%0: float32 = load b[i0, i1]", "%0: float32 = load b[i0, i1] if %0",
           "a guarded load needs a guard and an alternative");
    breaks("%0: float32 = load add[i0, i1]",
           "%7: float32 = 1.0\n    %8: float32 = load add[i0, i1] if %7 else %7\n    %0: float32 = "
           "1.0",
           "the guard %1 is float32, expected bool");
    breaks(
        "%0: float32 = load add[i0, i1]",
        "%7: bool = true\n    %8: float32 = load add[i0, i1] if %7 else %7\n    %0: float32 = 1.0",
        "the alternative %1 is bool, expected float32");
  }
  SECTION("primitives") {
    breaks("%2: bool = lt(%0, %1)", "%2: int64 = lt(%0, %1)", "lt of int64 yields bool, not int64");
    breaks("%2: float32 = add(%0, %1)", "%2: float32 = where(%0, %1)",
           "where has 2 operands, expected 3");
    breaks("%2: float32 = add(%0, %1)", "%2: float32 = where(%0, %1, %1)",
           "the condition %0 is float32, expected bool");
    breaks("%2: float32 = add(%0, %1)", "%2: int64 = 1\n    %3: float32 = add(%0, %2)",
           "the operand %2 is int64, expected float32");
    breaks("%2: float32 = add(%0, %1)", "%2: float32 = bitwise_and(%0, %1)",
           "bitwise_and of float32 does not exist");
    breaks("acc1: float32 = add(%4)", "acc1: float32 = sub(%4)", "acc1: sub is not associative");
    breaks("%2: float32 = add(%0, %1)", "%2: float32 = add()", "add has 0 operands, expected 2");
  }
  SECTION("accumulators") {
    p.kernels[0].exprs[2].accumulator = 5;
    breaks(p, "acc5 does not exist");
    p = good();
    p.kernels[0].exprs[2].dtype = DType::Float64;
    breaks(p, "acc0 is float32, expected float64");
  }
  SECTION("scope") {
    breaks("%1: float32 = load x[i0, r1]", "%1: float32 = load x[i0, r0]", "r0 is not in scope");
    breaks("load n[]", "load n[q]", "q is not in scope");
    breaks("buffer add: float32[8, 8] = temp",
           "buffer add: float32[8, 8] = temp\n  kernel k (i0 < u0) {\n  }",
           "the extent of axis i0 uses u0, which has no value");
  }
}

TEST_CASE("accumulators") {
  auto p = good();
  auto& k = p.kernels[0];
  SECTION("fed once") {
    k.phases[1].accumulators.push_back(0);
    breaks(p, "acc0: it is fed in 2 places");
  }
  SECTION("by their phase") {
    k.accumulators[0].phase = 1;
    breaks(p, "phase 1 does not feed it");
  }
  SECTION("with their type") {
    k.accumulators[0].dtype = DType::Float64;
    breaks(p, "its value %0 is float32, expected float64");
    breaks(p, "its identity is float32, expected float64");
  }
  SECTION("positions") {
    k.accumulators[0].companion = 1;
    breaks(p, "acc1, its position, must be int64 and of its phase");
    k.accumulators[0].companion = 9;
    breaks(p, "acc9, its position, does not exist");
  }
  SECTION("read later only") {
    breaks(
        "store y[i0, r2] = %9",
        "acc2: float32 = add(%5) from 0.0\n      %10: float32 = acc2\n      store y[i0, r2] = %10",
        "it reads acc2, which phase 2 feeds");
    auto ordered =
        parse_loops(texts::with(texts::with(texts::kLoops, "store y[i0, r2] = %9",
                                            "acc2: float32 = add(%5) from 0.0\n      %10: float32 "
                                            "= acc2\n      store y[i0, r2] = %10"),
                                "phase (r2 < 8)", "phase (r2 < 8) ordered"),
                    "t.ir");
    CHECK(violations(ordered) == "");
  }
}

TEST_CASE("stores") {
  breaks("store add[i0, i1] = %2", "store add[i0, i1] = %3\n    %3: float64 = 1.0",
         "the value %3 is float64, expected float32");
  breaks("store add[i0, i1] = %2", "store add[i0, i1] = %2 if %0",
         "the guard %0 is float32, expected bool");
  breaks("store add[i0, i1] = %2", "store add[i0] = %2", "1 indices for buffer 'add' of rank 2");
  breaks("store add[i0, i1] = %2", "store add[i0, q] = %2", "q is not in scope");
  breaks("store add[i0, i1] = %2", "store add[i0, i1] += %2",
         "it adds to buffer 'add', which nothing has written");
  breaks("store add[i0, i1] = %2", "store x[i1, i1] = %2",
         "it writes buffer 'x', which no write-back names");
}

TEST_CASE("bounds") {
  breaks("store add[i0, i1] = %2", "store add[i0 + 1, i1] = %2",
         "index i0 + 1 in dimension 0 leaves buffer 'add' of size 8");
  breaks("store add[i0, i1] = %2", "store add[i0 - 1, i1] = %2",
         "index i0 - 1 in dimension 0 leaves buffer 'add' of size 8");
  breaks("load b[i0, i1]", "load b[2*i0, i1]",
         "index 2*i0 in dimension 0 leaves buffer 'b' of size 8");
  breaks("%0: float32 = load x[i0, r0]", "%0: float32 = load x[i0 + 1, r0]",
         "index i0 + 1 in dimension 0 leaves buffer 'x' of size s0");
  // Not certain: a guard, an axis that may be empty, a value from memory.
  auto passes = [](const std::string& from, const std::string& to) {
    CHECK(violations(parse_loops(texts::with(texts::kLoops, from, to), "t.ir")) == "");
  };
  passes("store add[i0, i1] = %2",
         "%8: bool = true\n    store add[i0, i1] = %2\n    store add[i0 + 1, i1] = %2 if %8");
  passes("copy k6_write_back_b (i0 < 8, i1 < 8)", "copy k6_write_back_b (i0 < 8, i1 < u0)");
  passes("%0: float32 = load b[i0, i1]\n    %1: float32 = 1.0\n    %2: float32 = add(%0, %1)",
         "%0: int64 = load n[]\n    %1: float32 = load b[i0, %0]\n    %2: float32 = add(%1, %1)");
}

TEST_CASE("buffers are written before they are read") {
  breaks("store item_value[] = %0", "%5: int64 = load item_value[]\n    store item_value[] = %5",
         "it reads buffer 'item_value', which nothing has written");
  auto p = good();
  std::swap(p.kernels[0], p.kernels[1]);
  breaks(p, "operand a is buffer 'y', which nothing has written");
  p = good();
  p.kernels.erase(p.kernels.begin() + 1);
  breaks(p, "output 0: nothing writes its buffer 'mm'");
}

TEST_CASE("kinds") {
  breaks("require %2, report %0", "store item_value[] = %0\n    require %2, report %0",
         "a check has stores");
  breaks("require %2, report %0", "require %0, report %0",
         "the condition %0 is int64, expected bool");
  breaks("require %2, report %0", "require %2, report %2",
         "the reported value %2 is bool, expected int64");
  breaks("    set u0 = %0\n", "", "a host kernel defines no symbol");
  breaks("host k3_define_u0 {", "host k3_define_u0 (i0 < 2) {",
         "a host kernel has neither axes nor stores");
  breaks("a = y at 0", "a = n at 0", "operand a is int64, expected float32");
  breaks("a = y at 0, batch []", "a = y at 0, batch [4]",
         "operand a has 1 batch strides, expected 0");
  breaks("c = mm at 0", "c = x at 0", "it writes");
  auto p = good();
  p.kernels[1].matmul = nullptr;
  breaks(p, "a template kernel has no template");
  auto sorting = std::make_shared<loops::Sort>();
  sorting->sizes = {Sym(2), Sym(8)};
  sorting->strides = {Sym(8)};
  p.kernels[1].sort = sorting;
  breaks(p, "its dimensions are wrong");
  sorting->strides = {Sym(8), Sym(1)};
  sorting->x = sorting->indices = 0;
  breaks(p, "expected int64");
}

TEST_CASE("signature of loops") {
  breaks("write back 0: b = add", "write back 3: b = add", "the graph has no such write-back");
  breaks("write back 0: b = add", "write back 0: x = add", "buffer 'x' is not input 'b'");
  breaks("write back 0: b = add, kernel k6_write_back_b", "write back 0: b = add, kernel nope",
         "kernel 'nope', which copies, does not exist");
  breaks("write back 0: b = add, kernel k6_write_back_b",
         "write back 0: b = add, kernel k6_write_back_b, direct",
         "it is direct, yet kernel k6_write_back_b copies");
  breaks("  output 0 = mm\n", "", "0 output buffers, 1 outputs");
  breaks("  output 0 = mm\n", "  output 0 = none\n", "output 0: it has no buffer");
  breaks("  output 0 = mm\n", "  view 0 of input 7 at 0, strides [1]\n  output 0 = none\n",
         "input 7 does not exist");
}
