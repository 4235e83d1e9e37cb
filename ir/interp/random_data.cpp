// Random elements of every type.
#include "ir/interp/random_data.h"

#include <cmath>
#include <limits>

namespace aotc::interp {

// splitmix64
uint64_t Random::bits() {
  uint64_t z = (state_ += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

int64_t Random::integer(int64_t low, int64_t high) {
  if (high <= low) return low;
  uint64_t count = static_cast<uint64_t>(high) - static_cast<uint64_t>(low) + 1;
  uint64_t drawn = count == 0 ? bits() : bits() % count;
  return static_cast<int64_t>(static_cast<uint64_t>(low) + drawn);
}

double Random::unit() { return static_cast<double>(bits() >> 11) * 0x1p-53; }

double Random::number(bool special_values) {
  using Limits = std::numeric_limits<float>;
  constexpr double kSpecial[] = {0.0,
                                 -0.0,
                                 Limits::infinity(),
                                 -Limits::infinity(),
                                 Limits::min(),
                                 Limits::denorm_min(),
                                 Limits::max(),
                                 Limits::quiet_NaN()};
  if (special_values && chance(6)) return kSpecial[integer(0, 7)];
  if (chance(16)) return static_cast<double>(integer(-2, 2));
  return unit() * 4 - 2;
}

ScalarValue Random::element(DType dtype, IntegerRange integers, bool special_values) {
  if (is_bool(dtype)) return cast(ScalarValue::of(integer(0, 1)), dtype);
  if (is_integer(dtype)) {
    int64_t low = is_signed_integer(dtype) ? integers.low : std::max<int64_t>(integers.low, 0);
    return cast(ScalarValue::of(integer(low, integers.high)), dtype);
  }
  if (is_complex(dtype)) {
    double real = number(special_values);
    return cast(ScalarValue::of(real, number(special_values)), dtype);
  }
  return cast(ScalarValue::of(number(special_values)), dtype);
}

void Random::fill(Memory& memory, DType dtype, IntegerRange integers, bool special_values) {
  int64_t count = memory.size() / element_size(dtype);
  Tensor all{dtype, {count}, {1}, 0, std::shared_ptr<Memory>(&memory, [](Memory*) {})};
  for (int64_t i = 0; i < count; ++i) write(all, i, element(dtype, integers, special_values));
}

}  // namespace aotc::interp
