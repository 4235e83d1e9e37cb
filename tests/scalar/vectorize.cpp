// Loops over the float primitives, to see that a compiler vectorises them and how fast they are.
// Not part of the test run (speed is the machine's): build with the flags that the compile plugin
// uses and run it.
//   clang++-19 -std=c++17 -O2 -ffp-contract=off -fno-math-errno -march=x86-64-v3 -I
//   runtime_support/include vectorize.cpp
// Prints nanoseconds per element, least of many rounds. For other targets compile with -S and look
// for calls.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <vector>

#include "aotc/scalar.h"

namespace {

using Loop = void (*)(const float*, float*, int);

#define LOOP(name, expression)                                                                  \
  __attribute__((noinline)) void loop_##name(const float* __restrict in, float* __restrict out, \
                                             int n) {                                           \
    for (int i = 0; i < n; ++i) {                                                               \
      const float x = in[i];                                                                    \
      out[i] = expression;                                                                      \
    }                                                                                           \
  }
#define UNARY_LOOPS(X)                                                                         \
  X(exp)                                                                                       \
  X(exp2)                                                                                      \
  X(expm1)                                                                                     \
  X(log)                                                                                       \
  X(log2) X(log10) X(log1p) X(sigmoid) X(tanh) X(sinh) X(cosh) X(sin) X(cos) X(tan) X(asin)    \
      X(acos) X(atan) X(asinh) X(acosh) X(atanh) X(erf) X(erfc) X(sqrt) X(rsqrt) X(reciprocal) \
          X(floor) X(round)
#define X(name) LOOP(name, aotc::name(x))
UNARY_LOOPS(X)
#undef X
LOOP(pow, aotc::pow(x, 1.7f))
LOOP(atan2, aotc::atan2(x, 0.3f))
LOOP(hypot, aotc::hypot(x, 0.3f))
LOOP(maximum, aotc::maximum(x, 0.3f))
LOOP(gelu, x * 0.5f * (1.0f + aotc::erf(x * 0.70710678f)))
LOOP(silu, x* aotc::sigmoid(x))
LOOP(through_bfloat16, aotc::cast<float>(aotc::cast<aotc::bfloat16>(x)))
LOOP(through_float16, aotc::cast<float>(aotc::cast<aotc::float16>(x)))
LOOP(through_float8, aotc::cast<float>(aotc::cast<aotc::float8_e4m3fn>(x)))
LOOP(through_int32, aotc::cast<float>(aotc::cast<int>(x)))
LOOP(through_uint8, aotc::cast<float>(aotc::cast<unsigned char>(x)))

double nanoseconds_per_element(Loop loop, const std::vector<float>& in, std::vector<float>& out) {
  double best = 1e9;
  for (int round = 0; round < 400; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    loop(in.data(), out.data(), static_cast<int>(in.size()));
    const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - begin;
    best = std::fmin(best, spent.count() / static_cast<double>(in.size()));
  }
  return best;
}

}  // namespace

int main() {
  std::vector<float> in(4096), out(in.size());
  for (size_t i = 0; i < in.size(); ++i)
    in[i] = 0.001f + 7.0f * std::fmod(0.618f * static_cast<float>(i), 1.0f);
#define X(name) std::printf("%-18s %.3f\n", #name, nanoseconds_per_element(loop_##name, in, out));
  UNARY_LOOPS(X)
  X(pow)
  X(atan2)
  X(hypot)
  X(maximum)
  X(gelu) X(silu) X(through_bfloat16) X(through_float16) X(through_float8) X(through_int32)
      X(through_uint8)
#undef X
}
