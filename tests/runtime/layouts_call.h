// A call of the `layouts` program with everything as it was exported; tests change one thing at a
// time.
#pragma once
#include "support.h"

namespace aotc::test {

struct LayoutsCall : Program {
  LayoutsCall() : Program(aotc_layouts_get_api) {}
  AotcStatus run() { return Program::run({window, spread, a, b, c, d, z}); }
  std::string failure() { return run() ? message : "(succeeded)"; }

  Floats window_memory = {1, 2, 3, -1, -1, -1, -1, -1, -1, -1, 4, 5, 6};
  Floats spread_memory = {1, 2, 3};
  Floats a_memory = {1, 2, 3, 4}, b_memory = {9, 9, 9, 9}, c_memory = {10, 20, 30, 40};
  Floats d_memory = Floats(8);
  std::vector<std::complex<double>> z_memory = {{1, 2}, {3, 4}};
  Tensor window = over(window_memory, {2, 3}, {10, 1});
  Tensor spread = over(spread_memory, {2, 3}, {0, 1});
  Tensor a = over(a_memory), b = over(b_memory), c = over(c_memory), d = over(d_memory),
         z = over(z_memory);
};

}  // namespace aotc::test
