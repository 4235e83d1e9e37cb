// Loop kernels: accesses, guards, order, templates, checks, host symbols.
#include "helpers.h"

using namespace helpers;

namespace {

std::string program(const std::string& body) {
  return R"(core graph {
  symbol s0 in 0..
  symbol u0 in 0..100 unbacked
  input %x: float32[s0, 3]
  input %n: int64[2]
  %y: float32[s0, 3] = aten.cos.default(%x)
  output %y
}
loops {
  buffer x: float32[s0, 3] = input 0
  buffer n: int64[2] = input 1
  buffer y: float32[s0, 3] = output 0
)" + body +
         "  output 0 = y\n}\n";
}

Tensor x() { return floats({2, 3}, {0, 1, 2, 3, 4, 5}); }
Tensor n() { return ints({2}, {1, 0}); }

RunResult run_body(const std::string& body, RunOptions options = {}) {
  return run_loops(program(body), {x(), n()}, options);
}

const std::string kDouble = R"(
  kernel double (i0 < s0, i1 < 3) {
    %0: float32 = load x[i0, i1]
    %1: float32 = 2.0
    %2: float32 = mul(%0, %1)
    store y[i0, i1] = %2
  }
)";

}  // namespace

TEST_CASE("a pointwise kernel, in any order of iterations") {
  CHECK(values(run_body(kDouble).outputs[0]) == Numbers{0, 2, 4, 6, 8, 10});
  CHECK(values(run_body(kDouble, {true}).outputs[0]) == Numbers{0, 2, 4, 6, 8, 10});
}

TEST_CASE("empty axes run nothing") {
  RunResult r = run_loops(program(kDouble), {floats({0, 3}, {}), n()});
  CHECK(std::get<Tensor>(r.outputs[0]).sizes == std::vector<int64_t>{0, 3});
}

TEST_CASE("inputs of other layouts are staged") {
  Tensor wide = floats({3, 4}, {0, 1, 2, 9, 3, 4, 5, 9, 6, 7, 8, 9});
  RunResult r = run_loops(program(kDouble), {view(wide, {2, 3}, {1, 4}), n()});
  CHECK(values(r.outputs[0]) == Numbers{0, 6, 12, 2, 8, 14});
}

TEST_CASE("a load whose guard is false reads nothing") {
  RunResult r = run_body(R"(
  kernel shift (i0 < s0, i1 < 3) {
    %0: int64 = index i0
    %1: int64 = 1
    %2: bool = ge(%0, %1)
    %3: float32 = -1.0
    %4: float32 = load x[i0 - 1, i1] if %2 else %3
    store y[i0, i1] = %4
  }
)");
  CHECK(values(r.outputs[0]) == Numbers{-1, -1, -1, 0, 1, 2});
}

TEST_CASE("a store whose guard is false writes nothing") {
  RunResult r = run_body(kDouble + R"(
  kernel some (i0 < s0, i1 < 5) {
    %0: int64 = index i1
    %1: int64 = 1
    %2: bool = le(%0, %1)
    %3: float32 = 7.0
    store y[i0, i1] = %3 if %2
  }
)");
  CHECK(values(r.outputs[0]) == Numbers{7, 7, 4, 7, 7, 10});
}

TEST_CASE("indices may come from memory") {
  RunResult r = run_body(R"(
  kernel gather (i0 < s0, i1 < 3) {
    %0: int64 = load n[i0]
    %1: float32 = load x[%0, -i1 + 2]
    store y[i0, i1] = %1
  }
)");
  CHECK(values(r.outputs[0]) == Numbers{5, 4, 3, 2, 1, 0});
}

TEST_CASE("later phases read what earlier ones of the same iteration stored") {
  RunResult r = run_body(R"(
  buffer t: float32[s0, 3] = temp
  kernel two (i0 < s0) {
    phase (r0 < 3)
      %0: float32 = load x[i0, r0]
      store t[i0, r0] = %0
    phase (r1 < 3)
      %1: float32 = load t[i0, -r1 + 2]
      store y[i0, r1] = %1
  }
)");
  CHECK(values(r.outputs[0]) == Numbers{2, 1, 0, 5, 4, 3});
}

TEST_CASE("a value of the outer iteration is read once, before later phases overwrite it") {
  std::string text = R"(core graph {
  input %x: float32[2]
  %y: float32[2] = aten.cos.default(%x)
  write back %x = %y
  output %y
}
loops {
  buffer x: float32[2] = input 0
  buffer y: float32[2] = output 0
  kernel swap {
    %0: float32 = load x[0]
    %1: float32 = load x[1]
    phase
      store x[0] = %1
      store y[1] = %0
    phase
      store x[1] = %0
      store y[0] = %1
  }
  write back 0: x = none, direct
  output 0 = y
}
)";
  RunResult r = run_loops(text, {floats({2}, {1, 2})});
  CHECK(values(r.inputs[0]) == Numbers{2, 1});
  CHECK(values(r.outputs[0]) == Numbers{2, 1});
}

TEST_CASE("ordered phases: each iteration sees what the ones before stored") {
  std::string body = kDouble + R"(
  kernel scan {
    phase (r0 < s0 - 1, r1 < 3) ordered
      %0: float32 = load y[r0, r1]
      %1: float32 = load y[r0 + 1, r1]
      %2: float32 = add(%0, %1)
      store y[r0 + 1, r1] = %2
  }
)";
  RunResult r = run_loops(program(body), {floats({3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9}), n()});
  CHECK(values(r.outputs[0]) == Numbers{2, 4, 6, 10, 14, 18, 24, 30, 36});
}

TEST_CASE("accumulating stores add in the buffer's type") {
  RunResult r = run_body(kDouble + R"(
  kernel scatter {
    phase (r0 < 4) ordered
      %0: int64 = load n[r0 - floordiv(r0, 2)*2]
      %1: float32 = 100.0
      store y[0, %0] += %1
  }
)");
  CHECK(values(r.outputs[0]) == Numbers{200, 202, 4, 6, 8, 10});
}

TEST_CASE("accesses outside of buffers are errors that name kernel and access") {
  auto error = [](const std::string& body) { return error_of([&] { run_body(body); }); };
  CHECK(contains(
      error(R"(
  kernel bad (i0 < s0, i1 < 3) {
    %0: int64 = load n[i0]
    %1: float32 = load x[%0 + 1, i1]
    store y[i0, i1] = %1
  }
)"),
      "kernel bad: load %1: index 2 in dimension 0 of buffer 'x' is outside of its size 2"));
  CHECK(contains(error(R"(
  kernel bad (i0 < s0, i1 < 3) {
    %0: int64 = load n[i0]
    %1: float32 = 1.0
    store y[%0 - 1, i1] = %1
  }
)"),
                 "kernel bad: store of %1: index -1 in dimension 0 of buffer 'y'"));
}

TEST_CASE("reading what nothing has written is an error") {
  auto error = [](const std::string& body) { return error_of([&] { run_body(body); }); };
  CHECK(contains(error(R"(
  kernel half (i0 < s0) {
    %0: float32 = 1.0
    store y[i0, 0] = %0
  }
)"),
                 "output 'y': element 1 of buffer 'y' is never written"));
  CHECK(contains(error(R"(
  kernel half (i0 < s0) {
    %0: float32 = 1.0
    store y[i0, 0] = %0
  }
  kernel rest (i0 < s0) {
    %0: float32 = load y[i0, 1]
    store y[i0, 2] = %0
  }
)"),
                 "kernel rest, load %0: reads element 1 of buffer 'y', which nothing has written"));
}

TEST_CASE("a failed check is the result, with the value found") {
  RunResult r = run_body(kDouble + R"(
  check in_range (i0 < 2) {
    %0: int64 = load n[i0]
    %1: int64 = 1
    %2: bool = lt(%0, %1)
    require %2, report %0, "n must be below 1"
  }
)");
  CHECK(r.failure == "n must be below 1 (found 1)");
  CHECK(r.outputs.empty());
}

TEST_CASE("host kernels define symbols for what follows") {
  RunResult r = run_body(kDouble + R"(
  host define {
    %0: int64 = load n[0]
    set u0 = %0
  }
  buffer t: float32[u0 + 1] = temp
  kernel fill (i0 < u0 + 1) {
    %0: float32 = 3.0
    store t[i0] = %0
  }
  kernel back (i0 < u0 + 1) {
    %0: float32 = load t[i0]
    store y[0, i0] = %0
  }
)");
  CHECK(values(r.outputs[0]) == Numbers{3, 3, 4, 6, 8, 10});
}

TEST_CASE("matrix products") {
  auto product = [](const std::string& dtype, const std::string& operands,
                    const std::string& factors) {
    return "core graph {\n  input %a: " + dtype + "[2, 2]\n  input %b: " + dtype +
           "[2, 2]\n  input %d: " + dtype + "[2]\n  %y: " + dtype +
           "[2, 2] = aten.mm.default(%a, %b)\n  output %y\n}\nloops {\n  buffer a: " + dtype +
           "[2, 2] = input 0\n  buffer b: " + dtype + "[2, 2] = input 1\n  buffer d: " + dtype +
           "[2] = input 2\n  buffer y: " + dtype +
           "[2, 2] = output 0\n  template mm {\n    matmul " + dtype +
           ", batch [], m = 2, n = 2, k = 2, " + factors +
           "\n    a = a at 0, batch [], row = 2, col = 1\n    b = b at 0, batch [], " + operands +
           "\n    c = y at 0, batch [], row = 2, col = 1\n    d = d at 0, batch [], row = 0, col = "
           "1\n  }\n  output 0 = y\n}\n";
  };
  std::string plain = "row = 2, col = 1", transposed = "row = 1, col = 2";
  auto run_product = [&](DType t, const std::string& text, Numbers d = {10, 20}) {
    return values(run_loops(text, {tensor(t, {2, 2}, {1, 2, 3, 4}), tensor(t, {2, 2}, {5, 6, 7, 8}),
                                   tensor(t, {2}, d)})
                      .outputs[0]);
  };
  CHECK(run_product(DType::Float32, product("float32", plain, "alpha = 1.0, beta = 0.0")) ==
        Numbers{19, 22, 43, 50});
  CHECK(run_product(DType::Float32, product("float32", transposed, "alpha = 1.0, beta = 0.0")) ==
        Numbers{17, 23, 39, 53});
  CHECK(run_product(DType::Float32, product("float32", plain, "alpha = 2.0, beta = 0.5")) ==
        Numbers{43, 54, 91, 110});
  double nan = std::nan("");
  CHECK(run_product(DType::Float32, product("float32", plain, "alpha = 1.0, beta = 0.0"),
                    {nan, nan}) == Numbers{19, 22, 43, 50});
  CHECK(run_product(DType::Int64, product("int64", plain, "alpha = 1.0, beta = 1.0")) ==
        Numbers{29, 42, 53, 70});
  CHECK(run_product(DType::BFloat16, product("bfloat16", plain, "alpha = 1.0, beta = 0.0")) ==
        Numbers{19, 22, 43, 50});
}

TEST_CASE("sorting") {
  const std::string text = R"(core graph {
  symbol s0 in 0..
  input %x: float32[2, s0]
  %y: float32[2, s0] = aten.relu.default(%x)
  output %y
}
loops {
  buffer x: float32[2, s0] = input 0
  buffer places: int64[2, s0] = temp
  buffer y: float32[2, s0] = output 0
  template k0_sort {
    sort [2, s0], dim = 1, count = COUNT
    x = x at 0, strides [s0, 1]
    values = y
    indices = places
  }
  output 0 = y
}
)";
  auto sorted = [&](std::string count, std::vector<int64_t> sizes, Numbers x) {
    std::string t = text;
    return values(
        run_loops(t.replace(t.find("COUNT"), 5, count), {tensor(DType::Float32, sizes, x)})
            .outputs[0]);
  };
  const double inf = HUGE_VAL;
  const Numbers y = sorted("s0", {2, 4}, {3, std::nan(""), -inf, -0.0, 2, 1, 2, inf});
  CHECK(std::isnan(y[3]));
  CHECK(Numbers(y.begin(), y.begin() + 3) == Numbers{-inf, 0, 3});
  CHECK(Numbers(y.begin() + 4, y.end()) == Numbers{1, 2, 2, inf});
  CHECK(sorted("s0, descending", {2, 2}, {1, 2, 4, 3}) == Numbers{2, 1, 4, 3});
  CHECK(sorted("s0", {2, 0}, {}) == Numbers{});
  CHECK(contains(error_of([&] { sorted("s0 + 1", {2, 1}, {1, 2}); }), "keeps 2 of 1 elements"));
}

TEST_CASE("products over nothing, and operands outside of their buffer") {
  std::string text = R"(core graph {
  symbol s0 in 0..
  input %a: float32[2, s0]
  %y: float32[2, 2] = aten.mm.default(%a, %a)
  output %y
}
loops {
  buffer a: float32[2, s0] = input 0
  buffer y: float32[2, 2] = output 0
  template mm {
    matmul float32, batch [], m = 2, n = 2, k = s0, alpha = 1.0, beta = 0.0
    a = a at 0, batch [], row = s0, col = 1
    b = a at OFFSET, batch [], row = 1, col = s0
    c = y at 0, batch [], row = 2, col = 1
  }
  output 0 = y
}
)";
  auto at = [&](const std::string& offset) {
    std::string t = text;
    return t.replace(t.find("OFFSET"), 6, offset);
  };
  std::string graph_fix = at("0");
  loops::LoopProgram p = parse_loops(graph_fix, "t.ir");
  RunInputs in;
  in.inputs = {floats({2, 0}, {})};
  CHECK(values(run(p, in).outputs[0]) == Numbers{0, 0, 0, 0});
  in.inputs = {floats({2, 1}, {3, 4})};
  CHECK(values(run(p, in).outputs[0]) == Numbers{9, 12, 12, 16});
  CHECK(contains(error_of([&] { run(parse_loops(at("1"), "t.ir"), in); }),
                 "matmul operand in buffer 'a': element 2 is outside of its 2 elements"));
}
