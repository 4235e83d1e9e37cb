// Elements in memory as scalar values.
#include "ir/error.h"
#include "ir/interp/tensor.h"

namespace aotc::interp {

ScalarValue read(const Tensor& t, int64_t position) {
  return read_scalar(t.memory->data() + position * element_size(t.dtype), t.dtype);
}

void write(const Tensor& t, int64_t position, const ScalarValue& v) {
  AOTC_CHECK(v.dtype == t.dtype, "a {} value is stored into a {} tensor", name(v.dtype),
             name(t.dtype));
  write_scalar(t.memory->writable() + position * element_size(t.dtype), v);
}

}  // namespace aotc::interp
