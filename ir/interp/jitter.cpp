// Small random changes of numbers.
#include "ir/interp/jitter.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/interp/random_data.h"

namespace aotc::interp {
namespace {

bool is_inexact(DType t) { return is_floating(t) || is_complex(t); }

bool reorders(const loops::Accumulator& a) {
  return is_inexact(a.dtype) && (a.combine == Prim::add || a.combine == Prim::mul);
}

// Distance from 1 to the next number.
double unit_of(DType t) {
  switch (t) {
    case DType::Float64:
    case DType::Complex128:
      return 0x1p-52;
    case DType::Float16:
    case DType::Complex32:
      return 0x1p-10;
    case DType::BFloat16:
      return 0x1p-7;
    default:
      return 0x1p-23;
  }
}

double smallest_of(DType t) {
  const bool is_double = t == DType::Float64 || t == DType::Complex128;
  return is_double ? std::numeric_limits<double>::denorm_min()
                   : static_cast<double>(std::numeric_limits<float>::denorm_min());
}

}  // namespace

bool depends_on_order(const loops::LoopProgram& program) {
  return std::any_of(program.kernels.begin(), program.kernels.end(), [&](const loops::Kernel& k) {
    if (k.matmul || std::any_of(k.accumulators.begin(), k.accumulators.end(), reorders))
      return true;
    for (const loops::Phase& phase : k.phases)
      for (const loops::Store& s : phase.stores)
        if (s.accumulate && is_inexact(program.buffers[static_cast<size_t>(s.buffer)].dtype))
          return true;
    return false;
  });
}

Tensor jittered(const Tensor& t, uint64_t seed, bool rounded) {
  if (!is_inexact(t.dtype)) return t;
  Tensor out = copy(t);
  Random random(seed);
  double step = unit_of(rounded ? t.dtype : compute_type(t.dtype)) * (is_half(t.dtype) ? 1 : 8);
  // A sum of zeros has the sign of what it starts with.
  auto change = [&](double x) {
    const double by = 2 * random.unit() - 1;
    if (x == 0) return by < 0 ? -x : x;
    // Near the smallest numbers the distance between two does not shrink any more.
    return x * (1 + step * by) + by * 8 * smallest_of(compute_type(t.dtype));
  };
  for (int64_t i = 0; i < out.numel(); ++i) {
    ScalarValue v = read(out, i);
    if (is_complex(t.dtype)) {
      auto [re, im] = as_complex(v);
      write(out, i, cast(ScalarValue::of(change(re), change(im)), t.dtype));
    } else {
      write(out, i, cast(ScalarValue::of(change(as_double(v))), t.dtype));
    }
  }
  return out;
}

}  // namespace aotc::interp
