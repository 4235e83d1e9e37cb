// In-place ops: what is read, what is written, through which view.
#include "helpers.h"

using namespace helpers;

namespace {

RunResult one(const std::string& body, Tensor x) {
  return run_graph("graph {\n" + body + "}\n", {std::move(x)});
}

}  // namespace

TEST_CASE("mutation through a transposed view changes the input") {
  RunResult r = one(R"(  input %x: float32[2, 3]
  %t: float32[3, 2]{1, 3} = aten.t.default(%x)
  %row: float32[2]{3} = aten.select.int(%t, 0, 1)
  %mul_: float32[2]{3} = aten.mul_.Tensor(%row, 10)
  output %t
  output %mul_
)",
                    floats({2, 3}, {0, 1, 2, 3, 4, 5}));
  CHECK(values(r.inputs[0]) == Numbers{0, 10, 2, 3, 40, 5});
  CHECK(values(r.outputs[0]) == Numbers{0, 3, 10, 40, 2, 5});
  CHECK(r.alias_of == std::vector<int>{0, 0});
}

TEST_CASE("swap of two inputs") {
  RunResult r = run_graph(R"(graph {
  input %x: float32[2]
  input %y: float32[2]
  %clone: float32[2] = aten.clone.default(%x)
  %copy_: float32[2] = aten.copy_.default(%x, %y)
  %copy__1: float32[2] = aten.copy_.default(%y, %clone)
  output %x
}
)",
                          {floats({2}, {1, 2}), floats({2}, {3, 4})});
  CHECK(values(r.inputs[0]) == Numbers{3, 4});
  CHECK(values(r.inputs[1]) == Numbers{1, 2});
  CHECK(r.alias_of == std::vector<int>{0});
}

TEST_CASE("a tensor copied onto a shifted part of itself") {
  for (bool clone : {true, false}) {
    std::string source = clone ? "  %c: float32[3] = aten.clone.default(%from)\n"
                               : "  %c: float32[3] = aten.alias.default(%from)\n";
    RunResult r = one(
        "  input %x: float32[4]\n  %from: float32[3] = aten.slice.Tensor(%x, 0, start=0, end=3)\n" +
            source +
            "  %to: float32[3] = aten.slice.Tensor(%x, 0, start=1)\n  %copy_: float32[3] = "
            "aten.copy_.default(%to, %c)\n  output %x\n",
        floats({4}, {1, 2, 3, 4}));
    CHECK(values(r.inputs[0]) == Numbers{1, 1, 2, 3});
  }
}

TEST_CASE("a tensor plus its own flip or transpose") {
  RunResult r = one(R"(  input %x: float32[4]
  %f: float32[4] = aten.flip.default(%x, [0])
  %add_: float32[4] = aten.add_.Tensor(%x, %f)
  output %f
)",
                    floats({4}, {1, 2, 3, 4}));
  CHECK(values(r.inputs[0]) == Numbers{5, 5, 5, 5});
  CHECK(values(r.outputs[0]) == Numbers{4, 3, 2, 1});
  r = one(R"(  input %x: float32[2, 2]
  %t: float32[2, 2]{1, 2} = aten.t.default(%x)
  %sub_: float32[2, 2] = aten.sub_.Tensor(%x, %t)
  output %t
)",
          floats({2, 2}, {1, 2, 4, 8}));
  CHECK(values(r.inputs[0]) == Numbers{0, -2, 2, 0});
  CHECK(values(r.outputs[0]) == Numbers{0, 2, -2, 0});
}

TEST_CASE("index_put with repeated indices") {
  auto text = [](const std::string& accumulate) {
    return R"(graph {
  input %x: float32[4]
  input %i: int64[3]
  input %v: float32[3]
  %index_put_: float32[4] = aten.index_put_.default(%x, [%i], %v)" +
           accumulate + R"()
  output %index_put_
}
)";
  };
  std::vector<RunValue> inputs{floats({4}, {1, 2, 3, 4}), ints({3}, {1, -1, 1}),
                               floats({3}, {10, 20, 30})};
  CHECK(values(run_graph(text(", accumulate=true"), inputs).inputs[0]) == Numbers{1, 42, 3, 24});
  CHECK(values(run_graph(text(""), inputs).inputs[0]) == Numbers{1, 30, 3, 20});
  inputs[1] = ints({3}, {1, 4, 1});
  RunResult failed = run_graph(text(""), inputs);
  CHECK(contains(failed.failure, "4"));
  CHECK(values(failed.inputs[0]) == Numbers{1, 2, 3, 4});
}

TEST_CASE("the result is cast to the type of what is written") {
  RunResult r = run_graph(R"(graph {
  input %x: int32[2]
  input %y: float32[2]
  %copy_: int32[2] = aten.copy_.default(%x, %y)
  output %copy_
}
)",
                          {tensor(DType::Int32, {2}, {0, 0}), floats({2}, {2.9, -2.9})});
  CHECK(values(r.inputs[0]) == Numbers{2, -2});
}

TEST_CASE("values before and after a mutation") {
  RunResult r = one(R"(  input %x: float32[2]
  %old: float32[2] = aten.clone.default(%x)
  %add_: float32[2] = aten.add_.Tensor(%x, 1)
  %new: float32[2] = aten.mul.Tensor(%x, 2)
  %mul_: float32[2] = aten.mul_.Tensor(%add_, 3)
  output %old
  output %new
  output %x
)",
                    floats({2}, {1, 2}));
  CHECK(values(r.outputs[0]) == Numbers{1, 2});
  CHECK(values(r.outputs[1]) == Numbers{4, 6});
  CHECK(values(r.outputs[2]) == Numbers{6, 9});
}

TEST_CASE("memory around a view stays as it is") {
  Tensor wide = floats({2, 4}, {0, 1, 2, 3, 4, 5, 6, 7});
  std::string body =
      "  input %x: float32[2, 2]\n  %add_: float32[2, 2] = aten.add_.Tensor(%x, 100)\n  output "
      "%add_\n";
  RunResult r = one(body, view(wide, {2, 2}, {1, 4}, 1));
  Tensor whole = view(std::get<Tensor>(r.inputs[0]), {8}, {1});
  CHECK(values(whole) == Numbers{0, 101, 102, 3, 4, 105, 106, 7});
  CHECK(values(wide) == Numbers{0, 1, 2, 3, 4, 5, 6, 7});
}

TEST_CASE("writing a tensor that overlaps itself is refused") {
  std::string e = error_of([] {
    one("  input %x: float32[1, 2]\n  %e: float32[3, 2]{0, 1} = aten.expand.default(%x, [3, 2])\n"
        "  %add_: float32[3, 2]{0, 1} = aten.add_.Tensor(%e, 1)\n  output %e\n",
        floats({1, 2}, {1, 2}));
  });
  CHECK(contains(e, "several elements share memory"));
  e = error_of([] {
    one("  input %x: float32[3, 2]\n  %add_: float32[3, 2] = aten.add_.Tensor(%x, 1)\n  output "
        "%add_\n",
        view(floats({2}, {1, 2}), {3, 2}, {0, 1}));
  });
  CHECK(contains(e, "input 'x' is mutated, but several of its elements share memory"));
}

TEST_CASE("one storage under two names") {
  std::string text = R"(graph {
  buffer %a: float32[2], target "a", storage 0 bytes 0..8
  buffer %b: float32[2], target "b", storage 0 bytes 0..8
  %add_: float32[2] = aten.add_.Tensor(%a, 1)
  %y: float32[2] = aten.mul.Tensor(%b, 10)
  output %y
}
)";
  auto g = parse_graph(text, "t.ir");
  RunInputs in;
  in.inputs.resize(2);
  in.storages[0] = floats({2}, {1, 2}).memory;
  RunResult r = run(*g, in);
  CHECK(values(r.outputs[0]) == Numbers{20, 30});
  CHECK(values(Tensor{DType::Float32, {2}, {1}, 0, r.storages.at(0)}) == Numbers{2, 3});
  CHECK(values(Tensor{DType::Float32, {2}, {1}, 0, in.storages.at(0)}) == Numbers{1, 2});
}
