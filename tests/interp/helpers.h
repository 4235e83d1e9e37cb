// Tensors from numbers, programs from text.
#pragma once
#include <catch2/catch.hpp>

#include "ir/error.h"
#include "ir/interp/interp.h"
#include "ir/text/text.h"
#include "ir/text/verify.h"

namespace helpers {

using namespace aotc;
using namespace aotc::interp;

inline Tensor tensor(DType dtype, std::vector<int64_t> sizes, const std::vector<double>& values) {
  Tensor t = empty(dtype, std::move(sizes));
  for (size_t i = 0; i < values.size(); ++i)
    write(t, static_cast<int64_t>(i), cast(ScalarValue::of(values[i]), dtype));
  return t;
}
inline Tensor floats(std::vector<int64_t> sizes, const std::vector<double>& values) {
  return tensor(DType::Float32, std::move(sizes), values);
}
inline Tensor ints(std::vector<int64_t> sizes, const std::vector<double>& values) {
  return tensor(DType::Int64, std::move(sizes), values);
}
// A view of t's memory.
inline Tensor view(const Tensor& t, std::vector<int64_t> sizes, std::vector<int64_t> strides,
                   int64_t offset = 0) {
  return {t.dtype, std::move(sizes), std::move(strides), offset, t.memory};
}

// The elements, row-major.
inline std::vector<double> values(const Tensor& t) {
  std::vector<double> v;
  for (int64_t p : positions(t)) v.push_back(as_double(read(t, p)));
  return v;
}
inline std::vector<double> values(const RunValue& v) {
  REQUIRE(std::holds_alternative<Tensor>(v));
  return values(std::get<Tensor>(v));
}
using Numbers = std::vector<double>;

inline RunResult run_graph(const std::string& text, std::vector<RunValue> inputs,
                           GraphStage stage = GraphStage::Graph) {
  auto g = parse_graph(text, "t.ir");
  verify(*g, stage);
  RunInputs in;
  in.inputs = std::move(inputs);
  return run(*g, in);
}

inline RunResult run_loops(const std::string& text, std::vector<RunValue> inputs,
                           RunOptions options = {}) {
  loops::LoopProgram p = parse_loops(text, "t.ir");
  verify(p);
  RunInputs in;
  in.inputs = std::move(inputs);
  return run(p, in, options);
}

template <typename F>
std::string error_of(F f) {
  try {
    f();
  } catch (const std::exception& e) {
    return e.what();
  }
  return "";
}
inline bool contains(const std::string& text, const std::string& part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

}  // namespace helpers
