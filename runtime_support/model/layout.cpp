// Sizes, strides and the memory that elements reach.
#include "tensor.h"

namespace aotc::model {

int64_t count_elements(const int64_t* sizes, int32_t ndim) {
  int64_t count = 1;
  bool empty = false, fits = true;
  for (int32_t d = 0; d < ndim; ++d) {
    if (sizes[d] < 0) return -1;
    if (sizes[d] == 0) empty = true;
    if (!empty && fits) fits = multiply(count, sizes[d], &count);
  }
  return empty ? 0 : fits ? count : -1;
}

void contiguous_strides(const int64_t* sizes, int32_t ndim, int64_t* strides) {
  // The product may wrap around only for tensors without elements, whose strides are not used.
  uint64_t stride = 1;
  for (int32_t d = ndim - 1; d >= 0; --d) {
    strides[d] = static_cast<int64_t>(stride);
    stride *= static_cast<uint64_t>(sizes[d]);
  }
}

bool strides_match(const int64_t* sizes, int32_t ndim, const int64_t* strides,
                   const int64_t* want) {
  int64_t contiguous = 1;
  for (int32_t d = ndim - 1; d >= 0; --d) {
    const int64_t given = strides ? strides[d] : contiguous;
    if (sizes[d] != 1 && given != want[d]) return false;
    contiguous *= sizes[d];
  }
  return true;
}

View view_of(const DLTensor& tensor, int64_t* strides) {
  if (!tensor.strides) contiguous_strides(tensor.shape, tensor.ndim, strides);
  return {static_cast<char*>(tensor.data) + tensor.byte_offset, element_bytes(tensor.dtype),
          tensor.ndim, tensor.shape, tensor.strides ? tensor.strides : strides};
}

bool byte_range(const View& view, uintptr_t* lo, uintptr_t* hi) {
  int64_t low = 0, high = 0;  // bytes from view.data to the first and last element
  *lo = *hi = reinterpret_cast<uintptr_t>(view.data);
  for (int32_t d = 0; d < view.ndim; ++d)
    if (view.sizes[d] == 0) return true;
  for (int32_t d = 0; d < view.ndim; ++d) {
    int64_t reach = 0;
    if (!multiply(view.sizes[d] - 1, view.strides[d], &reach) ||
        !multiply(reach, view.item, &reach))
      return false;
    int64_t* end = reach < 0 ? &low : &high;
    if (!add(*end, reach, end)) return false;
  }
  if (!add(high, view.item, &high)) return false;
  if (__builtin_add_overflow(*lo, low, lo) || __builtin_add_overflow(*hi, high, hi)) return false;
  return *hi - *lo < uint64_t{1} << 62;  // so that sums of parts cannot overflow either
}

}  // namespace aotc::model
