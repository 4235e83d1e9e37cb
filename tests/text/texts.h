// Programs as text that several tests start from.
#pragma once
#include <string>

namespace texts {

// Every kind of input, output and argument.
inline const std::string kGraph = R"(graph everything {
  symbol s0 in 1..64
  symbol s1 in 2..
  symbol u0 in 0.. unbacked
  guard le(s0, 64) "s0 <= 64"
  guard lt(s0, s1)

  input %x: float32[s0, 4]
  input %t: float32[4, s0]{1, 4}@cuda:0, as images
  parameter %w: float32[4, 4], target "layer.weight", storage 0 bytes 0..64
  parameter %wt: float32[2, 4]{1, 2}, target "tied.weight", storage 0 bytes 16..48
  buffer %b: bfloat16[4], target "state", storage 1 bytes 8..22 view [4]{2}
  constant %c: int64[], target "lifted", storage 2 bytes 0..8
  scalar at, value s1
  scalar eps, value 1e-05
  scalar flag, value true
  none mask

  %mul: float32[s0, 4] = aten.mul.Tensor(%x, 2)                     # model.py:34 in forward: y = x * 2  # twice
  %add: float32[s0, 4] = aten.add.Tensor(%mul, %x, alpha=-0.0)      # "/a dir/m.py":7 in <lambda>
  %cat: float32[2*s0, 4] = aten.cat.default([%mul, %add])
  %full: float32[s1, 3]@cuda:1 = aten.full.default([s1, 3], 0.5, dtype=float32, device=@cuda:1)
  %values: float32[s0], %where: int64[s0] = aten.max.dim(%add, 1)   # model.py:35
  %item: symbol u0 = aten.item.default(%c)
  aten._assert_scalar.default(le(u0, s1), "u0 <= s1: \"no\"\n\x01") as check

  write back %x = %add by aten.add_.Tensor                          # model.py:36 in forward: x.add_(x)
  output %mul
  output %cat, as both
  output scalar s0 - 1, as rest
  output scalar 0.25, as quarter
  output none
  alias output 0 of %x by %mul
}
)";

// Softmax over the last dimension, a write-back, a matrix product, a check and a host kernel.
inline const std::string kLoops = R"(core graph main {
  symbol s0 in 1..32
  symbol u0 in 0..8 unbacked

  input %x: float32[s0, 8]
  input %n: int64[]
  buffer %b: float32[8, 8], target "b", storage 0 bytes 0..256

  %y: float32[s0, 8] = aten._softmax.default(%x, 1, false)
  %mm: float32[s0, 8] = aten.mm.default(%y, %b)
  %item: symbol u0 = aten.item.default(%n)
  %add: float32[8, 8] = aten.add.Tensor(%b, 1)

  write back %b = %add by aten.add_.Tensor
  output %mm
}

loops {
  buffer x: float32[s0, 8] = input 0
  buffer n: int64[] = input 1
  buffer b: float32[8, 8] = storage 0
  buffer y: float32[s0, 8] = temp
  buffer item_value: int64[] = temp
  buffer mm: float32[s0, 8] = output 0
  buffer add: float32[8, 8] = temp

  kernel k0_softmax (i0 < s0) {
    from aten._softmax.default y                                    # m.py:3 in forward: y = x.softmax(1)
    phase (r0 < 8)
      %0: float32 = load x[i0, r0]
      acc0: float32 = maximum(%0) from -inf
    phase (r1 < 8)
      %1: float32 = load x[i0, r1]
      %2: float32 = acc0
      %3: float32 = sub(%1, %2)
      %4: float32 = exp(%3)
      acc1: float32 = add(%4) from 0.0
    phase (r2 < 8)
      %5: float32 = load x[i0, r2]
      %6: float32 = sub(%5, %2)
      %7: float32 = exp(%6)
      %8: float32 = acc1
      %9: float32 = div(%7, %8)
      store y[i0, r2] = %9
  }

  template k1_mm {
    from aten.mm.default mm
    matmul float32, batch [], m = s0, n = 8, k = 8, alpha = 1.0, beta = 0.0
    a = y at 0, batch [], row = 8, col = 1
    b = b at 0, batch [], row = 8, col = 1
    c = mm at 0, batch [], row = 8, col = 1
  }

  kernel k2_item {
    from aten.item.default item
    %0: int64 = load n[]
    store item_value[] = %0
  }

  host k3_define_u0 {
    from aten.item.default item
    %0: int64 = load item_value[]
    set u0 = %0
  }

  check k4_range {
    from aten.item.default item
    %0: int64 = index u0
    %1: int64 = 8
    %2: bool = lt(%0, %1)
    require %2, report %0, "u0 must be below 8"
  }

  kernel k5_add (i0 < 8, i1 < 8) {
    from aten.add.Tensor add
    %0: float32 = load b[i0, i1]
    %1: float32 = 1.0
    %2: float32 = add(%0, %1)
    store add[i0, i1] = %2
  }

  copy k6_write_back_b (i0 < 8, i1 < 8) {
    from aten.add.Tensor aten.add_.Tensor
    %0: float32 = load add[i0, i1]
    store b[i0, i1] = %0
  }

  write back 0: b = add, kernel k6_write_back_b, "not examined"
  output 0 = mm
}
)";

// The text with one piece replaced; the piece must be there once.
inline std::string with(std::string text, const std::string& from, const std::string& to) {
  size_t at = text.find(from);
  if (at == std::string::npos || text.find(from, at + 1) != std::string::npos)
    throw std::logic_error("not exactly once in the text: " + from);
  return text.replace(at, from.size(), to);
}

}  // namespace texts
