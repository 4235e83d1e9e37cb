// A small random generator whose numbers are the same everywhere, and memory filled with it.
#pragma once
#include <cstdint>

#include "ir/interp/tensor.h"

namespace aotc::interp {

struct IntegerRange {
  int64_t low, high;  // inclusive
};

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t bits();
  int64_t integer(int64_t low, int64_t high);  // inclusive
  bool chance(int one_in) { return integer(1, one_in) == 1; }
  double unit();  // [0, 1)
  // Elements of this type: floating ones in -2..2, a few integral ones, at times special values.
  void fill(Memory& memory, DType dtype, IntegerRange integers, bool special_values);

 private:
  double number(bool special_values);
  ScalarValue element(DType dtype, IntegerRange integers, bool special_values);
  uint64_t state_;
};

}  // namespace aotc::interp
